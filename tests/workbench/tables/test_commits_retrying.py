"""A user's own write: what is tried again, how a lost answer is settled, and whose mark a commit has."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import commits_processes as processes
import pyarrow as pa
import pytest
from conftest import PROVE
from pyspark.sql import functions as F

from workbench import session
from workbench.tables import commits, snapshots
from workbench.tables.commits import marks, places

TEN = pa.table({"id": pa.array([1], pa.int64()), "v": ["10"]})


@pytest.fixture
def table(spark, namespace):
    name = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    return name


class Lost(ConnectionError):
    """The answer did not come."""


def appending(spark, table, id, v="v"):
    return lambda: spark.range(0, 1, 1, 1).selectExpr(f"{id}L AS id", f"'{v}' AS v").writeTo(table).append()


def rows(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    return sorted(tuple(row) for row in spark.table(table).collect())


def told(spark, table):
    """Operation and mark of each snapshot, in the order of commits."""
    found = commits.snapshots_of(spark, commits.load(spark, table))
    found = sorted(found, key=lambda one: one["sequence-number"])
    return [(one["summary"]["operation"], one["summary"].get(marks.KEY)) for one in found]


def refusal(spark, table):
    """A real CommitFailedException: the table changed under a commit that is bound to its state."""
    operations = commits.load(spark, table).operations()
    base = operations.current()
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('changed' = '{time.monotonic_ns()}')")
    with pytest.raises(Exception) as caught:
        operations.commit(base, base.replaceProperties({"mine": "too late"}))
    assert commits.kind(caught.value) == commits.CONFLICT
    return caught.value


def scripted(*steps):
    """A write that does another thing each time: a step is a list of functions to call and errors to raise."""
    calls = []

    def write():
        step = steps[len(calls)]
        calls.append(step)
        for one in step:
            if isinstance(one, BaseException):
                raise one
            one()
        return "done"

    write.calls = calls
    return write


def quick(spark, table, write, **options):
    return commits.retrying(spark, table, write, sleep=lambda seconds: None, **options)


# marks


def test_each_kind_of_write_has_its_mark(spark, table):
    statements = {
        "insert": f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')",
        "merge": f"MERGE INTO {table} t USING (SELECT 1L AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = 'm'",
        "update": f"UPDATE {table} SET v = 'u' WHERE id = 2",
        "rows": f"DELETE FROM {table} WHERE v = 'm'",
        "files": f"DELETE FROM {table} WHERE true",
        "overwrite": f"INSERT OVERWRITE {table} VALUES (3, 'c')",
    }
    for name, statement in statements.items():
        marks.stamped(spark, name, lambda statement=statement: spark.sql(statement))
    marks.stamped(spark, "frame", appending(spark, table, 4))
    appending(spark, table, 5)()
    assert told(spark, table) == [
        ("append", "insert"), ("overwrite", "merge"), ("overwrite", "update"), ("delete", "rows"),
        ("delete", "files"), ("overwrite", "overwrite"), ("append", "frame"), ("append", None),
    ]  # fmt: skip


@pytest.mark.proof("test_each_kind_of_write_has_its_mark shows it for tables of copy-on-write")
def test_merge_on_read_writes_have_their_mark_too(spark, table):
    appending(spark, table, 1)()
    appending(spark, table, 2)()
    modes = ", ".join(f"'write.{kind}.mode' = 'merge-on-read'" for kind in ("merge", "update", "delete"))
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({modes})")
    both = "SELECT explode(array(1L, 3L)) AS id"
    statement = (
        f"MERGE INTO {table} t USING ({both}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'n')"
    )
    marks.stamped(spark, "merge", lambda: spark.sql(statement))
    assert told(spark, table)[2:] == [("overwrite", "merge")]


def test_threads_of_one_session_keep_their_own_marks(spark, table):
    """All of them are in their write at the same time."""
    all_in = threading.Barrier(3, timeout=600)
    failed = []

    def one(n):
        def write():
            all_in.wait()
            appending(spark, table, n, v=f"mark-{n}")()

        try:
            commits.retrying(spark, table, write, id=f"mark-{n}")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for n in range(3):
        at = marks.find(spark, table, f"mark-{n}")
        files = commits.load(spark, table).snapshot(at)
        added = files.addedDataFiles(commits.load(spark, table).io()).iterator().next().location()
        assert [row.v for row in spark.read.parquet(added).collect()] == [f"mark-{n}"]


def test_find_looks_where_branches_and_tags_lead(spark, table):
    appending(spark, table, 1)()
    first = snapshots.current(spark, table)
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    marks.stamped(spark, "on b", appending(spark, f"{table}.branch_b", 2))
    on_b = snapshots.current(spark, table, ref="b")
    assert marks.find(spark, table, "on b") == on_b
    spark.sql(f"ALTER TABLE {table} DROP BRANCH b")
    assert marks.find(spark, table, "on b") is None
    assert marks.find(spark, table, "on b", anywhere=True) == on_b
    marks.stamped(spark, "undone", appending(spark, table, 3))
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first})")
    assert marks.find(spark, table, "undone") is None
    assert marks.find(spark, table, "none", anywhere=True) is None


def test_a_marked_write_holds_no_other(spark, table):
    with pytest.raises(
        ValueError, match="a marked write cannot be inside another one; this one is inside 'outer'"
    ):
        commits.retrying(
            spark, table, lambda: commits.retrying(spark, table, appending(spark, table, 1)), id="outer"
        )
    assert rows(spark, table) == []


def test_an_interrupt_passes_and_leaves_no_mark_behind(spark, table):
    write = scripted([KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt) as caught:  # holds the traceback, as a notebook does
        quick(spark, table, write)
    appending(spark, table, 1)()
    assert told(spark, table) == [("append", None)] and len(write.calls) == 1
    assert caught.type is KeyboardInterrupt
    assert commits.retrying(spark, table, appending(spark, table, 2), id="after").tries == 1
    assert told(spark, table)[1:] == [("append", "after")]


# what is tried again


def test_a_refused_write_runs_again_from_a_fresh_read(spark, table):
    appending(spark, table, 1, v="0")()
    assert rows(spark, table) == [(1, "0")]  # the session now knows the table as it is

    def refused():
        other = spark.newSession()  # unseen by this session's cached table; a thread of its own bears no mark
        with ThreadPoolExecutor(1) as pool:
            pool.submit(other.sql, f"UPDATE {table} SET v = '10'").result()
        raise refusal(spark, table)

    def count():
        seen = int(spark.table(table).collect()[0].v)
        spark.sql(f"UPDATE {table} SET v = '{seen + 1}'")

    write = scripted([refused], [count])
    assert quick(spark, table, write) == commits.Attempt("done", 2, False)
    assert rows(spark, table) == [(1, "11")]


@pytest.mark.proof("test_two_merges_of_one_new_key_make_one_row runs a refused merge again from a fresh read")
def test_a_data_conflict_is_met_by_running_the_whole_function_again(spark, table, tmp_path):
    """A MERGE that read before another commit and commits after it, by an order that is fixed."""
    appending(spark, table, 1, v="0")()
    runs = []

    def write():
        runs.append(1)
        if len(runs) > 1:
            return add_one(spark, table)
        with meanwhile(spark, table, tmp_path):
            return add_one(spark, table, tmp_path)

    done = quick(spark, table, write)
    assert (done.tries, len(runs)) == (2, 2)
    assert rows(spark, table) == [(1, "11")]


@pytest.mark.proof("test_attempt_against_a_model leaves out the kinds that shall not be tried again")
def test_a_data_conflict_is_raised_where_it_shall_not_be_tried_again(spark, table, tmp_path):
    appending(spark, table, 1, v="0")()
    with pytest.raises(Exception) as caught, meanwhile(spark, table, tmp_path):
        quick(spark, table, lambda: add_one(spark, table, tmp_path), again=(commits.CONFLICT,))
    assert commits.kind(caught.value) == commits.VALIDATION
    assert rows(spark, table) == [(1, "10")]


def add_one(spark, table, folder=None):
    """MERGE that adds 1 to v; with a folder its rows come only when the file `go` is there."""
    source = spark.range(0, 1, 1, 1).selectExpr("1L AS key")
    if folder is not None:
        source = source.mapInArrow(processes.waiting(str(folder)), "key BIGINT")
    merging = source.mergeInto(table, F.expr("id = key"))
    merging.whenMatched().update({"v": F.expr("CAST(CAST(v AS INT) + 1 AS STRING)")}).merge()


@contextmanager
def meanwhile(spark, table, folder):
    """Within it, v becomes 10 as soon as the MERGE that waits has read and not committed.

    By PyIceberg, because rows that wait may hold all of Spark's slots.
    """
    failed = []

    def run():
        try:
            processes.until_reading(folder)
            session.catalog("local").load_table(table).overwrite(TEN)
        except Exception as error:
            failed.append(error)
        finally:
            processes.let_go(folder)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        assert failed == []


def test_other_errors_are_raised_at_once(spark, table):
    for error in (KeyError("the user's own"), ZeroDivisionError()):
        write = scripted([error])
        with pytest.raises(type(error)):
            quick(spark, table, write)
        assert len(write.calls) == 1
    write = scripted([lambda: spark.sql("SELECT nothing FROM nowhere")])
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        quick(spark, table, write)
    assert len(write.calls) == 1


def test_tries_are_bounded(spark, table):
    error = refusal(spark, table)
    write = scripted(*[[error]] * 5)
    with pytest.raises(type(error)) as caught:
        quick(spark, table, write, tries=3)
    assert caught.value is error and len(write.calls) == 3


def test_a_write_that_commits_and_is_then_refused_is_not_repeated(spark, table):
    write = scripted([appending(spark, table, 1), refusal(spark, table)], [appending(spark, table, 1)])
    with pytest.raises(commits.PartlyCommitted, match=f"a write to {table} committed snapshot .* and was refused"):
        quick(spark, table, write)
    assert rows(spark, table) == [(1, "v")]


def test_the_second_of_one_name_finds_the_first_that_it_was_refused_for(spark, table):
    """Another process's commit of that name; nothing of the second is in the table, so it was not partly committed."""

    def first():
        with ThreadPoolExecutor(1) as another:
            another.submit(lambda: commits.retrying(spark, table, appending(spark, table, 1), id="load")).result()

    write = scripted([first, refusal(spark, table)])
    done = quick(spark, table, write, id="load")
    assert done == commits.Attempt(snapshots.current(spark, table), 1, True)
    assert rows(spark, table) == [(1, "v")]


