"""The front before a real server and real Iceberg tables: a reader gets what is shared, and no probe tells more."""

import datetime
import decimal
import time

import pyarrow as pa
import pytest
from pyiceberg.types import LongType, StringType
from pyspark.sql import types as T

from workbench import access, session
from workbench.access import leaking, worlds
from workbench.access.probes import PROBES
from workbench.access.reading import judged
from workbench_ops import front
from workbench_ops.front import governing, looking, operations, plans, statements

pytest_plugins = ["living_servers"]
pytestmark = pytest.mark.proof("the plans of test_front_plans.py and the SQL of test_front_statements.py show it")

KINDS = ("cells", "rows", "patterns", "cell_patterns")
TABLES = {kind: [f"front_{kind}.{name}" for name in ("world_a", "world_b", "world_c")] for kind in KINDS}
# Python's collector may end a session in a thread of the front, and a session waits at its end for that very front: in
# a process that is both, sessions are kept
KEPT = []
ERROR = next(probe for probe in PROBES if probe.name == "error on a row of NULLs")


@pytest.fixture(scope="module")
def lake():
    """The worlds as tables, and the policy by which the reader reads them."""
    catalog, ids = session.catalog("local"), {}
    for kind in KINDS:
        first, second = worlds.rows(kind)
        catalog.create_namespace_if_not_exists(f"front_{kind}")
        for table, rows in zip(TABLES[kind], (first, second, first), strict=True):
            made = catalog.create_table(table, rows.schema)
            made.append(rows)
            ids[table] = {field.name: field.field_id for field in made.schema().fields}
    yield catalog, {kind: worlds.policy(kind, {table: ids[table] for table in TABLES[kind]}) for kind in KINDS}
    for table in ids:
        catalog.drop_table(table)


@pytest.fixture(scope="module")
def shared(lake):
    """What the front is given; a test may take back what is shared."""
    catalog, policies = lake
    by_kind = {kind: front.by_policy(lambda kind=kind: policies[kind], catalog, name="lake") for kind in KINDS}
    state = {"revoked": False}

    def governed(principal, table):
        if state["revoked"]:
            raise ValueError("revoked")
        (kind,) = [kind for kind in KINDS if f"front_{kind}." in table]
        return by_kind[kind](principal, table)

    return state, governed


@pytest.fixture(scope="module")
def running(server, shared, tmp_path_factory):
    key = tmp_path_factory.mktemp("front") / "key"
    with front.serve(
        shared[1], server=server, users={"reader", "other"}, key=key, catalog="lake", recheck_seconds=0.2
    ) as serving:
        yield serving


@pytest.fixture
def client(running, monkeypatch):
    from pyspark.sql.connect.session import SparkSession

    monkeypatch.setenv(
        "SPARK_CONNECT_MODE_ENABLED", "1"
    )  # functions are those of Connect, as in a reader's program
    reader = SparkSession.builder.remote(running.remote("reader")).create()
    KEPT.append(reader)
    yield reader
    reader.stop()


def test_a_reader_gets_what_is_shared(client):
    from pyspark.sql import functions as F

    table = "front_cells.world_a"
    rows = [(1, "Ann", "UK", 10, []), (2, "Bo", "UK", 20, []), (3, None, "FR", None, ["name", "amount"])]
    rows += [(4, None, "NO", None, ["name", "amount"]), (5, None, "UK", None, [])]
    frame = client.table(f"lake.{table}")
    assert frame.columns == ["id", "name", "state", "amount", "_hidden"]
    assert [tuple(row) for row in frame.orderBy("id").collect()] == rows
    assert [tuple(row) for row in client.sql(f"select * from {table} order by id").collect()] == rows
    assert frame.toArrow().num_rows == frame.count() == len(frame.toPandas()) == 5
    assert frame.where(frame["id"] == 2).select(frame.name, "world_a.state").first() == ("Bo", "UK")
    by_state = frame.groupBy("state").agg(F.count("*").alias("n"), F.sum("amount").alias("a")).orderBy("state")
    assert [tuple(row) for row in by_state.collect()] == [("FR", 1, None), ("NO", 1, None), ("UK", 3, 30)]
    own = client.createDataFrame([(1, "one"), (9, "nine")], "id bigint, word string")
    assert [tuple(row) for row in own.join(frame, "id").select("word", "name").collect()] == [("one", "Ann")]
    text = f"with t as (select id from {table} where amount > 10) select max(id) as m from t"
    assert client.sql(text).first().m == 2
    assert client.sql(text.replace("10)", ":least)"), args={"least": 10}).first().m == 2
    kinds = [
        2,
        2**40,
        -1.5,
        float("nan"),
        decimal.Decimal("1.50"),
        datetime.date(1969, 12, 31),
        True,
        None,
        "a\\'\n$",
    ]
    row = client.sql(f"select {', '.join('?' * len(kinds))} from {table} where id = ?", args=[*kinds, 1]).first()
    assert [repr(value) for value in row] == [repr(value) for value in kinds]
    assert frame.filter("id in (select max(id) from front_cells.world_b)").selectExpr("id + 1 as n").first().n == 6
    assert frame.orderBy("id").limit(1)._show_string(20, True, False).count("Ann") == 1
    assert frame.select("id", "amount").summary("max").first().amount == "20"
    assert frame.unionByName(frame).distinct().count() == 5
    parsed = frame.select(
        F.from_json(F.lit('{"n": 7}'), T.StructType([T.StructField("n", T.IntegerType())])).alias("s")
    )
    assert parsed.select("s.n").first().n == 7
    assert client.range(3).count() == 3


