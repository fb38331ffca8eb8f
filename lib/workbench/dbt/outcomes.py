"""Outcomes of tests, and the artifact `run_results.json` that dbt itself reads."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.files import replacing
from workbench.dbt.manifests import Test

SCHEMA = "https://schemas.getdbt.com/dbt/run-results/v6.json"
Evidence = Literal["known", "files", "metrics", "scan", "hash", "dbt", "nothing"]
Status = Literal["pass", "warn", "fail", "error"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test.

    Attributes:
        test: the test.
        status: as dbt says it.
        failures: how many dbt reports: 0 where the test passed, None at an error.
        message: why the status is not `pass`, or None.
        told_by: the evidence: `known` (a ledger has it for the same tables), `files` (a ledger has it for each
            data file), `metrics` (of the data files), `scan` (of the files that were left), `hash` (as many as
            rows), `dbt` (its own statement), or `nothing`, at an error before any was asked.
        states: {name of a table: uuid, snapshot and digest of the schema} of what the test read.
        files_read: how many data files were read for it; None where the engine alone knows.
    """

    test: Test
    status: Status
    failures: int | None
    message: str | None
    told_by: Evidence
    states: Mapping[str, str] = field(default_factory=dict)
    files_read: int | None = 0


def judged(test: Test, failures: int, should_warn: bool, should_error: bool) -> tuple[Status, int, str | None]:
    """Return status, failures and message as dbt's own runner of tests decides them."""
    results = f"{failures} result{'' if failures == 1 else 's'}"
    if test.severity == "error" and should_error:
        return "fail", failures, f"Got {results}, configured to fail if {test.error_if}"
    if should_warn:
        return "warn", failures, f"Got {results}, configured to warn if {test.warn_if}"
    return "pass", 0, None


@checked
def write(outcomes: Sequence[Outcome], target: str | Path) -> Path:
    """Write `run_results.json` beside the manifest, so that dbt can select by it: `--select result:fail --state`.

    The file is replaced whole. Each result names the states of its tables and how it was told, under
    `adapter_response`.

    Args:
        outcomes: as `dbt.prove` returns them.
        target: folder with dbt's `manifest.json`.

    Returns:
        The path of the file.

    Raises:
        ArgumentError: there is no manifest in the folder.
    """
    folder = Path(target)
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ArgumentError(f"there is no {folder / 'manifest.json'}; name dbt's target folder") from None
    results = {
        "metadata": {
            "dbt_schema_version": SCHEMA,
            "dbt_version": manifest["metadata"]["dbt_version"],
            "generated_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "invocation_id": str(uuid.uuid4()),
            "env": {},
        },
        "results": [_result(outcome) for outcome in outcomes],
        "elapsed_time": 0.0,
        "args": {},
    }
    path = folder / "run_results.json"
    with replacing(path) as new:
        new.write_text(json.dumps(results), encoding="utf-8")
    return path


def _result(outcome: Outcome) -> dict[str, Any]:
    return {
        "status": outcome.status,
        "timing": [],
        "thread_id": "Thread-1",
        "execution_time": 0.0,
        "adapter_response": {
            "told_by": outcome.told_by,
            "states": dict(outcome.states),
            "files_read": outcome.files_read,
        },
        "message": outcome.message,
        "failures": outcome.failures,
        "unique_id": outcome.test.unique_id,
        "compiled": True,
        "compiled_code": outcome.test.sql,
        "relation_name": None,
        "batch_results": None,
    }
