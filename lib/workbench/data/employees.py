"""Changes of employees and readings of their badges in one topic, with planted bad, late and double ones.

As JSON, as Avro and as Protobuf: the same values, and the same truth of what has to be in which table.
"""

import io
import json
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from workbench._base.errors import ArgumentError

FORMATS = ("json", "avro", "protobuf")
SCHEMA = (
    "kind STRING, op STRING, employee_id BIGINT, changed_at TIMESTAMP, age INT, role STRING, team STRING, "
    "name STRING"
)
FIELDS = [part.split()[0] for part in SCHEMA.split(", ")]
MESSAGE = "gsr.proto.post.Change"
ROLES, TEAMS = ("MANAGER", "DEVELOPER", "ARCHITECT"), ("Solutions Architects", "Data", "Field")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DOUBLE_SHARE = 0.002
BAD = ("undecodable", "no_route", "null_in_key", "unknown_operation")


@dataclass(frozen=True)
class Changes:
    """Records in the order in which they are sent, and what becomes of them.

    Attributes:
        records: (key, bytes); the key is the employee, so that one partition has all changes of one.
        employees: employee id to the newest change that was sent of it, a dict of FIELDS.
        readings: (employee id, time) of each badge reading, as often as it was sent.
        visits: how many records are of a kind that has no route at first.
        errors: reason to how many records cannot be delivered at first; `undecodable` is the parser's business.
        operations: `upserted` and `deleted` to how many changes were sent.
        late: how many changes were sent behind a newer one of the same employee.
    """

    records: list[tuple[str, bytes]]
    employees: dict
    readings: list
    visits: int
    errors: dict
    operations: dict
    late: int