# unknown outcomes


def test_a_table_that_is_renamed_after_a_lost_answer_leaves_the_outcome_unknown(spark, table):
    moved = {"sleep": lambda seconds: spark.sql(f"ALTER TABLE {table} RENAME TO {table}_moved")}
    write = scripted([Lost("no answer")], [appending(spark, table, 1)])
    with pytest.raises(
        commits.OutcomeUnknown, match="an earlier try of a write to .* had no answer and may still"
    ):
        commits.retrying(spark, table, write, conditional=True, **moved)
    assert len(write.calls) == 1
    spark.sql(f"DROP TABLE {table}_moved PURGE")


def test_a_lost_answer_is_found_by_its_mark(spark, table):
    write = scripted([appending(spark, table, 1), Lost("no answer")])
    done = quick(spark, table, write)
    assert done == commits.Attempt(snapshots.current(spark, table), 1, True)
    assert rows(spark, table) == [(1, "v")]


def test_somebody_elses_commit_is_not_taken_for_ones_own(spark, table):
    write = scripted([appending(spark, table, 1), Lost("no answer")])
    real = marks.stamped

    def foreign(spark, mark, write):  # the same rows, by another writer
        return real(spark, "another", write)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marks, "stamped", foreign)
        with pytest.raises(commits.OutcomeUnknown, match="not there now, it may still arrive"):
            quick(spark, table, write)


