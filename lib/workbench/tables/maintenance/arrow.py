"""The fast way: small plain files are rewritten by PyArrow, then one commit through Iceberg replaces them.

It is for format 2 without delete files, sort order and row lineage, with plain columns that are the table's
present ones. All other files go to Spark, and the reason is returned.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import compaction, groups, metadata, parquet, storage
from workbench.tables.maintenance.compaction import Rewritten
from workbench.tables.maintenance.groups import Group
from workbench.tables.maintenance.policy import Policy
from workbench.tables.maintenance.results import Hindrance, Obstacle
from workbench.tables.maintenance.storage import Unfit

Replaced = tuple[int, int, int]  # data files replaced, data files in their place, bytes replaced
File = dict[str, Any]  # a file as Iceberg's JSON has it
Parts = dict[str, tuple[list[int], Java]]  # new location: (positions among the old files, partition)
LARGEST = 512 * 1024 * 1024  # of a group: more is work for a cluster
_SURROGATES = range(0xD800, 0xE000)
_LAST_CHARACTER = 0x10FFFF


def rewrite(
    spark: SparkSession,
    table: str,
    chosen: Sequence[Group],
    policy: Policy,
    *,
    tries: int,
    before_commit: Callable[[], object] = lambda: None,
) -> tuple[Rewritten | None, Obstacle | None]:
    """Rewrite groups of a table in one commit.

    The commit takes only if the replaced files are live and no deletes came for them. Else the new files are
    thrown away and all of it begins again from the table's present state. When it is not known whether it took,
    they stay: if it did not, they are orphans.

    Args:
        spark: classic session.
        table: its name.
        chosen: of `groups.worthwhile`.
        policy: Policy.
        tries: how often at most.
        before_commit: called when the new files are written; for tests.

    Returns:
        (Rewritten, None), or (None, Obstacle) where it cannot be done this way.
    """
    mark = uuid.uuid4().hex

    def once() -> Replaced:
        loaded = metadata.own(spark, table)
        return _once(spark, loaded, metadata.still(spark, loaded), chosen, policy, mark, before_commit)

    def landed() -> Replaced | None:
        snapshot_id = marks.find(spark, table, mark, anywhere=True)
        return None if snapshot_id is None else _replaced_by(spark, table, snapshot_id)

    try:
        attempt = commits.attempt(once, landed=landed, conditional=True, again=commits.REPEATABLE, tries=tries)
    except Unfit as error:
        return None, error.obstacle
    except Exception as error:
        if not isinstance(error, commits.OutcomeUnknown) and commits.kind(error) not in commits.REPEATABLE:
            raise
        first = commits.errors.first_line(error)
        return None, Obstacle(Hindrance.FAST_REFUSED, number=tries, error=first)
    files, after, size = attempt.value
    return Rewritten(files, after, size, int(bool(files)), attempt.tries), None


def _once(
    spark: SparkSession,
    loaded: Java,
    seen: Java,
    chosen: Sequence[Group],
    policy: Policy,
    mark: str,
    before_commit: Callable[[], object],
) -> Replaced:
    """Rewrite what a state that stands still (`seen`) has, and commit it by the handle that does not."""
    check(seen, chosen)
    files, layout = storage.opened(seen), parquet.options(dict(seen.properties()))
    text = metadata.jvm(spark).org.apache.iceberg.SchemaParser.toJson(seen.schema())
    target = _as_written(spark, seen, parquet.schema(seen, text))
    old, parts, tasks = _parts(spark, seen, loaded.locationProvider(), chosen, policy)
    if not parts:
        return 0, 0, 0
    sources = {
        location: [(old[n]["file-path"], old[n]["file-size-in-bytes"]) for n in part]
        for location, (part, _) in parts.items()
    }
    begun = False
    try:
        written = parquet.write(files, sources, target, layout, threads=spark.sparkContext.defaultParallelism)
        before_commit()
        begun = True
        _commit(spark, loaded, seen, tasks, parts, written, mark)
    except Exception as error:
        # once a commit has begun only its refusal says that nobody needs the files: Java may have died behind it
        if not begun or commits.kind(error) in commits.REPEATABLE:
            storage.delete(files, parts)
        raise
    replaced = [old[n] for part, _ in parts.values() for n in part]
    return len(replaced), len(parts), sum(file["file-size-in-bytes"] for file in replaced)


def _as_written(spark: SparkSession, loaded: Java, schema: parquet.Schema) -> parquet.Schema:
    """Return the schema with the names that Iceberg writes in a Parquet file: odd characters by their numbers."""
    import pyarrow as pa

    convert = metadata.jvm(spark).org.apache.iceberg.parquet.ParquetSchemaUtil.convert
    names = [field.getName() for field in convert(loaded.schema(), "table").getFields()]
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)], schema.metadata)


def check(loaded: Java, chosen: Sequence[Group]) -> None:
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
    if not loaded.spec().isUnpartitioned() and any(group.spec_id != loaded.spec().specId() for group in chosen):
        # the rows of one may belong to several partitions now
        raise Unfit(Hindrance.OLDER_PARTITIONING)
    every = [field for spec in dict(loaded.specs()).values() for field in spec.fields()]
    if any(field.transform().toString() == "void" for field in every):
        raise Unfit(Hindrance.DROPPED_PARTITION_FIELD)  # Iceberg cannot write such files as JSON
    if odd := compaction.opaque_type(loaded):
        raise Unfit(Hindrance.PARTITION_TYPE, name=odd)
    if any(group.bytes > LARGEST for group in chosen):
        raise Unfit(Hindrance.LARGE_GROUP, number=LARGEST)


def _parts(
    spark: SparkSession, seen: Java, provider: Java, chosen: Sequence[Group], policy: Policy
) -> tuple[list[File], Parts, Java]:
    """Return the small files, {new location: (positions among them, partition)}, and the tasks of those."""
    names = [field.name() for field in seen.spec().fields()]
    # a plan has the fields of all specs; names of a try's own, for an earlier one's commit may arrive yet
    keys, attempt = {_key(names, json.loads(file.partition)) for file in chosen}, uuid.uuid4().hex
    files, tasks = _small(spark, seen, names, chosen, policy)
    by_partition: dict[str, list[int]] = {}
    for n, file in enumerate(files):
        by_partition.setdefault(file["key"], []).append(n)
    spec = seen.spec()
    parts: Parts = {}
    for key in sorted(by_partition.keys() & keys):
        members, size = by_partition[key], sum(files[n]["file-size-in-bytes"] for n in by_partition[key])
        if not groups.worth(len(members), size, policy):
            continue
        count = groups.files_after(size, policy.target_file_bytes)
        members = sorted(members, key=lambda n: files[n]["file-path"])
        if count > 1:  # names are drawn; in the order in which rows came the new files have narrow bounds
            members.sort(key=lambda n: tasks.get(files[n]["task"]).file().dataSequenceNumber())
        sizes = [files[n]["file-size-in-bytes"] for n in members]
        if any(files[n]["file-format"].lower() != "parquet" for n in members):
            raise Unfit(Hindrance.FILE_FORMAT)
        if any(files[n].get("sort-order-id") for n in members):
            raise Unfit(Hindrance.SORTED_FILES)
        partition = tasks.get(files[members[0]]["task"]).file().partition()
        for run in parquet.evenly(sizes, count):
            name = f"{len(parts):05d}-{attempt}-fast.parquet"
            at = (
                provider.newDataLocation(name)
                if spec.isUnpartitioned()
                else provider.newDataLocation(spec, partition, name)
            )
            parts[at] = ([members[n] for n in run], partition)
    kept = {files[n]["task"] for part, _ in parts.values() for n in part}
    for n in reversed(range(tasks.size())):
        if n not in kept:
            del tasks[n]
    return files, parts, tasks


def _key(names: Iterable[str], values: Mapping[str, Any]) -> str:
    return json.dumps({name: values.get(name) for name in sorted(names)}, ensure_ascii=False)


def _small(
    spark: SparkSession, loaded: Java, names: Sequence[str], chosen: Sequence[Group], policy: Policy
) -> tuple[list[File], Java]:
    """Return the small live files of some partitions, as Iceberg's JSON with `key` and `task`, and the tasks.

    A call to Java costs as much as reading a small file, so that one call returns all files, as a catalog answers
    that plans a scan. Where the table has no partitions now, files of older specs come like its own.
    """
    iceberg = metadata.jvm(spark).org.apache.iceberg
    specs = {file.spec_id for file in chosen}
    planned = loaded.newScan().filter(compaction.where(spark, loaded, chosen)).ignoreResiduals().planFiles()
    try:
        tasks = iceberg.relocated.com.google.common.collect.Lists.newArrayList(planned)
    finally:
        planned.close()
    answer = iceberg.rest.responses.PlanTableScanResponse.builder().withPlanStatus(
        iceberg.rest.PlanStatus.COMPLETED
    )
    answer = answer.withFileScanTasks(tasks).withSpecsById(loaded.specs()).build()
    files, limit = [], groups.small(policy)
    answered = json.loads(iceberg.rest.responses.PlanTableScanResponseParser.toJson(answer))
    for n, file in enumerate(task["data-file"] for task in answered.get("file-scan-tasks", ())):
        if file["spec-id"] in specs and file["file-size-in-bytes"] < limit:
            part = file["partition"]  # values in order, before Iceberg 1.11 under the numbers of their fields
            part = part.values() if isinstance(part, dict) else part
            values = dict(zip(names, part, strict=True)) if names else {}
            files.append(file | {"task": n, "key": _key(names, values)})
    return files, tasks


def _commit(
    spark: SparkSession,
    loaded: Java,
    seen: Java,
    tasks: Java,
    parts: Parts,
    written: Sequence[parquet.Written],
    mark: str,
) -> None:
    """Replace files in one commit that is bound to the snapshot from which they were read, as Iceberg's own is.

    Iceberg refuses it when a replaced file is gone, for missing paths fail in every rewrite, and when position
    deletes came for one since that snapshot. Deletes by equality that come meanwhile have a higher sequence number
    than that snapshot, which the new files take, so that they apply to these too.
    """
    actions = metadata.jvm(spark).org.apache.iceberg.actions
    config, java = metadata.jvm(spark).org.apache.iceberg.MetricsConfig.forTable(seen), _Java(spark)
    group = actions.RewriteFileGroup(None, tasks, seen.spec().specId(), 0, 0, 0)
    group.setOutputFiles({_data_file(java, seen, file, parts[file.location][1], config) for file in written})
    snapshot_id = seen.currentSnapshot().snapshotId()
    manager = actions.RewriteDataFilesCommitManager(loaded, snapshot_id, True, {marks.KEY: mark})
    manager.commitFileGroups({group})


class _Java:
    """Iceberg's classes, looked up once: each part of a name that Py4J is asked for is searched in all jars."""

    def __init__(self, spark: SparkSession) -> None:
        iceberg = metadata.jvm(spark).org.apache.iceberg
        self.footers, self.files = iceberg.parquet.ParquetUtil, iceberg.DataFiles
        self.parser, self.mapper = iceberg.ContentFileParser, iceberg.util.JsonUtil.mapper()