@pytest.fixture
def moments(lake, shared):
    """A table with a time in a hidden row."""
    catalog, policies = lake
    name = "front_patterns.moments"
    rows = pa.table({
        "id": [1, 2], "state": ["UK", "FR"],
        "t": pa.array([datetime.datetime(2030, 1, 1), datetime.datetime(2031, 5, 5)], pa.timestamp("us", "UTC")),
    })  # fmt: skip
    made = catalog.create_table(name, rows.schema)
    made.append(rows)
    ids = {field.name: field.field_id for field in made.schema().fields}
    now = {
        "principals": {"reader": {}}, "administrators": ["owner"], "tags": {}, "namespaces": {},
        "tables": {name: {"columns": {column: {"id": number, "tags": {}} for column, number in ids.items()}}},
        "filters": {"uk": {"table": name, "where": "state LIKE 'U_'"}},
        "grants": [{"to": "reader", "by": "owner", "table": name, "filter": "uk"}],
    }  # fmt: skip
    before, policies["patterns"] = policies["patterns"], judged(now, "test")
    yield name
    policies["patterns"] = before
    catalog.drop_table(name)


def refused(act):
    """What a reader is told."""
    with pytest.raises(Exception) as error:
        act()
    return f"{type(error.value).__name__}: {error.value}"


def test_a_hostile_reader_is_refused(client, running):
    from pyspark.sql import functions as F

    table = "front_rows.world_a"
    frame = client.table(table)
    acts = {
        "PERMISSION|front refuses": [
            lambda: client.table(f"{table}.files").collect(),
            lambda: client.sql(f"select * from {table}.snapshots").collect(),
            lambda: client.sql(f"select * from {table} version as of 1").collect(),
            lambda: client.table(f"{table}.branch_main").collect(),
            lambda: client.read.option("snapshot-id", "1").table(table).collect(),
            lambda: client.read.parquet("/etc").collect(),
            lambda: client.sql("select * from text.`/etc/passwd`").collect(),
            lambda: client.table("front_rows.other").collect(),
            lambda: frame.select(F.input_file_name()).collect(),
            lambda: frame.select(F.java_method(F.lit("java.lang.System"), F.lit("getenv"))).collect(),
            lambda: frame.select(F.udf(lambda x: x, "int")("id")).collect(),
            lambda: frame.mapInPandas(lambda rows: rows, "id int").collect(),
            lambda: frame.select(F.spark_partition_id()).collect(),
            lambda: frame.sample(0.5).collect(),
            lambda: frame.explain(True),
            lambda: frame.cache(),
            lambda: frame.checkpoint(),
            lambda: frame.inputFiles(),
            lambda: frame.createTempView("v"),
            lambda: frame.write.saveAsTable("front_rows.mine"),
            lambda: frame.writeTo(table).append(),
            lambda: client.sql(f"delete from {table}"),
            lambda: client.sql("show tables in front_rows"),
            lambda: client.catalog.listTables("front_rows"),
            lambda: client.conf.set("spark.sql.session.timeZone", "Asia/Tokyo"),
            lambda: client.conf.get("spark.connect.authenticate.token"),
            lambda: client.conf.getAll,
            lambda: client.sql("select '${spark.connect.authenticate.token}'").collect(),
            lambda: client.readStream.table(table).isStreaming,
        ],
        "UNRESOLVED_COLUMN": [
            lambda: frame.select("address").collect(),
            lambda: frame.select("id").orderBy("address").collect(),
            lambda: frame.select("id").where("address like 'North%'").collect(),
            lambda: client.sql(f"select id from {table} where address is not null").collect(),
            lambda: client.sql(f"select id from {table} order by _pos").collect(),
            lambda: frame.select("_file").collect(),
            lambda: frame.select("_partition").collect(),
        ],
    }  # fmt: skip
    for words, several in acts.items():
        for number, act in enumerate(several):
            message = refused(act)
            assert any(word in message for word in words.split("|")), (words, number, message)
            assert "North" not in message.replace("North%", "") and "Zed" not in message


