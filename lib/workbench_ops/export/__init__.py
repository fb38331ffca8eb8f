"""A notebook for AWS Glue: what would be different there, its Glue Studio variant, its job script.

    findings = export.check(notebook, version="6.0", declared=parameters)    # by cell; nothing is executed
    export.verdict(findings)                                                 # runs, differs, cannot run
    session = export.session(notebook, values, version="6.0")                # workers, packages, catalog, price
    export.variant(notebook, session)                                        # the notebook for Glue Studio
    export.script(notebook, session, declared=parameters)                    # the job script
    export.build("exports")                                                  # the library's wheel

Glue itself was never reached: what is known about it is in glue.toml, with sources. The parts:

    magics      which lines of a cell the Glue kernel takes for itself
    asking      what a notebook's own magics ask a session for
    versions    what a version of Glue brings and lacks, from glue.toml
    cells       code cells as a check reads them: names resolved, branches that parameters exclude left out
    findings    one sentence for each thing that differs
    homes       rules on the environment
    places      rules on files, buckets, regions, addresses
    rules       rules on magics, imports, features, functions of ours, processes, plots
    sessions    what a session is started with, and its price
    studio      the notebook, and where it finds a kernel like Glue's on this machine
    jobs        the script
    wheel       the library as a wheel
    lambdas     functions of AWS Lambda, which need neither Glue nor Spark
    kernel      a kernel on this machine that takes a notebook as Glue's does

What it covers and what it does not: docs/export.md.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench._base.door import checked
from workbench._base.settings import Environment
from workbench_ops.export import cells as code
from workbench_ops.export import homes, places, rules, sessions, versions, wheel
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


@checked
def check(
    notebook: code.NotebookNode,
    *,
    version: str = "6.0",
    declared: Iterable[code.Parameter] = (),
    given: Mapping[str, Any] | None = None,
    shipped: Path | None = None,
    folders: Iterable[Path] = (),
    environment: Environment | None = None,
) -> list[Finding]:
    """Return what in a notebook would behave differently in AWS Glue. Nothing is executed.

    Args:
        notebook: as it was read.
        version: of Glue, `6.0` or `5.1`.
        declared: the notebook's parameters.
        given: parameters of the run, name to value, where they are not the defaults.
        shipped: folder of the environments that the wheel takes along; None for that of this library.
        folders: where modules of one's own may be, such as the notebook's.
        environment: the run's own, where it was read already.

    Returns:
        The findings by cell and line.

    Raises:
        ArgumentError: there is no such version.
    """
    glue = versions.version(version)
    values = {parameter.name: parameter.default for parameter in declared} | dict(given or {})
    cells = code.read(notebook, values)
    names = code.imported(cells)
    findings = [
        *rules.misplaced(cells),
        *rules.overtaken(cells, sessions.defaults(glue)),
        *homes.environments(
            cells,
            names,
            values,
            glue=glue,
            shipped=shipped or wheel.environments(),
            environment=environment,
        ),
        *places.files(cells, names),
        *places.buckets(cells),
        *places.variables(cells, names),
        *rules.imports(cells, glue, folders),
        *rules.features(cells, names, glue),
        *rules.library(cells, names),
        *rules.processes(cells, names),
        *rules.shell(cells, names),
        *rules.plots(cells, names),
    ]
    return sorted(set(findings))
