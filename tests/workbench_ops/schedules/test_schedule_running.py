"""One entry as a scheduler runs it: which exit codes are tried again, what follows, who is told, nothing doubled."""

import pytest

from workbench_ops.schedules import entries, running

TEXT = """
first: {notebook: n, cron: "1 2 * * *", retries: 2, retry_wait_seconds: 7}
second: {notebook: n, after: first}
third: {notebook: n, after: second, retries: 1}
beside: {notebook: n, after: first}
"""


@pytest.fixture
def found(tmp_path):
    file = tmp_path / "schedules.yml"
    file.write_text(TEXT)
    return entries.read(file)


def followed(found, name, **codes):
    """Run an entry whose runs end with these codes in turn; returns the exit code and what happened."""
    happened, left = [], {name: list(ends) for name, ends in codes.items()}

    def start(entry):
        code = left.get(entry.name, [0]).pop(0) if left.get(entry.name) else 0
        happened.append((entry.name, code))
        return code, f"record of {entry.name}"

    code = running.run(
        found, name, start,
        notify=lambda entry, record: happened.append(("told", record)),
        say=lambda sentence: happened.append(("said", sentence)),
        wait=lambda seconds: happened.append(("waited", seconds)),
    )  # fmt: skip
    return code, happened


def test_all_passed(found):
    assert followed(found, "first") == (0, [("first", 0), ("second", 0), ("third", 0), ("beside", 0)])
    assert followed(found, "second") == (0, [("second", 0), ("third", 0)])


@pytest.mark.parametrize("code", [1, 4])
def test_a_failure_and_a_dead_kernel_are_tried_again(found, code):
    ended, happened = followed(found, "first", first=[code, 0])
    assert ended == 0
    assert happened[:4] == [
        ("first", code), ("said", f"first ended with {code}, try 2 of 3 follows"), ("waited", 7), ("first", 0),
    ]  # fmt: skip
    ended, happened = followed(found, "first", first=[code, code, code, code])
    assert ended == code
    assert [one for one in happened if one[0] in ("first", "told")] == [
        ("first", code), ("first", code), ("first", code), ("told", "record of first"),
    ]  # fmt: skip


@pytest.mark.parametrize("code", [2, 3, 143])
def test_a_refusal_a_timeout_and_a_stop_are_not(found, code):
    ended, happened = followed(found, "first", first=[code])
    said = [] if code == 143 else [
        ("said", "second is not started: first did not pass"),
        ("said", "third is not started: second did not pass"),
        ("said", "beside is not started: first did not pass"),
    ]  # fmt: skip
    assert (ended, happened) == (code, [("first", code), ("told", "record of first"), *said])


def test_what_follows_a_failure_is_not_started_and_what_does_not_is(found):
    assert followed(found, "first", second=[3]) == (
        3,
        [("first", 0), ("second", 3), ("told", "record of second"),
         ("said", "third is not started: second did not pass"), ("beside", 0)],
    )  # fmt: skip


def test_a_stop_stops_all_of_it(found):
    assert followed(found, "first", second=[143]) == (
        143, [("first", 0), ("second", 143), ("told", "record of second")],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "attempt", "told"),
    [(0, 1, 0), (1, 1, 0), (1, 2, 0), (1, 3, 1), (1, 4, 1), (4, 2, 0), (2, 1, 1), (3, 1, 1)],
)
def test_one_try_tells_only_when_it_failed_for_good(found, code, attempt, told):
    calls = []
    ended = running.once(
        found["first"], lambda _: (code, "r"), attempt=attempt, notify=lambda *one: calls.append(one)
    )
    assert (ended, len(calls)) == (code, told)


def test_codes_are_those_of_the_runner():
    from workbench_ops.run import record

    passed = record.EXIT_CODES["passed"]
    assert sorted((*running.RETRIED, *running.FINAL, passed)) == sorted(record.EXIT_CODES.values())
    assert record.EXIT_CODES["interrupted"] == running.INTERRUPTED
    assert {record.EXIT_CODES[name] for name in ("failed", "died")} == set(running.RETRIED)


def test_a_chain_does_not_start_over_while_it_runs(found, project):
    with (
        running.turn(found, "first", say=print),
        pytest.raises(ValueError, match="first, or what follows it, is still running; this start is refused"),
        running.turn(found, "third", say=print),
    ):
        pass
    with running.turn(found, "second", say=print):
        pass