def test_what_is_not_there_is_tried_again_only_if_it_cannot_come_twice(spark, table):
    write = scripted([Lost("no answer")], [appending(spark, table, 1)])
    with pytest.raises(commits.OutcomeUnknown, match="outcome is unknown: no answer; not there now"):
        quick(spark, table, write)
    assert len(write.calls) == 1 and rows(spark, table) == []
    write = scripted([Lost("no answer")], [appending(spark, table, 1)])
    assert quick(spark, table, write, conditional=True) == commits.Attempt("done", 2, False)
    assert rows(spark, table) == [(1, "v")]


def test_a_lost_commit_that_arrives_later_is_found_when_the_next_try_is_refused(spark, table):
    def arrives():
        frame = spark.range(0, 1, 1, 1).selectExpr("1L AS id", "'late' AS v")
        frame.writeTo(table).option(f"snapshot-property.{marks.KEY}", "held").append()

    write = scripted([Lost("no answer")], [arrives, refusal(spark, table)])
    done = quick(spark, table, write, id="held", conditional=True)
    assert done == commits.Attempt(snapshots.current(spark, table), 2, True)
    assert rows(spark, table) == [(1, "late")]


def test_an_error_of_ones_own_says_nothing_of_an_earlier_try_without_an_answer(spark, table):
    write = scripted([Lost("no answer")], [KeyError("the user's own")])
    with pytest.raises(commits.OutcomeUnknown, match="had no answer and may still arrive; the next one failed"):
        quick(spark, table, write, conditional=True)
    assert len(write.calls) == 2

    def arrives():
        frame = spark.range(0, 1, 1, 1).selectExpr("1L AS id", "'late' AS v")
        frame.writeTo(table).option(f"snapshot-property.{marks.KEY}", "held").append()

    write = scripted([Lost("no answer")], [arrives, KeyError("the row is there")])
    done = quick(spark, table, write, id="held", conditional=True)
    assert done == commits.Attempt(snapshots.current(spark, table), 2, True)
    assert rows(spark, table) == [(1, "late")]


