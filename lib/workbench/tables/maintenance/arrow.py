"""The fast way: small plain files are rewritten by PyArrow, then one commit through Iceberg replaces them.

It is for format 2 without delete files, sort order and row lineage, with plain columns that are the table's
present ones. Whatever else there is goes to Spark, and the reason is told.
"""

import json
import re
import uuid

from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import compaction, groups, metadata, parquet, storage
from workbench.tables.maintenance.compaction import Rewritten
from workbench.tables.maintenance.results import Hindrance, Obstacle
from workbench.tables.maintenance.storage import Unfit

LARGEST = 512 * 1024 * 1024  # of a group: more is work for a cluster
_AGAIN = (commits.CONFLICT, commits.VALIDATION)
_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF


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
        (Rewritten, None), or (None, Obstacle) where it cannot be done this way.
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
        return None, error.obstacle
    except Exception as error:
        if not isinstance(error, commits.OutcomeUnknown) and commits.kind(error) not in _AGAIN:
            raise
        first = commits.errors.first_line(error)
        return None, Obstacle(Hindrance.FAST_REFUSED, number=tries, error=first)
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
    wanted = _as_written(spark, seen, parquet.schema(seen, text))
    old, parts, tasks = _parts(spark, seen, loaded.locationProvider(), chosen, policy)
    if not parts:
        return 0, 0, 0
    sources = {
        location: [(old[n]["file-path"], old[n]["file-size-in-bytes"]) for n in part]
        for location, (part, _) in parts.items()
    }
    begun = False
    try:
        written = parquet.write(files, sources, wanted, how, threads=spark.sparkContext.defaultParallelism)
        before_commit()
        begun = True
        _commit(spark, loaded, seen, tasks, parts, written, mark)
    except Exception as error:
        # once a commit has begun only its refusal says that nobody needs the files: Java may have died behind it
        if not begun or commits.kind(error) in _AGAIN:
            storage.delete(files, parts)
        raise
    replaced = [old[n] for part, _ in parts.values() for n in part]
    return len(replaced), len(parts), sum(one["file-size-in-bytes"] for one in replaced)


def _as_written(spark, loaded, wanted):
    """Return the schema with the names that Iceberg writes in a Parquet file: odd characters by their numbers."""
    import pyarrow as pa

    convert = spark._jvm.org.apache.iceberg.parquet.ParquetSchemaUtil.convert
    names = [field.getName() for field in convert(loaded.schema(), "table").getFields()]
    return pa.schema([one.with_name(name) for one, name in zip(wanted, names, strict=True)], wanted.metadata)


def check(loaded, chosen):
    """Refuse what is not for the fast way.

    Raises:
        Unfit: with the reason.
    """
    version = loaded.operations().current().formatVersion()
    summary = loaded.currentSnapshot().summary() if loaded.currentSnapshot() is not None else {}
    if version != 2:
        raise Unfit(Hindrance.FORMAT_VERSION, number=version)
    if summary.get("total-delete-files") != "0":
        raise Unfit(Hindrance.DELETE_FILES)
    if not loaded.sortOrder().isUnsorted():
        raise Unfit(Hindrance.SORT_ORDER)
    if not loaded.spec().isUnpartitioned() and any(one.spec_id != loaded.spec().specId() for one in chosen):
        # the rows of one may belong to several partitions now
        raise Unfit(Hindrance.OLDER_PARTITIONING)
    every = [field for spec in dict(loaded.specs()).values() for field in spec.fields()]
    if any(field.transform().toString() == "void" for field in every):
        raise Unfit(Hindrance.DROPPED_PARTITION_FIELD)  # Iceberg cannot tell such files as JSON
    if odd := compaction.not_told(loaded):
        raise Unfit(Hindrance.PARTITION_TYPE, name=odd)
    if any(one.bytes > LARGEST for one in chosen):
        raise Unfit(Hindrance.LARGE_GROUP, number=LARGEST)


