"""Run the tests of a dbt project on Iceberg tables, and read only what must be read.

    listed = dbt.tests("target")                                         # from manifest.json, by compiled SQL
    outcomes = dbt.prove(dbt.plan(listed), {'"shop"."main"."people"': metadata_location}, ledger="tests.db")
    dbt.write(outcomes, "target")                                        # run_results.json, which dbt itself reads

manifests   the tests of a project
planning    what a test reads, and what could prove it
states      tables as one metadata file describes them
proving     known outcomes, metrics, dbt's own statement
outcomes    statuses by dbt's rules, and the artifact
"""

from workbench.dbt.manifests import Test, tests
from workbench.dbt.outcomes import Outcome, write
from workbench.dbt.planning import Planned, plan
from workbench.dbt.proving import prove

__all__ = ["Outcome", "Planned", "Test", "plan", "prove", "tests", "write"]
