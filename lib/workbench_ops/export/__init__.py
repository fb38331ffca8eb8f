"""A notebook for AWS Glue: what would be different there, its Glue Studio variant, its job script.

    found = export.check(notebook, version="6.0", declared=parameters)       # findings, by cell; nothing runs
    export.verdict(found)                                                    # runs, differs, cannot run
    session = export.session(notebook, values, version="6.0")                # workers, packages, catalog, price
    export.variant(notebook, session)                                        # the notebook for Glue Studio
    export.script(notebook, session, declared=parameters)                    # the job script
    export.build("exports")                                                  # the library's wheel

Glue itself was never reached: what it is stands in glue.toml, with sources. The parts:

    magics      which lines of a cell the Glue kernel takes for itself
    asking      what a notebook's own magics ask a session for
    versions    what a version of Glue brings and lacks, from glue.toml
    cells       code cells as a check reads them: names resolved, branches that parameters exclude left out
    findings    one sentence for each thing that differs
    homes       rules on the environment
    places      rules on files, buckets, regions, addresses
    rules       rules on magics, imports, features, functions of ours, processes, plots
    checking    all rules
    sessions    what a session is started with, and its price
    studio      the notebook
    jobs        the script
    wheel       the library as a wheel
    lambdas     functions of AWS Lambda, which need neither Glue nor Spark
    kernel      a kernel on this machine that takes a notebook as Glue's does
    trial       where an exported notebook finds that kernel

What it covers and what not: docs/export.md.
"""

from workbench_ops.export.checking import check
from workbench_ops.export.findings import RUNS, Finding, verdict
from workbench_ops.export.jobs import script
from workbench_ops.export.sessions import PLACE, Session, session
from workbench_ops.export.studio import variant
from workbench_ops.export.versions import CANNOT_RUN, DIFFERS, names
from workbench_ops.export.wheel import build

__all__ = [
    "CANNOT_RUN", "DIFFERS", "PLACE", "RUNS", "Finding", "Session", "build", "check", "names", "script", "session",
    "variant", "verdict",
]  # fmt: skip