def _parts(spark, seen, provider, chosen, policy):
    """Return the small files, {new location: (positions among them, partition)}, and the tasks of those."""
    names = [field.name() for field in seen.spec().fields()]
    # a plan tells the fields of all specs; names of a try's own, for an earlier one's commit may arrive yet
    wanted, own = {_key(names, json.loads(one.partition)) for one in chosen}, uuid.uuid4().hex
    found, tasks = _small(spark, seen, names, chosen, policy)
    by_partition = {}
    for n, one in enumerate(found):
        by_partition.setdefault(one["key"], []).append(n)
    parts, spec = {}, seen.spec()
    for key in sorted(by_partition.keys() & wanted):
        members, size = by_partition[key], sum(found[n]["file-size-in-bytes"] for n in by_partition[key])
        if not groups.worth(len(members), size, policy):
            continue
        count = groups.files_after(size, policy.target_file_bytes)
        members = sorted(members, key=lambda n: found[n]["file-path"])
        if count > 1:  # names are drawn; in the order in which rows came the new files have narrow bounds
            members.sort(key=lambda n: tasks.get(found[n]["task"]).file().dataSequenceNumber())
        sizes = [found[n]["file-size-in-bytes"] for n in members]
        if any(found[n]["file-format"].lower() != "parquet" for n in members):
            raise Unfit(Hindrance.FILE_FORMAT)
        if any(found[n].get("sort-order-id") for n in members):
            raise Unfit(Hindrance.SORTED_FILES)
        partition = tasks.get(found[members[0]]["task"]).file().partition()
        for run in parquet.evenly(sizes, count):
            name = f"{len(parts):05d}-{own}-fast.parquet"
            at = (
                provider.newDataLocation(name)
                if spec.isUnpartitioned()
                else provider.newDataLocation(spec, partition, name)
            )
            parts[at] = ([members[n] for n in run], partition)
    kept = {found[n]["task"] for part, _ in parts.values() for n in part}
    for n in reversed(range(tasks.size())):
        if n not in kept:
            del tasks[n]
    return found, parts, tasks


def _key(names, values):
    return json.dumps({name: values.get(name) for name in sorted(names)}, ensure_ascii=False)


def _small(spark, loaded, names, chosen, policy):
    """Return the small live files of some partitions, as Iceberg's JSON with `key` and `task`, and the tasks.

    A call to Java costs as much as reading a small file, so that all files are told by one: as a catalog would
    answer that plans a scan. Where the table has no partitions now, files of older specs are told like its own.
    """
    iceberg = spark._jvm.org.apache.iceberg
    specs = {one.spec_id for one in chosen}
    planned = loaded.newScan().filter(compaction.where(spark, loaded, chosen)).ignoreResiduals().planFiles()
    try:
        tasks = iceberg.relocated.com.google.common.collect.Lists.newArrayList(planned)
    finally:
        planned.close()
    answer = iceberg.rest.responses.PlanTableScanResponse.builder().withPlanStatus(
        iceberg.rest.PlanStatus.COMPLETED
    )
    answer = answer.withFileScanTasks(tasks).withSpecsById(loaded.specs()).build()
    found, limit = [], groups.small(policy)
    told = json.loads(iceberg.rest.responses.PlanTableScanResponseParser.toJson(answer))
    for n, one in enumerate(task["data-file"] for task in told.get("file-scan-tasks", ())):
        if one["spec-id"] in specs and one["file-size-in-bytes"] < limit:
            part = one["partition"]  # values in order, before Iceberg 1.11 under the numbers of their fields
            part = part.values() if isinstance(part, dict) else part
            values = dict(zip(names, part, strict=True)) if names else {}
            found.append(one | {"task": n, "key": _key(names, values)})
    return found, tasks


def _commit(spark, loaded, seen, tasks, parts, written, mark):
    """Replace files in one commit that is bound to the snapshot from which they were read, as Iceberg's own is.

    Iceberg refuses it when a replaced file is gone, for missing paths fail in every rewrite, and when position
    deletes came for one since that snapshot. Deletes by equality that come meanwhile have a higher sequence number
    than that snapshot, which the new files take, so that they apply to these too.
    """
    actions = spark._jvm.org.apache.iceberg.actions
    config, java = spark._jvm.org.apache.iceberg.MetricsConfig.forTable(seen), _Java(spark)
    group = actions.RewriteFileGroup(None, tasks, seen.spec().specId(), 0, 0, 0)
    group.setOutputFiles({_data_file(java, seen, one, parts[one.location][1], config) for one in written})
    begun = seen.currentSnapshot().snapshotId()
    manager = actions.RewriteDataFilesCommitManager(loaded, begun, True, {marks.KEY: mark})
    manager.commitFileGroups({group})


