"""One commit of the target, which is refused where the target has moved since its position was read."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from workbench._base import identifiers, releases
from workbench._base.typing import Column, DataFrame, Java, SparkSession
from workbench.history import positions
from workbench.history.positions import Position
from workbench.tables import commits, publication


def create(spark: SparkSession, target: str, rows: DataFrame, source: Java, position: Position) -> None:
    """Make the target with its first rows, in one commit.

    It is partitioned by is_current, so that closed versions are not read again, and then as the source is, so that
    changes confined to some partitions stay confined. Deletes are merge-on-read: a build closes few rows of many.
    """
    from pyspark.sql import functions as F

    version = source.operations().current().formatVersion()
    modes = {f"write.{kind}.mode": "merge-on-read" for kind in ("merge", "update", "delete")}
    writer = rows.writeTo(identifiers.quoted(target)).using("iceberg")
    for name, value in (modes | {"format-version": str(max(version, 2))}).items():
        writer = writer.tableProperty(name, value)
    for name, value in position.properties().items():
        writer = writer.option(f"snapshot-property.{name}", value)
    with _first(target, None):
        writer.partitionedBy(F.col("is_current"), *_partitions(source)).create()


def commit(
    spark: SparkSession, target: str, base: int | None, write: Callable[[str], None], position: Position
) -> int:
    """Write on a branch of the snapshot that the position was read from, then move main to it, with its tag.

    Args:
        spark: the session.
        target: name of the table.
        base: id of main's snapshot when the position was read; None where main had none.
        write: function of a table name that commits once to it.
        position: goes into the summary of the commit's snapshot.

    Returns:
        Id of the snapshot, now main's.

    Raises:
        MainMoved: main is no longer at `base`.
    """
    branch = f"{positions.REF}{uuid.uuid4().hex}"

    def check(at: Java) -> None:
        if (main := commits.head(at)) != base:
            raise commits.MainMoved(target, base, main)

    with _first(target, base):
        publication.stage(spark, target, branch, check=check, known=True)
        name = identifiers.on_branch(target, branch)
        commits.with_properties(spark, position.properties(), lambda: write(name))
        written = commits.load(spark, target)
        if (snapshot := commits.head(written, branch)) is None:  # dropped by a build that was faster
            raise commits.MainMoved(target, base, commits.head(written))
        commits.fast_forward(
            spark, target, to=snapshot, expected=base, branch=branch, known=True,
            refs=lambda at: positions.tagged(at, snapshot),
        )  # fmt: skip
    return snapshot


@contextmanager
def _first(target: str, base: int | None) -> Iterator[None]:
    """Raise MainMoved where another build was faster: its branch or table is there, and ours is refused."""
    try:
        yield
    except Exception as error:
        exists = any(name.endswith("AlreadyExistsException") for name in commits.causes(error))
        if exists or commits.kind(error) in (commits.CONFLICT, commits.VALIDATION):
            raise commits.MainMoved(
                target, base, "another one", ": somebody else was faster; run it again"
            ) from error
        raise


def merge(
    rows: DataFrame, names: Sequence[str], key: Sequence[str], bounds: Column | None
) -> Callable[[str], None]:
    """Return a function of a table name that ends versions and adds others in one commit.

    Args:
        rows: frame of the target's columns and `_ends` (boolean): whether the row only names a key whose open
            version is to be replaced.
        names: the target's columns.
        key: columns that name a row.
        bounds: column expression over the target that holds for every open version that ends; prunes its files.
    """
    from pyspark.sql import functions as F

    ours = {name: f"_s{n}" for n, name in enumerate(names)}
    staged = rows.select(*[F.col(identifiers.column(name)).alias(alias) for name, alias in ours.items()], "_ends")
    same = F.col("is_current") & F.col("_ends")
    for name in key:
        same = same & (F.col(identifiers.column(name)) == F.col(ours[name]))
    if bounds is not None:
        same = same & bounds
    values = {identifiers.in_sql(name): F.col(alias) for name, alias in ours.items()}

    def write(table: str) -> None:
        merging = releases.merge_into(staged, table, same)
        merging.whenMatched().delete().whenNotMatched(~F.col("_ends")).insert(values).merge()

    return write


def _partitions(source: Java) -> list[Column]:
    """Return the source's partition transforms for Spark, as far as the target can have them.

    Left out are names with a dot, a transform whose field would be called like a column, and of a column's times
    all but the finest, which Iceberg takes for the same.
    """
    from pyspark.sql import functions as F

    by, columns = releases.transforms(), positions.columns(source)
    names = {number: name for name, number in columns.items()}
    times = {"year": by.years, "month": by.months, "day": by.days, "hour": by.hours}  # finest last
    fields = source.spec().fields()
    transforms: list[Column] = []
    finest: dict[str, tuple[Column, str]] = {}  # of a column's times
    for n in range(fields.size()):
        kind, name = fields.get(n).transform().toString(), names.get(fields.get(n).sourceId())
        word = kind.partition("[")[0]
        if not name or "." in name or f"{name}_{word}" in columns:
            continue
        # Spark reads the text that it has read once more: what needs backticks needs them in that one too
        plain = identifiers.PART.fullmatch(name)
        column = F.col(name if plain else identifiers.column(identifiers.column(name)))
        if kind == "identity":
            transforms.append(column)
        elif word == "bucket":
            transforms.append(by.bucket(int(kind[7:-1]), column))
        elif kind in times:
            finest[name] = column, max(finest.get(name, (column, kind))[1], kind, key=[*times].index)
    return transforms + [times[kind](column) for column, kind in finest.values()]
