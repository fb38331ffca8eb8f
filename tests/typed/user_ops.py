"""The command's parts that are called from Python: `workbench_ops.export`'s own page, docs/schedules.md."""

from pathlib import Path
from typing import assert_type

from nbformat import NotebookNode

from workbench_ops import export, schedules


def exported(notebook: NotebookNode) -> None:
    findings = export.check(notebook, version="6.0")
    assert_type(findings, list[export.Finding])
    assert_type(export.verdict(findings), str)
    session = export.session(notebook, {"ENVIRONMENT": "aws-glue"}, version="6.0", workers=4)
    assert_type(session, export.Session)
    assert_type(export.script(notebook, session, declared=()), str)
    assert_type(export.build("exports"), Path | None)
    assert_type(schedules.read(), dict[str, schedules.Entry])
    export.check(notebook, version=6.0)  # wrong: arg-type
    export.session(notebook, version="6.0")  # wrong: call-arg
    export.script(notebook, declared=())  # wrong: call-arg
    export.build()  # wrong: call-arg
    print(findings[0].severity)  # wrong: attr-defined
    schedules.read(["schedules.yml"])  # wrong: arg-type
