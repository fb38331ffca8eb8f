"""Run `dbt test` with the tests that are proved emptied: a child process in an environment that has dbt.

It reads one line of JSON: `project`, `target` (a folder of its own), `arguments` of dbt, `proved` (unique_id to
MD5 of the compiled text and the evidence), `environment` of the Spark session or null. It answers one line:
`exit_code` as dbt has it, or `error`.
"""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

MARK = "iceberg-workbench: no row fails, told by"  # in the compiled text of a test that was emptied
# dbt renders a test's text as always; it is emptied only where that is the text which was proved
EMPTIED = (
    "{{% set workbench_text %}}{raw}{{% endset %}}{{% if local_md5(workbench_text) == '{digest}' %}}"
    "/* " + MARK + " {evidence} */\nselect * from (\n{{{{ workbench_text }}}}\n) as workbench_proved where 1 = 0"
    "{{% else %}}{{{{ workbench_text }}}}{{% endif %}}"
)


def main() -> None:
    """Run once what standard input asks for."""
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    answers = os.dup(1)
    os.dup2(2, 1)  # what dbt and hooks print goes to the log
    answer: dict[str, Any]
    try:
        answer = {"exit_code": _tested(asked)}
    except Exception as error:  # a project that dbt cannot read, a session that cannot start
        answer = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.flush()
    os.write(answers, json.dumps(answer).encode() + b"\n")


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(1)


def _tested(asked: dict[str, Any]) -> int:
    if asked["environment"] is None:
        return _run(asked)
    from workbench import session

    spark = session.start(asked["environment"])  # dbt-spark takes the session that is there
    try:
        return _run(asked)
    finally:
        session.stop(spark)


def _run(asked: dict[str, Any]) -> int:
    from dbt.cli.main import dbtRunner

    os.chdir(asked["project"])  # where people run dbt: profiles have paths from there
    places = ["--project-dir", asked["project"], "--target-path", asked["target"]]
    if Path(asked["project"], "profiles.yml").is_file() and not os.environ.get("DBT_PROFILES_DIR"):
        places += ["--profiles-dir", asked["project"]]
    parsed = dbtRunner().invoke(["parse", *places, *asked["arguments"]])
    if parsed.exception is not None:
        raise parsed.exception
    for unique_id, (digest, evidence) in asked["proved"].items():
        node = parsed.result.nodes.get(unique_id)
        if node is not None:
            node.raw_code = EMPTIED.format(raw=node.raw_code, digest=digest, evidence=evidence)
    tested = dbtRunner(manifest=parsed.result).invoke(["test", *places, *asked["arguments"]])
    if tested.exception is not None:
        raise tested.exception
    return 0 if tested.success else 1
