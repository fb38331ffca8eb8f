"""What a principal reads of a table: by PyIceberg and Arrow, and by DuckDB, in rows that are written out."""

import duckdb
import pyarrow as pa
import pytest
from access_cases import (
    CONDITIONS,
    NULL_ROWS,
    POLICY,
    USER_COLUMNS,
    USER_TYPES,
    USERS,
    catalog,
    truth,
    users,
    with_rows_where,
    written,
)
from pyiceberg.types import StringType

from workbench import access
from workbench._base import duck
from workbench.access import conditions, filters

HIDDEN_HALF = ["name", "surname"]
OF_USER1 = [
    {
        "uid": 1,
        "name": "Ann",
        "surname": "Bell",
        "state": "united kingdom",
        "city": "leeds",
        "born_year": 1970,
        "_hidden": [],
    },
    {
        "uid": 2,
        "name": None,
        "surname": None,
        "state": "france",
        "city": "lyon",
        "born_year": 1981,
        "_hidden": HIDDEN_HALF,
    },
    {
        "uid": 3,
        "name": None,
        "surname": None,
        "state": None,
        "city": "oslo",
        "born_year": None,
        "_hidden": HIDDEN_HALF,
    },
    {
        "uid": 4,
        "name": None,
        "surname": None,
        "state": "united kingdom ",
        "city": "bath",
        "born_year": 1990,
        "_hidden": HIDDEN_HALF,
    },
]


@pytest.fixture
def policy(tmp_path):
    return access.read(written(tmp_path))


@pytest.fixture
def table(tmp_path):
    return users(catalog(tmp_path))


def by_duckdb(table, decision):
    rows = table.scan().to_arrow()
    with duckdb.connect() as connection:
        connection.register("everything", rows)
        return connection.execute(access.sql(decision, "duckdb", source="everything")).to_arrow_table().to_pylist()


def test_cells_are_hidden_where_no_grant_shows_them(policy, table):
    decision = access.decide(policy, "user1", "people.users", table.schema())
    assert access.arrow(table, decision).to_pylist() == OF_USER1
    assert by_duckdb(table, decision) == OF_USER1


def test_who_may_see_all_of_it_reads_all_of_it(policy, table):
    decision = access.decide(policy, "user2", "lake.people.users", table.schema())
    everything = [{**row, "_hidden": []} for row in table.scan().to_arrow().to_pylist()]
    assert access.arrow(table, decision).to_pylist() == by_duckdb(table, decision) == everything
    assert len(everything) == len(USERS)


@pytest.mark.parametrize("name", ["people.users", "people.other"])
@pytest.mark.parametrize("principal", ["nobody", "analyst"])
def test_nothing_to_see_reads_like_no_table(policy, table, name, principal):
    decision = access.decide(policy, principal, name, table.schema())
    assert set(decision.conditions.values()) == {access.NEVER} and decision.row == access.NEVER
    sentence = f"^there is no table {name} that {principal} may read$"
    for read in (lambda: access.arrow(table, decision), lambda: access.sql(decision, "duckdb")):
        with pytest.raises(access.NothingVisible, match=sentence):
            read()


def test_hidden_rows_are_no_rows(tmp_path, table):
    text = POLICY.replace(
        "  - {to: user1, by: owner, table: people.users, columns: [uid, state, city, born_year]}\n", ""
    )
    decision = access.decide(access.read(written(tmp_path, text)), "user1", "people.users", table.schema())
    assert access.arrow(table, decision).to_pylist() == by_duckdb(table, decision) == OF_USER1[:1]


def test_a_table_without_rows_has_none(policy, tmp_path):
    table = users(catalog(tmp_path), rows=())
    decision = access.decide(policy, "user1", "people.users", table.schema())
    empty = access.arrow(table, decision)
    assert (empty.num_rows, empty.column_names) == (0, list(OF_USER1[0]))


def test_a_field_keeps_its_condition_and_a_name_has_none(policy, table):
    with table.update_schema() as update:
        update.rename_column("address", "home")
        update.rename_column("name", "first_name")
        update.delete_column("city")
    with table.update_schema() as update:
        update.add_column("city", StringType())
        update.add_column("extra", StringType())
    decision = access.decide(policy, "user1", "people.users", table.schema())
    assert {column.name: column.reason for column in decision.columns if column.condition == access.NEVER} == {
        "home": "no grant", "city": "another column of that name is bound", "extra": "not bound",
    }  # fmt: skip
    assert access.arrow(table, decision).column_names == [
        "uid", "first_name", "surname", "state", "born_year", "_hidden",
    ]  # fmt: skip
    assert access.arrow(table, decision).to_pylist()[1]["_hidden"] == ["first_name", "surname"]


def test_a_snapshot_is_read_by_its_own_schema(policy, table):
    before, snapshot_id = table.schema(), table.current_snapshot().snapshot_id
    with table.update_schema() as update:
        update.rename_column("address", "name_")
        update.rename_column("name", "address")
    old, now = (access.decide(policy, "user1", "people.users", schema) for schema in (before, table.schema()))
    assert access.arrow(table, old, snapshot_id=snapshot_id).to_pylist() == OF_USER1
    assert access.arrow(table, now).to_pylist()[0]["address"] == "Ann"
    for decision, at in ((old, None), (now, snapshot_id)):
        with pytest.raises(ValueError, match="are not those that were decided on; decide again$"):
            access.arrow(table, decision, snapshot_id=at)
    with pytest.raises(ValueError, match="has no snapshot 7$"):
        access.arrow(table, old, snapshot_id=7)


