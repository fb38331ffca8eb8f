"""Random requests, drawn from the protocol's descriptors: each is refused by a sentence, or reads governed tables only."""

import pytest
from conftest import PROVE
from google.protobuf import message_factory
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql.connect.proto import base_pb2, relations_pb2

from workbench_ops.front import looking, messages, plans, statements
from workbench_ops.front.functions import FUNCTIONS, HINTS, TABLE_FUNCTIONS
from workbench_ops.front.refusals import Refused, words_of

SHARED = {
    "lake.sales.people": "SELECT `uid` FROM `lake`.`sales`.`people` WHERE `state` LIKE 'U_'",
    "lake.sales.`a b`": "SELECT `uid` FROM `lake`.`sales`.`a b`",
}
READ = {("lake", "sales", "people"), ("lake", "sales", "a b")}
REQUESTS = [
    base_pb2.ExecutePlanRequest, base_pb2.AnalyzePlanRequest, base_pb2.ConfigRequest, base_pb2.InterruptRequest,
    base_pb2.ReattachExecuteRequest, base_pb2.ReleaseExecuteRequest, base_pb2.ReleaseSessionRequest,
]  # fmt: skip
DEEPEST, MOST_MESSAGES = 7, 40
NAMES = [
    "sales.people", "lake.sales.people", "sales.`a b`", "sales.salaries", "sales.people.files", "parquet.`/etc/passwd`",
    "sales.people.branch_x", "`sales.people`", "lake.lake.sales.people", "SALES.PEOPLE", "sales.people t", "",
    "sales.ｐeople", "ſales.people",
]  # fmt: skip
PIECES = [
    "select", "*", "from", "where", "(", ")", ",", "as", "with", "t", "u", "union all", "join", "lateral view explode",
    "lateral", "exists", "in", "=", "uid", "'x'", '"y"', "`z`", "--", "/*", "*/", ";", "table", "values", "1", "/", "case when",
    "then", "end", "over", "pivot", "identifier", "version as of", "tablesample", "|>", "::", ".", ".files", "cast",
    "abs(", "max(", "java_method(", "stack(", "explode(", "range(", "json_tuple(", "?", ":a", "${x}", "\\", "'", "`", "\n", "\x00", "🦆",
    *NAMES,
]  # fmt: skip
WHOLE = [
    f"select * from {name} where uid = 1 and state like 'U%' order by 1" for name in NAMES
] + [
    "with t as (select * from sales.people) select * from t, sales.salaries",
    "select (select max(uid) from sales.`a b`), uid in (select uid from sales.people) from sales.people",
    "uid + 1", "uid in (select uid from sales.people)", "cast(uid as int) as x",
]  # fmt: skip
SQL = st.sampled_from(WHOLE) | st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join)
FUNCTION = st.sampled_from([*sorted(FUNCTIONS), *sorted(TABLE_FUNCTIONS), "java_method", "rand", "LAKE.f", ""])
KEYS = st.sampled_from([*sorted(messages.READABLE), "spark.connect.authenticate.token", "spark.sql.ansi.enabled"])
# what a field of a text is likely to be taken by; others are short texts
TEXTS = {
    "unparsed_identifier": st.sampled_from([*NAMES, "uid", "people.uid", "_file", "governed.uid"]),
    "query": SQL, "expression": SQL, "sql": SQL, "function_name": FUNCTION, "keys": KEYS, "key": KEYS,
    "name": st.sampled_from(sorted(HINTS)) | st.sampled_from(NAMES),
    "type_str": st.sampled_from(["int", "array<int>", "decimal(3, 1)", "udt", "${x}", "int;"]),
    "schema": st.sampled_from(["", '{"type":"struct","fields":[]}', "a int", '{"type":"udt"}', "[" * 500]),
    "ddl_string": st.sampled_from(["a int", "a int, b ${x}"]),
}  # fmt: skip
OTHER = st.text(st.sampled_from("ab'\"`\\;-/*(){}$ \n%_.0é\x00"), max_size=8)


@st.composite
def filled(draw, kind, depth=0, room=None):
    """A message of a kind, its fields drawn; more often than not those that are let through."""
    room = [MOST_MESSAGES] if room is None else room
    room[0] -= 1
    message, name = kind(), kind.DESCRIPTOR.full_name.removeprefix(plans.PACKAGE)
    allowed = messages.FIELDS.get(name, frozenset())
    chosen = {}
    for field in kind.DESCRIPTOR.fields:
        if (depth >= DEEPEST or room[0] < 1) and field.message_type is not None:
            continue
        place = field.containing_oneof.full_name if field.containing_oneof is not None else field.full_name
        chosen.setdefault(place, []).append(field)
    for fields in chosen.values():
        listed = [field for field in fields if field.name in allowed]
        if len(fields) > 1:  # one of several
            field = draw(st.sampled_from(listed if listed and draw(st.integers(0, 30)) else fields))
        else:
            (field,) = fields
            if not draw(st.booleans()) and not (listed and field.message_type is not None):
                continue
            if not listed and draw(st.integers(0, 30)):
                continue
        draw(_set(message, field, depth, room))
    return message


