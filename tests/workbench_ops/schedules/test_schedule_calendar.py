"""The next times of every form of field, against crontab(5) read minute by minute and times written out by hand."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from workbench_ops.schedules import times

MINUTE = timedelta(minutes=1)
LEAST, MOST = (0, 0, 1, 1, 0), (59, 23, 31, 12, 6)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

# entry, zone, moment, next times as wall clock and offset; from the calendar, not from a program
BY_HAND = [
    ("* * * * *", "UTC", "2026-01-31T23:59:59+00:00", ["2026-02-01 00:00 +0000", "2026-02-01 00:01 +0000"]),
    ("* * * * *", "UTC", "2026-01-31T23:59:00+00:00", ["2026-02-01 00:00 +0000"]),
    ("59 23 31 12 *", "UTC", "2025-12-31T23:59:00+00:00", ["2026-12-31 23:59 +0000", "2027-12-31 23:59 +0000"]),
    # days that not every month has
    ("0 0 29 2 *", "UTC", "2023-03-01T00:00:00+00:00", ["2024-02-29 00:00 +0000", "2028-02-29 00:00 +0000"]),
    ("0 0 29 2 *", "UTC", "2096-03-01T00:00:00+00:00", ["2104-02-29 00:00 +0000"]),  # 2100 is no leap year
    ("0 0 28 2 *", "UTC", "2024-02-28T00:00:00+00:00", ["2025-02-28 00:00 +0000"]),
    ("0 0 31 * *", "UTC", "2026-01-31T00:00:00+00:00",
     ["2026-03-31 00:00 +0000", "2026-05-31 00:00 +0000", "2026-07-31 00:00 +0000", "2026-08-31 00:00 +0000"]),
    ("0 0 30,31 2,4 *", "UTC", "2026-01-01T00:00:00+00:00", ["2026-04-30 00:00 +0000", "2027-04-30 00:00 +0000"]),
    # either day, where both are limited: the 13th, and Fridays
    ("0 0 13 * 5", "UTC", "2026-02-06T00:00:00+00:00",
     ["2026-02-13 00:00 +0000", "2026-02-20 00:00 +0000", "2026-02-27 00:00 +0000", "2026-03-06 00:00 +0000",
      "2026-03-13 00:00 +0000"]),
    ("0 0 31 2 0", "UTC", "2026-02-01T00:00:00+00:00", ["2026-02-08 00:00 +0000", "2026-02-15 00:00 +0000"]),
    # names
    ("0 6 * feb SAT", "UTC", "2026-02-22T00:00:00+00:00", ["2026-02-28 06:00 +0000", "2027-02-06 06:00 +0000"]),
    # an hour that is not there, with the change at 02:00, at midnight, in the evening before, by half an hour
    ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+00:00", ["2026-03-29 03:00 +0200", "2026-03-30 02:30 +0200"]),
    ("0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00+00:00", ["2026-03-29 03:00 +0200", "2026-03-29 03:30 +0200"]),
    ("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00+00:00", ["2026-03-30 02:00 +0200", "2026-03-30 02:30 +0200"]),
    ("5 0 8 3 *", "America/Havana", "2026-03-07T12:00:00+00:00", ["2026-03-08 01:00 -0400", "2027-03-08 00:05 -0500"]),
    ("*/30 0 * * 0", "America/Havana", "2026-03-07T12:00:00+00:00", ["2026-03-15 00:00 -0400"]),
    ("*/30 * * * 0", "America/Havana", "2026-03-07T12:00:00+00:00", ["2026-03-08 01:00 -0400", "2026-03-08 01:30 -0400"]),
    ("30 23 * * 6", "America/Nuuk", "2026-03-28T12:00:00+00:00", ["2026-03-29 00:00 -0100", "2026-04-04 23:30 -0100"]),
    ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00+00:00", ["2026-10-04 02:30 +1100", "2026-10-05 02:15 +1100"]),
    ("*/20 3 * * *", "Australia/Lord_Howe", "2026-10-03T05:00:00+00:00", ["2026-10-04 03:00 +1100", "2026-10-04 03:20 +1100"]),
    # an hour that comes twice
    ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+00:00", ["2026-10-25 02:30 +0200", "2026-10-26 02:30 +0100"]),
    ("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00+00:00", ["2026-10-26 02:30 +0100"]),  # asked in its second hour
    ("30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00+00:00",
     ["2026-10-25 02:30 +0200", "2026-10-25 02:30 +0100", "2026-10-25 03:30 +0100"]),
    ("*/30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+00:00",
     ["2026-10-25 02:00 +0200", "2026-10-25 02:30 +0200", "2026-10-25 02:00 +0100", "2026-10-25 02:30 +0100"]),
    ("30 0 1 11 *", "America/Havana", "2026-10-31T12:00:00+00:00", ["2026-11-01 00:30 -0400", "2027-11-01 00:30 -0400"]),
    ("*/30 2 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00+00:00", ["2026-04-05 02:00 +1030", "2026-04-05 02:30 +1030"]),
    # a date that a zone never had
    ("0 12 30 12 *", "Pacific/Apia", "2011-12-30T00:00:00+00:00", ["2011-12-31 00:00 +1400", "2012-12-30 12:00 +1400"]),
]  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: f"{case[0]} {case[1]} {case[2]}")
def test_times_written_out_by_hand(case):
    entry, zone, moment, expected = case
    found = times.following(entry, zone, datetime.fromisoformat(moment), count=len(expected))
    assert [f"{one:%Y-%m-%d %H:%M %z}" for one in found] == expected


def values(number, field):
    """Every value of a field, by crontab(5): lists of ranges of numbers, names or *, each with its step."""
    found = set()
    for item in field.lower().split(","):
        span, _, step = item.partition("/")
        first, _, last = (f"{LEAST[number]}-{MOST[number]}" if span == "*" else span).partition("-")
        low, high = (value(number, one) for one in (first, last or first))
        found |= {one for one in range(low, high + 1) if (one - low) % int(step or 1) == 0}
    return found


def value(number, text):
    names = {3: dict(zip(MONTHS, range(1, 13), strict=True)), 4: dict(zip(DAYS, range(7), strict=True))}
    return names.get(number, {}).get(text) if text.isalpha() else int(text)


def minute_by_minute(entry, zone, begin, end):
    """The times of an entry from one moment on to another, both out, by looking at the clock on the wall each minute.

    Debian's cron(8): "Only jobs that run at a particular time (not specified as @hourly, nor with '*' in the hour or
    minute specifier) are affected": they "will be run immediately" where their time was skipped, and "will not be
    re-run" where it repeats. "Jobs which are specified with wildcards are run based on the new time immediately."
    """
    fields = entry.split()
    minute, hour, day, month, weekday = (values(number, field) for number, field in enumerate(fields))
    either = not fields[2].startswith("*") and not fields[4].startswith("*")
    fixed = not fields[0].startswith("*") and not fields[1].startswith("*")

    def right(wall):
        days = wall.day in day, wall.isoweekday() % 7 in weekday
        on_day = any(days) if either else all(days)
        return wall.minute in minute and wall.hour in hour and wall.month in month and on_day

    clock, found, moment = ZoneInfo(zone), [], begin - timedelta(days=2)
    latest = (moment - MINUTE).astimezone(clock).replace(tzinfo=None)  # to which the clock has ever gone
    while moment < end:
        wall = moment.astimezone(clock).replace(tzinfo=None)
        if fixed:
            new = [latest + n * MINUTE for n in range(1, (wall - latest) // MINUTE + 1)]
            comes, latest = any(map(right, new)), max(latest, wall)
        else:
            comes = right(wall)
        found += [moment] if comes and moment > begin else []
        moment += MINUTE
    return found


# every change of clocks that a rule of today makes: 02:00 and 01:00, midnight, 24:00, half an hour, two hours
CHANGES = {
    "Europe/Berlin": ["2026-03-29", "2026-10-25"],
    "Europe/London": ["2026-03-29", "2026-10-25"],
    "America/New_York": ["2026-03-08", "2026-11-01"],
    "America/Havana": ["2026-03-08", "2026-11-01"],
    "America/Nuuk": ["2026-03-28", "2026-10-24"],
    "Asia/Beirut": ["2026-03-28", "2026-10-24"],
    "Africa/Casablanca": ["2026-02-15", "2026-03-22"],
    "Australia/Lord_Howe": ["2026-04-04", "2026-10-03"],
    "Pacific/Chatham": ["2026-04-04", "2026-09-26"],
    "Antarctica/Troll": ["2026-03-29", "2026-10-25"],
    "Asia/Kathmandu": ["2026-02-28", "2026-12-31"],
}
PLACES = [(zone, day) for zone, days in CHANGES.items() for day in days]


def field(number, *, starred=("*",)):
    low, high = LEAST[number], MOST[number]
    one = st.integers(low, high)
    span = st.tuples(one, one).filter(lambda pair: pair[0] < pair[1]).map(lambda pair: f"{pair[0]}-{pair[1]}")
    stepped = st.tuples(span, st.integers(1, high)).map(lambda pair: f"{pair[0]}/{pair[1]}")
    item = st.one_of(one.map(str), span, stepped)
    lists = st.lists(item, min_size=1, max_size=3).map(",".join)
    return st.one_of(st.sampled_from(starred), lists)


@example("*/30 3 * * *", ("Australia/Lord_Howe", "2026-10-03"), 0)
@example("*/20 0 * * 0", ("America/Havana", "2026-03-08"), 0)
@example("30 2 * * *", ("Europe/Berlin", "2026-10-25"), 25 * 60 + 10)
@settings(max_examples=60, deadline=None)
@given(entry=st.tuples(field(0, starred=("*", "*/7", "*/20")), field(1, starred=("*", "*/2")),
                       field(2), st.sampled_from(["*", "*/1", "2-4", "3", "mar", "9-11,4"]),
                       st.one_of(field(4), st.sampled_from([*DAYS, "SUN"]))).map(" ".join),
       place=st.sampled_from(PLACES), later=st.integers(0, 3 * 24 * 60))  # fmt: skip
def test_every_minute_around_a_change_of_clocks(entry, place, later):
    zone, day = place
    try:
        times.require(entry)
    except ValueError:
        assume(False)
    begin = (
        datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC) - timedelta(days=1) + later * MINUTE
    )
    end = begin + timedelta(days=2)
    expected = minute_by_minute(entry, zone, begin, end)
    found = times.following(entry, zone, begin, count=len(expected) + 1)
    assert [one.astimezone(UTC) for one in found if one < end] == expected
    assert all(one.tzinfo.key == zone for one in found)
    assert all(
        one.astimezone(UTC).astimezone(one.tzinfo).replace(tzinfo=None) == one.replace(tzinfo=None)
        for one in found
    )
