"""The eleven operations of the matrix, six statements that it does not stand for, and the small table of both.

The table has two partitions of four rows in two files each, two snapshots on main, and a branch `ahead` with one
more, so that each operation has something to do. A row operation touches key 1, which is there, and key 5, which
is not (11 and 15 in the other partition), in ways whose order shows in the rows.
"""

from dataclasses import dataclass
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import Ge, Le, MinLen
from workbench._base.door import checked

FIRST, SECOND = 1, 2  # which of a pair a statement is: the number goes into the values that it writes


@dataclass(frozen=True)
class Operation:
    """A statement of the matrix.

    Attributes:
        name: as cells call it.
        rows: whether it changes rows, those of one partition.
        guarded: whether `write.{delete,update,merge}.isolation-level` is about it.
        text: SQL with the places {table}, {argument} (the table as a procedure takes it), {part}, {old}, {new}
            (keys) and {n}.
    """

    name: str
    rows: bool
    guarded: bool
    text: str

    @checked
    def statement(
        self,
        table: Annotated[str, MinLen(1)],
        *,
        part: Annotated[int, Ge(0), Le(1)] = 0,
        n: Annotated[int, Ge(FIRST), Le(SECOND)] = FIRST,
    ) -> str:
        """Return the SQL on a table, `namespace.name`, for partition 0 or 1, as statement 1 or 2 of a pair.

        Raises:
            ValueError: an argument is wrong.
        """
        table = identifiers.shown(table)
        argument, old = identifiers.literal(table), 10 * part + 1
        return self.text.format(table=table, argument=argument, part=part, old=old, new=old + 4, n=n)


# two rows, so that Spark does not take the source for constants: it would infer which partition is meant
_SOURCE = "USING (SELECT * FROM VALUES ({old}L, {part}, {n}L), ({new}L, {part}, {n}L) AS rows (id, part, v)) s"
_MERGE = f"MERGE INTO {{table}} t {_SOURCE} ON t.part = s.part AND t.id = s.id "
_INSERT = "WHEN NOT MATCHED THEN INSERT (id, part, v) VALUES (s.id, s.part, s.v)"
_ALL = (
    Operation("append", True, False,
              "INSERT INTO {table} (id, part, v) VALUES ({old}, {part}, {n}), ({new}, {part}, {n})"),
    # dynamic, because the sessions of the two writers say so
    Operation("overwrite_dynamic", True, False,
              "INSERT OVERWRITE {table} (id, part, v) VALUES ({old}, {part}, {n}), ({old} + 1, {part}, {n})"),
    Operation("merge_insert_only", True, True, _MERGE + _INSERT),
    Operation("merge", True, True, _MERGE + "WHEN MATCHED THEN UPDATE SET v = t.v * 2 + s.v " + _INSERT),
    Operation("update", True, True,
              "UPDATE {table} SET v = v * 2 + {n} WHERE part = {part} AND id IN ({old}, {new})"),
    Operation("delete", True, True,
              "DELETE FROM {table} WHERE part = {part} AND id IN ({old}, {new}) AND v < 14 + {n}"),
    Operation("rewrite_data_files", False, False,
              "CALL system.rewrite_data_files(table => {argument}, options => map('rewrite-all', 'true'))"),
    Operation("rewrite_manifests", False, False,
              "CALL system.rewrite_manifests(table => {argument}, use_caching => false)"),
    # a time that is later than any commit: all goes but the newest snapshot of each branch
    Operation("expire_snapshots", False, False,
              "CALL system.expire_snapshots(table => {argument}, older_than => TIMESTAMP '2200-01-01 00:00:00', "
              "retain_last => 1)"),
    Operation("fast_forward", False, False,
              "CALL system.fast_forward(table => {argument}, branch => 'main', to => 'ahead')"),
    Operation("add_column", False, False, "ALTER TABLE {table} ADD COLUMN extra{n} STRING"),
)  # fmt: skip
OPERATIONS = {operation.name: operation for operation in _ALL}
# other statements of the same operations, which end otherwise: by what they read, or by reading nothing
_READ = "FROM {table} WHERE part = {part}"
_RATHER = (
    Operation("append_from_itself", True, False,
              f"INSERT INTO {{table}} (id, part, v) SELECT coalesce(max(id), 0) + 1, {{part}}, {{n}} {_READ}"),
    Operation("overwrite_from_itself", True, False,
              f"INSERT OVERWRITE {{table}} (id, part, v) SELECT id, part, v * 2 + {{n}} {_READ}"),
    # the new table has Iceberg's default properties, so what isolation level the old one had does not matter to it
    Operation("replace_from_itself", True, False,
              "CREATE OR REPLACE TABLE {table} USING iceberg PARTITIONED BY (part) AS "
              "SELECT id, part, v * 2 + {n} AS v FROM {table}"),
    Operation("update_from_itself", True, True,
              "UPDATE {table} SET v = (SELECT max(v) + {n} FROM {table}) "
              "WHERE part = {part} AND id IN ({old}, {new})"),
    Operation("delete_by_key", True, True, "DELETE FROM {table} WHERE part = {part} AND id IN ({old}, {new})"),
    # drops whole files and reads none: a metadata delete
    Operation("delete_partition", True, True, "DELETE FROM {table} WHERE part = {part}"),
)  # fmt: skip
VARIANTS = {operation.name: operation for operation in _RATHER}
MODES = {  # mode: (format version, how DELETE, UPDATE and MERGE write)
    "copy-on-write": (2, "copy-on-write"),
    "merge-on-read": (2, "merge-on-read"),
    "v3": (3, "merge-on-read"),  # by deletion vectors
}
ISOLATIONS = ("serializable", "snapshot")
PARTITIONS = ("same", "other")
GUARDED_WRITES = ("delete", "update", "merge")


def base(table: str, mode: str, isolation: str) -> list[str]:
    """Return the statements that make the small table in a mode and at an isolation level, in order."""
    version, writes = MODES[mode]
    ahead, table = identifiers.on_branch(table, "ahead"), identifiers.shown(table)
    properties = {"format-version": str(version)}
    for write in GUARDED_WRITES:
        properties |= {f"write.{write}.mode": writes, f"write.{write}.isolation-level": isolation}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    rows = "INSERT INTO {} SELECT id, CAST(id div 10 AS INT), (id % 10) * 10 FROM VALUES {} AS keys (id)"
    keys = [", ".join(f"({key}L)" for key in some) for some in ((1, 2, 11, 12), (3, 4, 13, 14), (9,))]
    return [
        f"CREATE TABLE {table} (id BIGINT, part INT, v BIGINT) USING iceberg PARTITIONED BY (part) "
        f"TBLPROPERTIES ({listed})",
        rows.format(table, keys[0]),
        rows.format(table, keys[1]),
        f"ALTER TABLE {table} CREATE BRANCH ahead",
        rows.format(ahead, keys[2]),
    ]