def routes(client):
    statement = leaking.by_statement(lambda text: client.sql(text).collect(), quoted=lambda name: f"lake.{name}")
    return {"sql": statement, "frame": leaking.by_frame(client.table)}


def learned(client, kind, probes=PROBES, **chosen):
    first, second, twin = TABLES[kind]
    ways = {name: route for name, route in routes(client).items() if chosen.get(name, True)}
    return access.leaks(ways, first=first, second=second, twin=twin, probes=probes)


@pytest.mark.parametrize("kind", KINDS)
def test_two_worlds_are_one_to_a_reader(client, kind):
    proof = learned(client, kind)
    assert (proof.leaks, proof.undecided) == ((), ())
    assert proof.answered["sql"] >= 20 and proof.answered["frame"] >= 20


FEW = [probe for probe in PROBES if "a hidden column" in probe.name or probe.name == "all rows"]


def test_a_statement_that_is_forwarded_is_stopped_by_the_look(client, monkeypatch):
    """The planted fault: SQL goes through as it came. The look at the plan stops it; without the look it leaks."""
    monkeypatch.setattr(statements, "query", lambda text, *given: text)
    for table in TABLES["rows"]:
        message = refused(lambda table=table: client.sql(f"select address from lake.{table}").collect())
        assert "the server would read 1 tables that are not shared" in message
    monkeypatch.setattr(looking, "require_governed", lambda *given, **more: None)
    assert {leak.probe for leak in learned(client, "rows", FEW, frame=False).leaks} >= {"a hidden column"}


def test_a_subquery_without_an_alias_is_found(client, monkeypatch):
    """The planted fault: Spark resolves what a SELECT has dropped, where no alias stands between."""
    plain = plans.Rewriting._table

    def bare(rewriting, message):
        new = plain(rewriting, message)
        inside = type(message)()
        inside.CopyFrom(new.subquery_alias.input)
        return inside

    def ordered():
        return client.table(TABLES["rows"][0]).orderBy("address").select("id").collect()

    assert "UNRESOLVED_COLUMN" in refused(ordered)
    monkeypatch.setattr(plans.Rewriting, "_table", bare)
    assert [row.id for row in ordered()] == [1, 2, 5]


def test_a_condition_that_fails_on_hidden_rows_tells_nothing_of_them(client, monkeypatch):
    """Where Spark would ask the client's condition before the policy's; without the chance between, it does."""
    for table in TABLES["patterns"]:
        assert [row.id for row in client.sql(ERROR.statement.replace("{table}", table)).collect()] == [1, 2, 5]
    monkeypatch.setattr(statements, "apart", lambda text: text)
    assert [leak.probe for leak in learned(client, "patterns", [PROBES[0], ERROR]).leaks] == [ERROR.name] * 2


def test_values_that_a_cast_may_fail_on_are_not_left_bare(client, monkeypatch):
    """The planted fault: texts and integers are compared before the rows are chosen, as dates may be."""
    text = [probe for probe in PROBES if probe.name in ("all rows", "error by a text as a number")]
    assert learned(client, "patterns", text).clean
    monkeypatch.setattr(governing, "BARE", (LongType, StringType))
    assert {leak.probe for leak in learned(client, "patterns", text).leaks} == {"error by a text as a number"}


def test_a_time_that_was_made_a_text_tells_nothing_of_hidden_rows(client, moments):
    """`df.to` makes a text of a time that is hidden; behind LIKE, a comparison with a number fails where it fits."""
    text = T.StructType([T.StructField("id", T.LongType()), T.StructField("t", T.StringType())])
    frame = client.table(moments).select("id", "t").to(text)
    assert [row.id for row in frame.where(frame["t"].like("2031-05%") & (frame["t"] == 5)).collect()] == []
    assert frame.count() == 1


LAST_DAY = 2**31 - 1  # of Iceberg's dates, since 1970: no time of Spark's reaches it


