"""Manifests: many small ones make planning slow, because each is a file that every query opens."""

from dataclasses import dataclass

from workbench.tables import commits
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


def rewrite(spark, table, *, tries):
    """Write a table's manifests together, in one commit.

    Returns:
        (commits.Attempt, manifests before, manifests after, commits).
    """

    def commit():
        loaded = metadata.own(spark, table)
        actions = spark._jvm.org.apache.iceberg.spark.actions.SparkActions.get(spark._jsparkSession)
        done = actions.rewriteManifests(loaded).execute()
        before = len(list(done.rewrittenManifests()))
        return before, len(list(done.addedManifests())), int(bool(before))

    again = (commits.CONFLICT, commits.VALIDATION)
    done = commits.attempt(commit, landed=lambda: None, conditional=True, again=again, tries=tries)
    return done, *done.value