def test_a_table_made_again_is_not_the_one_that_was_bound(tmp_path, table):
    bound = POLICY.replace("  people.users:\n", f"  people.users:\n    uuid: {table.metadata.table_uuid}\n")
    policy = access.read(written(tmp_path, bound))
    assert access.arrow(table, access.decide(policy, "user1", "people.users", table.schema())).num_rows == 4
    made = catalog(tmp_path)
    made.drop_table("people.users")
    again = users(made)
    with pytest.raises(ValueError, match="another table people.users, which was dropped and made again"):
        access.arrow(again, access.decide(policy, "user1", "people.users", again.schema()))


def test_a_field_inside_a_column_is_bound_too(tmp_path):
    made = catalog(tmp_path)
    rows = pa.table({"c_id": [1], "c_first_name": ["a"], "c_last_name": ["b"], "c_country": [{"code": "NO"}]})
    table = made.create_table("sales.customer", rows.schema)
    table.append(rows)
    inside = table.schema().find_field("c_country.code").field_id
    for text, condition in (
        (POLICY, access.NEVER),
        (POLICY.replace("{id: 4, tags: {}}", f"{{id: 4, fields: [{inside}], tags: {{}}}}", 1), access.ALWAYS),
    ):
        decision = access.decide(access.read(written(tmp_path, text)), "analyst", "sales.customer", table.schema())
        assert (decision.conditions[4], decision.conditions[inside]) == (condition, condition)
    with table.update_schema() as update:
        update.add_column(("c_country", "ssn"), StringType())
    decision = access.decide(access.read(written(tmp_path, text)), "analyst", "sales.customer", table.schema())
    assert (
        decision.conditions[4] == access.NEVER
        and decision.columns[3].reason == "has fields inside it that are not bound"
    )


def test_a_column_that_is_named_as_the_list_of_hidden_cells_is_refused(policy, table):
    with table.update_schema() as update:
        update.add_column("_HIDDEN", StringType())
    decision = access.decide(policy, "user1", "people.users", table.schema())
    for read in (lambda: access.arrow(table, decision), lambda: access.sql(decision, "spark")):
        with pytest.raises(ValueError, match="has a column _HIDDEN, the name of the list of hidden cells"):
            read()


def test_the_matrix(policy, table):
    always, never, uk = "always", "never", "\"state\" = 'united kingdom'"
    nothing = dict.fromkeys(table.schema().column_names, never)
    assert access.matrix(policy, "people.users", table.schema()) == {
        "analyst": nothing, "engineer": nothing,
        "user1": {"uid": always, "name": uk, "surname": uk, "state": always, "city": always, "address": never,
                  "born_year": always},
        "user2": dict.fromkeys(table.schema().column_names, always), "nobody": nothing,
    }  # fmt: skip


def test_the_figures_of_both_walkthroughs(tmp_path):
    """84 of 108 cells, and 16 hidden of 60: the walkthroughs' counts, over rows of our own."""
    names = ["c_first_name", "c_last_name", "c_email_address", "c_birth_year", *(f"c_{n}" for n in range(14))]
    tags = {name: '{Sensitivity: "true"}' if place < 4 else "{}" for place, name in enumerate(names)}
    lines = [f"      {name}: {{id: {place}, tags: {tags[name]}}}" for place, name in enumerate(names, 1)]
    begin, end = POLICY.index("c_id:"), POLICY.index("  people.users:")
    policy = access.read(written(tmp_path, POLICY[:begin] + "\n".join(lines).lstrip() + "\n" + POLICY[end:]))
    made = catalog(tmp_path)
    customer = made.create_table("sales.customer", pa.schema([(name, pa.string()) for name in names]))
    customer.append(pa.table({name: [f"{name} {n}" for n in range(6)] for name in names}))
    cells = {}
    for principal in ("analyst", "engineer"):
        shown = access.arrow(customer, access.decide(policy, principal, "sales.customer", customer.schema()))
        cells[principal] = shown.num_rows * (shown.num_columns - 1)
    assert cells == {"analyst": 84, "engineer": 108}
    rows = [(n, "N", "S", "united kingdom" if n < 3 else "france", "C", "A", 1970) for n in range(1, 11)]
    table = users(made, rows=rows)
    shown = access.arrow(table, access.decide(policy, "user1", "people.users", table.schema()))
    hidden = sum(len(names) for names in shown.column("_hidden").to_pylist())
    assert (shown.num_rows * (shown.num_columns - 1), hidden) == (60, 16)


def test_a_null_partition_is_not_shown_by_what_is_unknown(tmp_path):
    table = catalog(tmp_path).create_table("people.users", USER_TYPES)
    with table.update_spec() as update:
        update.add_identity("state")
        update.add_identity("born_year")
    values = [dict(zip(USER_COLUMNS, row, strict=True)) for row in (*USERS, *NULL_ROWS)]
    table.append(pa.Table.from_pylist(values, USER_TYPES))
    columns = {field.name: field for field in table.schema().fields}
    with duckdb.connect(config=duck.OFFLINE) as connection:
        for name in ("avro", "iceberg"):
            connection.execute(f"LOAD {duck.literal(duck.extension(name, extra='light'))}")
        for condition in CONDITIONS:
            policy = access.read(written(tmp_path, with_rows_where(condition)))
            decision = access.decide(policy, "user1", "people.users", table.schema())
            bound = conditions.bound(filters.parse(condition), columns)
            expected = [row["uid"] for row in values if truth(bound, row)]
            assert sorted(access.arrow(table, decision).column("uid").to_pylist()) == expected, condition
            source = f"iceberg_scan({duck.literal(table.metadata_location)})"
            rows = connection.execute(access.sql(decision, "duckdb", source=source)).fetchall()
            assert sorted(row[0] for row in rows) == expected, condition
