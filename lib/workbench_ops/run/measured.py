"""What watched runs did, as Iceberg tables beside the ledger: `stages`, `scans`, `commits` and `incidents`.

The `metrics.json` files are the truth: the rows of a run are added in one commit a table, once. A run whose files
were deleted keeps its rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workbench._base.errors import WorkbenchError
from workbench.metrics import documents
from workbench.metrics.reports import Commit
from workbench.metrics.runs import Scan, Stage
from workbench_ops.run import fold, ledger, metering
from workbench_ops.run import record as records
from workbench_ops.run.record import Record
from workbench_ops.saying import say

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = ("stages", "scans", "commits", "incidents")
SUMMED = ("cpu_seconds", "rows_in", "spilled_bytes", "files_planned", "files_read", "files_skipped", "retries")
_OF_RUN = ("run_id", "notebook", "session")
_INCIDENT = {"cause": str, "where": str, "figure": float, "threshold": float, "severity": str, "evidence": str}
_RECORDS = {"stages": Stage, "scans": Scan, "commits": Commit}


def add(record_list: Sequence[Record]) -> int:
    """Add the rows of watched runs that the tables lack; the ledger's lock is held.

    Args:
        record_list: of runs that ended.

    Returns:
        How many rows were added.
    """
    added = 0
    watched = [record for record in record_list if record.metrics and record.metrics.state == "folded"]
    contents: dict[str, dict[str, Any] | None] = {}
    for name in NAMES:
        expected = [record for record in watched if _count(record, name)]
        if not expected:
            continue
        table = ledger.table(("workbench", name), _schema(name))
        known = set(table.scan(selected_fields=("run_id",)).to_arrow()["run_id"].to_pylist())
        rows: list[dict[str, Any]] = []
        for record in expected:
            if record.run_id not in known:
                if record.run_id not in contents:
                    contents[record.run_id] = _content(record)
                rows += _rows(record, name, contents[record.run_id] or {})
        if rows:
            ledger.append(table, rows, _schema(name))
            added += len(rows)
    return added


def sums() -> dict[str, dict[str, Any]]:
    """Return what each watched run came to, by run id: sums of the tables' rows, and the causes found.

    Returns:
        dict of run id to the names of SUMMED, and to incidents and evidence, lists of causes and of sentences.
    """
    sums_of: dict[str, dict[str, Any]] = defaultdict(
        lambda: {**dict.fromkeys(SUMMED, 0), "incidents": [], "evidence": []}
    )
    for row in _read("stages", ("run_id", *SUMMED[:3])):
        for name in SUMMED[:3]:
            sums_of[row["run_id"]][name] += row[name]
    for row in _read("scans", ("run_id", "data_files", "files_read", "skipped_files")):
        entry = sums_of[row["run_id"]]
        entry["files_planned"] += row["data_files"]
        entry["files_read"] += row["files_read"]
        entry["files_skipped"] += row["skipped_files"]
    for row in _read("commits", ("run_id", "tries")):
        sums_of[row["run_id"]]["retries"] += row["tries"] - 1
    for row in _read("incidents", ("run_id", "cause", "evidence")):
        entry = sums_of[row["run_id"]]
        entry["incidents"].append(row["cause"])
        entry["evidence"].append(row["evidence"])
    return dict(sums_of)


def _count(record: Record, name: str) -> int:
    metrics = record.metrics
    assert metrics is not None  # of watched runs alone
    return len(metrics.incidents) + bool(metrics.slower) if name == "incidents" else metrics.rows.get(name, 0)


def _content(record: Record) -> dict[str, Any] | None:
    """Return the `metrics.json` of a run; None where it was deleted or is damaged, which is printed."""
    try:
        return metering.document(records.folder(record))
    except WorkbenchError as error:
        say(str(error))
        return None


def _rows(record: Record, name: str, content: dict[str, Any]) -> list[dict[str, Any]]:
    common = {"run_id": record.run_id, "notebook": record.notebook}
    if name == "incidents":
        listed = content.get("incidents", [])
        if slower := content.get("slower"):
            listed = [*listed, _slower(slower)]
        kept = ("session", *_INCIDENT)
        return [common | {key: incident[key] for key in kept} for incident in listed]
    rows = []
    for session in content.get("sessions", ()):
        run, reports = documents.read(session)
        kinds: dict[str, Iterable[Any]] = {"stages": run.stages, "scans": run.scans, "commits": reports.commits}
        for item in kinds[name]:
            row = {field.name: getattr(item, field.name) for field in fields(item)}
            if isinstance(item, Scan):
                row["files_read"] = fold.files_read(item)
            rows.append(common | {"session": session["folder"]} | row)
    return rows


def _slower(slower: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison with earlier runs as a row of incidents."""
    figure = {"figure": slower["factor"], "threshold": fold.SLOWER_FACTOR, "evidence": slower["sentence"]}
    return {"session": "", "cause": "slower", "where": "run", "severity": "slow"} | figure


def _read(name: str, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    table = ledger.existing(("workbench", name))
    return [] if table is None else table.scan(selected_fields=columns).to_arrow().to_pylist()


def _schema(name: str) -> "pa.Schema":
    """Return the columns of a table: those of the run, and the fields of a stage, a scan or a commit."""
    import pyarrow as pa

    types = {
        str: pa.string(), int: pa.int64(), float: pa.float64(), datetime: pa.timestamp("us", tz="UTC"),
    }  # fmt: skip
    own = dict(_INCIDENT) if name == "incidents" else documents.columns(_RECORDS[name])
    own |= {"files_read": int} if name == "scans" else {}
    columns = [pa.field(column, pa.string()) for column in _OF_RUN]
    return pa.schema([*columns, *(pa.field(column, types[kind]) for column, kind in own.items())])
