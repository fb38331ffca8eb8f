"""Changes type by type: what Iceberg's own changelog view says is what two states of the table differ in.

The view compares rows in Java, where equal values of some types are not equal objects: it told changes of bytes that
had only moved (apache/iceberg#18211), and of arrays with a NaN. So each type that the view is taken for is held against the difference.
"""

import pytest

from workbench.tables import changes

# two values of each type as SQL, the second in place of the first; carried rows have the first
TYPES = {
    "BOOLEAN": ("true", "false"),
    "INT": ("1", "2"),
    "BIGINT": ("9223372036854775807L", "-9223372036854775808L"),
    "FLOAT": ("float('NaN')", "float('Infinity')"),
    "DOUBLE": ("double('NaN')", "double('-Infinity')"),
    "DECIMAL(38,6)": ("99999999999999999999999999999999.999999", "0.000001BD"),
    "DATE": ("DATE'0001-01-01'", "DATE'9999-12-31'"),
    "TIMESTAMP": ("TIMESTAMP'0001-01-01 00:00:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'"),
    "TIMESTAMP_NTZ": ("TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"),
    "STRING": ("'ü'", "''"),
    "STRUCT<a: INT, b: STRING>": ("named_struct('a', 1, 'b', 'x')", "named_struct('a', 1, 'b', CAST(NULL AS STRING))"),
    "ARRAY<DOUBLE>": ("array(1D, double('NaN'))", "array(1D)"),
    "ARRAY<STRUCT<a: INT>>": ("array(named_struct('a', 1))", "array(named_struct('a', 2))"),
    "MAP<STRING, INT>": ("map('a', 1, 'b', 2)", "map('b', 3, 'a', 1)"),
}  # fmt: skip
MODES = ", ".join(f"'write.{name}.mode' = 'copy-on-write'" for name in ("delete", "update", "merge"))


def told(spark, table, start, back_end, net):
    """What a back-end says, as texts, and whether it takes the table."""
    if back_end not in changes.back_ends(spark, table, start=start, net=net):
        return None
    rows = changes.between(spark, table, key="id", start=start, back_end=back_end, net=net)
    as_text = "to_json(struct(value))"  # Python has not all days and moments, in all time zones
    return sorted(map(tuple, rows.selectExpr("change_type", "CAST(id AS STRING)", as_text).collect()))


@pytest.mark.proof(
    "test_a_row_a_change compares the back-ends on numbers and texts, and what the view gets wrong is refused in the check"
)
@pytest.mark.parametrize("kind", TYPES)
def test_the_view_says_of_each_type_what_the_difference_says(spark, namespace, kind):
    table, (first, second) = f"{namespace}.t", TYPES[kind]
    spark.sql(
        f"CREATE TABLE {table} (id INT, value {kind}) USING iceberg TBLPROPERTIES ('format-version' = '2', {MODES})"
    )
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, {first} FROM VALUES (1), (2), (3), (4) AS t(id)")
    start = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").first()[0]
    spark.sql(f"UPDATE {table} SET value = {second} WHERE id = 1")
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    spark.sql(f"UPDATE {table} SET value = NULL WHERE id = 3")
    for net in (False, True):
        expected = told(spark, table, start, "snapshot diff", net)
        assert [row[:2] for row in expected] == [
            ("delete", "2"), ("update_after", "1"), ("update_after", "3"), ("update_before", "1"), ("update_before", "3"),
        ]  # fmt: skip
        view = told(spark, table, start, "changelog view", net)
        refused = "ARRAY<DOUBLE>" in kind or (net and "MAP" in kind)
        assert view == (None if refused else expected)
