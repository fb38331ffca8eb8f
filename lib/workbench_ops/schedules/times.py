"""When an entry runs: cron expressions that every cron reads the same way, time zones, the next times.

Cron programs differ in what they accept and in how they read it. Accepted is what their manuals agree on, the rest
is refused with the reason. The days and hours of an expression are computed by cronsim, on a clock that is never
changed. What a change of clocks does to them is as in Debian's cron, and is computed here: a job with a fixed time
that the clock jumps over in spring runs once right after, and in autumn once, not twice; one with * for the minute
or the hour comes whenever the clock on the wall fits.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from workbench._base import strict
from workbench._base.errors import ArgumentError

FIELDS = ("minute", "hour", "day of month", "month", "day of week")
LEAST, MOST = (0, 0, 1, 1, 0), (59, 23, 31, 12, 7)
NAMES = (
    (),
    (),
    (),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
)
ITEM = re.compile(r"(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
DAY_OF_WEEK = 4  # index in FIELDS
SATURDAY, SUNDAY_TOO = 6, 7
OTHER_ZONES = re.compile(r"(posix|right)/.*|posixrules|localtime|Factory")  # files beside IANA's own zones
QUARTER = 15  # minutes: the offsets of all time zones in use differ by multiples of it
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


def require(expression: str) -> None:
    """Validate a cron expression: one that never comes, or that cron programs read differently, is refused.

    Raises:
        ArgumentError: the sentence names the field, what is expected and what was found.
    """
    if not expression.isascii():
        raise ArgumentError(
            f"{expression!r} has a character that cron does not read, such as a non-breaking space"
        )
    fields = expression.split()
    if len(fields) != 5:
        shape = "minute, hour, day of month, month, day of week"
        raise ArgumentError(f"a cron expression has five fields ({shape}), found {len(fields)} in {expression!r}")
    for number, field in enumerate(fields):
        for item in field.split(","):
            if wrong := _wrong(number, item, alone=item == field):
                raise ArgumentError(f"{FIELDS[number]}: {wrong}")
    if wrong := _wrong_days(fields[2], fields[4]):
        raise ArgumentError(wrong)
    try:
        following(expression, "UTC", datetime(2024, 1, 1, tzinfo=UTC), count=1)
    except StopIteration:
        raise ArgumentError(f"{expression!r} never comes") from None


def _wrong(number: int, item: str, *, alone: bool) -> str | None:
    least, most, names = LEAST[number], MOST[number], NAMES[number]
    if item.lower() in names:
        return (
            None if alone else f"{item}: a name stands alone (lists and ranges of names are not read everywhere)"
        )
    if not (match := ITEM.fullmatch(item)):
        known = f", or one of {' '.join(names)}" if names else ""
        return f"expected numbers {least} to {most}{known}, with * - / , between them, found {item!r}"
    star, first, last, step = match.groups()
    if step is not None and not 1 <= int(step) <= most:
        return f"a step is 1 to {most}, found {item!r}"
    if star:
        bare = step is None and not alone
        return "*: it stands alone (in a list of days cron programs differ in what it limits)" if bare else None
    if step is not None and last is None:
        read = f"{item!r} is {first}-{most}/{step} for some cron programs and {first} for others"
        return f"a step needs a range or *: {read}"
    inside = all(least <= int(value) <= most for value in (first, last) if value is not None)
    if not inside:
        return f"expected {least} to {most}, found {item!r}"
    if last is not None and int(last) < int(first):
        return f"the range {item} ends before it begins"
    if last is not None and int(last) == int(first):
        read = f"{first} for some cron programs and the whole field for others (croniter, which Airflow asks)"
        return f"a range of one value: {item!r} is {read}; write {first}"
    if number == DAY_OF_WEEK and SUNDAY_TOO in (int(first), int(last or first)):
        read = "Sunday for some cron programs and every day for others (busybox)"
        return f"{SUNDAY_TOO} in {item!r} is {read}; write Sunday as 0"
    return None


def _wrong_days(days: str, weekdays: str) -> str | None:
    """Return what cron programs read differently in the two fields of days, each of which is valid by itself."""
    both = f"day of month {days} and day of week {weekdays}"
    starred = [field for field in (days, weekdays) if field.startswith("*")]
    if starred and "*" not in starred:
        return (
            f"{both}: where one of two limited days begins with * "
            "some cron programs take days that fit both, others days that fit either; write its days as a list"
        )
    if days.startswith("*/") and days != "*/1":
        step = days.removeprefix("*/")
        read = f"every {step} days from day 1 for some cron programs and from day 0 for others (busybox, dcron)"
        return f"day of month: {days!r} is {read}; write the days as a range, such as 1-31/{step}"
    if "*" not in (days, weekdays) and len(_values(weekdays, DAY_OF_WEEK)) == len(NAMES[DAY_OF_WEEK]):
        read = "every day for some cron programs and the days of the month alone for others (busybox)"
        return f"{both}: {weekdays!r} has all days of the week, which is {read}; write * in one of the two fields"
    return None


def _values(field: str, number: int) -> set[int]:
    """Return the set of values of a field that `_wrong` accepts; its number is the index in FIELDS."""
    return set[int]().union(*(_values_of_item(item.lower(), number) for item in field.split(",")))


def _values_of_item(item: str, number: int) -> set[int]:
    if item in NAMES[number]:
        return {NAMES[number].index(item) + LEAST[number]}
    star, first, last, step = ITEM.findall(item)[0]
    most = SATURDAY if number == DAY_OF_WEEK else MOST[number]
    least, most = (LEAST[number], most) if star else (int(first), int(last or first))
    return set(range(least, most + 1, int(step or 1)))


def zone(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name.

    Some files beside the zones are not accepted: localtime differs from machine to machine, and right/ counts leap
    seconds, which a C library does and Python does not.

    Raises:
        ArgumentError: there is no such zone; the message names the nearest one.
    """
    try:
        if OTHER_ZONES.fullmatch(name):
            raise ValueError
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        close = strict.nearest(name, available_timezones())
        meant = f" (did you mean {close}?)" if close else ""
        raise ArgumentError(
            f"{name!r} is not a time zone{meant}; expected a name like Europe/Berlin or UTC"
        ) from None


