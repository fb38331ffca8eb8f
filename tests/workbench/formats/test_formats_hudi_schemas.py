"""Which schema a Hudi table has, and what of it Iceberg cannot have."""

import pyarrow as pa
import pytest
from hudi_tables import FIELDS, VERSIONS, Written, at, rows

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import storage
from workbench.formats.hudi import reading, schemas, timeline

LATE = {"name": "late", "type": ["null", "string"], "default": None}
STORED = [("id", pa.int64()), ("area", pa.string()), ("word", pa.string())]


def columns(table, version=None):
    opened = timeline.read(storage.opened(str(table.path)), version)
    return [field["name"] for field in schemas.avro(opened)["fields"]]


def grown(path, version=9):
    """Return a table whose write of 3 brought the column `late`; that of 3 was completed at 4."""
    table = Written(path, version)
    table.commit(at(1), table.file("one", at(1), rows(0, 10)))
    table.fields = [*FIELDS, LATE]
    values = [row | {"late": "x"} for row in rows(10, 20)]
    schema = pa.schema([*STORED, ("late", pa.string())])
    table.commit(at(3), table.file("two", at(3), values, schema=schema), completed=at(4))
    table.fields = FIELDS
    return table


@VERSIONS
@pytest.mark.parametrize("operation", ["CLUSTER", "COMPACT", "INDEX", "LOG_COMPACT"])
def test_an_operation_that_moves_rows_alone_does_not_say_which_columns_there_are(operation, version, tmp_path):
    table = grown(tmp_path / "t", version)
    new = table.file("new", at(5), rows(0, 10))
    table.commit(at(5), new, completed=at(6), replaced=[("a", "one-0")], operationType=operation)
    assert columns(table) == ["id", "area", "word", "late"]


def test_the_write_that_was_requested_last_says_which_columns_there_are(tmp_path):
    table = grown(tmp_path / "t")
    table.commit(at(2), table.file("three", at(2), rows(20, 30)), completed=at(6))
    assert columns(table) == ["id", "area", "word", "late"]
    assert columns(table, int(at(1))) == ["id", "area", "word"]


def test_a_column_that_the_second_reader_has_and_the_table_has_not_is_no_equality(tmp_path):
    table = grown(tmp_path / "t")
    opened = timeline.read(storage.opened(str(table.path)))
    fields = schemas.of(opened, schemas.avro(opened), schemas.META[:-1]).fields["fields"]
    location, version = f"file://{table.path}", int(at(4))
    assert reading.summed(location, version, fields).rows == 20
    with pytest.raises(
        ArgumentError, match="^the source as it is read has the column late, and the table has not"
    ):
        reading.summed(location, version, [field for field in fields if field["name"] != "late"])
    with pytest.raises(
        ArgumentError, match="^the table has the column later, and the source as it is read has not"
    ):
        reading.summed(location, version, [*fields, {"name": "later", "type": "long"}])


def test_moments_in_milliseconds_whatever_the_files_say(tmp_path):
    for logical, unit in (("timestamp-millis", "UTC"), ("local-timestamp-millis", None)):
        kind = {"type": "long", "logicalType": logical}
        record = {"type": "record", "name": "r", "fields": [{"name": "at", "type": ["null", kind]}]}
        for fields, path in (
            ([{"name": "m", "type": kind}], "m"),
            ([{"name": "m", "type": {"type": "array", "items": record}}], "m.element.at"),
        ):
            words = f"the column {path} is of the Avro type long {logical}: Hudi reads milliseconds, whatever the files"
            assert obstacles(fields)[0].startswith(words)
        table = Written(tmp_path / logical, fields=[*FIELDS, {"name": "m", "type": kind}])
        schema = pa.schema([*STORED, ("m", pa.timestamp("us", unit))])
        table.commit(at(1), table.file("one", at(1), [row | {"m": 1} for row in rows(0, 3)], schema=schema))
        assert [text.partition(":")[0] for text in formats.look(table.path).obstacles] == [
            f"the column m is of the Avro type long {logical}"
        ]


def obstacles(fields, **record):
    """Return what keeps columns of an Avro schema from becoming Iceberg's."""
    return typed(fields, **record)[0]


def typed(fields, **record):
    """Return the obstacles, and {column: type} where structs are dicts and lists are lists of one."""
    builder = schemas._Builder()
    made, _ = builder.row({"type": "record", "name": "row", **record, "fields": fields})
    return builder.obstacles, _short({"type": "struct", "fields": made})


def _short(kind):
    if isinstance(kind, str):
        return kind
    if kind["type"] == "struct":
        return {field["name"]: _short(field["type"]) for field in kind["fields"]}
    return [_short(kind["element" if kind["type"] == "list" else "value"])]


def money(column, **more):
    return {"type": "record", "name": "Money", "fields": [{"name": column, "type": "long"}], **more}


