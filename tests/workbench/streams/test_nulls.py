"""Records of Kafka without a key or a value: null is not empty, in tables, dead letters, the error store, replays."""

import hashlib

import pyarrow as pa
import pytest
from delivery_cases import rows
from topic_server import Made, broker, topic

from workbench import streams
from workbench.data import employees
from workbench.records.parsing import Parsed
from workbench.streams import dead_letters, nulls, tables
from workbench.streams.readers.reading import Records

AVRO = streams.Avro('{"type": "record", "name": "one", "fields": [{"name": "id", "type": "long"}]}')
PARSE = streams.Json("id BIGINT NOT NULL, text STRING")


def one(id, text="x"):
    return b'{"id": %d, "text": "%s"}' % (id, text.encode())


def send(topic, *records):
    """Send (key, value) pairs to partition 0, in this order."""
    for key, value in records:
        topic.send([0], key=lambda n, key=key: key, record=lambda n, value=value: value)


@pytest.fixture
def made(spark, namespace):
    """Function that makes a table of a name and columns and returns its name."""

    def make(name, columns):
        spark.sql(f"CREATE TABLE {namespace}.{name} ({columns}) USING iceberg")
        return f"{namespace}.{name}"

    return make


# ---- a chunk of records


def test_no_parser_sees_a_record_without_a_value(spark):
    def texts(data):  # to a parser of the caller's own an empty value may be a record
        return Parsed(pa.record_batch([[one.decode() for one in data]], ["text"]), list(range(len(data))), [], 1)

    data = [None, b"", None, b"x"]
    found = nulls.parsed(texts, data, nulls.stones(data))
    assert (found.good, found.rows.to_pylist()) == ([1, 3], [{"text": ""}, {"text": "x"}])
    assert [(place, reason) for place, reason, _ in found.dead] == [(0, "tombstone"), (2, "tombstone")]
    assert nulls.parsed(texts, [None], nulls.stones([None])).good == []
    protobuf = streams.Protobuf(employees.descriptors(), employees.MESSAGE)
    empty = (1, "empty")
    for parse, good, others in ((PARSE, [], [empty]), (AVRO, [], [empty]), (protobuf, [1], [])):
        found = nulls.parsed(parse.parser(), [None, b""], nulls.stones([None, b""]))
        assert [(place, reason) for place, reason, _ in found.dead] == [(0, "tombstone"), *others]
        assert found.good == good  # a message of which nothing was sent has no byte
        assert nulls.parsed(parse.parser(), [None], {}).rows.num_rows == 1


def test_tombstones_become_rows_of_nulls_behind_the_others(spark):
    found = nulls.parsed(PARSE.parser(), [None, one(1), b"bad", None, one(2)], {})
    assert found.rows.to_pylist() == [
        {"id": 1, "text": "x"}, {"id": 2, "text": "x"}, {"id": None, "text": None}, {"id": None, "text": None},
    ]  # fmt: skip
    assert (found.good, [place for place, _, _ in found.dead]) == ([1, 4, 0, 3], [2])
    assert nulls.parsed(PARSE.parser(), [None], {}).rows.to_pylist() == [{"id": None, "text": None}]


def test_what_is_put_aside():
    records = Records([b"", None, b"x"], ["0", "1", "2"], ["", "k", None], [0.0, 0.0, 0.0])
    assert list(nulls.aside(records)) == [1]
    assert list(nulls.aside(records, tombstones=True)) == []
    assert {n: reason for n, (reason, _) in nulls.aside(records, keyless="dead").items()} == {
        1: "tombstone", 2: "null_in_required",
    }  # fmt: skip


def test_a_record_without_a_time_is_put_aside_where_its_column_is_required():
    records = Records([b"x", b"x", None], ["0", "1", "2"], ["", "k", None], [None, 0.0, None])
    assert nulls.aside(records, tombstones=True) == {}
    message = (
        "the record has no time of the years 1 to 9999, and column 'approximate_arrival_timestamp' is required"
    )
    assert nulls.aside(records, timed=True) == {
        0: ("null_in_required", message),
        2: ("tombstone", "the record has no value (null), which says that its key is deleted"),
    }
    assert set(nulls.aside(records, timed=True, keyless="dead", tombstones=True)) == {0, 2}


