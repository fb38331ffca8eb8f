"""Upserts against a plain model: any order, any repetition, deletes, races, and kills."""

import json
import os
import random
import threading
from datetime import date
from decimal import Decimal

import commits_child
import commits_processes as processes
import pytest
from conftest import PROVE, own_namespace, views
from pyspark.errors import StreamingQueryException

from workbench.tables import commits, snapshots, upserts
from workbench.tables.commits import marks
from workbench.tables.upserts import newest

OPTIONS = {"key": "id", "sequence": "seq", "operation": "op", "deleted": "gone"}
MERGE_ON_READ = ", 'write.merge.mode' = 'merge-on-read'"
KINDS = {
    "copy-on-write": "'format-version' = '2'",
    "merge-on-read": "'format-version' = '2'" + MERGE_ON_READ,
    "format 3": "'format-version' = '3'" + MERGE_ON_READ,
}
SEEDS = 40 if PROVE else 1


@pytest.fixture
def table(spark, namespace):
    return made(spark, f"{namespace}.t")


@pytest.fixture(scope="module")
def untouched(spark):
    """A table without a snapshot, for merges that are refused."""
    with own_namespace(spark, "t_upserts") as name:
        yield made(spark, f"{name}.t")


def made(spark, name, kind="copy-on-write"):
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, seq BIGINT, v STRING, gone BOOLEAN) USING iceberg TBLPROPERTIES ({KINDS[kind]})"
    )
    return name


def frame(spark, updates):
    return spark.createDataFrame(updates, "id BIGINT, seq BIGINT, v STRING, op STRING").coalesce(1)


def rows(spark, table):
    spark.sql(f"REFRESH TABLE {table}")
    return sorted((tuple(row) for row in spark.table(table).collect()), key=repr)


def model(*batches):
    """The greatest update of each key, told by no table."""
    best = {}
    for id, seq, v, op in (one for batch in batches for one in batch):
        rank = (seq, op == "D", json.dumps({"v": v}, separators=(",", ":"), ensure_ascii=False))
        if id not in best or rank > best[id][0]:
            best[id] = rank, (id, seq, v, op == "D")
    return sorted((row for _, row in best.values()), key=repr)


def scenario(seed):
    """Batches of updates: out of order, with ties, deletes and repetitions."""
    chance = random.Random(seed)
    values = [None, "a", "b", "B", "é", 'quo"te', ""]
    updates = [
        (chance.randrange(25), chance.randrange(6), chance.choice(values), chance.choice("IUUD"))
        for _ in range(120)
    ]
    batches = [[chance.choice(updates) for _ in range(50)] for _ in range(3)]
    return [*batches, batches[chance.randrange(3)]]


def left_behind(spark):
    """How many views the session has, and frames that it keeps."""
    return len(views(spark)), spark._jsparkSession.sharedState().cacheManager().isEmpty()


MERGED = pytest.mark.proof("copy-on-write is merged in any order, and two merges race on merge-on-read")


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", ["copy-on-write", *(pytest.param(kind, marks=MERGED) for kind in [*KINDS][1:])])
def test_any_order_ends_as_the_model_says(spark, namespace, kind, seed):
    table = made(spark, f"{namespace}.t", kind)
    batches = scenario(f"{kind} {seed}")
    for n, batch in enumerate(batches):
        upserts.merge(spark, table, frame(spark, batch), **OPTIONS)
        assert rows(spark, table) == model(*batches[: n + 1])
    assert left_behind(spark) == (0, True)


def test_the_scenarios_hold_what_they_are_for():
    batches = scenario("copy-on-write 0")
    updates = [one for batch in batches for one in batch]
    ties = {
        (id, seq)
        for id, seq, v, op in updates
        if len({(v2, o2) for i2, s2, v2, o2 in updates if (i2, s2) == (id, seq)}) > 1
    }
    later = [
        (a, b)
        for n, one in enumerate(batches[:3])
        for a in one
        for b in (batches[2] if n < 2 else [])
        if a[0] == b[0] and b[1] < a[1]
    ]
    assert len(ties) > 10 and len(later) > 10 and sum(row[3] for row in model(*batches)) > 3


@pytest.mark.proof(
    "test_any_order_ends_as_the_model_says has such values, which test_the_scenarios_hold_what_they_are_for counts"
)
def test_an_older_value_never_overwrites_a_newer_one(spark, table):
    upserts.merge(spark, table, frame(spark, [(1, 5, "new", "I"), (2, 5, "x", "D")]), **OPTIONS)
    upserts.merge(spark, table, frame(spark, [(1, 4, "old", "U"), (2, 4, "back", "I")]), **OPTIONS)
    assert rows(spark, table) == [(1, 5, "new", False), (2, 5, "x", True)]