def test_a_name_is_written_once(spark, table):
    assert commits.retrying(spark, table, appending(spark, table, 1), id="night 1").tries == 1
    first = snapshots.current(spark, table)
    again = scripted([appending(spark, table, 1)])
    assert commits.retrying(spark, table, again, id="night 1") == commits.Attempt(first, 0, True)
    assert again.calls == [] and rows(spark, table) == [(1, "v")]
    appending(spark, table, 2)()  # not the newest any more
    assert commits.retrying(spark, table, again, id="night 1") == commits.Attempt(first, 0, True)


@pytest.mark.proof("test_what_was_rolled_back_is_no_proof_of_the_next_write writes such a name again")
def test_a_name_that_was_rolled_back_is_written_again(spark, table):
    appending(spark, table, 0)()
    before = snapshots.current(spark, table)
    commits.retrying(spark, table, appending(spark, table, 1), id="night 1")
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {before})")
    assert commits.retrying(spark, table, appending(spark, table, 1), id="night 1").tries == 1
    assert rows(spark, table) == [(0, "v"), (1, "v")]


def test_what_was_rolled_back_is_no_proof_of_the_next_write(spark, table):
    """A name that is written again: its answer is lost, or it is refused, and only an old snapshot has its mark."""
    appending(spark, table, 0)()
    before = snapshots.current(spark, table)
    commits.retrying(spark, table, appending(spark, table, 1), id="night 1")
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {before})")
    with pytest.raises(commits.OutcomeUnknown, match="not there now, it may still arrive"):
        quick(spark, table, scripted([Lost("no answer")]), id="night 1")
    assert rows(spark, table) == [(0, "v")]
    write = scripted([refusal(spark, table)], [appending(spark, table, 1), Lost("no answer")])
    done = quick(spark, table, write, id="night 1")
    assert done == commits.Attempt(snapshots.current(spark, table), 2, True)
    assert rows(spark, table) == [(0, "v"), (1, "v")]


@pytest.mark.proof("test_a_name_is_written_once shows it for a table of format 2")
def test_a_table_of_format_1_keeps_names_too(spark, namespace):
    """Its snapshots have no sequence numbers."""
    table = f"{namespace}.old"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '1')")
    commits.retrying(spark, table, appending(spark, table, 1), id="night 1")
    first = snapshots.current(spark, table)
    assert commits.retrying(spark, table, appending(spark, table, 1), id="night 1") == commits.Attempt(
        first, 0, True
    )
    done = quick(spark, table, scripted([appending(spark, table, 2), Lost("no answer")]))
    assert done == commits.Attempt(snapshots.current(spark, table), 1, True)
    assert rows(spark, table) == [(1, "v"), (2, "v")]


