"""Plans that PySpark's own client builds, made anew: tables are governed, what is not let through is refused."""

import datetime
import decimal
import struct

import pyarrow as pa
import pyspark.sql.connect.functions as F
import pytest
from google.protobuf import text_format
from pyspark.sql.connect import plan as P
from pyspark.sql.connect.proto import base_pb2, relations_pb2
from pyspark.sql.connect.window import Window
from pyspark.sql.types import IntegerType, StructField, StructType

from workbench_ops.front import own_rows, plans
from workbench_ops.front.refusals import Refused

GOVERNED = "SELECT uid, name FROM `lake`.`sales`.`people`"


class Client:
    """What a plan asks of a client while it is built."""

    session_id = "00000000-0000-4000-8000-000000000001"


def governed(principal, table):
    if (principal, table) not in (("reader", "lake.sales.people"), ("reader", "lake.`my-db`.`a b`")):
        raise ValueError(f"the column salary of {table} is hidden")
    return GOVERNED


def rewritten(plan):
    """The relation of a plan anew, and the tables that were replaced."""
    relation = plan if isinstance(plan, relations_pb2.Relation) else plan.plan(Client())
    rewriting = plans.Rewriting("reader", governed, "lake")
    return rewriting.rewritten(relation), rewriting.tables


PEOPLE = P.Read("sales.people")


def test_a_table_is_replaced_under_its_name():
    new, tables = rewritten(PEOPLE)
    plan_id = new.common.plan_id
    assert new == text_format.Parse(
        f"""common {{ plan_id: {plan_id} }}
        subquery_alias {{ input {{ sql {{ query: "{GOVERNED}" }} }} alias: "people" qualifier: "lake" qualifier: "sales" }}""",
        relations_pb2.Relation(),
    )
    assert tables == {"lake.sales.people": GOVERNED}


@pytest.mark.parametrize(
    "name", ["sales.people", "lake.sales.people", "`sales`.people", "`lake`.`sales`.`people`"]
)
def test_each_way_to_write_a_name_means_the_table(name):
    assert rewritten(P.Read(name))[1] == {"lake.sales.people": GOVERNED}


def test_a_name_with_other_signs_is_quoted():
    new, tables = rewritten(P.Read("`my-db`.`a b`"))
    assert (new.subquery_alias.alias, list(new.subquery_alias.qualifier), list(tables)) == (
        "a b", ["lake", "my-db"], ["lake.`my-db`.`a b`"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sales.salaries", "lake.sales.salaries is not shared with reader, or does not exist"),
        ("lake.sales.Salaries", "lake.sales.Salaries is not shared with reader, or does not exist"),
        ("people", "'people' is not a table name"),
        ("lake.people", "lake.people is not the name of a table"),
        ("sales.people.files", "may be metadata of a table"),
        ("lake.sales.people.SNAPSHOTS", "may be metadata of a table"),
        ("sales.people.branch_audit", "may be a branch or an older state"),
        ("sales.people.`tag_v1.0`", "may be a branch or an older state"),
        ("sales.people.snapshot_id_77", "may be a branch or an older state"),
        ("sales.people.at_timestamp_1", "may be a branch or an older state"),
        ("parquet.`/etc/passwd`", "is not shared with reader"),
        ("sales.people WHERE 1=1", "is not a table name"),
        ("sales.${people}", "is not a table name"),
        ("", "is not a table name"),
    ],
)
def test_what_is_no_shared_table_is_refused(name, sentence):
    with pytest.raises(Refused) as error:
        rewritten(P.Read(name))
    assert sentence in str(error.value) and "salary" not in str(error.value)


def test_tables_below_everything_are_replaced():
    other = P.SubqueryAlias(P.Read("lake.sales.people"), "b")
    plan = P.Join(P.Filter(PEOPLE, F.col("uid") > 1), other, on=F.col("uid") == F.col("b.uid"), how="inner")
    plan = P.Sort(P.Limit(P.Project(plan, [F.col("name"), F.upper("name").alias("u")]), 3), [F.col("u")], True)
    new, tables = rewritten(plan)
    text = text_format.MessageToString(new)
    assert text.count(GOVERNED) == 2 and "named_table" not in text and list(tables) == ["lake.sales.people"]


