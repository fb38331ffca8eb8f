"""Commits: what errors say, what is tried again and what never, and the one commit that publishes."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError

from workbench.tables import commits, snapshots
from workbench.tables.commits import attempts, moves

EXCEPTIONS = "org.apache.iceberg.exceptions"


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING iceberg")
    spark.sql(f"INSERT INTO {name} VALUES (1)")
    return name


def raised(function):
    with pytest.raises(Exception) as told:
        function()
    return told.value


def java_error(spark, name, cause=None, text=None):
    """The error that Python gets when Java throws an exception of a class."""
    text = text or f"planted {name.rpartition('.')[2]}"
    made = spark._jvm
    for part in name.split("."):
        made = getattr(made, part)
    if name.startswith(EXCEPTIONS):
        cause = cause or spark._jvm.java.lang.RuntimeException("cause")
        arguments = (
            (cause,)
            if name.endswith("UnknownException")
            else (cause, text, spark._sc._gateway.new_array(spark._jvm.java.lang.Object, 0))
        )
    else:
        arguments = (text,)
    return Py4JJavaError("An error occurred", made(*arguments))


def conflict(spark, table):
    """A real refusal: the table changed under a commit that is bound to its state."""
    manager = commits.load(spark, table).manageSnapshots()
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')")
    return raised(manager.createTag("label", snapshots.current(spark, table)).commit)


def rows(spark, table):
    return sorted(row.id for row in spark.table(table).collect())


# what an error says


def test_kinds_of_real_errors(spark, table):
    assert commits.kind(conflict(spark, table)) == "conflict"
    loaded = commits.load(spark, table)
    overwrite = loaded.newOverwrite().overwriteByRowFilter(
        spark._jvm.org.apache.iceberg.expressions.Expressions.alwaysTrue()
    )
    overwrite = overwrite.validateFromSnapshot(commits.head(loaded)).validateNoConflictingData()
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    error = raised(overwrite.commit)
    assert commits.causes(error) == (f"{EXCEPTIONS}.ValidationException",)
    assert commits.kind(error) == "validation"
    assert commits.kind(raised(lambda: spark.sql("SELECT nothing FROM nowhere"))) == "other"
    assert commits.kind(raised(lambda: spark.sql(f"CALL system.fast_forward('{table}', 'main', 'no')"))) == "other"
    assert commits.causes(ValueError("x")) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{EXCEPTIONS}.CommitStateUnknownException", "unknown"),
        (f"{EXCEPTIONS}.CommitFailedException", "conflict"),
        (f"{EXCEPTIONS}.ValidationException", "validation"),
        (f"{EXCEPTIONS}.ServiceFailureException", "connection"),
        (f"{EXCEPTIONS}.RESTException", "connection"),
        (f"{EXCEPTIONS}.BadRequestException", "other"),
        ("java.net.SocketTimeoutException", "connection"),
        ("java.sql.SQLTimeoutException", "connection"),
        ("java.lang.IllegalStateException", "other"),
    ],
)
def test_kinds_by_class(spark, name, expected):
    error = java_error(spark, name)
    assert commits.kind(error) == expected
    outer = RuntimeError("a batch failed")  # as Python code wraps it
    outer.__cause__ = error
    assert commits.kind(outer) == expected


@pytest.mark.parametrize("name", ["BadRequestException", "ValidationException"])
@pytest.mark.parametrize(
    "text",
    [
        "Malformed request: Failed to apply update: can't add snapshot with sequence number 16, must be > than "
        "last sequence number 16",
        "Cannot add snapshot with sequence number 7 older than last sequence number 8",
    ],
)
def test_a_sequence_number_that_another_branch_took_is_a_conflict(spark, name, text):
    assert commits.kind(java_error(spark, f"{EXCEPTIONS}.{name}", text=text)) == "conflict"
    assert commits.kind(java_error(spark, "java.lang.IllegalStateException", text=text)) == "other"


def test_unknown_outweighs_the_conflict_that_caused_it(spark):
    inner = java_error(spark, f"{EXCEPTIONS}.CommitFailedException").java_exception
    error = java_error(spark, f"{EXCEPTIONS}.CommitStateUnknownException", cause=inner)
    assert commits.causes(error)[:2] == (
        f"{EXCEPTIONS}.CommitStateUnknownException",
        f"{EXCEPTIONS}.CommitFailedException",
    )
    assert commits.kind(error) == "unknown"


def test_a_rest_catalog_that_did_not_answer(spark):
    """What Iceberg's REST client throws when the connection ends before the answer: a class of its own HTTP library."""
    inner = java_error(spark, "org.apache.iceberg.shaded.org.apache.hc.core5.http.NoHttpResponseException")
    error = java_error(spark, f"{EXCEPTIONS}.RESTException", cause=inner.java_exception)
    assert commits.causes(error)[1].endswith("NoHttpResponseException")
    assert commits.kind(error) == "connection"


