"""A table's branches and tags changed in one commit that is bound to what they were; main moved to a branch.

Iceberg's own `manageSnapshots` loads the table twice to change a ref, and its procedures once more. Here the new
metadata is built from that which was looked at, and the catalog takes it only where that is still the table's: one
request for the look, one for the commit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from workbench._base.bounds import Ge, MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Java, SparkSession, jvm
from workbench.tables.commits.attempts import Attempt, Tries, attempt
from workbench.tables.commits.errors import BranchMoved, MainMoved, OutcomeUnknown
from workbench.tables.commits.loading import columns_of, descends, head, load

FOR_EVER = 2**63 - 1  # milliseconds


@dataclass(frozen=True)
class Refs:
    """What one commit makes of a table's branches and tags; what is not named stays.

    Attributes:
        main: id of main's next snapshot; None leaves main where it is.
        branches: name to the snapshot id that the branch is made at, or moved to.
        branch_age_ms: milliseconds after which these branches expire; None leaves it as it is.
        snapshot_age_ms: milliseconds for which their snapshots are kept; None leaves it as it is.
        tags: name to the snapshot id that is kept from expiry for ever.
        removed: names of branches and tags that are removed; those that are not there are passed over.
        unmoved: names of branches among the removed that must be where they were looked at.
    """

    main: int | None = None
    branches: Mapping[str, int] = field(default_factory=dict)
    branch_age_ms: int | None = None
    snapshot_age_ms: int | None = None
    tags: Mapping[str, int] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()


def with_refs(spark: SparkSession, metadata: Java, refs: Refs) -> Java:
    """Return the metadata of a table with its branches and tags changed; nothing is committed."""
    iceberg = jvm(spark).org.apache.iceberg
    current, builder, reference = metadata.refs(), iceberg.TableMetadata.buildFrom(metadata), iceberg.SnapshotRef
    moved = dict(refs.branches) | ({"main": refs.main} if refs.main is not None else {})
    for name, snapshot_id in moved.items():
        old = current.get(name)
        new = reference.branchBuilder(snapshot_id) if old is None else reference.builderFrom(old, snapshot_id)
        if name in refs.branches and refs.branch_age_ms is not None:
            new = new.maxRefAgeMs(refs.branch_age_ms)
        if name in refs.branches and refs.snapshot_age_ms is not None:
            new = new.maxSnapshotAgeMs(refs.snapshot_age_ms)
        builder = builder.setRef(name, new.build())
    for name, snapshot_id in refs.tags.items():
        builder = builder.setRef(name, reference.tagBuilder(snapshot_id).maxRefAgeMs(FOR_EVER).build())
    for name in refs.unmoved:
        # a REST catalog is asked to compare the refs that are set, and not those that are removed
        age = (current[name].maxRefAgeMs() or FOR_EVER) - 1
        builder = builder.setRef(name, reference.builderFrom(current[name]).maxRefAgeMs(age).build())
    for name in refs.removed:
        builder = builder.removeRef(name)
    return builder.build()


@checked
def change(
    spark: SparkSession,
    table: str,
    decide: Callable[[Java], Refs | None],
    *,
    landed: Callable[[], Any],
    known: bool = False,
    tries: Tries = 10,
) -> Attempt:
    """Change a table's branches and tags in one commit that is bound to the metadata they were decided on.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        decide: function of a loaded table that returns the Refs to commit, or None where there is nothing to do;
            called again from a fresh look where the table was changed meanwhile. What it raises ends it.
        landed: function without arguments that looks whether the change has taken effect, as `attempt` has it.
        known: whether the caller has looked at the table just now; the first look is then at what the session
            remembers of it.
        tries: how often at most.

    Returns:
        Attempt; its value is the Refs, or what `landed` returned.

    Raises:
        OutcomeUnknown: the change may have been made or not.
    """
    remembered = known

    def commit() -> Refs | None:
        nonlocal remembered
        if remembered:
            remembered = False
            try:
                return _commit(spark, load(spark, table, fresh=False), decide)
            except (ValueError, RuntimeError):
                pass  # what it was decided on may be old
        return _commit(spark, load(spark, table), decide)

    return attempt(commit, landed=landed, conditional=True, tries=tries, first_wait_s=0.05, longest_wait_s=2)


def _commit(spark: SparkSession, loaded: Java, decide: Callable[[Java], Refs | None]) -> Refs | None:
    operations = loaded.operations()
    # taken first: where another thread refreshes the table meanwhile, this base is old and the commit is refused
    base = operations.current()
    refs = decide(loaded)
    if refs is not None:
        operations.commit(base, with_refs(spark, base, refs))
    return refs


@checked
def fast_forward(
    spark: SparkSession,
    table: str,
    *,
    to: Annotated[int, Ge(0)],
    expected: Annotated[int, Ge(0)] | None,
    branch: Annotated[str, MinLen(1)],
    tries: Tries = 10,
    columns: Mapping[str, tuple[int, str]] | None = None,
    known: bool = False,
    check: Callable[[Java], None] | None = None,
    refs: Callable[[Java], Refs] | None = None,
) -> Attempt:
    """Move main to the head of a branch, if nothing moved meanwhile, and drop the branch, in one commit.

    Iceberg's procedure `fast_forward` publishes whatever the branch points to, also if main was rolled back under
    it. Here the commit is bound to a state in which main was `expected` and the branch at `to`; any change between
    makes the catalog refuse it, and it is tried again from a fresh look.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        to: snapshot id, the branch's head and main's next snapshot; descends from `expected`.
        expected: snapshot id main has now; None when it has none yet.
        branch: its name; gone afterwards, unless `refs` keeps it.
        tries: how often at most.
        columns: `columns_of` when the rows were written; a column that was dropped or replaced since is refused
            like a main that moved.
        known: whether the caller has looked at the table just now; the first look is then at what the session
            remembers of it.
        check: function of a loaded table whose main is not `expected`; raises to say more than MainMoved does.
        refs: function of a loaded table that returns what else the commit changes, as Refs without `main`; None
            removes the branch.

    Returns:
        Attempt, its value the snapshot id `to`. Main has been read again: it is this snapshot or descends from it.

    Raises:
        MainMoved: main is another snapshot.
        BranchMoved: the branch is not at `to`.
        OutcomeUnknown: main may have been moved or not, or an acknowledged commit is not in the table.
        ValueError: an argument is wrong, or `to` does not descend from `expected`.
    """
    last: Java = None

    def published(at: Java) -> int | None:
        main = head(at)
        return to if main is not None and descends(spark, at, main, to) else None

    def decide(at: Java) -> Refs | None:
        nonlocal last
        last = at
        if (main := head(at)) != expected:
            if published(at):  # by an earlier try whose answer was lost
                return None
            if check is not None:
                check(at)
            raise MainMoved(table, expected, main)
        if lost := sorted(set((columns or {}).items()) - set(columns_of(at).items())):
            raise MainMoved(table, expected, main, f": its column {lost[0][0]} was dropped or replaced meanwhile")
        if (top := head(at, branch)) != to:
            raise BranchMoved(f"branch {branch} of {table} is at snapshot {top}, not at {to}")
        if expected is not None and not descends(spark, at, to, expected):
            raise ArgumentError(f"snapshot {to} of {table} does not descend from main's, {expected}")
        others = Refs(removed=(branch,)) if refs is None else refs(at)
        return replace(others, main=to, unmoved=(branch,) if branch in others.removed else ())

    done = change(spark, table, decide, landed=lambda: published(load(spark, table)), known=known, tries=tries)
    # the catalog's answer to the commit is the table's newest metadata
    if published(last) is None and published(load(spark, table)) is None:
        main = head(load(spark, table))
        raise OutcomeUnknown(f"the catalog acknowledged main of {table} at snapshot {to}, but main is now {main}")
    return replace(done, value=to)