def _data_file(java: _Java, loaded: Java, written: parquet.Written, partition: Java, config: Java) -> Java:
    """Return Iceberg's handle of a new file, with the metrics of its footer and what a footer does not have."""
    spec = loaded.spec()
    metrics = java.footers.fileMetrics(loaded.io().newInputFile(written.location), config)
    builder = java.files.builder(spec).withPath(written.location).withFormat("parquet")
    builder = builder.withFileSizeInBytes(written.size).withSortOrder(loaded.sortOrder()).withMetrics(metrics)
    file = (builder if spec.isUnpartitioned() else builder.withPartition(partition)).build()
    described = json.loads(java.parser.toJson(file, spec))
    rows = dict.fromkeys(written.nulls, described["record-count"])
    # by JSON, for Py4J would make an Integer of a small Java Long
    for which, more in (("value", rows), ("null-value", written.nulls), ("nan-value", written.nans)):
        counts = described.get(f"{which}-counts") or _pairs({})
        pairs = dict(zip(counts["keys"], counts["values"], strict=True))
        pairs |= {number: many for number, many in more.items() if _mode(loaded, config, number) != "none"}
        described[f"{which}-counts"] = _pairs(pairs)
    _replace_bounds(described, loaded, written.spans, config)
    described["split-offsets"] = list(written.offsets)
    return java.parser.fromJson(java.mapper.readTree(json.dumps(described)), spec)