LOST = "Job aborted due to stage failure: Task 0 in stage 9.0 failed 1 times\nCaused by: "
S3 = "software.amazon.awssdk.services.s3.model."


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"{S3}NoSuchKeyException: The specified key does not exist. (Service: S3, Status Code: 404)", True),
        (f"{EXCEPTIONS}.NotFoundException: Location does not exist: s3://b/t/data/1.parquet", True),
        (f"{S3}S3Exception: Access Denied (Service: S3, Status Code: 403)", False),
        (f"{S3}NoSuchBucketException: The specified bucket does not exist (Service: S3, Status Code: 404)", False),
        (f"{EXCEPTIONS}.ForbiddenException: {S3}NoSuchKeyException", False),  # a text that names it
    ],
)
def test_which_errors_of_a_store_are_a_missing_file(said, expected):
    """As they come out of a stream: what failed was a task, and Python has its text only."""
    error = RuntimeError(LOST + said)
    assert commits.missing_file(error) is expected
    outer = ValueError("a batch failed")
    outer.__cause__ = error
    assert commits.missing_file(outer) is expected and commits.kind(outer) == "other"


def test_a_file_that_is_gone_from_a_disk(spark, table):
    assert commits.missing_file(None) is False
    assert commits.missing_file(raised(lambda: spark.sql("SELECT nothing FROM nowhere"))) is False
    data = spark.sql(f"SELECT file_path FROM {table}.files").first()[0]
    Path(data.removeprefix("file:")).unlink()
    assert commits.missing_file(raised(spark.table(table).collect)) is True


def test_python_errors():
    assert commits.kind(ConnectionResetError("gone")) == "connection"
    lost = "Caused by: java.net.SocketException: Connection reset"
    assert commits.kind(RuntimeError(f"the catalog\n{lost}")) == "connection"
    assert commits.kind(RuntimeError(f"Job aborted due to stage failure: a worker died\n{lost}")) == "other"
    assert commits.kind(KeyError("x")) == "other" and commits.kind(None) is None
    # a text that names a class is not an error of that class
    assert commits.kind(ValueError("see org.apache.iceberg.exceptions.CommitFailedException: x")) == "other"


def test_an_error_that_came_through_a_stream(spark, table, tmp_path):
    """foreachBatch hands Java's exception on as text."""

    def batch(df, number):
        raise conflict(spark, table)

    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load().writeStream
    query = (
        stream.foreachBatch(batch).option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    )
    error = raised(lambda: query.awaitTermination(600))
    assert f"{EXCEPTIONS}.CommitFailedException" in commits.causes(error)
    assert commits.kind(error) == "conflict"


# what is tried again


class Lost(ConnectionError):
    """The answer did not come."""


@pytest.fixture(scope="module")
def refusal(spark):
    """A function that returns the real error of a kind; hypothesis cannot print one itself."""
    errors = {
        "conflict": java_error(spark, f"{EXCEPTIONS}.CommitFailedException"),
        "validation": java_error(spark, f"{EXCEPTIONS}.ValidationException"),
        "unknown": java_error(spark, f"{EXCEPTIONS}.CommitStateUnknownException"),
    }
    return lambda kind: errors[kind]


