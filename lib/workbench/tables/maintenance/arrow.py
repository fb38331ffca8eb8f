"""The fast way: small plain files are rewritten by PyArrow, then one commit through Iceberg replaces them.

It is for format 2 without delete files, sort order and row lineage, with plain columns that are the table's
present ones. Whatever else there is goes to Spark, and the reason is told.
"""

import json
import uuid

from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import compaction, groups, metadata, parquet, storage
from workbench.tables.maintenance.compaction import Rewritten
from workbench.tables.maintenance.storage import Unfit

LARGEST = 512 * 1024 * 1024  # of a group: more is work for a cluster
_AGAIN = (commits.CONFLICT, commits.VALIDATION)


def rewrite(spark, table, chosen, policy, *, tries, before_commit=lambda: None):
    """Rewrite groups of a table in one commit.

    The commit takes only if the replaced files are live and no deletes came for them. Else the new files are
    thrown away and all of it begins again from the table's present state. When nobody knows whether it took, they
    stay: if it did not, they are orphans.

    Args:
        spark: classic session.
        table: its name.
        chosen: of `groups.found`.
        policy: Policy.
        tries: how often at most.
        before_commit: called when the new files are written; for tests.

    Returns:
        (Rewritten, None), or (None, why it cannot be done this way).
    """
    mark = uuid.uuid4().hex

    def once():
        loaded = metadata.own(spark, table)
        return _once(spark, loaded, metadata.still(spark, loaded), chosen, policy, mark, before_commit)

    def landed():
        found = marks.find(spark, table, mark, anywhere=True)
        return None if found is None else _told(spark, table, found)

    try:
        done = commits.attempt(once, landed=landed, conditional=True, again=_AGAIN, tries=tries)
    except Unfit as error:
        return None, str(error)
    except Exception as error:
        if not isinstance(error, commits.OutcomeUnknown) and commits.kind(error) not in _AGAIN:
            raise
        return None, f"the fast way was refused {tries} times: {commits.errors.first_line(error)}"
    files, after, size = done.value
    return Rewritten(files, after, size, int(bool(files)), done.tries), None


def _once(spark, loaded, seen, chosen, policy, mark, before_commit):
    """Rewrite what a state that stands still (`seen`) has, and commit it by the handle that does not.

    Returns:
        (files replaced, files in their place, bytes replaced).
    """
    check(seen, chosen)
    files, how = storage.opened(seen), parquet.options(dict(seen.properties()))
    text = spark._jvm.org.apache.iceberg.SchemaParser.toJson(seen.schema())
    wanted = parquet.schema(seen, text)
    old, parts = _parts(spark, seen, loaded.locationProvider(), chosen, policy, mark)
    if not parts:
        return 0, 0, 0
    written = ()
    try:
        sources = {
            location: [(old[n]["file-path"], old[n]["file-size-in-bytes"]) for n in part]
            for location, (part, _) in parts.items()
        }
        written = parquet.write(files, sources, wanted, how, threads=spark.sparkContext.defaultParallelism)
        before_commit()
        _commit(spark, loaded, seen, old, parts, written, mark)
    except Exception as error:
        if commits.kind(error) not in (commits.UNKNOWN, commits.CONNECTION):
            storage.delete(files, parts)
        raise
    replaced = [old[n] for part, _ in parts.values() for n in part]
    return len(replaced), len(parts), sum(one["file-size-in-bytes"] for one in replaced)


def check(loaded, chosen):
    """Refuse what is not for the fast way.

    Raises:
        Unfit: with the reason.
    """
    version = loaded.operations().current().formatVersion()
    summary = loaded.currentSnapshot().summary() if loaded.currentSnapshot() is not None else {}
    if version != 2:
        raise Unfit(
            f"the table has format {version}" + (", whose row lineage would be lost" if version > 2 else "")
        )
    if summary.get("total-delete-files") != "0":
        raise Unfit("the table has delete files")
    if not loaded.sortOrder().isUnsorted():
        raise Unfit("the table has a sort order")
    if any(one.spec_id != loaded.spec().specId() for one in chosen):
        raise Unfit("some files have an older partitioning")
    if any(one.bytes > LARGEST for one in chosen):
        raise Unfit(f"a group is larger than {LARGEST // 1024**2} MB")


