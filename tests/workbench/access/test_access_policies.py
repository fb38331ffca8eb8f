"""Policies: what is refused, and random ones by `decide`, by Cedar and by plain Python."""

import json

import pytest
import yaml
from access_cases import POLICY, written
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.schema import Schema
from pyiceberg.types import DateType, LongType, NestedField, StringType

from workbench import access
from workbench.access import reading

GRANT = "  - {to: user2, by: owner, table: people.users}\n"
SECRET = "  - {to: user1, by: owner, table: people.users, columns: [name], filter: secret}\n"
REFUSED = {
    # what stands in the policy, what is put in its place, what is said
    "an unknown key": ("grantable", None, None),
    "a key of a grant": (GRANT, GRANT.replace("by:", "from: x, by:"), "grants.4.from is not a setting; there are to, by"),
    "a key of a column": ("uid: {id: 1,", "uid: {ids: 1,", "columns.uid.ids is not a setting \\(did you mean id\\?\\); there are id"),
    "a boolean for a text": ('["true", "false"]\nnamespaces', '[true, "false"]\nnamespaces', 'tags.Sensitivity.0 is the boolean true; a text stands in quotes: "true"'),
    "an unknown tag": ("{Domain: sales, Sens", "{Domian: sales, Sens", "the namespace sales has the tag Domian, which is not declared; there are Domain, Sensitivity"),
    "an unknown value": ("{Domain: sales, Sens", "{Domain: sale, Sens", "the namespace sales has Domain: sale; Domain is one of sales, marketing"),
    "a tag of a column": ("c_id: {id: 1, tags: {}}", "c_id: {id: 1, tags: {X: y}}", "the column c_id of sales.customer has the tag X"),
    "a tag of a grant": ("tags: {Domain: [sales]}}", "tags: {Domain: [sale]}}", "grant 2 has Domain: sale; Domain is one of"),
    "an empty expression": ("tags: {Domain: [sales]}}", "tags: {}}", "grant 2 has an empty tag expression, which fits everything"),
    "an empty value": ("tags: {Domain: [sales]}}", "tags: {Domain: []}}", "grant 2 has an empty tag expression"),
    "tags and a filter": ("tags: {Domain: [sales]}}", "tags: {Domain: [sales]}, filter: uk}", "grant 2 has tags and filter, which belongs to a grant of one table"),
    "tags and a table": ("tags: {Domain: [sales]}}", "tags: {Domain: [sales]}, table: people.users}", "grant 2 has tags and a table; expected one of them"),
    "neither": (GRANT, "  - {to: user2, by: owner}\n", "grant 5 has neither tags nor a table; expected one of them"),
    "columns and all_but": ("all_but: [address]", "all_but: [address], columns: [uid]", "grant 4 has columns and all_but"),
    "no columns": ("columns: [uid, state, city, born_year]", "columns: []", "grant 3 has columns, and none in it"),
    "an unknown column": ("columns: [uid, state,", "columns: [uid, staet,", "grant 3 names staet, which is not a column of people.users in the policy \\(did you mean state\\?\\)"),
    "an unknown table": (GRANT, GRANT.replace("people", "peple"), "grant 5 names the table peple.users, which is not under tables; there are sales.customer, people.users"),
    "an unknown principal": (GRANT, GRANT.replace("user2", "user3"), "grant 5 is to user3, who is not under principals \\(did you mean"),
    "an unknown filter": ("filter: uk}", "filter: ku}", "grant 4 has the filter ku; there are secret, uk"),
    "a filter of another table": ("uk: {table: people.users, where: \"state", "uk: {table: sales.customer, where: \"c_country", "grant 4 has the filter uk, which is of another table"),
    "an unknown column of a filter": ("\"state =", "\"sate =", "the filter uk names sate, which is not a column of people.users in the policy \\(did you mean state\\?\\)"),
    "a filter that is none": ("\"state =", "\"upper(state) =", "the filter uk: the filter calls upper; functions are not part of the language"),
    "everybody": (GRANT, GRANT.replace("user2", '"*"'), "grant 5, to, has \\*: a grant to everybody cannot be taken back from one; name each"),
    "everybody of AWS": ("  nobody: {}", "  IAMAllowedPrincipals: {}", "principals has IAMAllowedPrincipals: a grant to everybody"),
    "nobody may grant": ("administrators: [owner]", "administrators: []", "administrators is empty, so that nobody may grant"),
    "a grant without the right": (GRANT, GRANT.replace("owner", "user1"), "grant 5 is by user1, who is no administrator and was not given all of it to grant on"),
    "a right that is not to be granted on": (GRANT, GRANT + GRANT.replace("user2, by: owner", "nobody, by: user2"), "grant 6 is by user2"),
    "more than was given": (GRANT, GRANT.replace("users}", "users, columns: [uid], grantable: true}") + GRANT.replace("user2, by: owner", "nobody, by: user2"), "grant 6 is by user2"),
    "a right under a filter": (GRANT, GRANT.replace("users}", "users, filter: uk, grantable: true}") + GRANT.replace("user2, by: owner", "nobody, by: user2"), "grant 6 is by user2"),
    "a circle": (GRANT, GRANT + GRANT.replace("user2, by: owner", "user1, by: user2").replace("}", ", grantable: true}") + GRANT.replace("by: owner", "by: user1").replace("}", ", grantable: true}"), "grant 6 is by user2"),
    "a filter over a hidden column": ("filter: uk}", "filter: secret}", "grant 4 shows cells to user1 by the filter secret, which reads address; user1 may not see that column there"),
    "two columns of one field": ("surname: {id: 3,", "surname: {id: 2,", "name and surname of people.users both have the field id 2"),
    "fields without an id": ("surname: {id: 3,", "surname: {fields: [9],", "the column surname of people.users has fields and no id"),
    "a table twice": ("  people.users:\n", "  people.`users`: {}\n  people.users:\n", "the table people.users is given twice"),
    "a name that is none": ("  people.users:\n    c", "  users:\n    c", "'users' is not a table name"),
    "a key twice": ("administrators: [owner]", "administrators: [owner]\nadministrators: [x]", "administrators is given twice"),
    "another version": ("catalog: lake", "catalog: lake\nversion: 2", "version: Input should be 1, found 2"),
}  # fmt: skip
del REFUSED["an unknown key"]


