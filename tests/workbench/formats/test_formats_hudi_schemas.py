"""Which schema a Hudi table has, and what of it Iceberg cannot have."""

import pyarrow as pa
import pytest
from hudi_tables import FIELDS, VERSIONS, Written, at, rows

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
    with pytest.raises(ArgumentError, match="^the source has the column late, which the table has not: "):
        reading.summed(location, version, [field for field in fields if field["name"] != "late"])