@pytest.mark.parametrize("required", [(), (nulls.KEY,), (nulls.TIME,), (nulls.KEY, nulls.TIME)])
def test_what_a_table_requires_of_a_record(spark, made, required):
    columns = {nulls.KEY: "STRING", nulls.TIME: "TIMESTAMP", "id": "BIGINT"}
    told = [f"{one} {kind}{' NOT NULL' if one in required else ''}" for one, kind in columns.items()]
    table = made(f"events_{len(required)}_{len(required[:1] and required[0])}", ", ".join(told))
    both, timed = (nulls.KEY, nulls.TIME), nulls.TIME in required
    keyless = [("dead" if letters else "empty") if nulls.KEY in required else "null" for letters in (True, False)]
    assert tables.lacking(spark, table, both, True) == {"keyless": keyless[0], "timed": timed}
    assert tables.lacking(spark, table, both, False) == {"keyless": keyless[1], "timed": timed}
    assert tables.lacking(spark, table, (nulls.TIME,), True) == {"keyless": "null", "timed": timed}
    assert tables.lacking(spark, table, ("offset",), True) == {}


# ---- into one table


def ingest(spark, table, topic, letters=True, **options):
    given = {"parse": PARSE, "lineage": ("partition_key", "offset")} | options
    return streams.ingest(
        spark, table, source=topic.source(), dead_letters=f"{table}_dead" if letters else None, **given
    )


def test_a_key_and_a_value_that_are_null_are_told_from_empty_ones(spark, made, topic):
    table = made("events", "id BIGINT, text STRING, partition_key STRING, offset BIGINT")
    send(topic, (None, one(1)), ("", one(2)), ("k", one(3)), ("k", None), ("k", b""), (None, None))
    done = ingest(spark, table, topic)
    assert (done.records, done.good, done.dead, done.bytes) == (6, 3, 3, 3 * len(one(1)))
    assert {row[0]: row[1:] for row in rows(spark, table, "id", "partition_key", "offset")} == {
        1: (None, 0), 2: ("", 1), 3: ("k", 2),
    }  # fmt: skip
    columns = ("sequence_number", "reason", "partition_key", "raw", "raw_bytes")
    assert rows(spark, f"{table}_dead", *columns, "raw_sha256") == [
        ("3", "tombstone", "k", None, None, None), ("4", "empty", "k", b"", 0, hashlib.sha256(b"").hexdigest()),
        ("5", "tombstone", None, None, None, None),
    ]  # fmt: skip


LETTERS = pytest.mark.proof(
    "test_a_record_without_a_key_names_no_row_and_fills_no_required_column shows it for a delivery"
)


@pytest.mark.parametrize("letters", [pytest.param(True, marks=LETTERS), False])
def test_a_column_that_is_required_takes_no_null_key_and_stops_no_run(spark, made, topic, letters):
    table = made("events", "id BIGINT, text STRING, partition_key STRING NOT NULL, offset BIGINT")
    send(topic, ("k", one(1)), (None, one(2)), ("", one(3)))
    done = ingest(spark, table, topic, letters)
    there = [(1, "k"), (2, ""), (3, "")]
    assert rows(spark, table, "id", "partition_key") == ([there[0], there[2]] if letters else there)
    assert (done.good, done.dead) == ((2, 1) if letters else (3, 0))
    if letters:
        assert rows(spark, f"{table}_dead", "reason", "message", "partition_key", "raw") == [
            ("null_in_required", "the record has no key, and column 'partition_key' is required", None, one(2))
        ]
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN partition_key DROP NOT NULL")
        send(topic, (None, one(4)))
        ingest(spark, table, topic)
        assert rows(spark, table, "id", "partition_key")[-1] == (4, None)


NANOSECONDS = 1_767_225_600_123_000_000


@pytest.fixture
def any_time(broker, request):
    """A topic that takes a time in whatever unit; brokers before Kafka 3.6 had no others."""
    name = f"any-time-{request.node.name}".replace("_", "-")
    return Made(broker, name, **{"retention.ms": "-1", "message.timestamp.after.max.ms": str(2**63 - 1)})


