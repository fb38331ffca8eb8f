"""Cron expressions: what every cron reads the same way, the next times, and no time doubled or lost by wake-ups."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from workbench_ops.schedules import times

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    "expression",
    ["* * * * *", "15 2 * * *", "*/20 8-17 * * 1-5", "0,30 4-20/2 1,15 * 5", "0 0 29 2 *", "5 12 * jan SUN", "0 6 * * 0",
     "0 4 1-31/2 * *", "0 4 */1 * *", "0 4 * * 0-6"],
)  # fmt: skip
def test_accepted(expression):
    assert times.require(expression) is None


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        (
            "15 2 * *",
            "a cron expression has five fields (minute, hour, day of month, month, day of week), found 4",
        ),
        ("@daily", "five fields"),
        ("0 15 2 * * *", "found 6"),
        ("60 2 * * *", "minute: expected 0 to 59, found '60'"),
        ("15 24 * * *", "hour: expected 0 to 23, found '24'"),
        ("15 2 0 * *", "day of month: expected 1 to 31, found '0'"),
        ("15 2 * 13 *", "month: expected 1 to 12, found '13'"),
        ("15 2 * * 8", "day of week: expected 0 to 7, found '8'"),
        ("15 2 * * mo", "day of week: expected numbers 0 to 7, or one of sun mon tue wed thu fri sat"),
        ("15 2 * * mon-fri", "day of week: expected numbers 0 to 7"),
        ("15 2 * jan,feb *", "month: jan: a name stands alone"),
        ("15 22-4 * * *", "hour: the range 22-4 ends before it begins"),
        (
            "5/15 * * * *",
            "minute: a step needs a range or *: '5/15' is 5-59/15 for some cron programs and 5 for others",
        ),
        ("*/0 * * * *", "minute: a step is 1 to 59, found '*/0'"),
        ("*/60 * * * *", "minute: a step is 1 to 59, found '*/60'"),
        ("0 0 L * *", "day of month: expected numbers 1 to 31"),
        ("0 0 * * 5#2", "day of week: expected numbers"),
        ("0,,5 * * * *", "minute: expected numbers"),
        ("15\u00a02 * * *", "has a character that cron does not read"),
        ("15 2 * * *\u2028", "has a character that cron does not read"),
        ("\u0665 2 * * *", "has a character that cron does not read"),
        ("0 0 1,* * 5", "day of month: *: it stands alone"),
        ("0 0 30 2 *", "'0 0 30 2 *' never comes"),
        ("0 0 */2 * 1", "day of month */2 and day of week 1: where one of two limited days begins with *"),
        ("0 0 1 * */2", "day of month 1 and day of week */2: where one"),
        (
            "0 5-5 * * *",
            "hour: a range of one value: '5-5' is 5 for some cron programs and the whole field for others "
            "(croniter, which Airflow asks); write 5",
        ),
        ("0 0 3-3 * *", "day of month: a range of one value: '3-3' is 3 for some"),
        ("5-5/2 0 * * *", "minute: a range of one value: '5-5/2' is 5 for some"),
        ("0 0 * 6-06 *", "month: a range of one value: '6-06' is 6 for some"),
        ("0 0 * * 1,4-4", "day of week: a range of one value: '4-4' is 4 for some"),
        (
            "0 6 * * 7",
            "day of week: 7 in '7' is Sunday for some cron programs and every day for others (busybox); "
            "write Sunday as 0",
        ),
        ("0 6 * * 5-7", "day of week: 7 in '5-7' is Sunday for some"),
        ("0 6 * * 1,07", "day of week: 7 in '07' is Sunday for some"),
        ("0 6 * * 1-7/2", "day of week: 7 in '1-7/2' is Sunday for some"),
        (
            "0 4 */2 * *",
            "day of month: '*/2' is every 2 days from day 1 for some cron programs and from day 0 for others "
            "(busybox, dcron); write the days as a range, such as 1-31/2",
        ),
        (
            "0 0 1 * 0-6",
            "day of month 1 and day of week 0-6: '0-6' has all days of the week, which is every day for some "
            "cron programs and the days of the month alone for others (busybox); write * in one of the two fields",
        ),
        ("0 0 1-31 * 1-6,0", "day of month 1-31 and day of week 1-6,0: '1-6,0' has all days of the week"),
    ],
)
def test_refused_with_a_sentence(expression, sentence):
    with pytest.raises(ValueError) as refusal:
        times.require(expression)
    assert sentence in str(refusal.value)


# crontab(5): "Ranges are inclusive", "Lists are allowed", steps are "skips of the number's value through the range",
# "Names can also be used for the month and day of week fields"; 31 days of March 2026, which begins on a Sunday
@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        ("minute", "7", [7]),
        ("minute", "07", [7]),
        ("minute", "8-11", [8, 9, 10, 11]),
        ("minute", "1,2,5,9", [1, 2, 5, 9]),
        ("minute", "9,1,5-6,5", [1, 5, 6, 9]),
        ("minute", "0-4,8-12", [0, 1, 2, 3, 4, 8, 9, 10, 11, 12]),
        ("minute", "*/20", [0, 20, 40]),
        ("minute", "*/59", [0, 59]),
        ("minute", "10-50/15", [10, 25, 40]),
        ("minute", "0-10/20", [0]),
        ("hour", "0-23/2", list(range(0, 24, 2))),
        ("hour", "*/2", list(range(0, 24, 2))),
        ("hour", "*/7", [0, 7, 14, 21]),
        ("hour", "*", list(range(24))),
        ("day", "1-31/10", [1, 11, 21, 31]),
        ("day", "*", list(range(1, 32))),
        ("day", "*/1", list(range(1, 32))),
        ("month", "*/5", [1, 6, 11]),
        ("month", "2-12/4", [2, 6, 10]),
        ("month", "dec", [12]),
        ("month", "FEB", [2]),
        ("weekday", "0", [1, 8, 15, 22, 29]),
        ("weekday", "SUN", [1, 8, 15, 22, 29]),
        ("weekday", "1-5", [d for d in range(1, 32) if d % 7 not in (0, 1)]),
        ("weekday", "*/3", [d for d in range(1, 32) if (d - 1) % 7 in (0, 3, 6)]),
        ("weekday", "0,6", [1, 7, 8, 14, 15, 21, 22, 28, 29]),
        ("weekday", "0-6", list(range(1, 32))),
        ("either", "10 3 1", [2, 9, 10, 16, 23, 30]),
        ("either", "30-31 3 0,5-6", sorted({30, 31, *(d for d in range(1, 32) if d % 7 in (1, 6, 0))})),
    ],
)
def test_the_fields_as_crontab_5_defines_them(field, text, values):
    march, year = datetime(2026, 2, 28, 23, 59, tzinfo=UTC), datetime(2025, 12, 31, 23, 59, tzinfo=UTC)
    form, begin, period, part = {
        "minute": ("{} 0 1 3 *", march, timedelta(hours=1), "%M"),
        "hour": ("0 {} 1 3 *", march, timedelta(days=1), "%H"),
        "day": ("0 0 {} 3 *", march, timedelta(days=31), "%d"),
        "month": ("0 0 1 {} *", year, timedelta(days=365), "%m"),
        "weekday": ("0 0 * 3 {}", march, timedelta(days=31), "%d"),
        "either": ("0 0 {}", march, timedelta(days=31), "%d"),
    }[field]
    expression = form.format(text)
    times.require(expression)
    found = times.following(expression, "UTC", begin, count=len(values) + 1)
    assert [int(f"{one:{part}}") for one in found if one < begin + MINUTE + period] == values


def test_the_next_times_in_the_zone_of_the_entry():
    begin = datetime(2026, 3, 28, 1, 30, tzinfo=UTC)
    found = times.following("30 2 * * *", "Europe/Berlin", begin, count=3)
    assert [f"{one:%Y-%m-%d %H:%M %z}" for one in found] == [
        "2026-03-29 03:00 +0200",  # 02:30 is not there that day: right after the clock has jumped
        "2026-03-30 02:30 +0200",
        "2026-03-31 02:30 +0200",
    ]
    autumn = times.following("30 2 * * *", "Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC), count=2)
    assert [f"{one:%Y-%m-%d %H:%M}" for one in autumn] == [
        "2026-10-25 02:30",
        "2026-10-26 02:30",
    ]  # once, not twice


def test_a_zone_that_is_none():
    with pytest.raises(ValueError, match=r"'Europe/Berln' is not a time zone \(did you mean Europe/Berlin\?\)"):
        times.zone("Europe/Berln")
    with pytest.raises(ValueError, match="'../etc/passwd' is not a time zone"):
        times.zone("../etc/passwd")
    with pytest.raises(
        ValueError, match=r"'right/Europe/Berlin' is not a time zone \(did you mean Europe/Berlin\?\)"
    ):
        times.zone("right/Europe/Berlin")
    for other in ("localtime", "posixrules", "posix/UTC", "Factory"):
        with pytest.raises(ValueError, match=f"'{other}' is not a time zone"):
            times.zone(other)


def test_the_minutes_at_which_a_zone_can_have_it():
    assert times.slots("15 2 * * *") == [0, 15, 30, 45]
    assert times.slots("7 2 * * *") == [7, 22, 37, 52]
    assert times.slots("*/20 2 * * *") == [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]
    assert times.slots("0-10/5,12 * * * *") == [0, 5, 10, 12, 15, 20, 25, 27, 30, 35, 40, 42, 45, 50, 55, 57]
    assert times.slots("* 2 * * *") == list(range(60))


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"]
numbers = st.integers(0, 59).map(str)
minutes = st.one_of(numbers, st.just("*"), st.just("*/20"), st.tuples(numbers, numbers).map(",".join))
hours = st.one_of(st.integers(0, 23).map(str), st.just("*"), st.just("1-3"), st.just("*/6"))


CHANGES = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01", "2026-06-15"]


@example("7", "2", "Europe/Berlin", "UTC", "2026-03-29", 0, 0)  # jumped over: at 03:00, which is no slot of :07
@example("0", "2", "Australia/Lord_Howe", "Asia/Kathmandu", "2026-10-04", 59, 2)
@example("30", "2", "Europe/Berlin", "UTC", "2026-10-25", 0, 0)  # the second 02:30, an hour behind the first
@settings(max_examples=40, deadline=None, derandomize=True)
@given(minute=minutes, hour=hours, zone=st.sampled_from(ZONES), daemon=st.sampled_from(ZONES),
       day=st.sampled_from(CHANGES), seconds=st.integers(0, 59), minutes_late=st.integers(0, 2))  # fmt: skip
def test_wake_ups_double_nothing_and_lose_nothing(minute, hour, zone, daemon, day, seconds, minutes_late):
    """A daemon in any zone wakes the job at its slots around a change of clocks: a run for each time, no other."""
    expression = f"{minute} {hour} * * *"
    slots = times.slots(expression)
    assume(len(slots) <= 12 and min(b - a for a, b in pairwise([*slots, slots[0] + 60])) > minutes_late)
    begin = datetime.fromisoformat(f"{day}T00:00+00:00") - timedelta(hours=10)
    wake_ups = [one for one in (begin + n * MINUTE for n in range(18 * 60)) if local(one, daemon).minute in slots]
    late = timedelta(minutes=minutes_late, seconds=seconds)
    ran = [one for one in wake_ups[1:] if times.due(expression, zone, one + late)]
    expected, moment = [], wake_ups[0]
    while (moment := times.following(expression, zone, moment, count=1)[0]) <= wake_ups[-1]:
        expected.append(next(one for one in wake_ups if one >= moment))
    assert ran == list(dict.fromkeys(expected))


def local(moment, zone):
    return moment.astimezone(ZoneInfo(zone))


def test_the_clock_of_the_machine(tmp_path):
    name, zone = times.machine_zone(tmp_path / "none")
    assert (name, times.same_clock(zone, ZoneInfo("UTC"), 2026)) == ("UTC", True)
    assert not times.same_clock(ZoneInfo("Europe/London"), ZoneInfo("UTC"), 2026)  # the same in winter only
    found = next((p for p in (Path(f) / "Europe/Berlin" for f in TZPATH) if p.is_file()), None)
    if found is None:
        pytest.skip("this machine has no zone files of its own")
    (tmp_path / "localtime").symlink_to(found)
    name, zone = times.machine_zone(tmp_path / "localtime")
    assert name == "Europe/Berlin"
    assert times.same_clock(zone, ZoneInfo("Europe/Berlin"), 2026)
    assert not times.same_clock(zone, ZoneInfo("UTC"), 2026)