def test_names_that_are_none(spark, table):
    for wrong in ("", "x" * 201, "a\nb"):
        with pytest.raises(ValueError, match="a commit's id is a text of 1 to 200 printable characters, not"):
            commits.retrying(spark, table, appending(spark, table, 1), id=wrong)
    with pytest.raises(ValueError, match="id must be a text or None, found 5"):
        commits.retrying(spark, table, appending(spark, table, 1), id=5)
    with pytest.raises(snapshots.TableNotFound):
        commits.retrying(spark, f"{table}_other", appending(spark, table, 1), id="x")
    with pytest.raises(ValueError, match="is not a table name"):
        commits.retrying(spark, "t; DROP TABLE u", appending(spark, table, 1))


# a write that goes elsewhere


@pytest.fixture
def other(spark, namespace):
    name = f"{namespace}.u"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v STRING) USING iceberg")
    return name


def test_a_write_to_another_table_is_said(spark, table, other):
    """With a name it was done again by each call: its mark was looked for in the table that was named."""
    for n, id in enumerate(("night 1", None), 1):
        with pytest.raises(commits.WrongTable) as told:
            commits.retrying(spark, table, appending(spark, other, n), id=id)
        catalog = spark.conf.get("spark.sql.defaultCatalog")
        assert str(told.value) == (
            f"a write to {table} committed snapshot {snapshots.current(spark, other)} to {catalog}.{other} instead. "
            f"The snapshot stays there, and another try would write it again, because it is looked for in {table}: name "
            f"{catalog}.{other} in the call"
        )
    assert (rows(spark, table), rows(spark, other)) == ([], [(1, "v"), (2, "v")])


@pytest.mark.proof("test_a_write_to_another_table_is_said shows it for a write that ends well")
def test_a_write_to_another_table_is_not_repeated(spark, table, other):
    """Nothing of it was in the table that is named, so the refusal and the lost answer were taken at their word."""
    for n, (error, why) in enumerate(
        [(refusal(spark, table), "CommitFailedException: "), (Lost("no answer"), "no answer")], 1
    ):
        write = scripted([appending(spark, other, n), error], [appending(spark, other, n)])
        with pytest.raises(commits.WrongTable, match=f"instead, and ended then: {why}"):
            quick(spark, table, write, conditional=True)
        assert len(write.calls) == 1
    write = scripted([appending(spark, other, 3), KeyError("the user's own")])
    with pytest.raises(KeyError):
        quick(spark, table, write)
    assert (rows(spark, table), rows(spark, other)) == ([], [(1, "v"), (2, "v"), (3, "v")])


@pytest.mark.proof("test_a_table_may_be_written_by_another_name_of_it shows what is no other table")
def test_what_also_commits_to_the_named_table_is_no_write_to_another(spark, table, other):
    """Nor is a commit of another thread one of this write."""

    def write():
        appending(spark, table, 1)()
        appending(spark, other, 1)()

    assert commits.retrying(spark, table, write, id="both").tries == 1
    with ThreadPoolExecutor(1) as pool:
        write = lambda: pool.submit(appending(spark, other, 2)).result()  # noqa: E731
        assert commits.retrying(spark, table, write) == commits.Attempt(None, 1, False)
    assert (rows(spark, table), rows(spark, other)) == ([(1, "v")], [(1, "v"), (2, "v")])