class _Java:
    """Iceberg's classes, looked up once: each part of a name that Py4J is asked for is searched in all jars."""

    def __init__(self, spark):
        iceberg = spark._jvm.org.apache.iceberg
        self.footers, self.files = iceberg.parquet.ParquetUtil, iceberg.DataFiles
        self.parser, self.mapper = iceberg.ContentFileParser, iceberg.util.JsonUtil.mapper()


def _data_file(java, loaded, one, partition, config):
    """Return Iceberg's handle of a new file, with the metrics of its footer and what a footer does not have."""
    spec = loaded.spec()
    metrics = java.footers.fileMetrics(loaded.io().newInputFile(one.location), config)
    builder = java.files.builder(spec).withPath(one.location).withFormat("parquet")
    builder = builder.withFileSizeInBytes(one.size).withSortOrder(loaded.sortOrder()).withMetrics(metrics)
    file = (builder if spec.isUnpartitioned() else builder.withPartition(partition)).build()
    told = json.loads(java.parser.toJson(file, spec))
    rows = dict.fromkeys(one.nulls, told["record-count"])
    # by JSON, for Py4J would make an Integer of a small Java Long
    for which, more in (("value", rows), ("null-value", one.nulls), ("nan-value", one.nans)):
        there = told.get(f"{which}-counts") or _pairs({})
        pairs = dict(zip(there["keys"], there["values"], strict=True))
        pairs |= {number: many for number, many in more.items() if _mode(loaded, config, number) != "none"}
        told[f"{which}-counts"] = _pairs(pairs)
    _replace_bounds(told, loaded, one.spans, config)
    told["split-offsets"] = list(one.offsets)
    return java.parser.fromJson(java.mapper.readTree(json.dumps(told)), spec)


def _replace_bounds(told, loaded, spans, config):
    """Put the bounds of columns of which no footer holds them into a file's JSON, in place of what is there.

    Iceberg takes a row group without bounds for one without values: what it found in the others is too narrow.
    """
    for number, (lowest, highest) in spans.items():
        kind, mode = loaded.schema().findType(number).toString(), _mode(loaded, config, number)
        if kind in ("float", "double") and mode.startswith("truncate"):  # numbers are never cut
            mode = "full"
        found = kept_bounds(lowest, highest, mode, text=kind == "string")
        for which, bound in zip(("lower-bounds", "upper-bounds"), found, strict=True):
            there = told.get(which) or {"keys": [], "values": []}
            pairs = dict(zip(there["keys"], there["values"], strict=True))
            pairs.pop(number, None)
            if bound is not None:
                pairs[number] = bound.hex().upper()
            told[which] = _pairs(pairs)


def _mode(loaded, config, number):
    return config.columnMode(loaded.schema().findColumnName(number)).toString()


def _pairs(values):
    return {"keys": list(values), "values": list(values.values())}


def _told(spark, table, snapshot_id):
    """Return what a commit that was found again did: files replaced, files in their place, bytes replaced."""
    snapshot = commits.load(spark, table).snapshot(snapshot_id).summary()
    return tuple(
        int(snapshot.get(one) or 0) for one in ("deleted-data-files", "added-data-files", "removed-files-size")
    )


def kept_bounds(lowest, highest, mode, *, text):
    """Return the bounds that Iceberg keeps of a column: (lower, upper), each bytes, or None for none.

    The rules of its UnicodeUtil and BinaryUtil: a lower bound is cut; an upper one is cut and the last place that
    can be made greater is made greater. A Parquet footer has no bounds that are longer than 4 KB: parquet-cpp, by
    which PyArrow writes, leaves them out, and so does parquet-java. Iceberg's own writer has them from writing.

    Args:
        lowest: of the column's values, bytes.
        highest: of them, bytes.
        mode: the column's metrics mode, as Iceberg writes it: `none`, `counts`, `truncate(16)` or `full`.
        text: whether they are texts, which are cut by characters.
    """
    if mode == "full":
        return lowest, highest
    if not (found := re.fullmatch(r"truncate\((\d+)\)", mode)):
        return None, None
    length = int(found[1])
    if not text:
        return lowest[:length], _greater(highest, length)
    try:
        lower, upper = lowest.decode()[:length], _greater_text(highest.decode(), length)
    except UnicodeDecodeError:  # Spark takes any bytes for a text; without bounds nobody is misled
        return None, None
    return lower.encode(), None if upper is None else upper.encode()


def _greater(value, length):
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None


def _greater_text(value, length):
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(chr(_LAST_CHARACTER))
    if not cut:
        return None
    following = ord(cut[-1]) + 1
    return cut[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
