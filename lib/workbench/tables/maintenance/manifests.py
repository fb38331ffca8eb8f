"""Manifests: many small ones make planning slow, because each is a file that every query opens."""

from dataclasses import dataclass

from workbench.tables import commits
from workbench.tables.commits import marks
from workbench.tables.maintenance import metadata

_TARGET = "commit.manifest.target-size-bytes"
_DEFAULT = 8 * 1024 * 1024


@dataclass(frozen=True)
class Found:
    """Manifests that are worth being written together: how many, their bytes, how many there will be."""

    files: int
    bytes: int
    after: int


def found(spark, loaded, policy):
    """Return the data manifests of a loaded table that are worth being written together; None without."""
    rows = metadata.frame(spark, loaded, "MANIFESTS").select("content", "length", "partition_spec_id").collect()
    target = int(loaded.properties().get(_TARGET) or _DEFAULT)
    # by kind and spec, as Iceberg writes them; those of other specs than the table's own it leaves alone
    now = [row.length for row in rows if row.content == 0 and row.partition_spec_id == loaded.spec().specId()]
    after = -(-sum(now) // target)
    if len(now) < policy.min_manifests or after >= len(now):
        return None
    return Found(len(now), sum(now), after)


def by_core(loaded):
    """Say whether Iceberg's core has to write a table's manifests together, as its action on Spark fails to.

    In format 3 the action leaves out of an entry which row ids its file has, and the commit gives all rows new
    ones. In format 1 a field of the partitioning stays when it is dropped, also when the format is raised, and the
    action dies when its column is dropped too. Partitions of UUIDs it cannot read.
    """
    lost = any(loaded.schema().findField(one.sourceId()) is None for one in list(loaded.spec().fields()))
    return lost or loaded.operations().current().formatVersion() > 2 or metadata.uuid_field(loaded) is not None


def rewrite(spark, table, *, tries):
    """Write a table's manifests together, in one commit.

    By partition, where Iceberg's action on Spark does it. Its core leaves the order as it is, and the manifests of
    delete files alone.

    Returns:
        (commits.Attempt, manifests before, manifests after, commits).
    """

    def commit():
        loaded = metadata.own(spark, table)
        if by_core(loaded):
            return _by_core(spark, table, loaded)
        actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
        done = actions.rewriteManifests(loaded).execute()
        before = len(list(done.rewrittenManifests()))
        return before, len(list(done.addedManifests())), int(bool(before))

    again = (commits.CONFLICT, commits.VALIDATION)
    done = commits.attempt(commit, landed=lambda: None, conditional=True, again=again, tries=tries)
    return done, *done.value


def _by_core(spark, table, loaded):
    """Write data manifests together, in the order in which they stand; returns what a try of `rewrite` does."""
    if loaded.currentSnapshot().dataManifests(loaded.io()).size() < 2:
        return 0, 0, 0
    mark = marks.named()
    loaded.rewriteManifests().clusterBy(_same(spark._jvm)).set(marks.KEY, mark).commit()
    made = loaded.snapshot(marks.find(spark, table, mark, anywhere=True)).summary()
    return int(made.get("manifests-replaced")), int(made.get("manifests-created")), 1


def _same(jvm):
    """Return a Java function that gives every file the same key: a callback to Python would need a server."""
    lang, of = jvm.java.lang, jvm.java.lang.Class.forName
    loader, handles = lang.Thread.currentThread().getContextClassLoader(), lang.invoke.MethodHandles
    anything = of("java.lang.Object")
    identity = lang.invoke.MethodType.methodType(anything, anything)
    handle = handles.dropArguments(handles.constant(anything, ""), 0, identity.parameterList())
    return lang.invoke.MethodHandleProxies.asInterfaceInstance(
        of("java.util.function.Function", True, loader), handle
    )
