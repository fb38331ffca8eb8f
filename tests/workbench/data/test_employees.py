"""Employees: what is planted is what the records hold, in each format."""

import io
import json
from collections import Counter
from datetime import datetime

import fastavro
import pytest

from workbench.data import employees


def read(made):
    """Rows and the number of others, by json alone."""
    rows, others = [], 0
    for _, data in made.records:
        try:
            row = json.loads(data)
        except ValueError:
            others += 1
            continue
        row["changed_at"] = datetime.fromisoformat(row["changed_at"])
        rows.append(dict.fromkeys(employees.FIELDS) | row)
    return rows, others


def test_the_truth_is_that_of_the_records():
    made = employees.made(records=2_000, seed=5, bad_share=0.04, late_share=0.05)
    rows, undecodable = read(made)
    good = [row for row in rows if row["kind"] != "nobody" and row["employee_id"] is not None and row["op"] != "X"]
    assert len(made.records) == 2_000 + 4 + 80
    assert made.errors == {
        "undecodable": undecodable,
        "no_route": sum(row["kind"] in ("visit", "nobody") for row in rows),
        "null_in_key": sum(row["employee_id"] is None for row in rows),
        "unknown_operation": sum(row["op"] == "X" for row in rows),
    } and set(made.errors.values()) == {20, 20 + made.visits}  # fmt: skip
    changes = [row for row in good if row["kind"] == "employee"]
    newest = {}
    for row in sorted(changes, key=lambda one: one["changed_at"]):
        newest[row["employee_id"]] = row
    assert made.employees == newest and made.late > 10
    assert made.operations == Counter("deleted" if row["op"] == "D" else "upserted" for row in changes)
    readings = [(row["employee_id"], row["changed_at"]) for row in good if row["kind"] == "reading"]
    assert sorted(made.readings) == sorted(readings)
    key = {str(row["employee_id"]) for row in good}
    assert {one for one, _ in made.records} - {"bad"} == key


def test_the_formats_hold_the_same():
    plain, avro, proto = (
        employees.made(records=300, seed=5, bad_share=0, form=form) for form in employees.FORMATS
    )
    rows, _ = read(plain)
    schema = fastavro.parse_schema(json.loads(employees.avro_schema()))
    assert [fastavro.schemaless_reader(io.BytesIO(data), schema) for _, data in avro.records] == rows
    assert (plain.employees, plain.readings, plain.errors) == (proto.employees, proto.readings, proto.errors)
    assert len(proto.records) == 301 and len({len(data) for _, data in proto.records}) > 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"records": 0}, "records must be an integer of at least 1, found 0"),
        ({"bad_share": 2}, "bad_share must be a number of at least 0 and of at most 1, found 2"),
        ({"form": "xml"}, "form must be 'json', 'avro' or 'protobuf', found 'xml'"),
    ],
)
def test_arguments_that_do_not_go(options, said):
    with pytest.raises(ValueError, match=said):
        employees.made(**options)
