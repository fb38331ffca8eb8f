"""One commit, seen whole or not at all, and only where the target has not moved since its position was read."""

import uuid
from contextlib import contextmanager

from workbench import identifiers
from workbench.history import positions
from workbench.tables import commits
from workbench.tables.changes import compare


def create(spark, target, rows, source, position):
    """Make the target with its first rows, in one commit.

    It is partitioned by is_current, so that closed versions are not read again, and then as the source is, so that
    changes confined to some partitions stay confined. Deletes are merge-on-read: a build closes few rows of many.
    """
    from pyspark.sql import functions as F

    version = source.operations().current().formatVersion()
    modes = {f"write.{kind}.mode": "merge-on-read" for kind in ("merge", "update", "delete")}
    writer = rows.writeTo(target).using("iceberg")
    for name, value in (modes | {"format-version": str(max(version, 2))}).items():
        writer = writer.tableProperty(name, value)
    for name, value in position.properties().items():
        writer = writer.option(f"snapshot-property.{name}", value)
    writer.partitionedBy(F.col("is_current"), *_partitions(source)).create()


def commit(spark, target, base, write, position):
    """Write on a branch of the snapshot that the position was read from, then move main to it.

    Args:
        spark: the session.
        target: name of the table.
        base: id of main's snapshot when the position was read; None for a table without any.
        write: function of a table name that commits once to it.
        position: what the commit's snapshot says.

    Returns:
        Id of the snapshot, now main's.

    Raises:
        MainMoved: main is no longer at `base`.
    """
    branch, name = f"{positions.REF}{uuid.uuid4().hex}", identifiers.quoted(target)
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH `{branch}`" + (f" AS OF VERSION {base}" if base else ""))
    with _stamped(spark, position.properties()):
        write(f"{name}.`branch_{branch}`")
    snapshot = commits.head(commits.load(spark, target), branch)
    commits.fast_forward(spark, target, to=snapshot, expected=base, branch=branch)
    return snapshot


def merge(rows, names, key, bounds):
    """Return the function of a table name that ends versions and adds others in one commit.

    Args:
        rows: frame of the target's columns and `_ends` (boolean): whether the row only names a key whose open
            version is to be replaced.
        names: the target's columns.
        key: columns that name a row.
        bounds: column expression over the target that holds for every open version that ends; prunes its files.
    """
    from pyspark.sql import functions as F

    ours = {name: f"_s{n}" for n, name in enumerate(names)}
    staged = rows.select(*[F.col(compare.quoted(name)).alias(alias) for name, alias in ours.items()], "_ends")
    same = F.col("is_current") & F.col("_ends")
    for name in key:
        same = same & (F.col(compare.quoted(name)) == F.col(ours[name]))
    if bounds is not None:
        same = same & bounds
    values = {compare.quoted(name): F.col(alias) for name, alias in ours.items()}

    def write(table):
        merging = staged.mergeInto(table, same)
        merging.whenMatched().delete().whenNotMatched(~F.col("_ends")).insert(values).merge()

    return write


@contextmanager
def _stamped(spark, properties):
    """Give every snapshot that the session writes these properties, for a while: a MERGE takes no options."""
    names = [f"spark.sql.iceberg.snapshot-property.{name}" for name in properties]
    for name, value in zip(names, properties.values(), strict=True):
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in names:
            spark.conf.unset(name)


def _partitions(source):
    """Return the source's partition transforms for Spark; those that it cannot name are left out."""
    from pyspark.sql import functions as F

    transforms = {"year": F.years, "month": F.months, "day": F.days, "hour": F.hours}
    found, fields = [], source.spec().fields()
    names = {number: name for name, number in positions.columns(source).items()}
    for n in range(fields.size()):
        kind, name = fields.get(n).transform().toString(), names.get(fields.get(n).sourceId())
        column = F.col(compare.quoted(name)) if name else None
        if name and kind == "identity":
            found.append(column)
        elif name and kind in transforms:
            found.append(transforms[kind](column))
        elif name and kind.startswith("bucket["):
            found.append(F.bucket(int(kind[7:-1]), column))
    return found
