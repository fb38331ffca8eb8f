"""What a look at an object says of its request: settled, under way, or still to be asked for. Pure functions.

A row is one of the state table, a step one of the plan, `found` the Object that a HEAD request gave, None where
there was none. Each function returns the columns that change; None says that S3 has to be asked, by the plan at
hand.
"""

from datetime import timedelta

from workbench.archive import planning
from workbench.archive.objects import ARCHIVED, RESTORING
from workbench.archive.requests import ASKED, ASKING, FAILED, PLANNED, READY, moment, text

ANEW = "plan it anew"


def before_asking(step, row, found, now):
    """Say what becomes of a planned request after a look just before it; None: it is sent.

    Time has passed since the plan: what is there already is not paid for, and a copy is never shortened.
    """
    if values := _another(row, found):
        return values
    if found.state == RESTORING:
        return {"state": ASKED, "asked_at": text(now)}
    if found.state == ARCHIVED:
        if row["action"] == planning.PROLONG:
            return _copy_gone()
        if found.archived_as != step.object.archived_as:
            return _failed(f"it is {found.archived_as} now, and was {step.object.archived_as} in the plan; {ANEW}")
        return None
    until = found.restored_until
    if row["action"] == planning.PROLONG and until and until < planning.lives_until(now, row["days"]):
        return None
    return _ready(found)


def of_earlier(step, row, found, made_at, now):
    """Say what an earlier run's request came to; None: the step is taken anew, with its own tier and days.

    Args:
        step: of the plan at hand.
        row: what the earlier run noted; asking, asked or ready.
        found: as it is now.
        made_at: when the plan at hand was made.
        now: the time.
    """
    if values := _another(row, found):
        return values
    if found.state == RESTORING:
        # a copy that was seen has gone since, and this is somebody else's
        return {"state": ASKED} | ({"action": planning.WAIT} if row["state"] == READY else {})
    if found.state == ARCHIVED:
        if step.action != planning.RESTORE:
            return _copy_gone()
        waits = row["state"] == ASKED and made_at <= moment(row["asked_at"]) and not _over(row, now)
        return {"state": ASKED} if waits else None
    until = found.restored_until
    if step.action == planning.PROLONG and until and until <= step.object.restored_until:
        return None  # nobody has prolonged it since the plan looked
    return _ready(found)


def under_way(row, found, now):
    """Say what became of a request of this run, or of one that may have been sent."""
    if values := _another(row, found):
        return values
    if found.state == RESTORING:
        return {"state": ASKED}
    if found.state == ARCHIVED:
        if row["action"] == planning.WAIT:
            return _failed(f"it was under way, and is archived again; {ANEW}")
        if row["action"] == planning.PROLONG:
            return _copy_gone()
        # the request never arrived, or its copy came and went unseen
        return {"state": PLANNED if row["state"] == ASKING or _over(row, now) else ASKED}
    until = found.restored_until
    unsure = row["state"] == ASKING and row["action"] == planning.PROLONG
    if unsure and until and until <= moment(row["until"]):  # the request never arrived
        return {"state": PLANNED}
    return _ready(found)


def _another(row, found):
    if found is None:
        return _failed("it is not there any more")
    if not row["version_id"] and found.etag != row["version"]:
        return _failed("it was overwritten since the plan")
    return None


def _over(row, now):
    """Say whether the copy that was asked for must have come and gone."""
    return moment(row["asked_at"]) + timedelta(hours=row["hours"], days=(row["days"] or 0) + 1) <= now


def _copy_gone():
    return _failed(f"its copy is gone since the plan, and getting it back is another price; {ANEW}")


def _ready(found):
    return {"state": READY, "until": text(found.restored_until)}


def _failed(why):
    return {"state": FAILED, "why": why}
