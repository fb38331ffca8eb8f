"""The commits of a publication before main is moved: a branch put to main's snapshot, a snapshot of its own."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits
from workbench.tables.commits import FOR_EVER, Refs
from workbench.tables.commits.attempts import Tries
from workbench.tables.commits.moves import with_refs


@dataclass(frozen=True)
class Staged:
    """A branch at main's snapshot.

    Attributes:
        base_snapshot_id: main's snapshot; None where the table has none yet.
        root_snapshot_id: the branch's: main's, or an empty one where main has none.
    """

    base_snapshot_id: int | None
    root_snapshot_id: int


@checked
def refuse_session_branch(spark: SparkSession, why: str) -> None:
    """Refuse a session whose plain reads and writes go to a branch.

    Args:
        spark: session.
        why: what is wrong with it here, the end of the sentence.

    Raises:
        ValueError: a branch or an id of a staged commit is set.
    """
    for conf in ("spark.wap.branch", "spark.wap.id"):
        if (value := spark.conf.get(conf, None)) is not None:
            raise ArgumentError(f"the session has {conf} = {value}; unset it first, {why}")


@checked
def stage(
    spark: SparkSession,
    table: str,
    branch: str,
    *,
    check: Callable[[Java], None] | None = None,
    branch_age_ms: int = FOR_EVER,
    snapshot_age_ms: int | None = None,
    known: bool = False,
    tries: Tries = 10,
) -> Staged:
    """Put a branch to main's snapshot, in one commit; where main has none, make it with an empty snapshot.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        branch: its name; it is made, or moved where it is at another snapshot.
        check: function of the loaded table that raises where nothing is to be staged.
        branch_age_ms: milliseconds after which the branch expires by itself.
        snapshot_age_ms: milliseconds for which `expire_snapshots` keeps its snapshots; None for the table's own.
        known: whether the caller has looked at the table just now; the first look is then at what the session
            remembers of it.
        tries: how often at most.

    Returns:
        Staged.

    Raises:
        OutcomeUnknown: the branch may have been put there or not.
        Exception: what `check` raised.
    """
    last: Java = None
    base: int | None = None

    def decide(at: Java) -> Refs | None:
        nonlocal last, base
        last, base = at, commits.head(at)
        if check is not None:
            check(at)
        if base is None:
            return None
        if commits.head(at, branch) == base:
            return None
        return Refs(branches={branch: base}, branch_age_ms=branch_age_ms, snapshot_age_ms=snapshot_age_ms)

    def landed() -> int | None:
        nonlocal last
        last = commits.load(spark, table)
        return base if base is not None and commits.head(last, branch) == base else None

    commits.change(spark, table, decide, landed=landed, known=known, tries=tries)
    if base is None and commits.head(last, branch) is None:
        _empty(spark, table, branch, branch_age_ms, snapshot_age_ms, tries)
        last = commits.load(spark, table)
    return Staged(base, commits.tip(last, branch))


def _empty(
    spark: SparkSession, table: str, branch: str, branch_age_ms: int, snapshot_age_ms: int | None, tries: int
) -> None:
    """Make a branch of a table without a snapshot: Iceberg commits an empty snapshot for it."""

    def make() -> None:
        manager = commits.load(spark, table).manageSnapshots().createBranch(branch)
        manager = manager.setMaxRefAgeMs(branch, branch_age_ms)
        if snapshot_age_ms is not None:
            manager = manager.setMaxSnapshotAgeMs(branch, snapshot_age_ms)
        manager.commit()

    def landed() -> int | None:
        return commits.head(commits.load(spark, table), branch)

    commits.attempt(make, landed=landed, conditional=True, tries=tries, first_wait_s=0.05, longest_wait_s=2)


@dataclass(frozen=True)
class Append:
    """A snapshot to be committed.

    Attributes:
        summary: entries of its summary.
        files: Iceberg's data files that go in as they are written.
        branch: what it is committed to.
        properties: table properties set by the same commit.
        refs: function of the snapshot's id that returns what the commit changes of other branches and tags.
    """

    summary: Mapping[str, str]
    files: Iterable[Java] = ()
    branch: str = "main"
    properties: Mapping[str, str] = field(default_factory=dict)
    refs: Callable[[int], Refs] | None = None


@checked
def append(
    spark: SparkSession,
    table: str,
    decide: Callable[[Java], Append],
    *,
    landed: Callable[[], Any],
    transaction: Java = None,
    tries: Tries = 10,
) -> int:
    """Commit a snapshot, bound to the metadata on which it was decided; return its id.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        decide: function of the table, as it is at the beginning of the commit, that returns an Append; called
            again where the table was changed meanwhile. What it raises ends it.
        landed: function without arguments that looks for the snapshot: its id, or None.
        transaction: `begun` by the caller, who has looked at the table in it; saves the first look.
        tries: how often at most.

    Raises:
        OutcomeUnknown: the snapshot may have been committed or not.
    """
    looked = transaction

    def commit() -> int:
        nonlocal looked
        if looked is not None:
            first, looked = looked, None
            try:
                return _append(spark, first, decide)
            except Exception as error:
                if commits.kind(error) in (commits.UNKNOWN, commits.CONNECTION):
                    raise
                # what the caller looked at is old: some REST catalogs then say that the request is invalid
        return _append(spark, begun(spark, table), decide)

    attempt = commits.attempt(
        commit, landed=landed, conditional=True, tries=tries, first_wait_s=0.05, longest_wait_s=2
    )
    return attempt.value


@checked
def begun(spark: SparkSession, table: str) -> Java:
    """Begin one of Iceberg's transactions, which looks at the table once; its `table()` is what was seen.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
    """
    try:
        return commits.load(spark, table, fresh=False).newTransaction()
    except Exception as error:
        if commits.kind(error) in (commits.UNKNOWN, commits.CONNECTION):
            raise
    return commits.load(spark, table).newTransaction()  # says so where the table is gone


def _append(spark: SparkSession, transaction: Java, decide: Callable[[Java], Append]) -> int:
    view = transaction.table()
    new = decide(view)
    update = transaction.newFastAppend()
    if new.branch != "main":
        update = update.toBranch(new.branch)
    for file in new.files:
        update = update.appendFile(file)
    for key, value in new.summary.items():
        update = update.set(key, value)
    update.commit()  # to the transaction
    if new.properties:
        update = transaction.updateProperties()
        for key, value in new.properties.items():
            update = update.set(key, value)
        update.commit()
    snapshot_id, metadata = commits.tip(view, new.branch), transaction.currentMetadata()
    if new.refs is not None:
        metadata = with_refs(spark, metadata, new.refs(snapshot_id))
    try:
        # the transaction's own commit would look once more, and bring what was decided to another state
        transaction.underlyingOps().commit(transaction.startMetadata(), metadata)
    except Exception as error:
        if commits.kind(error) in (commits.CONFLICT, commits.VALIDATION):
            _discard(view, view.snapshot(snapshot_id))
        raise
    return snapshot_id


def _discard(view: Java, snapshot: Java) -> None:
    """Delete the files that say what a refused snapshot holds; nothing else names them."""
    io = view.io()
    manifests = snapshot.allManifests(io)
    for manifest in (manifests.get(n) for n in range(manifests.size())):
        if manifest.snapshotId() == snapshot.snapshotId():
            io.deleteFile(manifest.path())
    io.deleteFile(snapshot.manifestListLocation())


@checked
def drop(spark: SparkSession, table: str, branch: str, *, known: bool = False, tries: Tries = 10) -> None:
    """Drop a branch where there is one.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        branch: its name.
        known: whether the caller has looked at the table just now; the first look is then at what the session
            remembers of it.
        tries: how often at most.

    Raises:
        OutcomeUnknown: the branch may be there or not.
    """

    def decide(at: Java) -> Refs | None:
        return Refs(removed=(branch,)) if commits.head(at, branch) is not None else None

    def gone() -> bool | None:
        return True if commits.head(commits.load(spark, table), branch) is None else None

    commits.change(spark, table, decide, landed=gone, known=known, tries=tries)