def test_without_operations_all_updates_upsert(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (k1 STRING, k2 DATE, major INT, minor INT, n DOUBLE) USING iceberg")
    schema = "k1 STRING, k2 DATE, major INT, minor SMALLINT, n FLOAT"
    day = date(2026, 1, 31)
    given = [("a", day, 1, 9, 1.5), ("a", day, 2, 0, 2.5), ("b", day, 1, 1, None)]
    for part in (given[:2], given):
        upserts.merge(
            spark, table, spark.createDataFrame(part, schema), key=["k1", "k2"], sequence=["major", "minor"]
        )
    assert rows(spark, table) == [("a", day, 2, 0, 2.5), ("b", day, 1, 1, None)]


def test_a_row_without_a_sequence_is_older_than_any_update(spark, table):
    spark.sql(f"INSERT INTO {table} VALUES (1, NULL, 'loaded', NULL)")
    upserts.merge(spark, table, frame(spark, [(1, -5, "first", "U")]), **OPTIONS)
    assert rows(spark, table) == [(1, -5, "first", False)]


def test_updates_are_run_once(spark, table, tmp_path):
    """A source that gave other rows the second time would insert keys that are there."""
    log = tmp_path / "runs"

    def counted(batches):
        with log.open("a") as out:
            out.write("run\n")
        yield from batches

    upserts.merge(spark, table, frame(spark, [(1, 1, "a", "I")]), **OPTIONS)
    given = frame(spark, [(1, 2, "b", "U"), (3, 1, "c", "I")])
    upserts.merge(spark, table, given.mapInArrow(counted, given.schema), **OPTIONS)
    assert rows(spark, table) == [(1, 2, "b", False), (3, 1, "c", False)]
    assert log.read_text() == "run\n"


def test_an_empty_batch_commits_nothing(spark, table):
    done = upserts.merge(spark, table, frame(spark, []), **OPTIONS)
    assert done == commits.Attempt(None, 1, False) and snapshots.current(spark, table) is None


# what is refused, before anything is committed


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([(None, 1, "a", "I"), (1, 1, "a", "I")], "1 of them have a null in id"),
        ([(1, None, "a", "I"), (1, 2, "a", "I"), (1, None, "b", "U")], "2 of them have a null in seq"),
        ([(1, 1, "a", "X"), (2, 1, "a", None)], "2 of them have another op than I, U, D"),
    ],
)
def test_bad_updates_are_refused(spark, untouched, updates, expected):
    with pytest.raises(ValueError, match=f"updates for {untouched} are refused: {expected}"):
        upserts.merge(spark, untouched, frame(spark, updates), **OPTIONS)
    assert snapshots.current(spark, untouched) is None
    assert left_behind(spark) == (0, True)


@pytest.mark.parametrize(
    ("select", "options", "expected"),
    [
        (["id", "seq", "op"], {}, "have the columns id, seq, op; expected id, seq, v, op"),
        (["*", "1 AS more"], {}, "have the columns id, seq, v, op, more; expected id, seq, v, op"),
        (["id", "CAST(seq AS STRING) seq", "v", "op"], {}, "seq is string in the updates and bigint in"),
        (["id", "seq", "1.5D AS v", "op"], {"sequence": "v"}, "v is string; a sequence is an exact number"),
        (["*"], {"key": "nothing"}, "has no column nothing; it has id, seq, v, gone"),
        (["*"], {"key": ["id", "seq"]}, "key, sequence and deleted must be different columns"),
        (["*"], {"key": []}, "key, sequence and deleted must be different columns"),
        (["*"], {"deleted": None}, "operation needs deleted, and deleted needs operation"),
        (["*"], {"deleted": "v"}, "v is string; the column that marks deleted rows is boolean"),
        (["*"], {"operations": {"I": "insert"}}, "operations must be a dict of .*, found 'insert' in it"),
    ],
)
def test_wrong_shapes_are_refused(spark, untouched, select, options, expected):
    updates = frame(spark, [(1, 1, "a", "I")]).selectExpr(*select)
    with pytest.raises(ValueError, match=expected):
        upserts.merge(spark, untouched, updates, **(OPTIONS | options))
    assert snapshots.current(spark, untouched) is None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("TIMESTAMP_NTZ", "TIMESTAMP '2026-10-25 00:45:00Z'"),  # by a session's time zone, as the next two are
        ("TIMESTAMP", "TIMESTAMP_NTZ '2026-10-25 00:45:00'"),
        ("TIMESTAMP", "DATE '2026-10-25'"),
        ("DOUBLE", "9007199254740993L"),
        ("FLOAT", "16777217"),
        ("STRING", "1.0D"),  # 1 is written in another way
        ("STRUCT<a: DOUBLE>", "named_struct('a', 9007199254740993L)"),
        ("ARRAY<FLOAT>", "array(16777217)"),
        ("MAP<STRING, STRING>", "map('a', 1)"),
    ],
)
def test_types_that_lose_something_are_refused(spark, namespace, column, value):
    spark.sql(f"CREATE TABLE {namespace}.t (id BIGINT, seq BIGINT, x {column}) USING iceberg")
    updates = spark.sql(f"SELECT 1L AS id, 1L AS seq, {value} AS x")
    with pytest.raises(
        ValueError, match="^x is .* in the updates and .*; cast it first, so that no value is lost"
    ):
        upserts.merge(spark, f"{namespace}.t", updates, key="id", sequence="seq")
    assert snapshots.current(spark, f"{namespace}.t") is None