def test_names_of_types_are_found_in_the_namespace_around_them():
    fields = [
        {"name": "p", "type": money("amount", namespace="n1")},
        {"name": "q", "type": money("cents", namespace="n2")},
        {"name": "r", "type": {"type": "record", "name": "n1.Inner", "fields": [{"name": "x", "type": "Money"}]}},
        {"name": "s", "type": ["null", "n2.Money"]},
        {"name": "t", "type": {"type": "array", "items": {"type": "n1.Money"}}},
        {"name": "u", "type": money("root")},
        {"name": "v", "type": "Money"},
        {"name": "w", "type": "n0.Money"},
        {"name": "y", "type": money("none", namespace="", name="Other")},
        {"name": "z", "type": {"type": "map", "values": {"type": "enum", "name": "n3.E", "symbols": ["A"]}}},
        {"name": "e", "type": {"type": "record", "name": "n3.F", "fields": [{"name": "e", "type": "E"}]}},
    ]
    amount, cents, root = {"amount": "long"}, {"cents": "long"}, {"root": "long"}
    for record in ({"namespace": "n0"}, {"name": "n0.row"}, {"name": "n0.row", "namespace": "not.this"}):
        assert typed(fields, **record) == ([], {
            "p": amount, "q": cents, "r": {"x": amount}, "s": cents, "t": [amount], "u": root, "v": root, "w": root,
            "y": {"none": "long"}, "z": ["string"], "e": {"e": "string"},
        })  # fmt: skip
    assert obstacles([fields[0], {"name": "r", "type": "Money"}])[0].startswith(
        "the column r is of the Avro type Money, which"
    )


def test_a_name_that_two_types_have():
    with pytest.raises(ValueError, match="two types have the name n0.Money"):
        typed([{"name": "p", "type": money("a")}, {"name": "q", "type": money("b")}], namespace="n0")


def test_types_within_themselves():
    inner = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
    words = "the column n.next is of the Avro type N within itself, which"
    assert obstacles([{"name": "n", "type": inner}])[0].startswith(words)
    assert obstacles([{"name": "n", "type": ["null", "row"]}])[0].startswith(
        "the column n is of the Avro type row within"
    )
    inner["fields"][0]["type"] = {"type": "map", "values": {"type": "array", "items": "N"}}
    assert (
        "column n.next.value.element is of the Avro type N within itself"
        in obstacles([{"name": "n", "type": inner}])[0]
    )


@pytest.mark.parametrize("kind", [
    {"type": "record", "name": "v", "fields": [{"name": "value", "type": "bytes"}]}, {"type": "array", "items": "long"},
    {"type": "map", "values": "long"}, {"type": {"type": "array", "items": "long"}}, {"type": "enum", "name": "e", "symbols": ["A"]},
    {"type": "fixed", "name": "f", "size": 4}, {"type": ["null", "long"]},
])  # fmt: skip
def test_types_that_another_word_makes_to_something_else(kind):
    assert obstacles([{"name": "v", "type": kind | {"logicalType": "variant"}}])[0].startswith(
        "the column v is of the Avro type "
    )
    assert obstacles([{"name": "v", "type": kind}]) == [] or kind["type"] == "fixed"


@pytest.mark.parametrize(("precision", "scale"), [(39, 2), (0, 0), (5, 6), (5, -1), ("5", 2), (True, 0), (5.0, 2)])
def test_decimals_that_iceberg_has_not(precision, scale):
    kind = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    assert obstacles([{"name": "d", "type": kind}]) == [
        f"the column d is of the type decimal({precision}, {scale}), and Iceberg has decimals of 1 to 38 digits, "
        "none to all of them behind the point: write it as another type in the source"
    ]
    assert typed([{"name": "d", "type": kind | {"precision": 38, "scale": 38}}]) == ([], {"d": "decimal(38, 38)"})
    del kind["scale"]
    assert typed([{"name": "d", "type": kind | {"precision": 1}}]) == ([], {"d": "decimal(1, 0)"})


def test_names_that_spark_cannot_tell_apart_or_that_iceberg_has_itself(tmp_path):
    nested = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "x", "type": "int"}, {"name": "X", "type": "int"}],
    }
    more = [
        {"name": "ID", "type": ["null", "long"], "default": None}, {"name": "deep", "type": ["null", {"type": "array", "items": nested}]},
        {"name": "_File", "type": ["null", "string"], "default": None}, {"name": "_hoodie_Record_key", "type": ["null", "string"]},
    ]  # fmt: skip
    table = Written(tmp_path / "t", fields=[*FIELDS, *more])
    table.commit(at(1), table.file("one", at(1), rows(0, 3)))
    beginnings = [text.partition(",")[0] for text in formats.look(table.path).obstacles]
    assert beginnings[:4] == [
        "the columns id and ID differ in capitals alone",
        "the columns deep.element.x and deep.element.X differ in capitals alone",
        "the column _File has a name that Iceberg gives to a column of its own",
        "the columns _hoodie_record_key and _hoodie_Record_key differ in capitals alone",
    ]
