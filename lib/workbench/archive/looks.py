"""What a look at an object says of its request: settled, under way, or still to be sent. Pure functions.

A row is one of the state table, a step one of the plan, `entry` the Object that a HEAD request gave, None where
the object is gone. Each function returns the columns that change; None says that S3 has to be asked, by the plan
at hand.
"""

from datetime import datetime, timedelta

from workbench.archive import planning
from workbench.archive.objects import ARCHIVED, RESTORING, Object
from workbench.archive.planning import Step
from workbench.archive.requests import ASKED, ASKING, FAILED, PLANNED, READY, Changes, Row, moment, text

ANEW = "plan it anew"


def before_asking(step: Step, row: Row, entry: Object | None, now: datetime) -> Changes | None:
    """Return the outcome of a planned request after a look just before it; None means that it is sent.

    Time has passed since the plan: what is there already is not paid for, and a copy is never shortened.
    """
    if entry is None or _overwritten(row, entry):
        return _lost(entry)
    if entry.state == RESTORING:
        return {"state": ASKED, "asked_at": text(now)}
    if entry.state == ARCHIVED:
        if row["action"] == planning.PROLONG:
            return _copy_gone()
        if entry.archived_as != step.object.archived_as:
            return _failed(f"it is {entry.archived_as} now, and was {step.object.archived_as} in the plan; {ANEW}")
        return None
    until = entry.restored_until
    if row["action"] == planning.PROLONG and until and until < planning.lives_until(now, row["days"]):
        return None
    return _ready(entry)


def of_earlier(step: Step, row: Row, entry: Object | None, planned_at: datetime, now: datetime) -> Changes | None:
    """Return what an earlier run's request came to; None: the step is taken anew, with its own tier and days.

    Args:
        step: of the plan at hand.
        row: what the earlier run noted; asking, asked or ready.
        entry: as it is now.
        planned_at: when the plan at hand was made.
        now: the time.
    """
    if entry is None or _overwritten(row, entry):
        return _lost(entry)
    if entry.state == RESTORING:
        # a copy that was seen has gone since, and this is somebody else's
        return {"state": ASKED} | ({"action": planning.WAIT} if row["state"] == READY else {})
    if entry.state == ARCHIVED:
        if step.action != planning.RESTORE:
            return _copy_gone()
        waits = row["state"] == ASKED and planned_at <= moment(row["asked_at"]) and not _over(row, now)
        return {"state": ASKED} if waits else None
    until = entry.restored_until
    seen = step.object.restored_until
    if step.action == planning.PROLONG and until and seen and until <= seen:
        return None  # nobody has prolonged it since the plan looked
    return _ready(entry)


def under_way(row: Row, entry: Object | None, now: datetime) -> Changes:
    """Return what became of a request of this run, or of one that may have been sent."""
    if entry is None or _overwritten(row, entry):
        return _lost(entry)
    if entry.state == RESTORING:
        return {"state": ASKED}
    if entry.state == ARCHIVED:
        if row["action"] == planning.WAIT:
            return _failed(f"it was under way, and is archived again; {ANEW}")
        if row["action"] == planning.PROLONG:
            return _copy_gone()
        # the request never arrived, or its copy came and went unseen
        return {"state": PLANNED if row["state"] == ASKING or _over(row, now) else ASKED}
    until = entry.restored_until
    unsure = row["state"] == ASKING and row["action"] == planning.PROLONG
    if unsure and until and until <= moment(row["until"]):  # the request never arrived
        return {"state": PLANNED}
    return _ready(entry)


def _overwritten(row: Row, entry: Object) -> bool:
    return not row["version_id"] and entry.etag != row["version"]


def _lost(entry: Object | None) -> Changes:
    return _failed("it is not there any more" if entry is None else "it was overwritten since the plan")


def _over(row: Row, now: datetime) -> bool:
    """Say whether the requested copy must have arrived and expired already."""
    return moment(row["asked_at"]) + timedelta(hours=row["hours"], days=(row["days"] or 0) + 1) <= now


def _copy_gone() -> Changes:
    return _failed(f"its copy is gone since the plan, and getting it back is another price; {ANEW}")


def _ready(entry: Object) -> Changes:
    return {"state": READY, "until": text(entry.restored_until)}


def _failed(why: str) -> Changes:
    return {"state": FAILED, "why": why}