def test_types_that_lose_nothing_go_in(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id BIGINT, seq BIGINT, a DOUBLE, b DECIMAL(20, 0), c STRING, d ARRAY<BIGINT>) "
              "USING iceberg")  # fmt: skip
    updates = spark.sql(
        "SELECT 1 AS id, 1 AS seq, 2147483647 AS a, 9007199254740993L AS b, NULL AS c, array(1) AS d"
    )
    upserts.merge(spark, table, updates, key="id", sequence="seq")
    assert rows(spark, table) == [(1, 1, 2147483647.0, Decimal("9007199254740993"), None, [1])]


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("snapshot", "with which two merges at once both insert a new key"),
        ("SNAPSHOT", "with which two merges at once both insert a new key"),
        ("none", "which Iceberg does not know"),
        ("", "which Iceberg does not know"),
    ],
)
def test_merges_that_are_not_serializable_are_refused(spark, table, level, why):
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.merge.isolation-level' = '{level}')")
    with pytest.raises(ValueError, match=f"isolation-level '{level}', {why}; it must be serializable"):
        upserts.merge(spark, table, frame(spark, [(1, 1, "a", "I")]), **OPTIONS)
    assert snapshots.current(spark, table) is None


@pytest.mark.proof("test_merges_that_are_not_serializable_are_refused reads the level in either case")
def test_serializable_is_read_in_any_case_as_iceberg_reads_it(spark, table):
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.merge.isolation-level' = 'Serializable')")
    upserts.merge(spark, table, frame(spark, [(1, 1, "a", "I")]), **OPTIONS)
    assert spark.table(table).count() == 1


# races


def two_merges(spark, table, folder, monkeypatch):
    """Merge key 1 twice, the second time wholly between the first one's read and its commit.

    Returns:
        the first one's Attempt.
    """
    real, begun = newest.write, []

    def held(rows, shape):
        begun.append(1)
        if len(begun) == 1:
            rows = rows.mapInArrow(processes.waiting(str(folder)), rows.schema)
        real(rows, shape)

    monkeypatch.setattr(newest, "write", held)
    done = []
    given = frame(spark, [(1, 1, "first", "I")])
    thread = threading.Thread(target=lambda: done.append(upserts.merge(spark, table, given, **OPTIONS)))
    thread.start()
    try:
        processes.until_reading(folder)
        upserts.merge(spark, table, frame(spark, [(1, 2, "second", "I")]), **OPTIONS)
    finally:
        processes.let_go(folder)
        thread.join()
    return done[0]


@pytest.mark.parametrize("kind", [pytest.param("copy-on-write", marks=MERGED), "merge-on-read"])
def test_two_merges_of_one_new_key_make_one_row(spark, namespace, kind, tmp_path, monkeypatch):
    table = made(spark, f"{namespace}.t", kind)
    spark.sql(f"INSERT INTO {table} VALUES (7, 1, 'other', false)")
    assert two_merges(spark, table, tmp_path, monkeypatch).tries == 2
    assert rows(spark, table) == [(1, 2, "second", False), (7, 1, "other", False)]


# streams


def batches_in(folder):
    """Three files of updates, a batch each; the third is older than the second."""
    batches = [[(1, 1, "a", "I"), (2, 1, "b", "I")], [(1, 3, "c", "U"), (2, 2, "b", "D")], [(1, 2, "late", "U")]]
    folder.mkdir()
    for n, batch in enumerate(batches):
        lines = [json.dumps(dict(zip(("id", "seq", "v", "op"), one, strict=True))) for one in batch]
        path = folder / f"{n}.json"
        path.write_text("\n".join(lines))
        os.utime(path, (1000 + n, 1000 + n))  # Spark takes the oldest first
    return batches


