"""What S3 is described to do with an archived object, told once more and differently: by replaying what happened.

An event is (time in seconds, tier, days, capacity). Nothing is shared with the store's own code.
"""

import calendar
import time

MINUTES = {
    "GLACIER": {"Bulk": 720, "Standard": 300, "Expedited": 5},
    "DEEP_ARCHIVE": {"Bulk": 2880, "Standard": 720},
}
DAY = 86_400


class Oracle:
    """One object of GLACIER or DEEP_ARCHIVE."""

    def __init__(self, storage_class):
        self.speeds = MINUTES[storage_class]
        self.job = None  # [minutes of its tier, days, done at]
        self.gone_at = None

    def settle(self, now):
        if self.job and self.gone_at is None and now >= self.job[2]:
            self.gone_at = end_of_day(self.job[2] + self.job[1] * DAY)
        if self.gone_at is not None and now >= self.gone_at:
            self.job = self.gone_at = None

    def ask(self, now, tier, days, capacity):
        """The status and, for a refusal, the code."""
        self.settle(now)
        if tier not in self.speeds:
            return 400, "InvalidArgument"
        if self.gone_at is not None:
            self.gone_at = end_of_day(now + days * DAY)
            return 200, None
        if tier == "Expedited" and not capacity:
            return 503, "GlacierExpeditedRetrievalNotAvailable"
        minutes = self.speeds[tier]
        if self.job is None:
            self.job = [minutes, days, now + minutes * 60]
            return 202, None
        faster = minutes < self.job[0] and days == self.job[1]
        if not faster:
            return 409, "RestoreAlreadyInProgress"
        self.job = [minutes, days, min(self.job[2], now + minutes * 60)]
        return 202, None

    def seen(self, now):
        """What HEAD says: None, `true`, or the time of expiry as HTTP has it."""
        self.settle(now)
        if self.job is None:
            return None
        if self.gone_at is None:
            return "true"
        return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(self.gone_at))


def end_of_day(moment):
    day = time.gmtime(moment)[:3]
    return calendar.timegm((*day, 0, 0, 0)) + DAY