@pytest.mark.parametrize("case", REFUSED)
def test_a_policy_that_does_not_fit_is_refused(tmp_path, case):
    old, new, sentence = REFUSED[case]
    text = POLICY.replace(
        "filters:\n", "filters:\n  secret: {table: people.users, where: \"address LIKE '1%'\"}\n"
    )
    assert old in text
    with pytest.raises(ValueError, match=sentence) as raised:
        access.read(written(tmp_path, text.replace(old, new)))
    assert str(raised.value).startswith(str(tmp_path / "policy.yml"))


def test_what_was_given_to_grant_on_may_be_granted_on(tmp_path):
    onwards = GRANT.replace("users}", "users, grantable: true}") + GRANT.replace(
        "user2, by: owner", "nobody, by: user2"
    )
    policy = access.read(written(tmp_path, POLICY.replace(GRANT, "".join(reversed(onwards.splitlines(True))))))
    schema = Schema(NestedField(1, "uid", LongType()))
    assert access.decide(policy, "nobody", "people.users", schema).row == access.ALWAYS


def test_who_is_not_in_the_policy_is_refused_and_is_told_no_names(tmp_path):
    policy = access.read(written(tmp_path))
    with pytest.raises(ValueError, match="^'user3' is not a principal of the policy$"):
        access.decide(policy, "user3", "people.users", Schema())


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ([(1, "uid", LongType())], "the filter uk of people.users reads a column \\(field id 4\\) that is gone"),
        ([(4, "state", DateType())], "the filter uk of people.users: a filter cannot read state, which is date"),
        ([(4, "state", LongType())], "state is long and is compared with 'united kingdom'; expected an integer"),
        ([(4, "state", StringType()), (9, "STATE", StringType())], "has columns state and STATE, which Spark and DuckDB cannot tell apart"),
    ],
)  # fmt: skip
def test_a_filter_that_does_not_fit_the_table_is_refused(tmp_path, fields, sentence):
    policy = access.read(written(tmp_path))
    with pytest.raises(ValueError, match=sentence):
        access.decide(policy, "user1", "people.users", Schema(*(NestedField(*field) for field in fields)))


KEYS = {"A": ("1", "2"), "B": ("1", "2", "3")}
COLUMNS = ("c1", "c2", "c3", "c4")
ASSIGNED = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in KEYS.items()})
EXPRESSIONS = st.fixed_dictionaries(
    {}, optional={key: st.lists(st.sampled_from(values), min_size=1, unique=True) for key, values in KEYS.items()}
).filter(bool)


@st.composite
def policies(draw):
    """A policy of two principals and one table, of which a column may not be bound."""
    by_tags = st.fixed_dictionaries({"to": st.sampled_from("pq"), "tags": EXPRESSIONS})
    some = st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True)
    by_table = st.one_of(
        st.fixed_dictionaries({"to": st.sampled_from("pq"), "columns": some}),
        st.fixed_dictionaries({"to": st.sampled_from("pq"), "all_but": some}),
    )
    grants = [grant | {"by": "owner"} for grant in draw(st.lists(by_tags, max_size=3))]
    grants += [grant | {"by": "owner", "table": "n.t"} for grant in draw(st.lists(by_table, max_size=2))]
    columns = {
        label: {"tags": draw(ASSIGNED)} | ({"id": place} if draw(st.integers(0, 4)) else {})
        for place, label in enumerate(COLUMNS, 1)
    }
    return {
        "principals": {"p": {}, "q": {}}, "administrators": ["owner"],
        "tags": {key: list(values) for key, values in KEYS.items()}, "namespaces": {"n": draw(ASSIGNED)},
        "tables": {"n.t": {"tags": draw(ASSIGNED), "columns": columns}}, "grants": grants,
    }  # fmt: skip


