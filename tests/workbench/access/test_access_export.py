"""A policy in the words of Lake Formation and of Trino, and what cannot be said there."""

import json

import pytest
from access_cases import POLICY, catalog, users, written
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, StructType

from workbench import access

CUSTOMER = Schema(
    *(NestedField(place, name, StringType()) for place, name in enumerate(("c_id", "c_first_name", "c_last_name", "c_country"), 1))
)  # fmt: skip
ACCOUNT = "111122223333"
ONE = "arn:aws:iam::111122223333:role/one"


@pytest.fixture
def tables(tmp_path):
    made = catalog(tmp_path)
    customer = made.create_table("sales.customer", CUSTOMER)
    return {"sales.customer": customer, "people.users": users(made, rows=())}


def policy(folder, *changes, nobody=False):
    text = POLICY if nobody else POLICY.replace("  nobody: {}\n", "")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return access.read(written(folder, text))


def test_the_calls_of_lake_formation(tmp_path, tables):
    calls = access.export.lake_formation(policy(tmp_path), tables, account=ACCOUNT)
    assert [call.operation for call in calls] == [
        *["CreateLFTag"] * 2, *["AddLFTagsToResource"] * 2, "CreateDataCellsFilter", *["GrantPermissions"] * 5,
    ]  # fmt: skip
    assert {call.by for call in calls} == {"owner"}
    users_table = {"DatabaseName": "people", "Name": "users"}
    assert [call.arguments for call in calls[2:7]] == [
        {"Resource": {"TableWithColumns": {"DatabaseName": "sales", "Name": "customer", "ColumnNames": ["c_id", "c_country"]}},
         "LFTags": [{"TagKey": "Domain", "TagValues": ["sales"]}, {"TagKey": "Sensitivity", "TagValues": ["false"]}]},
        {"Resource": {"TableWithColumns": {"DatabaseName": "sales", "Name": "customer", "ColumnNames": ["c_first_name", "c_last_name"]}},
         "LFTags": [{"TagKey": "Domain", "TagValues": ["sales"]}, {"TagKey": "Sensitivity", "TagValues": ["true"]}]},
        {"TableData": {"TableCatalogId": ACCOUNT, "DatabaseName": "people", "TableName": "users", "Name": "uk-4",
                       "RowFilter": {"FilterExpression": "\"state\" = 'united kingdom'"},
                       "ColumnNames": ["uid", "name", "surname", "state", "city", "born_year"]}},
        {"Principal": {"DataLakePrincipalIdentifier": "arn:aws:iam::111122223333:role/DataAnalyst"},
         "Resource": {"LFTagPolicy": {"ResourceType": "TABLE", "Expression": [
             {"TagKey": "Domain", "TagValues": ["sales"]}, {"TagKey": "Sensitivity", "TagValues": ["false"]}]}},
         "Permissions": ["SELECT"]},
        {"Principal": {"DataLakePrincipalIdentifier": "arn:aws:iam::111122223333:role/BIEngineer"},
         "Resource": {"LFTagPolicy": {"ResourceType": "TABLE", "Expression": [{"TagKey": "Domain", "TagValues": ["sales"]}]}},
         "Permissions": ["SELECT"]},
    ]  # fmt: skip
    assert calls[7].arguments["Resource"] == {
        "TableWithColumns": users_table | {"ColumnNames": ["uid", "state", "city", "born_year"]}
    }
    assert calls[8].arguments == {
        "Principal": {"DataLakePrincipalIdentifier": ONE}, "Permissions": ["SELECT"],
        "Resource": {"DataCellsFilter": {"TableCatalogId": ACCOUNT, "DatabaseName": "people", "TableName": "users", "Name": "uk-4"}},
    }  # fmt: skip


def test_a_new_column_is_in_no_call(tmp_path, tables):
    with tables["people.users"].update_schema() as update:
        update.rename_column("state", "country")
        update.add_column("ssn", StringType())
    calls = access.export.lake_formation(policy(tmp_path), tables, account=ACCOUNT)
    assert "ssn" not in json.dumps([call.arguments for call in calls])
    assert calls[4].arguments["TableData"]["RowFilter"] == {"FilterExpression": "\"country\" = 'united kingdom'"}


