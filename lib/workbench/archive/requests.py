"""The state table of a restore: what was asked for which object, in one SQLite file that outlives the process.

A request is noted as `asking` before it is sent and as `asked` when it was answered, so that after a kill it is
known which objects may have been asked: those are looked at, never asked blindly again.
"""

from datetime import UTC, datetime
from typing import Any, overload

from workbench._base import worklist

PLANNED, ASKING, ASKED, READY, FAILED = "planned", "asking", "asked", "ready", "failed"
OPEN = (PLANNED, ASKING, ASKED)
STATES = (*OPEN, READY, FAILED)
STATE_TABLE = worklist.Form(
    name="state table", user="restore", table="requests", key=("uri", "version"),
    columns={
        "uri": "TEXT NOT NULL", "version": "TEXT NOT NULL", "version_id": "TEXT", "action": "TEXT NOT NULL",
        "tier": "TEXT", "days": "INTEGER", "hours": "REAL", "state": "TEXT NOT NULL", "status": "INTEGER",
        "asked_at": "TEXT", "until": "TEXT", "why": "TEXT",
    },
)  # fmt: skip


Row = dict[str, Any]  # of the state table
Changes = dict[str, Any]  # columns of a row that change


def text(moment: datetime | None) -> str | None:
    """Return a time as the table keeps it; None stays."""
    return moment.astimezone(UTC).isoformat() if moment else None


@overload
def moment(kept: str) -> datetime: ...
@overload
def moment(kept: None) -> None: ...
def moment(kept: str | None) -> datetime | None:
    """Return the time that the table keeps; None stays."""
    return datetime.fromisoformat(kept) if kept else None