def by_decide(values):
    schema = Schema(*(NestedField(place, f"now_{label}", LongType()) for place, label in enumerate(COLUMNS, 1)))
    policy = reading.judged(values, "policy")
    decisions = {name: access.decide(policy, name, "n.t", schema).conditions for name in "pq"}
    return {
        (name, label)
        for name in "pq"
        for place, label in enumerate(COLUMNS, 1)
        if decisions[name][place] == access.ALWAYS
    }


def in_plain_python(values):
    table, seen = values["tables"]["n.t"], set()
    for grant in values["grants"]:
        for label, column in table["columns"].items():
            fits = label in grant.get("columns", COLUMNS) and label not in grant.get("all_but", ())
            for key, wished in grant.get("tags", {}).items():
                levels = (column["tags"], table["tags"], values["namespaces"]["n"])
                fits &= next((level[key] for level in levels if key in level), None) in wished
            if fits and "id" in column:
                seen.add((grant["to"], label))
    return seen


def by_cedar(values, cedarpy):
    """Cedar's answer: columns as entities with their tags, a grant as a policy."""
    table, entities, rules, requests = values["tables"]["n.t"], [], [], []
    for label, column in table["columns"].items():
        tags = values["namespaces"]["n"] | table["tags"] | column["tags"]
        uid = {"type": "Column", "id": label}
        entities.append({"uid": uid, "attrs": {"bound": "id" in column}, "parents": [], "tags": tags})
    for grant in values["grants"]:
        tests = ["resource.bound"]
        for key, wished in grant.get("tags", {}).items():
            tests.append(
                f"resource.hasTag({json.dumps(key)}) && {json.dumps(wished)}.contains(resource.getTag({json.dumps(key)}))"
            )
        for name, operator in (("columns", ""), ("all_but", "!")):
            if name in grant:
                listed = ", ".join(f'Column::"{label}"' for label in grant[name])
                tests.append(f"{operator}([{listed}].contains(resource))")
        rules.append(
            f'permit(principal == Reader::"{grant["to"]}", action, resource) when {{ {" && ".join(tests)} }};'
        )
    pairs = [(name, label) for name in "pq" for label in COLUMNS]
    requests = [
        {
            "principal": f'Reader::"{name}"',
            "action": 'Action::"read"',
            "resource": f'Column::"{label}"',
            "context": {},
        }
        for name, label in pairs
    ]
    answers = cedarpy.is_authorized_batch(requests, "\n".join(rules), entities)
    assert not [answer.diagnostics.errors for answer in answers if answer.diagnostics.errors]
    return {pair for pair, answer in zip(pairs, answers, strict=True) if answer.allowed}


@given(policies())
@settings(max_examples=2000 if PROVE else 80)
def test_decide_is_plain_python(values):
    assert by_decide(values) == in_plain_python(values)


@given(policies())
@settings(max_examples=2000 if PROVE else 80)
def test_decide_is_cedar(values):
    cedarpy = pytest.importorskip("cedarpy", reason="cedarpy is not installed")
    assert by_decide(values) == by_cedar(values, cedarpy)


FAULTS = {
    "the farthest tag wins": lambda values: values | {"namespaces": {"n": {}}, "tables": {"n.t": values["tables"]["n.t"] | {"tags": values["namespaces"]["n"]}}},
    "an unbound column": lambda values: values | {"tables": {"n.t": values["tables"]["n.t"] | {"columns": {label: column | {"id": place} for place, (label, column) in enumerate(values["tables"]["n.t"]["columns"].items(), 1)}}}},
    "a grant that is lost": lambda values: values | {"grants": values["grants"][1:]},
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault):
    different = []

    @given(policies())
    @settings(max_examples=80)
    def compare(values):
        if not different and by_decide(FAULTS[fault](values)) != in_plain_python(values):
            different.append(values)

    compare()
    assert different


def test_a_hundred_principals_and_a_thousand_columns():
    columns = {f"c{n}": {"id": n, "tags": {"A": str(n % 2 + 1)}} for n in range(1, 1001)}
    values = {
        "principals": {f"p{n}": {} for n in range(100)}, "administrators": ["owner"], "tags": {"A": ["1", "2"]},
        "tables": {"n.t": {"columns": columns}},
        "grants": [{"to": f"p{n}", "by": "owner", "tags": {"A": [str(n % 2 + 1)]}} for n in range(100)],
    }  # fmt: skip
    policy = reading.judged(yaml.safe_load(yaml.safe_dump(values)), "policy")
    schema = Schema(*(NestedField(n, f"c{n}", LongType()) for n in range(1, 1001)))
    cells = access.matrix(policy, "n.t", schema)
    assert sum(text == "always" for row in cells.values() for text in row.values()) == 50_000