def following(expression: str, time_zone: str, after: datetime, *, count: int) -> list[datetime]:
    """Return the next times of an expression after a moment.

    Args:
        expression: five fields that `require` accepts.
        time_zone: IANA name; the fields mean its wall clock.
        after: aware datetime; a time equal to it is not returned.
        count: how many.

    Returns:
        list of aware datetimes in that zone, ascending.

    Raises:
        StopIteration: the expression never comes.
    """
    starred = any(field.startswith("*") for field in expression.split()[:2])
    clock, after = zone(time_zone), after.astimezone(UTC)
    try:
        moments = list(islice((_starred if starred else _fixed)(expression, clock, after), count))
    except OverflowError:  # Python has no year 10000
        moments = []
    if len(moments) < count:
        raise StopIteration
    return [moment.astimezone(clock) for moment in moments]


def _walls(expression: str, after: datetime) -> Iterator[datetime]:
    """Yield the times of an expression after another one, all of them without a zone."""
    from cronsim import CronSim, CronSimError

    try:
        yield from CronSim(expression, after)
    except CronSimError:  # a day that no month has; the fields themselves were looked at before
        return


def _fixed(expression: str, clock: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the times in UTC of an expression with a fixed minute and hour: each of the wall clock's once."""
    last = after
    for wall in _walls(expression, after.astimezone(clock).replace(tzinfo=None)):
        moment, later = (wall.replace(tzinfo=clock, fold=fold).astimezone(UTC) for fold in (0, 1))
        if later < moment:  # it is jumped over, by a change of clocks between the two
            moment = _change(clock, _offset(clock, later), later, moment) or moment
        if moment > last:  # or it was before: asked in an hour that comes twice, or jumped over with another one
            yield moment
            last = moment


def _starred(expression: str, clock: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Yield the times in UTC of an expression with a * for the minute or hour: whenever the wall clock fits."""
    offset = _offset(clock, after)
    while True:
        wall = next(_walls(expression, (after + offset).replace(tzinfo=None)), None)
        if wall is None:
            return
        moment = wall.replace(tzinfo=UTC) - offset
        if change := _change(clock, offset, after, moment):  # until there it never fitted
            after, offset = change - MINUTE, _offset(clock, change)
        else:
            yield (after := moment)


def _change(clock: ZoneInfo, offset: timedelta, after: datetime, until: datetime) -> datetime | None:
    """Return the first minute after `after`, up to `until`, that has another offset; None if there is none."""
    while after < until:
        day = min(after + DAY, until)
        if _offset(clock, day) != offset:
            break
        after = day
    else:
        return None
    minutes = range(1, math.ceil((day - after) / MINUTE) + 1)
    start = after.replace(second=0, microsecond=0)
    place = bisect_left(minutes, True, key=lambda n: _offset(clock, start + n * MINUTE) != offset)
    return start + minutes[place] * MINUTE


def due(expression: str, time_zone: str, at: datetime) -> bool:
    """Say whether a cron daemon that wakes a job up in its `slots` is to run it at this wake-up.

    Every time of the expression belongs to the first slot at or after it, so it is run once: none is doubled and
    none is lost, in whichever zone the daemon lives, and nothing has to be remembered between two wake-ups.

    Args:
        expression: five fields.
        time_zone: IANA name, of the fields.
        at: aware datetime of the wake-up; seconds are dropped.
    """
    minutes = slots(expression)
    slot = _slot(at.astimezone(UTC).replace(second=0, microsecond=0), minutes)
    before = _slot(slot - timedelta(minutes=1), minutes)
    return following(expression, time_zone, before, count=1)[0] <= slot


def once_a_day(expression: str) -> bool:
    """Say whether an expression comes at most once a day: it has one minute and one hour."""
    return all(len(_values(field, number)) == 1 for number, field in enumerate(expression.split()[:2]))


def _slot(moment: datetime, minutes: Collection[int]) -> datetime:
    while moment.minute not in minutes:
        moment -= timedelta(minutes=1)
    return moment


def slots(expression: str) -> list[int]:
    """Return the minutes of an hour at which an expression can come in any time zone, sorted."""
    minutes = _values(expression.split()[0], number=0)
    return sorted({(minute + shift) % 60 for minute in minutes for shift in range(0, 60, QUARTER)})


def machine_zone(file: str | Path = "/etc/localtime") -> tuple[str, ZoneInfo]:
    """Return (name, zone) of the clock that cron follows here, whatever a user's TZ says; UTC if there is none."""
    path = Path(file)
    if not path.is_file():
        return "UTC", ZoneInfo("UTC")
    target = str(path.resolve())
    name = target.partition("zoneinfo/")[2] or "of this machine"
    with path.open("rb") as data:
        return name, ZoneInfo.from_file(data, key=name)


def _offset(clock: tzinfo, moment: datetime) -> timedelta:
    return moment.astimezone(clock).utcoffset() or timedelta()


def same_clock(first: tzinfo, second: tzinfo, year: int) -> bool:
    """Say whether two zones show the same time all through a year and the next one."""
    begin = datetime(year, 1, 1, tzinfo=UTC)
    hours = (begin + timedelta(hours=h) for h in range(2 * 366 * 24))
    return all(_offset(first, hour) == _offset(second, hour) for hour in hours)