def test_a_column_that_is_required_takes_no_record_without_a_time_and_stops_no_run(spark, made, any_time):
    topic = any_time
    columns = "id BIGINT, text STRING, approximate_arrival_timestamp TIMESTAMP NOT NULL"
    table, lineage = made("events", columns), ("approximate_arrival_timestamp",)
    when = 1_767_225_600_123
    for number, stamp in ((1, when), (2, NANOSECONDS), (3, -1), (4, when)):
        topic.send([0], record=lambda n, number=number: one(number), timestamp=stamp)
    done = ingest(spark, table, topic, lineage=lineage)
    assert (done.good, done.dead) == (2, 2) and [row[0] for row in rows(spark, table, "id")] == [1, 4]
    dead = rows(spark, f"{table}_dead", "sequence_number", "reason", "message", "approximate_arrival_timestamp")
    message = (
        "the record has no time of the years 1 to 9999, and column 'approximate_arrival_timestamp' is required"
    )
    assert dead == [(offset, "null_in_required", message, None) for offset in ("1", "2")]


def test_a_column_that_is_renamed_under_a_run_is_a_sentence(spark, made, topic):
    table = made("events", "id BIGINT, text STRING, partition_key STRING, offset BIGINT")
    send(topic, ("k", one(1)))

    def renamed(batch):
        spark.sql(f"ALTER TABLE {table} RENAME COLUMN partition_key TO key")
        send(topic, ("k", one(2)))

    with pytest.raises(ValueError, match="has no column partition_key; it has id"):
        ingest(spark, table, topic, on_batch=renamed, until_caught_up=False, max_batches=2)


def test_a_table_of_dead_letters_with_required_columns_goes_on(spark, made, any_time):
    table, names = (
        made("events", "id BIGINT, text STRING, partition_key STRING, offset BIGINT"),
        dead_letters.LACKING,
    )
    columns = ", ".join(
        f"{one} NOT NULL" if one.split()[0] in names else one for one in dead_letters.SCHEMA.split(", ")
    )
    made("events_dead", columns)
    any_time.send([0], key=lambda n: None, record=lambda n: None, timestamp=NANOSECONDS)
    assert ingest(spark, table, any_time).dead == 1
    names = [one for one in names if not one.startswith("replay")]
    assert rows(spark, f"{table}_dead", "reason", *names) == [("tombstone", *[None] * len(names))]


# ---- into several tables


ROUTE = "CASE text WHEN 'event' THEN '{0}.events' ELSE '{0}.items' END"
ITEM = {
    "key": ("partition_key",), "sequence": ("offset",), "lineage": ("partition_key", "offset"), "deleted": "gone",
    "tombstones": "delete",
}  # fmt: skip


@pytest.fixture
def lake(made, namespace):
    made("events", "id BIGINT, partition_key STRING NOT NULL")
    made("items", "partition_key STRING NOT NULL, offset BIGINT, id BIGINT, text STRING, gone BOOLEAN")
    return namespace


def targets(lake, **item):
    return {
        f"{lake}.events": streams.Target(lineage=("partition_key",)), f"{lake}.items": streams.Target(**item),
    }  # fmt: skip


def deliver(spark, lake, topic, **options):
    given = {"parse": PARSE, "tables": targets(lake, **ITEM), "route": ROUTE.format(lake)} | options
    return streams.deliver(spark, source=topic.source(), errors=f"{lake}.errors", **given)


def replay(spark, lake, topic, **options):
    given = {"parse": PARSE, "tables": targets(lake, **ITEM), "route": ROUTE.format(lake)} | options
    return streams.replay(spark, f"{lake}.errors", source=topic.source(), **given)


def items(spark, lake):
    return {row[0]: row[1:] for row in rows(spark, f"{lake}.items", "partition_key", "offset", "id", "gone")}


def errors(spark, lake):
    return rows(spark, f"{lake}.errors", "sequence_number", "reason", "partition_key", "raw", "raw_bytes")


UPSERTS = {name: value for name, value in ITEM.items() if name not in ("deleted", "tombstones")}


