"""The files that a query of an Iceberg table opens: found by Iceberg's own planning, metadata looked at first.

A query opens the newest metadata file, the manifest list of a snapshot, its manifests, and of the data and delete
files those that the filter leaves. An archived one of the former stops the planning itself, and Iceberg tries a
metadata file twenty times, for more than a minute. So metadata is looked at by HEAD, one step after another.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench._base.typing import Column, DataFrame, Java, SparkSession
from workbench.archive import listing
from workbench.archive.objects import MetadataArchived, Object, counted, split
from workbench.tables import commits

METADATA = re.compile(r".*/metadata/(v?\d+)[^/]*\.metadata\.json(\.gz)?")


def rows(
    spark: SparkSession, table: str, *, where: str | Column | None = None, snapshot_id: int | None = None
) -> DataFrame:
    """Return the wanted rows of a table as a DataFrame; lazy.

    Raises:
        ValueError: the name is not a table's.
    """
    name = identifiers.quoted(table)
    df = (
        spark.table(name)
        if snapshot_id is None
        else spark.sql(f"SELECT * FROM {name} VERSION AS OF {snapshot_id}")
    )
    return df if where is None else df.where(where)


def files(
    spark: SparkSession,
    s3: Any,
    table: str,
    *,
    where: str | Column | None = None,
    snapshot_id: int | None = None,
    workers: int = listing.WORKERS,
) -> list[Object]:
    """Return every file that a query of a table opens, with its state, metadata first.

    Returns:
        list of Object, sorted by kind of step and address.

    Raises:
        MetadataArchived: metadata files are archived; the error has them.
        TableNotFound: no such table.
        ValueError: the table is not on S3, or the session is not a classic one.
    """
    identifiers.quoted(table)  # refuses what is not a name
    _newest_by_name(spark, s3, table)
    loaded = commits.load(spark, table)
    metadata = _metadata(s3, table, loaded, snapshot_id or _on_branch(spark, loaded), workers)
    df = rows(spark, table, where=where, snapshot_id=snapshot_id)
    metadata += _metadata_of_others(spark, s3, df, {entry.uri for entry in metadata}, workers)
    kinds = planned(df)
    return metadata + _looked_at(s3, table, [(uri, None, kind) for uri, kind in sorted(kinds.items())], workers)


def planned(df: DataFrame) -> dict[str, str]:
    """Return the data and delete files of Spark's plan of a query, after all pruning: address to kind.

    Those of subqueries too: one that is a join stands in the plan itself, another has a plan of its own.

    Raises:
        ValueError: the query reads something else than Iceberg tables.
    """
    execution, kinds = df._jdf.queryExecution(), {}
    planner = execution.sparkSession().sessionState().planner()
    inner = [planner.plan(plan).next() for plan in _each(execution.optimizedPlan().subqueriesAll())]
    for leaf in (leaf for plan in (execution.sparkPlan(), *inner) for leaf in _each(plan.collectLeaves())):
        kind = leaf.getClass().getSimpleName()
        if kind == "LocalTableScanExec":  # the filter leaves nothing
            continue
        if kind != "BatchScanExec" or "org.apache.iceberg" not in leaf.scan().getClass().getName():
            raise ArgumentError(f"files are known of Iceberg tables only; this query has a {kind}")
        for part in _each(leaf.inputPartitions()):
            tasks = part.taskGroup().tasks().iterator()
            while tasks.hasNext():
                task = tasks.next()
                for file in (task.file(), *task.deletes()):
                    kinds[file.location()] = file.content().toString().lower().replace("_", " ")
    return kinds


def _metadata(s3: Any, table: str, loaded: Java, snapshot_id: int | None, workers: int) -> list[Object]:
    """Return the metadata files that planning opens, each step looked at before Iceberg opens it."""
    entries = _looked_at(
        s3, table, [(loaded.operations().current().metadataFileLocation(), None, "metadata")], workers
    )
    snapshot = loaded.currentSnapshot() if snapshot_id is None else loaded.snapshot(snapshot_id)
    if snapshot is None:
        if snapshot_id is None:
            return entries  # an empty table
        raise ArgumentError(f"{table} has no snapshot {snapshot_id}")
    if snapshot.manifestListLocation():
        entries += _looked_at(s3, table, [(snapshot.manifestListLocation(), None, "metadata")], workers)
    _refuse_archived(table, entries)
    manifests = [(manifest.path(), None, "metadata") for manifest in snapshot.allManifests(loaded.io())]
    entries += _looked_at(s3, table, sorted(manifests), workers)
    _refuse_archived(table, entries)
    return entries


def _on_branch(spark: SparkSession, loaded: Java) -> int | None:
    """Return the snapshot that a session under write-audit-publish reads; None where it reads the newest."""
    branch = spark.conf.get("spark.wap.branch", None)
    if branch and loaded.properties().get("write.wap.enabled") == "true" and loaded.refs().containsKey(branch):
        return loaded.snapshot(branch).snapshotId()
    return None


def _metadata_of_others(spark: SparkSession, s3: Any, df: DataFrame, seen: set[str], workers: int) -> list[Object]:
    """Return the metadata files of other tables, named in a query's subqueries, before Iceberg opens them."""
    analyzed, entries = df._jdf.queryExecution().analyzed(), []
    plans = [analyzed, *_each(analyzed.subqueriesAll())]
    for leaf in (leaf for plan in plans for leaf in _each(plan.collectLeaves())):
        if (
            leaf.getClass().getSimpleName() != "DataSourceV2Relation"
            or "iceberg" not in leaf.table().getClass().getName()
        ):
            continue  # a table of another kind is refused by its plan
        other, at = leaf.table().table(), leaf.table().snapshotId()
        looked = _metadata(s3, other.name(), other, at or _on_branch(spark, other), workers)
        entries += [entry for entry in looked if entry.uri not in seen]
        seen |= {entry.uri for entry in looked}
    return entries


