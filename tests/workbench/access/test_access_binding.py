"""Ids are written into the policy, once a column is tagged, and nothing else is."""

import pytest
from access_cases import catalog, users, written
from pyiceberg.types import NestedField, StringType, StructType

from workbench import access

BLOCK = """# who reads what
principals: {p: {}}
administrators: [owner]  # the team
tables:
  people.users:
    columns:
      uid: {tags: {}}
      name:
        # looked at on Monday
        tags: {}
      surname: {}
      state: { tags: {} }   # a comment
grants:
  - {to: p, by: owner, table: people.users}
"""


def test_tagged_columns_are_bound_and_the_rest_of_the_file_stays(tmp_path):
    table = users(catalog(tmp_path), rows=())
    path = written(tmp_path, BLOCK)
    path.chmod(0o600)
    assert access.decide(access.read(path), "p", "people.users", table.schema()).row == access.NEVER
    binding = access.bind(path, "people.users", table)
    hidden = ("surname", "city", "address", "born_year")
    assert binding == access.Binding({"uid": 1, "name": 2, "state": 4}, hidden, {}, (), (), ())
    uuid = f"  people.users:\n    uuid: {table.metadata.table_uuid}\n"
    expected = BLOCK.replace("  people.users:\n", uuid).replace("uid: {tags", "uid: {id: 1, tags")
    expected = expected.replace("        tags: {}\n", "        id: 2\n        tags: {}\n").replace(
        "state: { t", "state: {id: 4,  t"
    )
    assert path.read_text() == expected
    assert path.stat().st_mode & 0o777 == 0o600
    decision = access.decide(access.read(path), "p", "people.users", table.schema())
    assert [column.name for column in decision.visible] == ["uid", "name", "state"]
    assert access.bind(path, "people.users", table).bound == {} and path.read_text() == expected


def test_what_changed_since_is_told_and_not_bound_anew(tmp_path):
    table = users(catalog(tmp_path), rows=())
    path = written(tmp_path, BLOCK)
    access.bind(path, "people.users", table)
    with table.update_schema() as update:
        update.rename_column("name", "called")
        update.delete_column("state")
        update.delete_column("uid")
    with table.update_schema() as update:
        update.add_column("state", StringType())
    before = path.read_text()
    binding = access.bind(path, "people.users", table)
    assert path.read_text() == before
    assert (binding.renamed, binding.replaced, binding.gone) == ({"name": "called"}, ("state",), ("uid", "state"))
    assert "state" in binding.untagged


def test_fields_inside_a_column_are_bound_with_it_and_new_ones_are_not(tmp_path):
    table = users(catalog(tmp_path), rows=())
    with table.update_schema() as update:
        update.add_column("home", StructType(NestedField(50, "street", StringType())))
    path = written(tmp_path, BLOCK.replace("surname: {}", "home: {tags: {}}"))
    assert access.bind(path, "people.users", table).bound["home"] == 8
    assert "home: {id: 8, fields: [9], tags: {}}" in path.read_text()
    with table.update_schema() as update:
        update.add_column(("home", "ssn"), StringType())
    binding = access.bind(path, "people.users", table)
    assert (binding.bound, binding.grown) == ({}, ("home",))
    assert access.decide(access.read(path), "p", "people.users", table.schema()).conditions[9] == access.NEVER


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("surname: {}", "surename: {tags: {}}", "people.users has no column surename; it has uid, name, surname"),
        ("  people.users:\n", "  people.others:\n", "the command names the table people.users, which is not under tables; there are people.others"),
        ("    columns:\n", "    uuid: 5b1f\n    columns:\n", "bound to another table people.users, which was dropped and made again"),
        ("surname: {}", "first: {id: 1, tags: {}}", "uid of people.users is the column that first is bound to in the policy"),
    ],
)  # fmt: skip
def test_what_cannot_be_bound_is_refused_and_nothing_is_written(tmp_path, old, new, sentence):
    table = users(catalog(tmp_path), rows=())
    text = BLOCK.replace(old, new)
    path = written(
        tmp_path, text.replace("table: people.users", "table: people.others") if "others" in new else text
    )
    before = path.read_text()
    with pytest.raises(ValueError, match=sentence):
        access.bind(path, "people.users", table)
    assert path.read_text() == before
