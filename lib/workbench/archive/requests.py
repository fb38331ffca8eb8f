"""The state table of a restore: what was asked for which object, in one SQLite file that outlives the process.

A request is noted as `asking` before it is sent and as `asked` when it was answered, so that after a kill it is
known which objects may have been asked: those are looked at, never asked blindly again.
"""

from datetime import UTC, datetime

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


def text(moment):
    """Return a time as the table keeps it; None stays."""
    return moment.astimezone(UTC).isoformat() if moment else None


def moment(kept):
    """Return the time that the table keeps; None stays."""
    return datetime.fromisoformat(kept) if kept else None