def test_what_needs_no_table_is_as_it_was():
    window = Window.partitionBy("id").orderBy(F.col("id").desc())
    expressions = [
        F.row_number().over(window).alias("n"), F.when(F.col("id") > 1, "a").otherwise("b").alias("w"),
        F.col("id").cast("decimal(10, 2)").alias("d"), F.transform(F.array("id"), lambda x: x + 1).alias("t"),
        F.col("id").isin(1, 2).alias("i"), ~F.col("id").isNull(), F.col("*"), F.struct("id").getField("id"),
        F.lit(1.5), F.count_distinct("id"), F.col("id").between(1, 2), F.col("id").startswith("1"),
    ]  # fmt: skip
    relation = P.Project(P.Range(0, 9, 1), expressions).plan(Client())
    new, _ = rewritten(relation)
    for message in (relation, *relation.project.expressions):
        message.ClearField("common")
    new.ClearField("common")
    strip(relation), strip(new)
    assert new == relation


def strip(message):
    """Clear where something was written, and False where it is written out: they do not go through."""
    for field, value in message.ListFields():
        if field.name in ("common", "is_metadata_column"):
            message.ClearField(field.name)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for item in value if field.is_repeated else [value]:
                strip(item)


def test_sql_and_expressions_in_a_frame_are_written_anew():
    new, tables = rewritten(
        P.SQL("select *, :a, :b from sales.people -- all", None, {"a": F.lit(1), "b": F.lit("it's ${x}")})
    )
    assert new.sql.query == f"SELECT *, (1), 'it\\'s \\u0024{{x}}' FROM ({GOVERNED}\n) AS `people`"
    assert not new.sql.named_arguments and list(tables) == ["lake.sales.people"]
    new, tables = rewritten(P.Filter(P.Range(0, 9, 1), F.expr("id in (select uid from sales.people)")))
    assert (
        new.filter.condition.expression_string.expression
        == f"`id` IN (SELECT `uid` FROM ({GOVERNED}\n) AS `people`)"
    )


def test_arguments_of_each_kind_are_literals():
    kinds = {
        "a": 7, "b": 2**40, "c": -1.5, "d": float("nan"), "e": decimal.Decimal("1.50"), "f": datetime.date(1969, 12, 31),
        "g": True, "h": None, "i": "\\'\n", "j": datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC),
    }  # fmt: skip
    text = "select " + ", ".join(f":{name}" for name in kinds)
    new, _ = rewritten(P.SQL(text, None, {name: F.lit(value) for name, value in kinds.items()}))
    assert new.sql.query == (
        "SELECT (7), (1099511627776L), CAST('-1.5' AS DOUBLE), CAST('nan' AS DOUBLE), CAST('1.50' AS DECIMAL(10, 2)), "
        "DATE '1969-12-31', TRUE, NULL, '\\\\\\'\n', timestamp_micros(1000000L)"
    )
    with pytest.raises(Refused, match="more than 38 digits"):
        rewritten(P.SQL("select :a", None, {"a": F.lit(decimal.Decimal("1e40"))}))
    with pytest.raises(Refused, match="arguments of SQL are values"):
        rewritten(P.SQL("select :a", None, {"a": F.col("x")}))
    with pytest.raises(Refused, match="of the kind binary is not written"):
        rewritten(P.SQL("select ?", [F.lit(b"x")]))
    late = P.SQL("select ?", [F.lit(datetime.date.max)]).plan(Client())
    late.sql.pos_arguments[0].literal.date += 1
    with pytest.raises(Refused, match="not of the years 1 to 9999"):
        rewritten(late)