def _each(sequence: Java) -> Iterator[Java]:
    """Return what a sequence of Scala holds."""
    return (sequence.apply(i) for i in range(sequence.size()))


def _newest_by_name(spark: SparkSession, s3: Any, table: str) -> None:
    """Look at the newest metadata file where the warehouse has a table's, before Iceberg tries it for long.

    The newest by its time: a table of the same name that was dropped may have left files of higher numbers.
    """
    parts = identifiers.parts(table)
    catalogs = {parts[0], spark.conf.get("spark.sql.defaultCatalog", "spark_catalog") or ""}
    for catalog in sorted(catalogs):
        warehouse = spark.conf.get(f"spark.sql.catalog.{catalog}.warehouse", "") or ""
        below = parts[1:] if catalog == parts[0] else parts
        if not warehouse.startswith("s3") or len(below) < 2:
            continue
        prefix = f"{warehouse.rstrip('/')}/{'/'.join(below)}/metadata/"
        matches = [(entry, METADATA.fullmatch(entry.uri)) for entry in listing.under(s3, prefix)]
        numbered = [(entry.modified, int(match[1].lstrip("v")), entry) for entry, match in matches if match]
        if numbered:
            _refuse_archived(table, [max(numbered, key=lambda entry: entry[:2])[2]])


def _looked_at(s3: Any, table: str, addresses: Sequence[listing.Address], workers: int) -> list[Object]:
    for uri, _, _ in addresses:
        try:
            split(uri)
        except ValueError:
            raise ArgumentError(f"{table} is not on S3: it has {uri}") from None
    looks = listing.heads(s3, addresses, workers=workers)
    gone = [uri for (uri, _, _), look in zip(addresses, looks, strict=True) if look is None]
    if gone:
        raise ArgumentError(f"{table} names {len(gone)} files that are not there: {named(gone)}")
    return [look for look in looks if look is not None]


def _refuse_archived(table: str, entries: Sequence[Object]) -> None:
    wrong = [entry for entry in entries if not entry.readable]
    if wrong:
        folder = wrong[0].uri.rpartition("/")[0]
        raise MetadataArchived(
            f"{counted(len(wrong), 'metadata file')} of {table} {'is' if len(wrong) == 1 else 'are'} archived, so "
            f"nothing of it can be read: {named([f'{entry.uri} ({entry.state})' for entry in wrong])}; others "
            f"behind may be too: restore all of {folder}/ at once, as a directory, copy each object back to "
            "STANDARD, and take metadata out of the lifecycle rule",
            wrong,
        )


def named(texts: Sequence[str], most: int = 5) -> str:
    """Return the first of many texts and how many more there are."""
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