@pytest.fixture
def dates(lake, shared, server):
    """Tables with a date and a time in each row, and in a hidden one of the first table the last date that there is."""
    from pyspark.sql.connect.session import SparkSession

    catalog, policies = lake
    owner = SparkSession.builder.remote(server.remote()).create()
    KEPT.append(owner)
    kinds = {
        "id": pa.int64(),
        "state": pa.string(),
        "weight": pa.float64(),
        "d": pa.date32(),
        "t": pa.timestamp("us"),
    }
    names, columns = [f"front_patterns.dates_{world}" for world in "ab"], {}
    for name, day in zip(names, (LAST_DAY, 19_000), strict=True):  # by Spark: PyIceberg cannot read such a bound
        fields = catalog.create_table(name, pa.schema(list(kinds.items()))).schema().fields
        columns[name] = {"columns": {field.name: {"id": field.field_id, "tags": {}} for field in fields}}
        values = (
            "(1, 'UK', 1.5, date '2020-01-01', timestamp_ntz '2020-01-01 00:00:00'), "
            f"(2, 'FR', 9.5, date_from_unix_date({day}), timestamp_ntz '2031-01-02 00:00:00')"
        )
        owner.sql(f"insert into lake.{name} values {values}").collect()
    before = policies["patterns"]

    def shared_where(where):
        filters = {name[-1]: {"table": name, "where": where} for name in names}
        grants = [{"to": "reader", "by": "owner", "table": name, "filter": name[-1]} for name in names]
        of_all = {"principals": {"reader": {}}, "administrators": ["owner"], "tables": columns}
        policies["patterns"] = judged(of_all | {"filters": filters, "grants": grants}, "test")

    yield names, shared_where
    policies["patterns"] = before
    for name in names:
        catalog.drop_table(name)
    owner.stop()


@pytest.mark.parametrize("where", ["state LIKE 'U_'", "weight < 5", "state = 'UK'"])
def test_a_date_that_no_time_reaches_tells_nothing_of_a_hidden_row(client, dates, where, monkeypatch):
    """Spark makes a time of a date that it compares with times, and fails at this one."""
    (first, second), shared_where = dates
    shared_where(where)

    def answers(condition):
        texts = [f"select id from lake.{name} where {condition} order by id" for name in (first, second)]
        return [[row.id for row in client.sql(text).collect()] for text in texts]

    conditions = [
        "d < t", "d = t", "t between d and d", "d in (t, d)", "not d = t",
        "d in (timestamp '2020-01-01 00:00:00', timestamp '2030-01-01 12:00:00')", "d < timestamp '2030-01-01 12:00:00'",
    ]  # fmt: skip
    learned = [answers(condition) for condition in conditions]
    assert [answer for answer, other in learned if answer != other] == []
    assert learned[1] == [[1], [1]]
    if where != "state = 'UK'":  # the planted fault: the date is left bare though the policy is asked last
        monkeypatch.setattr(governing, "BARE", (*governing.BARE, *governing.BARE_WHERE_POLICY_IS_FIRST))
        assert "the server behind the front failed" in refused(lambda: answers("d = t"))


def test_a_grant_that_is_taken_back_ends_a_query_that_goes_on(client, shared):
    frame = client.table("front_cells.world_a")
    rows = client.range(0, 400_000).crossJoin(frame).toLocalIterator()
    assert next(rows) is not None
    shared[0]["revoked"] = True
    try:
        time.sleep(0.3)
        message = refused(lambda: sum(1 for _ in rows))
        assert "is not shared with reader, or does not exist" in message
        assert "is not shared" in refused(lambda: frame.collect())
    finally:
        shared[0]["revoked"] = False
    assert frame.count() == 5


def test_a_name_that_is_another_columns_by_now_shows_nothing_of_it(client, lake):
    """The names of a visible and of a hidden column change places; what the server kept of the table would be read."""
    table = lake[0].load_table("front_rows.world_c")
    assert [row.state for row in client.table("front_rows.world_c").orderBy("id").collect()] == ["UK"] * 3
    for old, new in (("state", "spare"), ("address", "state"), ("spare", "address")):
        with table.update_schema() as update:
            update.rename_column(old, new)
    try:
        frame = client.table("front_rows.world_c")
        assert "state" not in frame.columns
        assert [row.address for row in frame.orderBy("id").collect()] == ["UK"] * 3
    finally:
        for old, new in (("address", "spare"), ("state", "address"), ("spare", "state")):
            with table.update_schema() as update:
                update.rename_column(old, new)


def test_a_query_is_of_who_began_it(client, running, monkeypatch):
    """Another user with the ids of a session and of its operation gets nothing of it."""
    from pyspark.sql.connect.proto import base_pb2

    keys = []
    plain = operations.Operations.add

    def add(kept, key, operation):
        keys.append(key)
        plain(kept, key, operation)

    monkeypatch.setattr(operations.Operations, "add", add)
    rows = client.table("front_cells.world_a").toLocalIterator()
    next(rows)
    _, session_id, operation = keys[-1]
    from pyspark.sql.connect.session import SparkSession

    other = SparkSession.builder.remote(running.remote("other")).create()
    KEPT.append(other)
    stub = other.client._stub
    request = base_pb2.ReattachExecuteRequest(session_id=session_id, operation_id=operation)
    message = refused(lambda: list(stub.ReattachExecute(request)))
    assert "there is no such operation of yours" in message
    request.user_context.user_id = "reader"
    assert "there is no such operation of yours" in refused(lambda: list(stub.ReattachExecute(request)))
    other.stop()
    assert len(list(rows)) == 4