REFUSED = {
    "sample": (P.Sample(PEOPLE, 0.0, 0.5, False, 1), "which rows a sample holds depends on rows that are hidden"),
    "stream": (P.Read("sales.people", is_streaming=True), "a stream reads commits as they are"),
    "option": (P.Read("sales.people", {"snapshot-id": "1"}), "options of a read choose another snapshot"),
    "path": (P.DataSource("parquet", None, {}, ["/etc"]), "files and paths are behind the tables"),
    "jdbc": (P.DataSource("jdbc", None, {"url": "x"}), "files and paths are behind the tables"),
    "catalog": (P.ListTables(), "the catalog also tells of what is not shared"),
    "java": (P.Project(PEOPLE, [F.java_method(F.lit("java.lang.System"), F.lit("exit"))]), "the function java_method"),
    "reflect": (P.Project(PEOPLE, [F.reflect(F.lit("java.lang.System"), F.lit("exit"))]), "the function reflect"),
    "call": (P.Project(PEOPLE, [F.call_function("lake.system.bucket", F.lit(1))]), "the function lake.system.bucket"),
    "file": (P.Project(PEOPLE, [F.input_file_name()]), "the function input_file_name"),
    "chance": (P.Project(PEOPLE, [F.rand()]), "the function rand"),
    "order": (P.Project(PEOPLE, [F.monotonically_increasing_id()]), "the function monotonically_increasing_id"),
    "raise": (P.Project(PEOPLE, [F.raise_error(F.lit("x"))]), "the function raise_error"),
    "udf": (P.Project(PEOPLE, [F.udf(lambda x: x, IntegerType())("uid")]), "functions of the client's own"),
    "sql udf": (P.Project(PEOPLE, [F.call_udf("mine", F.col("uid"))]), "the function mine"),
    "hint": (P.Hint(PEOPLE, "rebalance", []), "the hint rebalance"),
    "metadata": (P.Project(PEOPLE, [F.col("uid").alias("u", metadata={"__metadata_col": "x"})]), "Alias.metadata"),
    "watermark": (P.WithWatermark(PEOPLE, "t", "1 minute"), "Relation.with_watermark"),
    "observe": (P.CollectMetrics(PEOPLE, "m", [F.count("*")]), "Relation.collect_metrics"),
    "tvf": (P.UnresolvedTableValuedFunction("python_worker_logs", []), "the function python_worker_logs"),
    "type": (P.Project(PEOPLE, [F.col("uid").cast("int; x")]), "a type is written"),
    "variable": (P.Project(PEOPLE, [F.col("uid").cast("${spark.master}")]), "a type is written"),
    "text": (P.Project(PEOPLE, [F.expr("'${spark.master}'")]), "${ is not let through"),
    "insert": (P.SQL("insert into sales.people values (1)"), "only queries"),
    "views": (P.SQL("select * from t", views=[P.SubqueryAlias(PEOPLE, "t")]), "frames as arguments"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_let_through_is_refused(name):
    plan, sentence = REFUSED[name]
    with pytest.raises(Refused) as error:
        rewritten(plan)
    assert sentence in str(error.value)


def test_a_column_of_metadata_is_refused():
    attribute = relations_pb2.Relation()
    attribute.filter.input.CopyFrom(PEOPLE.plan(Client()))
    attribute.filter.condition.unresolved_attribute.unparsed_identifier = "_file"
    rewritten(attribute)
    attribute.filter.condition.unresolved_attribute.is_metadata_column = True
    with pytest.raises(Refused, match="columns of metadata tell of files with hidden rows"):
        rewritten(attribute)


@pytest.mark.parametrize(
    ("schema", "taken"),
    [
        (StructType([StructField("n", IntegerType())]).json(), True),
        ('{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"decimal(10,2)","containsNull":true},"nullable":true,"metadata":{}}]}', True),
        ('{"type":"struct","fields":[{"name":"a","type":"interval day to second","nullable":true,"metadata":{}}]}', True),
        ('{"type":"struct","fields":[{"name":"a","type":{"type":"udt","class":"java.lang.Object","sqlType":"integer"},"nullable":true,"metadata":{}}]}', False),
        ('{"type":"udt","class":"java.lang.Object"}', False),
        ('{"type":"array","elementType":{"type":"udt","class":"x"},"containsNull":true}', False),
        ('{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{"__metadata_col":"a"}}]}', False),
        ("a int", False),
        ("[" * 2000, False),
    ],
)  # fmt: skip
def test_the_schema_of_a_clients_own_frame_has_plain_types(schema, taken):
    relation = relations_pb2.Relation(local_relation=relations_pb2.LocalRelation(data=b"", schema=schema))
    relation.local_relation.data = stream(pa.array(["a"]))
    if taken:
        assert rewritten(relation)[0] == relation
    else:
        with pytest.raises(Refused, match="types of one's own|metadata of a field|written as JSON"):
            rewritten(relation)


def stream(values):
    """Values as a client sends them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("x", values.type)])) as writer:
        writer.write_batch(pa.record_batch([values], names=["x"]))
    return sink.getvalue().to_pybytes()


def test_rows_of_a_clients_own_end_where_they_end():
    """Spark reads a text from where its offsets point to: behind the rows there is memory with rows of others."""
    own = stream(pa.array(["harmless"]))
    assert own_rows.anew(own) == own
    right = struct.pack("<ii", 0, 8) + b"harmless"  # offsets, and the text behind them
    assert own.count(right) == 1
    wrong = [own.replace(right, struct.pack("<ii", *offsets) + b"harmless") for offsets in ((0, 4096), (-64, 8))]
    for data in (*wrong, own[:60], b"arrow"):
        relation = relations_pb2.Relation(local_relation=relations_pb2.LocalRelation(data=data))
        with pytest.raises(Refused, match="are not a stream of Arrow"):
            rewritten(relation)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize(
    "values", [pa.array(["x" * 100_000] * 9), pa.array(["x" * 100_000] * 9).dictionary_encode()]
)
def test_rows_of_a_clients_own_are_not_unpacked(compression, values, monkeypatch):
    """A few of them would fill the front's memory."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, pa.schema([("x", values.type)]), options=options) as writer:
        for _ in range(2):
            writer.write_batch(pa.record_batch([values], names=["x"]))
    packed, read = sink.getvalue().to_pybytes(), pa.ipc.open_stream
    monkeypatch.setattr(pa.ipc, "open_stream", lambda data: pytest.fail("it was unpacked"))
    with pytest.raises(Refused, match="are compressed; send them as they are"):
        own_rows.anew(packed)
    monkeypatch.setattr(pa.ipc, "open_stream", read)
    assert own_rows.anew(stream(values)) == stream(values)


UDT = '{"type":"udt","class":"java.lang.Object","pyClass":null,"sqlType":"string"}'


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        (F.from_json(F.lit("1"), StructType([StructField("n", IntegerType())])), None),
        (F.from_json(F.lit("1"), "n int"), None),
        (F.from_csv(F.lit("1"), F.schema_of_csv(F.lit("1"))), None),
        (F.expr("try_variant_get(parse_json('1'), '$', 'int')"), None),
        (F.from_json(F.lit("1"), UDT), "types of one's own"),
        (F.from_csv(F.lit("1"), F.concat(F.lit("{"), F.lit(UDT[1:]))), "a type is written plainly"),
        (F.variant_get(F.parse_json(F.lit("1")), "$", UDT), "types of one's own"),
        (F.call_function("from_json", F.lit("1"), F.lit(UDT)), "types of one's own"),
        (F.expr(f"from_json('1', '{UDT}')"), "types of one's own"),
        (F.expr("from_json('1', '\\u007b')"), "a type is written plainly"),
        (F.expr("FROM_JSON('1', lower('a INT'))"), "a type is written plainly"),
    ],
)
def test_a_type_in_a_text_is_not_of_the_clients_own(expression, sentence):
    """Spark makes an object of the class that it names."""
    plan = P.Project(PEOPLE, [expression])
    if sentence is None:
        rewritten(plan)
    else:
        with pytest.raises(Refused, match=sentence):
            rewritten(plan)