def _parts(spark, seen, provider, chosen, policy, mark):
    """Return the files that are worth it now, and {new location: (positions among them, partition)}."""
    found, wanted = _small(spark, seen, chosen, policy), {one.partition for one in chosen}
    by_partition = {}
    for n, one in enumerate(found):
        by_partition.setdefault(one["key"], []).append(n)
    if unknown := by_partition.keys() - wanted:
        found_key, expected = sorted(unknown)[0], sorted(wanted)[0]
        if len(unknown) == len(by_partition):
            raise Unfit(f"its partitions cannot be told by their values ({found_key}, {expected})")
    parts, spec = {}, seen.spec()
    for key in sorted(by_partition.keys() & wanted):
        members = sorted(by_partition[key], key=lambda n: found[n]["file-path"])
        sizes = [found[n]["file-size-in-bytes"] for n in members]
        if not groups.worth(len(members), sum(sizes), policy):
            continue
        if any(found[n]["file-format"].lower() != "parquet" for n in members):
            raise Unfit("some of its files are not Parquet")
        if any(found[n].get("sort-order-id") for n in members):
            raise Unfit("some of its files are sorted")
        partition = found[members[0]]["java"].partition()
        for run in parquet.evenly(sizes, groups.files_after(sum(sizes), policy.target_file_bytes)):
            name = f"{len(parts):05d}-{mark}-fast.parquet"
            at = (
                provider.newDataLocation(name)
                if spec.isUnpartitioned()
                else provider.newDataLocation(spec, partition, name)
            )
            parts[at] = ([members[n] for n in run], partition)
    return found, parts


def _small(spark, loaded, chosen, policy):
    """Return the small live files of some partitions, as Iceberg's JSON of each with `key` and `java`."""
    parser, spec = spark._jvm.org.apache.iceberg.ContentFileParser, loaded.spec()
    names = [field.name() for field in spec.fields()]
    tasks = loaded.newScan().filter(compaction.where(spark, loaded, chosen)).ignoreResiduals().planFiles()
    found, limit = [], groups.small(policy)
    try:
        each = tasks.iterator()
        while each.hasNext():
            java = each.next().file()
            one = json.loads(parser.toJson(java, spec)) if java.specId() == spec.specId() else None
            if one is not None and one["file-size-in-bytes"] < limit:
                values = dict(sorted(zip(names, one["partition"], strict=True)))
                found.append(one | {"java": java, "key": json.dumps(values, ensure_ascii=False)})
    finally:
        tasks.close()
    return found


def _commit(spark, loaded, seen, old, parts, written, mark):
    """Replace files in one commit that is bound to the snapshot from which they were read."""
    snapshot = seen.currentSnapshot()
    config = spark._jvm.org.apache.iceberg.MetricsConfig.forTable(seen)
    commit = loaded.newRewrite().validateFromSnapshot(snapshot.snapshotId())
    # deletes by equality that come meanwhile have a higher number, so that they apply to the new files too
    commit = commit.dataSequenceNumber(snapshot.sequenceNumber())
    for one in written:
        positions, partition = parts[one.location]
        for n in positions:
            commit.deleteFile(old[n]["java"])
        commit.addFile(_data_file(spark, seen, one, partition, config))
    commit.set(marks.KEY, mark)
    commit.commit()


def _data_file(spark, loaded, one, partition, config):
    """Return Iceberg's handle of a new file, with the metrics of its footer and what a footer does not have."""
    iceberg, spec = spark._jvm.org.apache.iceberg, loaded.spec()
    metrics = iceberg.parquet.ParquetUtil.fileMetrics(loaded.io().newInputFile(one.location), config)
    builder = iceberg.DataFiles.builder(spec).withPath(one.location).withFormat("parquet")
    builder = builder.withFileSizeInBytes(one.size).withSortOrder(loaded.sortOrder()).withMetrics(metrics)
    file = (builder if spec.isUnpartitioned() else builder.withPartition(partition)).build()
    told = json.loads(iceberg.ContentFileParser.toJson(file, spec))
    counted = {
        number: nans
        for number, nans in one.nans.items()
        if config.columnMode(loaded.schema().findColumnName(number)).toString() != "none"
    }
    # by JSON, for Py4J would make an Integer of a small Java Long
    told["nan-value-counts"] = {"keys": list(counted), "values": list(counted.values())}
    told["split-offsets"] = list(one.offsets)
    node = iceberg.util.JsonUtil.mapper().readTree(json.dumps(told))
    return iceberg.ContentFileParser.fromJson(node, spec)


def _told(spark, table, snapshot_id):
    """Return what a commit that was found again did: files replaced, files in their place, bytes replaced."""
    snapshot = commits.load(spark, table).snapshot(snapshot_id).summary()
    return tuple(
        int(snapshot.get(one) or 0) for one in ("deleted-data-files", "added-data-files", "removed-files-size")
    )