def test_a_tombstone_deletes_the_row_of_its_key_where_a_target_says_so(spark, lake, topic):
    send(topic, ("a", one(1)), ("b", one(2)), ("a", None), ("", one(3)), ("c", None), ("e", one(9, "event")))
    done = deliver(spark, lake, topic)
    assert done.tables == {f"{lake}.events": {"appended": 1}, f"{lake}.items": {"upserted": 3, "deleted": 2}}
    assert (done.errors, done.run.good, done.run.dead) == (0, 6, 0)
    assert items(spark, lake) == {
        "a": (2, None, True), "b": (1, 2, False), "": (3, 3, False), "c": (4, None, True),
    }  # fmt: skip
    send(topic, ("a", one(4)), ("b", None), ("", b""))  # an empty value is none: it deletes nothing
    assert deliver(spark, lake, topic).errors == 1
    found = items(spark, lake)
    assert (found["a"], found["b"], found[""]) == ((6, 4, False), (7, None, True), (3, 3, False))
    assert errors(spark, lake) == [("8", "empty", "", b"", 0)]


@pytest.mark.proof(
    "test_tombstones_become_rows_of_nulls_behind_the_others parses one alone, and "
    "test_a_tombstone_deletes_the_row_of_its_key_where_a_target_says_so delivers it"
)
def test_a_batch_of_nothing_but_tombstones(spark, lake, topic):
    send(topic, ("a", None), ("b", None))
    assert deliver(spark, lake, topic).tables[f"{lake}.items"] == {"deleted": 2}
    assert items(spark, lake) == {"a": (0, None, True), "b": (1, None, True)}


@pytest.mark.proof(
    "test_a_tombstone_deletes_the_row_of_its_key_where_a_target_says_so shows it without operations"
)
def test_a_tombstone_deletes_beside_operations_too(spark, lake, topic):
    parse = streams.Json("id BIGINT, op STRING NOT NULL")
    send(topic, ("a", b'{"id": 1, "op": "U"}'), ("b", b'{"id": 2, "op": "U"}'), ("b", b'{"op": "D"}'), ("a", None))
    send(topic, ("c", b'{"id": 3, "op": "?"}'))
    tables = {f"{lake}.items": streams.Target(**ITEM, operation="op")}
    done = deliver(spark, lake, topic, parse=parse, tables=tables, route=None)
    assert done.tables == {f"{lake}.items": {"upserted": 2, "deleted": 2}}
    assert items(spark, lake) == {"a": (3, None, True), "b": (2, None, True)}
    assert [one[1] for one in errors(spark, lake)] == ["unknown_operation"]


@pytest.mark.proof(
    "test_a_key_and_a_value_that_are_null_are_told_from_empty_ones shows tombstones as errors, "
    "test_a_tombstone_deletes_the_row_of_its_key_where_a_target_says_so what they delete, "
    "test_errors_are_replayed_once a replay"
)
def test_a_tombstone_is_an_error_where_none_says_so_and_deletes_when_it_is_replayed(spark, lake, topic):
    send(topic, ("a", one(1)), ("a", None), ("b", one(2)), ("b", b""), ("c", None), ("c", one(3)))
    done = deliver(spark, lake, topic, tables=targets(lake, **UPSERTS))
    assert done.errors == 3 and items(spark, lake)["a"] == (0, 1, None)
    assert errors(spark, lake) == [
        ("1", "tombstone", "a", None, None), ("3", "empty", "b", b"", 0), ("4", "tombstone", "c", None, None),
    ]  # fmt: skip
    again = replay(spark, lake, topic, tables=targets(lake, **UPSERTS))
    assert (again.tables, again.left, again.cut) == ({}, {"tombstone": 2, "not_parsed": 1}, 0)
    again = replay(spark, lake, topic)
    assert (again.tables, again.left, again.cut) == ({f"{lake}.items": 2}, {"not_parsed": 1}, 0)
    assert items(spark, lake) == {"a": (1, None, True), "b": (2, 2, None), "c": (5, 3, None)}  # c came back
    assert replay(spark, lake, topic).tables == {}