def test_a_table_may_be_written_by_another_name_of_it(spark, table, tmp_path):
    """By its catalog's, by a branch, and by that of another catalog which keeps the same tables."""
    catalog = spark.conf.get("spark.sql.defaultCatalog")
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    for n, name in enumerate((f"{catalog}.{table}", f"{table}.branch_b"), 1):
        tries = [commits.retrying(spark, table, appending(spark, name, n), id=name).tries for _ in range(2)]
        assert tries == [1, 0]
    assert rows(spark, table) == [(1, "v")]
    twin = spark.newSession()
    for name in ("one", "two"):
        twin.conf.set(f"spark.sql.catalog.{name}", "org.apache.iceberg.spark.SparkCatalog")
        twin.conf.set(f"spark.sql.catalog.{name}.type", "hadoop")
        twin.conf.set(f"spark.sql.catalog.{name}.warehouse", str(tmp_path))
    twin.sql("CREATE TABLE one.n.t (id BIGINT, v STRING) USING iceberg")
    tries = [commits.retrying(twin, "one.n.t", appending(twin, "two.n.t", 1), id="a").tries for _ in range(2)]
    assert tries == [1, 0] and rows(twin, "one.n.t") == [(1, "v")]


def test_a_write_that_commits_nothing_ends_well_and_leaves_no_name(spark, table):
    appending(spark, table, 1)()
    before = told(spark, table)
    for _ in range(2):
        done = commits.retrying(spark, table, lambda: "nothing to do", id="empty")
        assert done == commits.Attempt("nothing to do", 1, False)
    assert told(spark, table) == before and marks.find(spark, table, "empty") is None


def test_a_statement_that_changes_nothing_leaves_its_name(spark, table):
    """Spark commits a snapshot also for no rows."""
    appending(spark, table, 1)()
    nothing = {
        "insert": f"INSERT INTO {table} SELECT * FROM {table} WHERE id = 9",
        "update": f"UPDATE {table} SET v = 'w' WHERE id = 9",
        "delete": f"DELETE FROM {table} WHERE id = 9",
        "merge": f"MERGE INTO {table} t USING (SELECT 9L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    }
    nothing = nothing if PROVE else {"update": nothing["update"]}
    tries = {
        name: [commits.retrying(spark, table, lambda one=one: spark.sql(one), id=name).tries for _ in range(2)]
        for name, one in nothing.items()
    }
    assert tries == {name: [1, 0] for name in nothing}
    assert rows(spark, table) == [(1, "v")]


def test_nothing_is_kept_of_commits_outside_of_such_a_write(spark, table):
    commits.retrying(spark, table, appending(spark, table, 1))
    kept = places._listening(spark._jvm).get()
    appending(spark, table, 2)()
    assert (kept.getClass().getSimpleName(), kept.size()) == ("SynchronousQueue", 0)


# the profile


def test_the_profile_is_set_once(spark, table):
    def metadata():
        return commits.load(spark, table).operations().current().metadataFileLocation()

    done = commits.set_profile(spark, table)
    there = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
    assert done.value == commits.PROFILE and commits.PROFILE.items() <= there.items()
    before = metadata()
    commits.set_profile(spark, table)
    assert metadata() == before
    commits.set_profile(spark, table, properties={"commit.retry.num-retries": "7"})
    assert commits.load(spark, table).properties().get("commit.retry.num-retries") == "7"
    assert metadata() != before


def doubled(spark, table, meanwhile, **options):
    """Overwrite a table with twice its ids, read at a state after which something happens."""

    def write():
        (at,) = spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").first()
        read = spark.read.option("versionAsOf", at).table(table).selectExpr("id * 2 AS id", "v")
        with ThreadPoolExecutor(1) as another:  # whose commit has no mark of this thread's
            another.submit(meanwhile).result()
        writing = read.writeTo(table)
        for name, value in options.items():
            writing = writing.option(name.replace("_", "-"), str(at) if value is True else value)
        writing.overwritePartitions()

    return write


def test_an_overwrite_that_reads_its_own_table_asks_what_it_read_only_where_it_is_told_to(spark, table):
    """docs/conflicts.md: without the write options the row that came between is gone."""
    asking = {"isolation_level": "serializable", "validate_from_snapshot_id": True}
    appending(spark, table, 1)()
    doubled(spark, table, appending(spark, table, 7))()
    assert rows(spark, table) == [(2, "v")]
    between = iter([appending(spark, table, 7), lambda: None])
    done = commits.retrying(
        spark, table, doubled(spark, table, lambda: next(between)(), **asking), first_wait_s=0.01
    )
    assert (rows(spark, table), done.tries) == ([(4, "v"), (14, "v")], 2)