LAST = "  - {to: user2, by: owner, table: people.users}\n"
MANY = "".join(
    "  - {to: user1, by: owner, table: people.users, columns: [name, state], filter: uk}\n" for _ in range(100)
)
REFUSED = {
    "no arn": ([(LAST, LAST + LAST.replace("user2", "nobody"))], "^nobody has no arn, by which Lake Formation knows a principal$", True),
    "a sign of a tag": ([("[sales, marketing]", "[sales, marketing, 'a#b']")], "TagValues has the sign '#', a tag has letters"),
    "case of tags": ([("[sales, marketing]", "[sales, Sales]")], "two of sales, Sales differ by case only"),
    "many values": ([("[sales, marketing]", f"[sales, {', '.join(f'v{n}' for n in range(50))}]")], "the tag Domain has 51 values"),
    "a long value": ([("[sales, marketing]", f"[sales, {'v' * 255}]"), ('"false"]\nnames', f'"false", {"w" * 255}]\nnames')], None),
    "many filters": ([(LAST, LAST + MANY)], "user1 has more than 100 filters on people.users"),
    "a long filter": ([("= 'united kingdom'", "= 'a' OR state = '" + "x" * 2015 + "'")], "characters there; at most 2,047"),
    "NULL of a partition": ([("= 'united kingdom'", "= 'a' OR born_year IS NULL")], "the filter uk cannot be exported: IS NULL on the partition column born_year is refused there"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_lake_formation_would_refuse_is_refused(tmp_path, tables, case):
    changes, sentence, *nobody = REFUSED[case]
    if case == "NULL of a partition":
        with tables["people.users"].update_spec() as update:
            update.add_identity("born_year")
    judged = policy(tmp_path, *changes, nobody=bool(nobody))
    if sentence is None:
        assert access.export.lake_formation(judged, tables, account=ACCOUNT)
        return
    with pytest.raises(ValueError, match=sentence):
        access.export.lake_formation(judged, tables, account=ACCOUNT)


@pytest.mark.parametrize(
    ("where", "refused"),
    [("d > 1", True), ("d <> 1", True), ("NOT d < 1", True), ("d NOT IN (1)", True), ("NOT (NOT d > 1)", True),
     ("d < 1", False), ("d BETWEEN 1 AND 2", False), ("d IN (1)", False), ("NOT d IS NULL", False), ("NOT (NOT d = 1)", False)],
)  # fmt: skip
def test_a_filter_that_shows_nan_in_some_engine_is_refused(tmp_path, where, refused):
    schema = Schema(
        NestedField(1, "d", DoubleType()), NestedField(2, "s", StructType(NestedField(3, "x", LongType())))
    )
    table = catalog(tmp_path).create_table("people.d", schema)
    text = (
        f"principals: {{p: {{arn: '{ONE}'}}}}\nadministrators: [owner]\n"
        "tables: {people.d: {columns: {d: {id: 1, tags: {}}, s: {id: 2, fields: [3], tags: {}}}}}\n"
        f"filters: {{f: {{table: people.d, where: '{where}'}}}}\n"
        "grants: [{to: p, by: owner, table: people.d, columns: [d], filter: f}]\n"
    )
    judged = access.read(written(tmp_path, text))
    if refused:
        with pytest.raises(ValueError, match="may hold for NaN there, which hides cells here"):
            access.export.lake_formation(judged, {"people.d": table}, account=ACCOUNT)
    else:
        assert access.export.lake_formation(judged, {"people.d": table}, account=ACCOUNT)
    nested = access.read(written(tmp_path, text.replace("columns: [d], f", "columns: [d, s], f")))
    with pytest.raises(ValueError, match="grant 1 shows cells of s, which is nested"):
        access.export.lake_formation(nested, {"people.d": table}, account=ACCOUNT)


def test_the_rules_of_trino(tmp_path, tables):
    rules = access.export.trino(policy(tmp_path), tables, catalog="lake-1")
    assert json.loads(json.dumps(rules)) == rules
    place = {"catalog": "lake\\-1", "schema": "people", "table": "users", "privileges": ["SELECT"]}
    uk = "\"state\" = 'united kingdom'"
    beside = [{"name": name, "allow": False} for name in ("$path", "$partition", "$file_modified_time")]
    by_user = {rule.get("user"): rule for rule in rules["tables"] if rule.get("table") == "users"}
    assert by_user == {
        "user1": place | {"user": "user1", "columns": [
            {"name": "name", "mask": f'CASE WHEN {uk} THEN "name" END'},
            {"name": "surname", "mask": f'CASE WHEN {uk} THEN "surname" END'}, {"name": "address", "allow": False}, *beside], "filter": "TRUE"},
        "user2": place | {"user": "user2", "columns": [], "filter": "TRUE"},
    }  # fmt: skip
    assert rules["tables"][-1] == {"privileges": []} and len(rules["tables"]) == 5
    assert rules["catalogs"][-1] == {"catalog": ".*", "allow": "none"}
    hidden = [rule for rule in rules["tables"] if rule.get("user") == "analyst"]
    assert [column["name"] for rule in hidden for column in rule["columns"]][:2] == ["c_first_name", "c_last_name"]
    assert [column["name"] for rule in hidden for column in rule["columns"]][2:] == [
        column["name"] for column in beside
    ]
    readers = "analyst|engineer|user1|user2"
    assert (
        rules["queries"] == [{"user": readers, "allow": ["execute"]}] and rules["catalogs"][0]["user"] == readers
    )
    assert rules["system_session_properties"] == rules["catalog_session_properties"] == [{"allow": False}]


def test_rows_that_are_hidden_are_filtered_in_trino(tmp_path, tables):
    judged = policy(
        tmp_path, ("  - {to: user1, by: owner, table: people.users, columns: [uid, state, city, born_year]}\n", "")
    )
    rules = access.export.trino(judged, tables, catalog="lake")
    assert [rule.get("filter") for rule in rules["tables"] if rule.get("user") == "user1"] == [
        "\"state\" = 'united kingdom'"
    ]


@pytest.mark.parametrize("export", ["lake_formation", "trino"])
def test_names_and_tables_that_do_not_fit_are_refused(tmp_path, tables, export):
    words = {"account": ACCOUNT} if export == "lake_formation" else {"catalog": "lake"}
    write = getattr(access.export, export)
    with pytest.raises(ValueError, match="tables lacks people.users, which is in the policy"):
        write(policy(tmp_path), {"sales.customer": tables["sales.customer"]}, **words)
    bound = policy(
        tmp_path,
        ("  people.users:\n", f"  people.users:\n    uuid: {tables['sales.customer'].metadata.table_uuid}\n"),
    )
    with pytest.raises(ValueError, match="bound to another table people.users, which was dropped and made again"):
        write(bound, tables, **words)
    with tables["people.users"].update_schema() as update:
        update.add_column("Ssn", StringType())
    with pytest.raises(ValueError, match="Ssn of people.users has capital letters"):
        write(policy(tmp_path), tables, **words)


def test_an_account_is_twelve_digits(tmp_path, tables):
    with pytest.raises(ValueError, match="account is an AWS account of 12 digits, found '12'"):
        access.export.lake_formation(policy(tmp_path), tables, account="12")


def test_a_table_that_is_partitioned_is_exported(tmp_path):
    spec = PartitionSpec(PartitionField(4, 1000, IdentityTransform(), "c_country"))
    table = catalog(tmp_path).create_table("sales.customer", CUSTOMER, partition_spec=spec)
    judged = policy(
        tmp_path, ("  - {to: user1, by: owner, table: people.users, columns: [uid, state, city, born_year]}\n", "")
    )
    assert access.export.trino(
        judged, {"sales.customer": table, "people.users": users(catalog(tmp_path), rows=())}, catalog="lake"
    )