def test_a_record_without_a_key_names_no_row_and_fills_no_required_column(spark, lake, topic):
    send(topic, (None, one(1)), (None, None), (None, one(2, "event")), ("", one(3, "event")))
    done = deliver(spark, lake, topic)
    assert done.tables == {f"{lake}.events": {"appended": 1}, f"{lake}.items": {}} and items(spark, lake) == {}
    assert rows(spark, f"{lake}.errors", "sequence_number", "reason", "message", "raw") == [
        ("0", "null_in_key", f"field 'partition_key' is null, and names a row of {lake}.items", one(1)),
        ("1", "null_in_key", f"field 'partition_key' is null, and names a row of {lake}.items", None),
        (
            "2", "null_in_required", f"the record has no key, and column 'partition_key' is required in {lake}.events",
            one(2, "event"),
        ),
    ]  # fmt: skip
    spark.sql(f"ALTER TABLE {lake}.events ALTER COLUMN partition_key DROP NOT NULL")
    assert replay(spark, lake, topic).left == {"null_in_key": 2}
    assert rows(spark, f"{lake}.events", "id", "partition_key") == [(2, None), (3, "")]


@pytest.mark.proof(
    "test_a_column_that_is_required_takes_no_record_without_a_time_and_stops_no_run shows it for an ingest"
)
def test_a_record_without_a_time_fills_no_required_column_of_a_delivery(spark, made, namespace, any_time):
    table = made("events", "id BIGINT, approximate_arrival_timestamp TIMESTAMP NOT NULL")
    any_time.send([0], record=lambda n: one(1), timestamp=NANOSECONDS)
    any_time.send([0], record=lambda n: one(2))
    given = {"source": any_time.source(), "parse": PARSE, "tables": {
        table: streams.Target(lineage=("approximate_arrival_timestamp",))}}  # fmt: skip
    done = streams.deliver(spark, errors=f"{namespace}.errors", **given)
    assert done.errors == 1 and rows(spark, table, "id") == [(2,)]
    assert [one[:2] for one in errors(spark, namespace)] == [("0", "null_in_required")]
    assert streams.replay(spark, f"{namespace}.errors", **given).left == {"null_in_required": 1}


def test_keys_that_are_no_utf8_do_not_name_one_row_together(spark, lake, topic):
    send(topic, (b"\xfe", one(1)), (b"\xff", one(2)), (b"\xff", None), ("ü", one(3)))
    assert deliver(spark, lake, topic).errors == 3
    assert items(spark, lake) == {"ü": (3, 3, False)}
    assert {one[1] for one in errors(spark, lake)} == {"key_not_utf8"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tombstones": "skip"}, "tombstones must be one of error, delete, found 'skip'"),
        ({"key": ("id",)}, r"key is \('partition_key',\) and sequence of the lineage"),
        ({"sequence": ("id",)}, "sequence of the lineage, as"),
        ({"lineage": ("offset",)}, "sequence of the lineage, as"),
        ({"deleted": None}, "tombstones that delete need `deleted`"),
        ({"tombstones": "error"}, "operation and deleted go together"),
    ],
)
def test_targets_that_do_not_go(change, said):
    with pytest.raises(ValueError, match=said):
        streams.Target(**ITEM | change)


def test_plans_that_do_not_go(spark, lake, topic, made):
    item = streams.Target(**ITEM)
    with pytest.raises(
        ValueError, match=r"tombstones delete in .*items and in .*others; nothing says of which one"
    ):
        deliver(spark, lake, topic, tables={f"{lake}.items": item, f"{lake}.others": item})
    columns = "partition_key STRING, offset BIGINT, id BIGINT NOT NULL, gone BOOLEAN"
    with pytest.raises(ValueError, match=r"column id of .*strict is required, and a tombstone does not bring it"):
        deliver(spark, lake, topic, tables={made("strict", columns): item}, route=None)


def test_a_schema_is_proposed_of_the_records_that_have_a_value(topic):
    send(topic, ("a", None), ("b", one(1)))
    found = streams.propose(topic.source())
    assert (found.schema, found.records, found.not_objects) == ("id BIGINT NOT NULL, text STRING NOT NULL", 2, 1)