def made(*, records=5_000, seed=1, bad_share=0.01, late_share=0.02, form="json"):
    """Make changes and readings; the same arguments give the same ones, in every format.

    Half of the records are changes of a tenth as many employees (one in ten a delete), a third are badge readings,
    the rest are visits, a kind that nobody has thought of. One record in 500 is sent twice.

    Args:
        records: how many, doubles and bad ones not counted.
        seed: any integer.
        bad_share: bad records on top, as a share of records, of the kinds of BAD in turn.
        late_share: share of the records that are sent behind all others.
        form: one of FORMATS.

    Returns:
        Changes.

    Raises:
        ValueError: an argument does not go.
    """
    check(records=records, bad_share=bad_share, late_share=late_share, form=form)
    chance, rows = random.Random(seed), []
    for number in range(records):
        kind = chance.choices(("employee", "reading", "visit"), weights=(50, 33, 17))[0]
        rows.append(_row(chance, number, kind, max(1, records // 20)))
    late = set(chance.sample(range(records), round(late_share * records)))
    order = [n for n in range(records) if n not in late] + sorted(late)
    for n in chance.sample(range(records), round(DOUBLE_SHARE * records)):
        order.insert(chance.randint(0, len(order)), n)
    sent, write = [rows[n] for n in order], _writer(form)
    found = [(str(row["employee_id"]), write(row)) for row in sent]
    bad = Counter()
    for number in range(round(bad_share * records)):
        what = BAD[number % len(BAD)]
        bad[what] += 1
        found.insert(chance.randint(0, len(found)), ("bad", _bad(what, chance, write)))
    visits = sum(row["kind"] == "visit" for row in sent)
    changes = [row for row in sent if row["kind"] == "employee"]
    employees, behind = {}, 0
    for row in changes:
        there = employees.get(row["employee_id"])
        behind += there is not None and there["changed_at"] > row["changed_at"]
        if there is None or there["changed_at"] < row["changed_at"]:
            employees[row["employee_id"]] = row
    kinds = Counter("deleted" if row["op"] == "D" else "upserted" for row in changes)
    readings = [(row["employee_id"], row["changed_at"]) for row in sent if row["kind"] == "reading"]
    errors = dict(bad) | {"no_route": bad["no_route"] + visits}
    return Changes(found, employees, readings, visits, errors, dict(kinds), behind)


def check(*, records, bad_share=0.0, late_share=0.0, form="json"):
    """Refuse what `made` refuses, before a session or a broker is started for it.

    Raises:
        ValueError: with the argument, its value and what was expected.
    """
    if isinstance(records, bool) or not isinstance(records, int) or records < 1:
        raise ArgumentError(f"records is {records!r}, expected a whole number from 1")
    for name, share in (("bad_share", bad_share), ("late_share", late_share)):
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ArgumentError(f"{name} is {share!r}, expected a number from 0 to 1")
    if form not in FORMATS:
        raise ArgumentError(f"form is {form!r}, expected one of {', '.join(FORMATS)}")


def _row(chance, number, kind, employees):
    row = dict.fromkeys(FIELDS) | {
        "kind": kind,
        "employee_id": chance.randrange(employees),
        "changed_at": FIRST + timedelta(seconds=number),  # each its own: the newest of an employee is one
    }
    if kind == "employee":
        age, role, team = chance.randint(18, 65), chance.choice(ROLES), chance.choice(TEAMS)
        row |= {"op": chance.choices("IUD", weights=(3, 6, 1))[0], "age": age, "role": role, "team": team}
        row["name"] = f"Dummy{row['employee_id']}"
    return row


def _bad(what, chance, write):
    row = _row(chance, chance.randrange(10**6), "employee", 10)
    if what == "undecodable":
        return b"\xff" + write(row)[: chance.randint(1, 9)]
    change = {
        "no_route": {"kind": "nobody"},
        "null_in_key": {"employee_id": None},
        "unknown_operation": {"op": "X"},
    }
    return write(row | change[what])


def _writer(form):
    """Return the function that makes a row's bytes."""
    return {"json": _json, "avro": _avro, "protobuf": _protobuf}[form]()


def _json():
    def write(row):
        plain = {name: value for name, value in row.items() if value is not None}
        if row["changed_at"]:
            plain["changed_at"] = f"{row['changed_at']:%Y-%m-%dT%H:%M:%SZ}"
        return json.dumps(plain, separators=(",", ":")).encode()

    return write


def avro_schema():
    """Return the Avro schema of a record, JSON text; every field may be null."""
    kinds = {"STRING": "string", "BIGINT": "long", "INT": "int"}
    kinds["TIMESTAMP"] = {"type": "long", "logicalType": "timestamp-micros"}
    fields = [
        {"name": name, "type": ["null", kinds[kind]], "default": None}
        for name, kind in (part.split() for part in SCHEMA.split(", "))
    ]
    return json.dumps({"type": "record", "name": "Change", "namespace": "gsr.avro.post", "fields": fields})


def _avro():
    import fastavro

    schema = fastavro.parse_schema(json.loads(avro_schema()))

    def write(row):
        written = io.BytesIO()
        fastavro.schemaless_writer(written, schema, row)
        return written.getvalue()

    return write


def descriptors():
    """Return the FileDescriptorSet, in bytes, of MESSAGE; every field has presence."""
    from google.protobuf import descriptor_pb2, timestamp_pb2

    file = descriptor_pb2.FileDescriptorProto(name="change.proto", package="gsr.proto.post", syntax="proto2")
    file.dependency.append("google/protobuf/timestamp.proto")
    message, kinds = file.message_type.add(name="Change"), descriptor_pb2.FieldDescriptorProto
    types = {"STRING": kinds.TYPE_STRING, "BIGINT": kinds.TYPE_INT64, "INT": kinds.TYPE_INT32}
    for number, (name, kind) in enumerate((part.split() for part in SCHEMA.split(", ")), 1):
        field = message.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL)
        field.type = types.get(kind, kinds.TYPE_MESSAGE)
        if kind == "TIMESTAMP":
            field.type_name = ".google.protobuf.Timestamp"
    found = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(found.file.add())
    found.file.add().CopyFrom(file)
    return found.SerializeToString()


def _protobuf():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors()).file:
        pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(MESSAGE))

    def write(row):
        message = made(
            **{name: value for name, value in row.items() if value is not None and name != "changed_at"}
        )
        if row["changed_at"] is not None:
            message.changed_at.FromDatetime(row["changed_at"])
        return message.SerializeToString()

    return write