def request(kind, **fields):
    message = getattr(base_pb2, kind)(session_id=Client.session_id, client_type="test", **fields)
    message.user_context.user_id = "somebody"
    return message


def asked(message):
    return plans.Rewriting("reader", governed, "lake").request(message)


def test_a_request_is_of_the_principal():
    new = asked(request("AnalyzePlanRequest", spark_version=base_pb2.AnalyzePlanRequest.SparkVersion()))
    assert (new.user_context.user_id, new.session_id) == ("reader", Client.session_id)


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        ({"get": base_pb2.ConfigRequest.Get(keys=["spark.sql.session.timeZone"])}, None),
        (
            {"get": base_pb2.ConfigRequest.Get(keys=["spark.connect.authenticate.token"])},
            "token cannot be read here",
        ),
        (
            {"get_option": base_pb2.ConfigRequest.GetOption(keys=["spark.sql.catalog.lake.uri"])},
            "cannot be read here",
        ),
        ({"get_with_default": {"pairs": [{"key": "spark.hadoop.fs.s3a.secret.key"}]}}, "cannot be read here"),
        ({"get_all": base_pb2.ConfigRequest.GetAll()}, "the settings hold keys of the server"),
        ({"set": {"pairs": [{"key": "spark.sql.session.timeZone", "value": "Asia/Tokyo"}]}}, "cannot be set here"),
        ({"set": {"pairs": [{"key": "spark.sql.ansi.enabled", "value": "false"}]}}, "cannot be set here"),
        ({"set": {"pairs": [{"key": "spark.sql.repl.eagerEval.enabled", "value": "true"}]}}, None),
        ({"unset": {"keys": ["spark.sql.session.timeZone"]}}, "cannot be set here"),
        ({"is_modifiable": {"keys": ["spark.master"]}}, "cannot be read here"),
        ({}, "is empty"),
    ],
)
def test_settings_are_the_servers(operation, sentence):
    message = request("ConfigRequest", operation=base_pb2.ConfigRequest.Operation(**operation))
    if sentence is None:
        assert asked(message).operation == message.operation
    else:
        with pytest.raises(Refused, match=sentence):
            asked(message)


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        ("AnalyzePlanRequest", {"explain": {}}, "a plan shows what is hidden"),
        ("AnalyzePlanRequest", {"input_files": {}}, "files are behind the tables"),
        ("AnalyzePlanRequest", {"persist": {}}, "a cache outlives the grant"),
        ("AnalyzePlanRequest", {"semantic_hash": {}}, "AnalyzePlanRequest.semantic_hash"),
        ("AnalyzePlanRequest", {"ddl_parse": {"ddl_string": "a ${spark.master}"}}, "a schema is written"),
        (
            "ExecutePlanRequest",
            {"plan": {"command": {"checkpoint_command": {}}}},
            "a checkpoint outlives the grant",
        ),
        ("ExecutePlanRequest", {"plan": {"command": {"create_dataframe_view": {}}}}, "a view outlives the grant"),
        ("ExecutePlanRequest", {"plan": {"command": {"sql_command": {"sql": "select 1"}}}}, "SqlCommand.sql"),
        ("ExecutePlanRequest", {"plan": {"compressed_operation": {"data": b"x"}}}, "send the plan as it is"),
        ("ExecutePlanRequest", {"plan": {}}, "Plan is empty"),
        ("AddArtifactsRequest", {}, "AddArtifactsRequest"),
        ("FetchErrorDetailsRequest", {"error_id": "x"}, "FetchErrorDetailsRequest"),
        ("CloneSessionRequest", {}, "CloneSessionRequest"),
    ],
)
def test_requests_that_tell_or_do_more_are_refused(kind, fields, sentence):
    with pytest.raises(Refused, match=sentence):
        asked(request(kind, **fields))
