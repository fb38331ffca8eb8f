"""Changes of employees and readings of their badges in one topic, with planted bad, late and double ones.

As JSON, as Avro and as Protobuf: the same values, and the same truth of what has to be in which table.
"""

import io
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, get_args

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked

Form = Literal["json", "avro", "protobuf"]
FORMATS = get_args(Form)
Records = Annotated[int, Ge(1)]
Share = Annotated[float, Ge(0), Le(1)]
Write = Callable[[dict[str, Any]], bytes]
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
    employees: dict[int, dict[str, Any]]
    readings: list[tuple[int, datetime]]
    visits: int
    errors: dict[str, int]
    operations: dict[str, int]
    late: int


@checked
def made(
    *,
    records: Records = 5_000,
    seed: int = 1,
    bad_share: Share = 0.01,
    late_share: Share = 0.02,
    form: Form = "json",
) -> Changes:
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
        ValueError: an argument is invalid.
    """
    chance, rows = random.Random(seed), []
    for number in range(records):
        kind = chance.choices(("employee", "reading", "visit"), weights=(50, 33, 17))[0]
        rows.append(_row(chance, number, kind, max(1, records // 20)))
    late = set(chance.sample(range(records), round(late_share * records)))
    order = [n for n in range(records) if n not in late] + sorted(late)
    for n in chance.sample(range(records), round(DOUBLE_SHARE * records)):
        order.insert(chance.randint(0, len(order)), n)
    sent, write = [rows[n] for n in order], _writer(form)
    keyed = [(str(row["employee_id"]), write(row)) for row in sent]
    bad: Counter[str] = Counter()
    for number in range(round(bad_share * records)):
        what = BAD[number % len(BAD)]
        bad[what] += 1
        keyed.insert(chance.randint(0, len(keyed)), ("bad", _bad(what, chance, write)))
    visits = sum(row["kind"] == "visit" for row in sent)
    changes = [row for row in sent if row["kind"] == "employee"]
    employees: dict[int, dict[str, Any]] = {}
    behind = 0
    for row in changes:
        newest = employees.setdefault(row["employee_id"], row)
        behind += newest["changed_at"] > row["changed_at"]
        if newest["changed_at"] < row["changed_at"]:
            employees[row["employee_id"]] = row
    kinds = Counter("deleted" if row["op"] == "D" else "upserted" for row in changes)
    readings = [(row["employee_id"], row["changed_at"]) for row in sent if row["kind"] == "reading"]
    errors = dict(bad) | {"no_route": bad["no_route"] + visits}
    return Changes(keyed, employees, readings, visits, errors, dict(kinds), behind)


@checked
def check(*, records: Records, bad_share: Share = 0.0, late_share: Share = 0.0, form: Form = "json") -> None:
    """Refuse what `made` refuses, before a session or a broker is started for it.

    Raises:
        ValueError: with the argument, its value and what was expected.
    """


def _row(chance: random.Random, number: int, kind: str, employees: int) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(FIELDS) | {
        "kind": kind,
        "employee_id": chance.randrange(employees),
        "changed_at": FIRST + timedelta(seconds=number),  # each its own: the newest of an employee is one
    }
    if kind == "employee":
        age, role, team = chance.randint(18, 65), chance.choice(ROLES), chance.choice(TEAMS)
        row |= {"op": chance.choices("IUD", weights=(3, 6, 1))[0], "age": age, "role": role, "team": team}
        row["name"] = f"Dummy{row['employee_id']}"
    return row


def _bad(what: str, chance: random.Random, write: Write) -> bytes:
    row = _row(chance, chance.randrange(10**6), "employee", 10)
    if what == "undecodable":
        return b"\xff" + write(row)[: chance.randint(1, 9)]
    change: dict[str, dict[str, Any]] = {
        "no_route": {"kind": "nobody"},
        "null_in_key": {"employee_id": None},
        "unknown_operation": {"op": "X"},
    }
    return write(row | change[what])


def _writer(form: Form) -> Write:
    """Return the function that makes a row's bytes."""
    writers: dict[Form, Callable[[], Write]] = {"json": _json, "avro": _avro, "protobuf": _protobuf}
    return writers[form]()


def _json() -> Write:
    def write(row: dict[str, Any]) -> bytes:
        plain = {name: value for name, value in row.items() if value is not None}
        if row["changed_at"]:
            plain["changed_at"] = f"{row['changed_at']:%Y-%m-%dT%H:%M:%SZ}"
        return json.dumps(plain, separators=(",", ":")).encode()

    return write


def avro_schema() -> str:
    """Return the Avro schema of a record, JSON text; every field may be null."""
    timestamp = {"type": "long", "logicalType": "timestamp-micros"}
    kinds = {"STRING": "string", "BIGINT": "long", "INT": "int", "TIMESTAMP": timestamp}
    fields = [
        {"name": name, "type": ["null", kinds[kind]], "default": None}
        for name, kind in (part.split() for part in SCHEMA.split(", "))
    ]
    return json.dumps({"type": "record", "name": "Change", "namespace": "gsr.avro.post", "fields": fields})


def _avro() -> Write:
    import fastavro

    schema = fastavro.parse_schema(json.loads(avro_schema()))

    def write(row: dict[str, Any]) -> bytes:
        written = io.BytesIO()
        fastavro.schemaless_writer(written, schema, row)
        return written.getvalue()

    return write


def descriptors() -> bytes:
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
    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.add().CopyFrom(file)
    return files.SerializeToString()


def _protobuf() -> Write:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors()).file:
        pool.Add(file)
    change = message_factory.GetMessageClass(pool.FindMessageTypeByName(MESSAGE))

    def write(row: dict[str, Any]) -> bytes:
        message: Any = change(
            **{name: value for name, value in row.items() if value is not None and name != "changed_at"}
        )
        if row["changed_at"] is not None:
            message.changed_at.FromDatetime(row["changed_at"])
        return message.SerializeToString()

    return write
