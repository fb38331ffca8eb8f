"""Every message, field and call of the protocol is let through by a list or refused: as the descriptors have them."""

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from pyspark.sql.connect.proto import base_pb2, relations_pb2

from workbench_ops.front import messages, plans
from workbench_ops.front.refusals import Refused

SERVICE = base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"]
REQUESTS = [method.input_type for method in SERVICE.methods]


def short(descriptor):
    return descriptor.full_name.removeprefix("spark.connect.")


def reachable(descriptors):
    """Every message that can stand in a request, Spark's own and others', by name."""
    known, waiting = {}, list(descriptors)
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name not in known and not descriptor.GetOptions().map_entry:
            known[descriptor.full_name] = descriptor
        elif descriptor.full_name in known:
            continue
        waiting += [field.message_type for field in descriptor.fields if field.message_type is not None]
    return known


MESSAGES = reachable(REQUESTS)
FIELDS = [(descriptor, field) for _, descriptor in sorted(MESSAGES.items()) for field in descriptor.fields]


def rewriting():
    return plans.Rewriting("reader", lambda principal, table: f"SELECT 1 AS shown FROM {table}", "lake")


def holding(descriptor, field):
    """A message with a value in one field: not the default, and in messages nothing further."""
    message = message_factory.GetMessageClass(descriptor)()
    target = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value = field.message_type.fields_by_name["value"]
        if value.message_type is None:
            target["key"] = "value"
        else:
            target["key"].SetInParent()
    elif field.message_type is not None:
        target.add() if field.is_repeated else target.SetInParent()
    else:
        values = {field.CPPTYPE_STRING: b"x" if field.type == field.TYPE_BYTES else "x", field.CPPTYPE_BOOL: True}
        value = values.get(field.cpp_type, 1)
        target.append(value) if field.is_repeated else setattr(message, field.name, value)
    return message


def test_the_protocol_is_the_whole_of_it():
    """What is enumerated below is what the installed PySpark has: a fall in these numbers would hide kinds."""
    assert len(SERVICE.methods) >= 11
    assert len(MESSAGES) >= 200
    assert len(FIELDS) >= 800


def passes(descriptor, field):
    """Whether a message that holds this field, and nothing else, goes through."""
    message = holding(descriptor, field)
    assert message.ListFields(), "the value must be there to be refused"
    try:
        return bool(rewriting().rewritten(message).ListFields())
    except Refused:
        return False


def test_a_field_is_on_the_list_or_refused():
    through = [
        f"{short(descriptor)}.{field.name}"
        for descriptor, field in FIELDS
        if field.name not in messages.FIELDS.get(short(descriptor), ()) and passes(descriptor, field)
    ]
    assert through == []


def test_a_field_that_is_let_through_by_mistake_is_seen(monkeypatch):
    field = relations_pb2.Read.DESCRIPTOR.fields_by_name["is_streaming"]
    assert not passes(relations_pb2.Read.DESCRIPTOR, field)
    monkeypatch.setitem(messages.FIELDS, "Read", messages.FIELDS["Read"] | {"is_streaming"})
    monkeypatch.delitem(plans.RULES, "Read")
    assert passes(relations_pb2.Read.DESCRIPTOR, field)


def test_ignored_fields_do_not_go_through():
    message = relations_pb2.Relation(range=relations_pb2.Range(end=3, step=1))
    message.common.plan_id = 7
    message.common.source_info = "cell 3"
    message.common.origin.python_origin.fragment = "select"
    new = rewriting().rewritten(message)
    assert new == relations_pb2.Relation(
        common=relations_pb2.RelationCommon(plan_id=7), range=relations_pb2.Range(end=3, step=1)
    )


def test_the_lists_name_nothing_that_there_is_not():
    known = {short(descriptor): {field.name for field in descriptor.fields} for descriptor in MESSAGES.values()}
    stale = {name: fields - known.get(name, set()) for name, fields in messages.FIELDS.items()}
    assert {name: fields for name, fields in stale.items() if fields or name not in known} == {}
    assert {method.name for method in SERVICE.methods} >= messages.CALLS
    assert set(plans.RULES) <= set(messages.FIELDS)
    for name in messages.REASONS:
        message, _, field = name.rpartition(".")
        assert field not in messages.FIELDS.get(message, ())


def test_what_is_let_through_is_this():
    """The whole list of kinds, so that a change of it is seen in a review."""
    relations = relations_pb2.Relation.DESCRIPTOR.oneofs_by_name["rel_type"].fields
    assert sorted(field.name for field in relations if field.name not in messages.FIELDS["Relation"]) == [
        "apply_in_pandas_with_state", "cached_local_relation", "cached_remote_relation", "catalog",
        "chunked_cached_local_relation", "co_group_map", "collect_metrics", "common_inline_user_defined_data_source",
        "common_inline_user_defined_table_function", "extension", "group_map", "map_partitions", "ml_relation", "parse",
        "sample", "sample_by", "unknown", "with_watermark",
    ]  # fmt: skip
    assert {method.name for method in SERVICE.methods} - messages.CALLS == {
        "AddArtifacts", "ArtifactStatus", "CloneSession", "FetchErrorDetails",
    }  # fmt: skip
    assert messages.FIELDS["Command"] == {"sql_command"}
    assert {
        "spark.sql.repl.eagerEval.enabled",
        "spark.sql.repl.eagerEval.maxNumRows",
        "spark.sql.repl.eagerEval.truncate",
    } == messages.SETTABLE


def newer(kind, name, number, **more):
    """The bytes of a message of a newer version, which has a field more."""
    pool, seen = descriptor_pool.DescriptorPool(), set()

    def add(file):
        for needed in file.dependencies:
            add(needed)
        if file.name in seen:
            return
        seen.add(file.name)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for message in proto.message_type:
            if message.name == kind:
                message.field.add(name=name, number=number, type=9, label=1)
        pool.Add(proto)

    add(base_pb2.DESCRIPTOR)
    build = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"spark.connect.{kind}"))
    return build(**{name: "new"} | more).SerializeToString()


@pytest.mark.parametrize("kind", ["Relation", "Expression", "Plan", "Filter", "ExecutePlanRequest"])
def test_what_a_newer_version_adds_is_refused(kind):
    data = newer(kind, "of_tomorrow", 9_000)
    message = message_factory.GetMessageClass(MESSAGES[f"spark.connect.{kind}"])()
    message.ParseFromString(data)
    with pytest.raises(Refused, match="does not know|is empty"):
        rewriting().rewritten(message)


def test_a_value_that_an_enumeration_does_not_have_is_refused():
    join = relations_pb2.Relation()
    for side in (join.join.left, join.join.right):
        side.range.end = 1
    join.join.join_type = 1
    assert rewriting().rewritten(join) == join
    join.join.join_type = 77
    with pytest.raises(Refused, match="Join.join_type has a value that is not known"):
        rewriting().rewritten(join)