def marked(spark, table):
    """The marks of a table's snapshots without the query's id, in order."""
    found = sorted(commits.snapshots_of(spark, commits.load(spark, table)), key=lambda one: one["sequence-number"])
    return [one["summary"].get(marks.KEY, "").rpartition("/")[2] for one in found]


@pytest.mark.proof(
    "test_a_stream_that_stopped_behind_a_merge_goes_on merges the same batches, with a stop between"
)
def test_a_stream_merges_its_batches(spark, table, tmp_path):
    batches, seen = batches_in(tmp_path / "in"), []
    merge = commits_child.stream_of(table, on_batch=lambda number, done: seen.append((number, done.tries)))
    commits_child.run_stream(spark, str(tmp_path / "in"), str(tmp_path / "checkpoint"), merge)
    assert rows(spark, table) == model(*batches)
    assert (seen, marked(spark, table)) == ([(0, 1), (1, 1), (2, 1)], ["0", "1", "2"])
    assert left_behind(spark) == (0, True)
    # the same updates by a new query: other names, nothing changes
    commits_child.run_stream(spark, str(tmp_path / "in"), str(tmp_path / "other"), merge)
    assert rows(spark, table) == model(*batches) and marked(spark, table) == ["0", "1", "2"] * 2


def test_a_stream_that_stopped_behind_a_merge_goes_on(spark, table, tmp_path):
    """Its second merge is in the catalog, and Spark has not noted the batch: the next run finds it."""
    batches, seen = batches_in(tmp_path / "in"), []
    place = str(tmp_path / "in"), str(tmp_path / "checkpoint")

    def stops(number, done):
        if number == 1:
            raise ProcessLookupError("it stops here")

    with pytest.raises(StreamingQueryException, match="it stops here"):
        commits_child.run_stream(spark, *place, commits_child.stream_of(table, on_batch=stops))
    assert (marked(spark, table), rows(spark, table)) == (["0", "1"], model(*batches[:2]))
    merge = commits_child.stream_of(table, on_batch=lambda number, done: seen.append((number, done.tries)))
    commits_child.run_stream(spark, *place, merge)
    assert rows(spark, table) == model(*batches)
    assert (seen, marked(spark, table)) == ([(1, 0), (2, 1)], ["0", "1", "2"])  # found, not merged again


@pytest.mark.proof("test_a_stream_that_stopped_behind_a_merge_goes_on leaves the same, without a kill")
def test_a_stream_that_is_killed_goes_on(spark, namespace, tmp_path):
    """Killed in its second batch, when the MERGE has begun and when it is in the catalog and not yet over."""
    moments = ("before", "after")
    tables = {when: made(spark, f"{namespace}.{when}") for when in moments}
    batches = batches_in(tmp_path / "in")
    places = {when: (str(tmp_path / "in"), str(tmp_path / when)) for when in tables}
    children = {when: processes.start("killed_stream", tables[when], *places[when], when) for when in tables}
    processes.ready(*children.values())
    left, ended = {}, {}
    for when, table in tables.items():
        processes.killed(children[when])
        left[when] = marked(spark, table), rows(spark, table)
        seen = []
        merge = commits_child.stream_of(
            table, on_batch=lambda number, done, to=seen: to.append((number, done.tries))
        )
        commits_child.run_stream(spark, *places[when], merge)
        assert rows(spark, table) == model(*batches)
        ended[when] = seen, marked(spark, table)
    expected = {
        "before": ((["0"], model(*batches[:1])), [(1, 1), (2, 1)]),
        "after": ((["0", "1"], model(*batches[:2])), [(1, 0), (2, 1)]),  # found, not merged again
    }
    assert left == {when: expected[when][0] for when in moments}
    assert ended == {when: (expected[when][1], ["0", "1", "2"]) for when in moments}


def test_each_batch_belongs_to_a_stream(spark, untouched):
    with pytest.raises(ValueError, match="each_batch is called by a streaming query's foreachBatch"):
        upserts.each_batch(untouched, key="id", sequence="seq")(frame(spark, []), 0)
    with pytest.raises(
        ValueError, match="each_batch has no argument keys; it has table, key, sequence, operation"
    ):
        upserts.each_batch(untouched, key="id", sequence="seq", keys="id")
