"""Run the tests of a dbt project on Iceberg tables, and read only what must be read.

    listed = dbt.tests("target")                                         # from manifest.json, by compiled SQL
    outcomes = dbt.prove(dbt.plan(listed), {'"shop"."main"."people"': metadata_location}, ledger="tests.db")
    dbt.write(outcomes, "target")                                        # run_results.json, which dbt itself reads

manifests    the tests of a project
planning     what a test reads, and what could prove it (conditions: statements that judge each row or key)
states       tables as one metadata file describes them (metrics: conditions that a file's metrics refute)
duckdbs      DuckDB as the engine
sparks       Spark as the engine
proving      known outcomes, known files, metrics, a scan of files, hashes, dbt's own statement
outcomes     statuses by dbt's rules, and the artifact
replaying    dbt itself, with proved tests emptied (in_dbt: what of it runs in dbt's own environment)
"""

from workbench.dbt.manifests import Test, dialect, tests
from workbench.dbt.outcomes import Outcome, write
from workbench.dbt.planning import Planned, plan
from workbench.dbt.proving import prove
from workbench.dbt.replaying import Replay, replay
from workbench.dbt.sparks import pointer

__all__ = [
    "Outcome", "Planned", "Replay", "Test", "dialect", "plan", "pointer", "prove", "replay", "tests", "write",
]  # fmt: skip
