"""The files that a query of an Iceberg table opens: found by Iceberg's own planning, metadata looked at first.

A query opens the newest metadata file, the manifest list of a snapshot, its manifests, and of the data and delete
files those that the filter leaves. An archived one of the former stops the planning itself, and Iceberg tries a
metadata file twenty times, for more than a minute. So metadata is looked at by HEAD, one step after another.
"""

import re

from workbench._base import identifiers
from workbench._base.errors import ArgumentError
from workbench.archive import listing
from workbench.archive.objects import MetadataArchived, counted, split
from workbench.tables import commits

METADATA = re.compile(r".*/metadata/(v?\d+)[^/]*\.metadata\.json(\.gz)?")


def rows(spark, table, *, where=None, snapshot_id=None):
    """Return the wanted rows of a table as a DataFrame; lazy.

    Raises:
        ValueError: the name or the snapshot id is none.
    """
    name = _checked(table, snapshot_id)
    df = (
        spark.table(name)
        if snapshot_id is None
        else spark.sql(f"SELECT * FROM {name} VERSION AS OF {snapshot_id}")
    )
    return df if where is None else df.where(where)


def files(spark, s3, table, *, where=None, snapshot_id=None, workers=listing.WORKERS):
    """Return every file that a query of a table opens, with its state, metadata first.

    Returns:
        list of Object, sorted by kind of step and address.

    Raises:
        MetadataArchived: metadata files are archived; the error has them.
        TableNotFound: no such table.
        ValueError: the table is not on S3, or the session is not a classic one.
    """
    _checked(table, snapshot_id)
    _newest_by_name(spark, s3, table)
    loaded = commits.load(spark, table)
    metadata = _metadata(s3, table, loaded, snapshot_id or _on_branch(spark, loaded), workers)
    df = rows(spark, table, where=where, snapshot_id=snapshot_id)
    metadata += _metadata_of_others(spark, s3, df, {one.uri for one in metadata}, workers)
    wanted = planned(df)
    return metadata + _looked_at(s3, table, [(uri, None, kind) for uri, kind in sorted(wanted.items())], workers)


def planned(df):
    """Return the data and delete files of Spark's plan of a query, after all pruning: address to kind.

    Those of subqueries too: one that is a join stands in the plan itself, another has a plan of its own.

    Raises:
        ValueError: the query reads something else than Iceberg tables.
    """
    execution, found = df._jdf.queryExecution(), {}
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
                    found[file.location()] = file.content().toString().lower().replace("_", " ")
    return found


def _checked(table, snapshot_id):
    """Return the quoted name; refuse what is no name or no snapshot id."""
    if snapshot_id is not None and (isinstance(snapshot_id, bool) or not isinstance(snapshot_id, int)):
        raise ArgumentError(f"a snapshot id is a whole number, not {snapshot_id!r}")
    return identifiers.quoted(table)


def _metadata(s3, table, loaded, snapshot_id, workers):
    """Return the metadata files that planning opens, each step looked at before Iceberg opens it."""
    found = _looked_at(
        s3, table, [(loaded.operations().current().metadataFileLocation(), None, "metadata")], workers
    )
    snapshot = loaded.currentSnapshot() if snapshot_id is None else loaded.snapshot(snapshot_id)
    if snapshot is None:
        if snapshot_id is None:
            return found  # an empty table
        raise ArgumentError(f"{table} has no snapshot {snapshot_id}")
    if snapshot.manifestListLocation():
        found += _looked_at(s3, table, [(snapshot.manifestListLocation(), None, "metadata")], workers)
    _refuse_archived(table, found)
    manifests = [(manifest.path(), None, "metadata") for manifest in snapshot.allManifests(loaded.io())]
    found += _looked_at(s3, table, sorted(manifests), workers)
    _refuse_archived(table, found)
    return found


def _on_branch(spark, loaded):
    """Return the snapshot that a session under write-audit-publish reads; None where it reads the newest."""
    branch = spark.conf.get("spark.wap.branch", None)
    if branch and loaded.properties().get("write.wap.enabled") == "true" and loaded.refs().containsKey(branch):
        return loaded.snapshot(branch).snapshotId()
    return None


def _metadata_of_others(spark, s3, df, seen, workers):
    """Return the metadata files of other tables, named in a query's subqueries, before Iceberg opens them."""
    analyzed, found = df._jdf.queryExecution().analyzed(), []
    plans = [analyzed, *_each(analyzed.subqueriesAll())]
    for leaf in (leaf for plan in plans for leaf in _each(plan.collectLeaves())):
        if (
            leaf.getClass().getSimpleName() != "DataSourceV2Relation"
            or "iceberg" not in leaf.table().getClass().getName()
        ):
            continue  # what is no table of Iceberg is refused by its plan
        other, at = leaf.table().table(), leaf.table().snapshotId()
        looked = _metadata(s3, other.name(), other, at or _on_branch(spark, other), workers)
        found += [one for one in looked if one.uri not in seen]
        seen |= {one.uri for one in looked}
    return found


def _each(found):
    """Give what a sequence of Scala holds."""
    return (found.apply(i) for i in range(found.size()))


def _newest_by_name(spark, s3, table):
    """Look at the newest metadata file where the warehouse has a table's, before Iceberg tries it for long.

    The newest by its time: a table of the same name that was dropped may have left files of higher numbers.
    """
    parts = identifiers.parts(table)
    catalogs = {parts[0], spark.conf.get("spark.sql.defaultCatalog", "spark_catalog")}
    for catalog in sorted(catalogs):
        warehouse = spark.conf.get(f"spark.sql.catalog.{catalog}.warehouse", "")
        below = parts[1:] if catalog == parts[0] else parts
        if not warehouse.startswith("s3") or len(below) < 2:
            continue
        prefix = f"{warehouse.rstrip('/')}/{'/'.join(below)}/metadata/"
        found = [one for one in listing.under(s3, prefix) if METADATA.fullmatch(one.uri)]
        if found:
            newest = max(found, key=lambda one: (one.modified, int(METADATA.fullmatch(one.uri)[1].lstrip("v"))))
            _refuse_archived(table, [newest])


def _looked_at(s3, table, wanted, workers):
    for uri, _, _ in wanted:
        try:
            split(uri)
        except ValueError:
            raise ArgumentError(f"{table} is not on S3: it has {uri}") from None
    found = listing.heads(s3, wanted, workers=workers)
    gone = [uri for (uri, _, _), one in zip(wanted, found, strict=True) if one is None]
    if gone:
        raise ArgumentError(f"{table} names {len(gone)} files that are not there: {named(gone)}")
    return found


def _refuse_archived(table, found):
    wrong = [one for one in found if not one.readable]
    if wrong:
        folder = wrong[0].uri.rpartition("/")[0]
        raise MetadataArchived(
            f"{counted(len(wrong), 'metadata file')} of {table} {'is' if len(wrong) == 1 else 'are'} archived, so "
            f"nothing of it can be read: {named([f'{one.uri} ({one.state})' for one in wrong])}; others "
            f"behind may be too: restore all of {folder}/ at once, as a directory, copy each object back to "
            "STANDARD, and take metadata out of the lifecycle rule",
            wrong,
        )


def named(texts, most=5):
    """Return the first of many texts and how many more there are."""
    shown = ", ".join(texts[:most])
    return shown if len(texts) <= most else f"{shown} and {len(texts) - most} more"