def _replace_bounds(described: File, loaded: Java, spans: Mapping[int, tuple[bytes, bytes]], config: Java) -> None:
    """Put the bounds of columns of which no footer holds them into a file's JSON, in place of what is there.

    Iceberg takes a row group without bounds for one without values: what it found in the others is too narrow.
    """
    for number, (lowest, highest) in spans.items():
        kind, mode = loaded.schema().findType(number).toString(), _mode(loaded, config, number)
        if kind in ("float", "double") and mode.startswith("truncate"):  # numbers are never cut
            mode = "full"
        bounds = kept_bounds(lowest, highest, mode, text=kind == "string")
        for which, bound in zip(("lower-bounds", "upper-bounds"), bounds, strict=True):
            stored = described.get(which) or {"keys": [], "values": []}
            pairs = dict(zip(stored["keys"], stored["values"], strict=True))
            pairs.pop(number, None)
            if bound is not None:
                pairs[number] = bound.hex().upper()
            described[which] = _pairs(pairs)


def _mode(loaded: Java, config: Java, number: int) -> str:
    return config.columnMode(loaded.schema().findColumnName(number)).toString()


def _pairs(values: Mapping[int, Any]) -> dict[str, list[Any]]:
    return {"keys": list(values), "values": list(values.values())}


def _replaced_by(spark: SparkSession, table: str, snapshot_id: int) -> Replaced:
    """Return what a commit that was found again did."""
    summary = commits.load(spark, table).snapshot(snapshot_id).summary()
    names = ("deleted-data-files", "added-data-files", "removed-files-size")
    files, after, size = (int(summary.get(name) or 0) for name in names)
    return files, after, size


def kept_bounds(lowest: bytes, highest: bytes, mode: str, *, text: bool) -> tuple[bytes | None, bytes | None]:
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
    if not (match := re.fullmatch(r"truncate\((\d+)\)", mode)):
        return None, None
    length = int(match[1])
    if not text:
        return lowest[:length], _greater(highest, length)
    try:
        lower, upper = lowest.decode()[:length], _greater_text(highest.decode(), length)
    except UnicodeDecodeError:  # Spark takes any bytes for a text; without bounds nobody is misled
        return None, None
    return lower.encode(), None if upper is None else upper.encode()


def _greater(value: bytes, length: int) -> bytes | None:
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(b"\xff")
    return cut[:-1] + bytes([cut[-1] + 1]) if cut else None


def _greater_text(value: str, length: int) -> str | None:
    if len(value) <= length:
        return value
    cut = value[:length].rstrip(chr(_LAST_CHARACTER))
    if not cut:
        return None
    following = ord(cut[-1]) + 1
    return cut[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
