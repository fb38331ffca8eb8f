"""The employee of the IoT walkthrough as a Protobuf message and as an Avro record, made without a compiler."""

import io
import json

import fastavro
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2

AVRO = json.dumps({
    "type": "record", "name": "Employee", "namespace": "gsr.avro.post",
    "fields": [
        {"name": "employee_id", "type": "long"}, {"name": "age", "type": ["null", "int"]},
        {"name": "start_date", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "team", "type": "string"},
        {"name": "role", "type": {"type": "enum", "name": "Role", "symbols": ["MANAGER", "DEVELOPER", "ARCHITECT"]}},
    ],
})  # fmt: skip


def descriptors():
    """Bytes of the FileDescriptorSet of gsr.proto.post."""
    file = descriptor_pb2.FileDescriptorProto(name="post.proto", package="gsr.proto.post", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    kinds = descriptor_pb2.FieldDescriptorProto
    role = file.enum_type.add(name="Role")
    for number, name in enumerate(("MANAGER", "DEVELOPER", "ARCHITECT")):
        role.value.add(name=name, number=number)
    team = file.message_type.add(name="Team")
    for number, name in enumerate(("name", "location"), 1):
        team.field.add(name=name, number=number, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
    employee = file.message_type.add(name="Employee")
    for number, (name, kind, of) in enumerate((
        ("id", kinds.TYPE_INT32, ""), ("name", kinds.TYPE_STRING, ""), ("address", kinds.TYPE_STRING, ""),
        ("employee_age", kinds.TYPE_MESSAGE, ".google.protobuf.Int32Value"),
        ("start_date", kinds.TYPE_MESSAGE, ".google.protobuf.Timestamp"),
        ("team", kinds.TYPE_MESSAGE, ".gsr.proto.post.Team"), ("role", kinds.TYPE_ENUM, ".gsr.proto.post.Role"),
    ), 1):  # fmt: skip
        employee.field.add(name=name, number=number, type=kind, type_name=of or None, label=kinds.LABEL_OPTIONAL)
    found = descriptor_pb2.FileDescriptorSet()
    for needed in (timestamp_pb2, wrappers_pb2):
        needed.DESCRIPTOR.CopyToProto(found.file.add())
    found.file.add().CopyFrom(file)
    return found.SerializeToString()


def message(**values):
    """An Employee's bytes."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors()).file:
        pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("gsr.proto.post.Employee"))()
    age, start, team = (values.pop(name, None) for name in ("employee_age", "start_date", "team"))
    for name, value in values.items():
        setattr(made, name, value)
    if age is not None:
        made.employee_age.value = age
    if start is not None:
        made.start_date.FromMicroseconds(start)
    if team is not None:
        made.team.name, made.team.location = team
    return made.SerializeToString()


def record(value, schema=AVRO):
    """An Avro record's bytes."""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, fastavro.parse_schema(json.loads(schema)), value)
    return written.getvalue()