SCRIPTS = st.lists(
    st.sampled_from(
        ["ok", "conflict", "validation", "lost landed", "lost", "lost late", "lost until next", "bad"]
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=200)  # a shared machine's pauses are no failure
@given(
    script=SCRIPTS,
    tries=st.integers(1, 4),
    look=st.booleans(),
    conditional=st.booleans(),
    streaming=st.booleans(),
    java=st.booleans(),
)
def test_attempt_against_a_model(refusal, script, tries, look, conditional, streaming, java):
    """A plain model: what each try does to the table, and what may follow."""
    table, late, held_back, begun = [], [], [], 0

    def commit():
        nonlocal begun
        step = script[min(begun, len(script) - 1)]
        begun += 1
        if held_back:  # the table is not any more what this commit was decided on
            table.append(held_back.pop())
            raise KeyError("somebody else's")
        if step == "lost until next":
            held_back.append(begun)
        if step in ("conflict", "validation"):
            raise refusal(step)
        if step == "bad":
            raise KeyError("bad")
        if step == "lost late":
            late.append(begun)  # held somewhere: it arrives when nobody looks any more
        if step in ("ok", "lost landed"):
            table.append(begun)
        if step != "ok":  # Java's own error, or one of the connection to it
            raise refusal("unknown") if java else Lost(step)
        return begun

    again = ("conflict", "validation") if streaming else ("conflict",)
    try:
        done = commits.attempt(
            commit,
            landed=(lambda: table[-1] if table else None) if look else None,
            again=again,
            conditional=conditional,
            tries=tries,
            sleep=lambda seconds: None,
        )
        ending = (done.value, done.tries, done.found)
    except Exception as error:
        ending = type(error)
    assert (ending, begun) == model(script, tries, look, conditional, again)
    for number in late + held_back:
        if not (conditional and table):  # bound to the same base, it is refused once another try landed
            table.append(number)
    assert len(table) <= 1  # never twice
    if isinstance(ending, tuple):
        assert table == [ending[0]]


def model(script, tries, look, conditional, again):
    for number in range(1, tries + 1):
        step = script[min(number, len(script)) - 1]
        if step == "ok":
            return (number, number, False), number
        if step == "bad":
            return KeyError, number
        if step in ("conflict", "validation"):
            if step not in again or number == tries:
                return Py4JJavaError, number
        elif look and step == "lost landed":
            return (number, number, True), number
        elif not look or not conditional or number == tries:
            return commits.OutcomeUnknown, number
        elif step == "lost until next":
            return (number, number + 1, True), number + 1
    raise AssertionError("a model that does not end")


def test_waits_double_with_some_chance(refusal):
    waits = []

    def commit():
        raise refusal("conflict")

    error = raised(
        lambda: commits.attempt(commit, tries=6, first_wait_s=1, longest_wait_s=5, sleep=lambda s: waits.append(s))
    )
    assert error is refusal("conflict")
    assert [least <= wait <= 1.25 * least for wait, least in zip(waits, (1, 2, 4, 5, 5), strict=True)] == [
        True
    ] * 5


def test_a_look_that_fails_too_is_repeated_and_then_said():
    looks = []

    def commit():
        raise Lost("answer")

    def landed():
        looks.append(1)
        if len(looks) < 3:
            raise Lost("look")
        return "mark"

    assert commits.attempt(commit, landed=landed, sleep=lambda s: None) == commits.Attempt("mark", 1, True)

    def broken():
        raise Lost("look")

    with pytest.raises(
        commits.OutcomeUnknown, match="outcome is unknown: answer; the look at the table failed too"
    ):
        commits.attempt(commit, landed=broken, sleep=lambda s: None)


def test_what_tries_in_vain_took_is_told(monkeypatch):
    clock, calls = [100.0], []
    monkeypatch.setattr(attempts, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def passes(seconds):
        clock[0] += seconds

    def commit():
        passes(10)
        calls.append(1)
        if len(calls) < 3:
            raise Lost("answer")

    done = commits.attempt(commit, landed=lambda: None, conditional=True, sleep=lambda s: passes(5))
    assert (done.tries, done.lost_seconds) == (3, 30.0)
    done = commits.attempt(commit)
    assert (done.tries, done.lost_seconds) == (1, 0.0)


def test_wrong_arguments():
    for options, expected in [
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        (
            {"again": ("unknown",)},
            "again must be a list of 'conflict' or 'validation', found 'unknown' in it",
        ),
    ]:
        with pytest.raises(ValueError, match=expected):
            commits.attempt(lambda: 1, **options)


# main moved to a branch's head


@pytest.fixture
def branch(spark, table):
    """A branch with one more row; returns (its head, main)."""
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    spark.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    return snapshots.current(spark, table, ref="b"), snapshots.current(spark, table)


def at_the_worst_moment(monkeypatch, *actions):
    """Have things happen between the look at the table and the commit that is bound to it."""
    real, left = moves.descends, list(actions)

    def descends(*arguments):
        found = real(*arguments)
        if left:
            left.pop(0)()
        return found

    monkeypatch.setattr(moves, "descends", descends)
    return left


def test_fast_forward(spark, table, branch):
    to, main = branch
    assert commits.fast_forward(spark, table, to=to, expected=main, branch="b") == commits.Attempt(to, 1, False)
    assert rows(spark, table) == [1, 2]
    assert [row.name for row in spark.table(f"{table}.refs").collect()] == ["main"]
    # again, as after a lost answer: it is there, and nothing is done
    assert commits.fast_forward(spark, table, to=to, expected=main, branch="b") == commits.Attempt(to, 1, False)
    spark.sql(f"INSERT INTO {table} VALUES (3)")
    assert commits.fast_forward(spark, table, to=to, expected=main, branch="b").value == to


def test_a_change_that_is_none_of_main_is_tried_again(spark, table, branch, monkeypatch):
    to, main = branch
    left = at_the_worst_moment(
        monkeypatch,
        lambda: spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')"),
        lambda: spark.sql(f"ALTER TABLE {table} CREATE BRANCH other"),
    )
    assert commits.fast_forward(spark, table, to=to, expected=main, branch="b") == commits.Attempt(to, 3, False)
    assert left == [] and rows(spark, table) == [1, 2]


def test_main_or_the_branch_moves_at_the_worst_moment(spark, table, branch, monkeypatch):
    to, main = branch
    at_the_worst_moment(monkeypatch, lambda: spark.sql(f"INSERT INTO {table}.branch_b VALUES (666)"))
    with pytest.raises(commits.BranchMoved, match=f"branch b of {table} is at snapshot .*, not at {to}"):
        commits.fast_forward(spark, table, to=to, expected=main, branch="b")
    assert rows(spark, table) == [1]
    spark.sql(f"ALTER TABLE {table} REPLACE BRANCH b AS OF VERSION {to}")
    at_the_worst_moment(monkeypatch, lambda: spark.sql(f"INSERT INTO {table} VALUES (3)"))
    with pytest.raises(commits.MainMoved, match=f"main of {table} moved from snapshot {main} to") as told:
        commits.fast_forward(spark, table, to=to, expected=main, branch="b")
    assert (told.value.expected, told.value.found) == (main, snapshots.current(spark, table))
    assert rows(spark, table) == [1, 3]


def test_a_rolled_back_main_is_not_moved_forward_again(spark, table, branch):
    _, main = branch
    spark.sql(f"INSERT INTO {table} VALUES (3)")
    later = snapshots.current(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH c")
    spark.sql(f"INSERT INTO {table}.branch_c VALUES (4)")
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {main})")
    with pytest.raises(commits.MainMoved):  # Iceberg's own fast_forward would bring row 3 back
        commits.fast_forward(spark, table, to=snapshots.current(spark, table, ref="c"), expected=later, branch="c")
    assert rows(spark, table) == [1]


def test_a_branch_that_does_not_descend_from_main(spark, table, branch):
    to, _ = branch
    spark.sql(f"INSERT INTO {table} VALUES (3)")
    now = snapshots.current(spark, table)
    with pytest.raises(ValueError, match=f"snapshot {to} of {table} does not descend from main's, {now}"):
        commits.fast_forward(spark, table, to=to, expected=now, branch="b")


def test_a_lost_answer_is_settled_by_looking(spark, table, branch, monkeypatch):
    to, main = branch
    real, answers = commits.load, []

    class Answerless:
        """Iceberg's table operations, the answer to a commit lost on the way."""

        def __init__(self, operations, lands):
            self.operations, self.lands = operations, lands

        def current(self):
            return self.operations.current()

        def commit(self, base, metadata):
            if self.lands:
                self.operations.commit(base, metadata)
            answers.append(self.lands)
            raise Lost("no answer")

    class Table:
        def __init__(self, table):
            self.table = table

        def __getattr__(self, name):
            if name == "operations" and len(answers) < 2:
                return lambda: Answerless(self.table.operations(), lands=len(answers) == 1)
            return getattr(self.table, name)

    monkeypatch.setattr(moves, "load", lambda *arguments, **options: Table(real(*arguments, **options)))
    monkeypatch.setattr(
        moves,
        "descends",
        lambda spark, t, a, b: spark._jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(t.table, a, b),
    )
    done = commits.fast_forward(spark, table, to=to, expected=main, branch="b")
    assert (done, answers) == (commits.Attempt(to, 2, True), [False, True])
    assert rows(spark, table) == [1, 2]


def test_an_acknowledged_commit_that_is_not_there_is_said(spark, table, branch, monkeypatch):
    """As a catalog that loses commits does; here somebody rolls back before the second look."""
    to, main = branch
    real, calls = commits.attempt, []

    def attempt(*arguments, **options):
        done = real(*arguments, **options)
        calls.append(done)
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {main})")
        return done

    monkeypatch.setattr(moves, "attempt", attempt)
    with pytest.raises(
        commits.OutcomeUnknown, match=f"acknowledged main of {table} at snapshot {to}, but main is now {main}"
    ):
        commits.fast_forward(spark, table, to=to, expected=main, branch="b")
    assert len(calls) == 1


def test_load_names_what_is_wrong(spark, table):
    namespace = table.partition(".")[0]
    with pytest.raises(snapshots.TableNotFound, match=f"no table {namespace}.other; {namespace} has {table}"):
        commits.load(spark, f"{namespace}.other")
    with pytest.raises(ValueError, match="classic Spark session"):
        commits.load(object(), table)
    with pytest.raises(ValueError, match="is not a table name"):
        commits.load(spark, "a; DROP TABLE b")


def test_a_table_that_another_session_dropped_and_made_again_is_loaded(spark, namespace):
    table, other = f"{namespace}.t", spark.newSession()
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    before = commits.load(spark, table).uuid().toString()
    other.sql(f"DROP TABLE {table} PURGE")
    other.sql(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    found = [commits.load(one, table).uuid().toString() for one in (spark, other)]
    assert found[0] == found[1] != before
