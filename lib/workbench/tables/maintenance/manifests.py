"""Write manifests together: many small ones make planning slow, because every query opens each of them."""

from dataclasses import dataclass

from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import metadata
from workbench.tables.maintenance.policy import Policy

_TARGET = "commit.manifest.target-size-bytes"
_DEFAULT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Worthwhile:
    """Manifests that are worth being written together: how many, their bytes, how many there will be."""

    files: int
    bytes: int
    after: int


def worthwhile(spark: SparkSession, loaded: Java, policy: Policy) -> Worthwhile | None:
    """Return the data manifests of a loaded table that are worth being written together; None without."""
    snapshot = loaded.currentSnapshot()
    if snapshot is None or snapshot.dataManifests(loaded.io()).size() < policy.min_manifests:
        return None  # without the Spark job below, which costs more than all else that is looked at
    rows = metadata.frame(spark, loaded, "MANIFESTS").select("content", "length", "partition_spec_id").collect()
    target = int(loaded.properties().get(_TARGET) or _DEFAULT)
    # by kind and spec, as Iceberg writes them; those of other specs than the table's own it leaves alone
    lengths = [row.length for row in rows if row.content == 0 and row.partition_spec_id == loaded.spec().specId()]
    after = -(-sum(lengths) // target)
    if len(lengths) < policy.min_manifests or after >= len(lengths):
        return None
    return Worthwhile(len(lengths), sum(lengths), after)


def by_core(loaded: Java) -> bool:
    """Say whether Iceberg's core has to write a table's manifests together, as its action on Spark fails to.

    In format 3 the action leaves out of an entry which row ids its file has, and the commit gives all rows new
    ones. In format 1 a field of the partitioning stays when it is dropped, also when the format is raised, and the
    action dies when its column is dropped too. Partitions of UUIDs it cannot read.
    """
    dropped = any(loaded.schema().findField(field.sourceId()) is None for field in list(loaded.spec().fields()))
    return dropped or loaded.operations().current().formatVersion() > 2 or metadata.uuid_field(loaded) is not None


def rewrite(spark: SparkSession, table: str, *, tries: int) -> tuple[commits.Attempt, int, int, int]:
    """Write a table's manifests together, in one commit.

    By partition, where Iceberg's action on Spark does it. Its core leaves the order as it is, and the manifests of
    delete files alone.

    Returns:
        (commits.Attempt, manifests before, manifests after, commits).
    """

    def commit() -> tuple[int, int, int]:
        loaded = metadata.own(spark, table)
        if by_core(loaded):
            return _by_core(spark, table, loaded)
        result = metadata.actions(spark).rewriteManifests(loaded).execute()
        before = len(list(result.rewrittenManifests()))
        return before, len(list(result.addedManifests())), int(bool(before))

    attempt = commits.attempt(commit, landed=lambda: None, conditional=True, again=commits.REPEATABLE, tries=tries)
    return attempt, *attempt.value


def _by_core(spark: SparkSession, table: str, loaded: Java) -> tuple[int, int, int]:
    """Write data manifests together, in the order in which they stand; returns what a try of `rewrite` does."""
    if loaded.currentSnapshot().dataManifests(loaded.io()).size() < 2:
        return 0, 0, 0
    mark = marks.named()
    loaded.rewriteManifests().clusterBy(_same(spark._jvm)).set(marks.KEY, mark).commit()
    summary = loaded.snapshot(marks.find(spark, table, mark, anywhere=True)).summary()
    return int(summary.get("manifests-replaced")), int(summary.get("manifests-created")), 1


def _same(jvm: Java) -> Java:
    """Return a Java function that gives every file the same key: a callback to Python would need a server."""
    lang, of = jvm.java.lang, jvm.java.lang.Class.forName
    loader, handles = lang.Thread.currentThread().getContextClassLoader(), lang.invoke.MethodHandles
    anything = of("java.lang.Object")
    identity = lang.invoke.MethodType.methodType(anything, anything)
    handle = handles.dropArguments(handles.constant(anything, ""), 0, identity.parameterList())
    return lang.invoke.MethodHandleProxies.asInterfaceInstance(
        of("java.util.function.Function", True, loader), handle
    )