@st.composite
def _set(draw, message, field, depth, room):
    count = draw(st.integers(0, 2)) if field.is_repeated else 1
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        value = field.message_type.fields_by_name["value"]
        for number in range(count):
            target = getattr(message, field.name)
            if value.message_type is None:
                target[f"k{number}"] = draw(_scalar(value))
            else:
                inner = message_factory.GetMessageClass(value.message_type)
                target[f"k{number}"].CopyFrom(draw(filled(inner, depth + 1, room)))
    elif field.message_type is not None:
        inner = message_factory.GetMessageClass(field.message_type)
        for _ in range(count):
            target = getattr(message, field.name)
            (target.add() if field.is_repeated else target).CopyFrom(draw(filled(inner, depth + 1, room)))
    else:
        for _ in range(count):
            value = draw(_scalar(field))
            getattr(message, field.name).append(value) if field.is_repeated else setattr(
                message, field.name, value
            )


def _scalar(field):
    if field.enum_type is not None:
        return st.sampled_from([*field.enum_type.values_by_number, 99])
    if field.cpp_type == field.CPPTYPE_STRING:
        return st.binary(max_size=6) if field.type == field.TYPE_BYTES else TEXTS.get(field.name, OTHER)
    if field.cpp_type == field.CPPTYPE_BOOL:
        return st.booleans()
    if field.cpp_type in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return st.sampled_from([0.0, -1.5, float("nan"), float("inf")])
    unsigned = field.cpp_type in (field.CPPTYPE_UINT32, field.CPPTYPE_UINT64)
    return st.sampled_from([0, 1, 7, 2**31 - 1, *([] if unsigned else [-1])])


def governed(principal, table):
    if table not in SHARED:
        raise ValueError(f"{table} has a hidden column salary")
    return SHARED[table]


def inside(message):
    """Every message in a message, itself among them."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            for item in value.values():
                yield from inside(item) if hasattr(item, "ListFields") else ()
            continue
        for item in value if field.is_repeated else [value]:
            yield from inside(item)


def require_governed(request, new, tables):
    """Require that what goes to the server is made anew: the principal's, by listed fields, and reads governed tables."""
    assert new.user_context.user_id == "reader" and not new.user_context.user_name
    assert set(tables) <= set(SHARED)
    for message in inside(new):
        name = message.DESCRIPTOR.full_name.removeprefix(plans.PACKAGE)
        assert {field.name for field, _ in message.ListFields()} <= messages.FIELDS[name], name
        if name == "Relation":
            assert message.WhichOneof("rel_type") not in ("read", None)
        if name == "SQL":
            assert {field.name for field, _ in message.ListFields()} <= {"query"}
            assert looking.read_by(message.query, "lake") <= READ, message.query
        if name == "Expression.ExpressionString":
            assert looking.read_by(f"SELECT {message.expression}\n", "lake") <= READ, message.expression


def judge(request):
    """Rewrite a request as it comes over the wire; return whether it was let through."""
    sent = type(request).FromString(request.SerializeToString())
    rewriting = plans.Rewriting("reader", governed, "lake")
    words_of(sent)
    try:
        new = rewriting.request(sent)
    except Refused as error:
        assert str(error) and "salary" not in str(error)
        return False
    require_governed(sent, new, rewriting.tables)
    if new.DESCRIPTOR.name == "ExecutePlanRequest" and new.plan.WhichOneof("op_type") == "root":
        looking.to_be_seen(new.plan.root)
    return True


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.DESCRIPTOR.name)
def test_a_random_request_is_refused_or_reads_governed_tables_only(kind):
    through = []

    @settings(max_examples=(3000 if PROVE else 30) if "Plan" in kind.DESCRIPTOR.name else 20)
    @given(filled(kind))
    def all_are_judged(request):
        through.append(judge(request))

    all_are_judged()
    assert any(through)


def relations(kind):
    """Requests with a relation of a kind in their plan, drawn."""
    inner = relations_pb2.Relation.DESCRIPTOR.fields_by_name[kind]

    @st.composite
    def drawn(draw):
        request = base_pb2.ExecutePlanRequest()
        draw(_set(request.plan.root, inner, 2, [MOST_MESSAGES]))
        return request

    return drawn()


LISTED = sorted(messages.FIELDS["Relation"] - {"common"})


@settings(max_examples=3000 if PROVE else 60)
@given(st.sampled_from(LISTED).flatmap(relations))
def test_each_kind_of_relation_that_is_let_through_reads_governed_tables_only(request):
    judge(request)


@pytest.mark.parametrize("fault", ["a read that is forwarded", "a text that is forwarded", "a refusal that tells"])
def test_a_fault_of_the_rewriting_is_found(fault, monkeypatch):
    """The planted faults."""
    if fault == "a read that is forwarded":
        monkeypatch.setattr(plans.Rewriting, "_table", lambda self, message: message)
    elif fault == "a text that is forwarded":
        monkeypatch.setattr(statements, "query", lambda text, *given: "SELECT * FROM sales.salaries")
    else:
        monkeypatch.setattr(plans.Rewriting, "governed_text", lambda self, table: governed("reader", table))

    @settings(max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    @given(st.sampled_from(["read", "sql", "filter"]).flatmap(relations))
    def all_are_judged(request):
        judge(request)

    with pytest.raises((AssertionError, ValueError)):
        all_are_judged()
