"""Main moved to a branch's head, in one commit that is bound to what both were."""

import uuid

from workbench._base import arguments
from workbench.tables.commits.attempts import attempt
from workbench.tables.commits.errors import BranchMoved, MainMoved, OutcomeUnknown
from workbench.tables.commits.loading import columns_of, descends, head, load


def fast_forward(spark, table, *, to, expected, branch, tries=10, columns=None):
    """Move main to the head of a branch and drop the branch, in one commit, if nothing moved meanwhile.

    Iceberg's procedure `fast_forward` publishes whatever the branch points to, also if main was rolled back under
    it. Here the commit is bound to a state in which main was `expected` and the branch at `to`; any change between
    makes Iceberg refuse it (*Table metadata refresh is required*), and it is tried again from a fresh look.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        to: snapshot id, the branch's head and main's next snapshot; descends from `expected`.
        expected: snapshot id main has now; None when it has none yet.
        branch: its name; gone afterwards.
        tries: how often at most.
        columns: `columns_of` when the rows were written; one of them that was dropped or replaced since is
            refused like a main that moved.

    Returns:
        Attempt, its value the snapshot id `to`. Main has been read again: it is this snapshot or descends from it.

    Raises:
        MainMoved: main is another snapshot.
        BranchMoved: the branch is not at `to`.
        OutcomeUnknown: main may have been moved or not, or an acknowledged commit is not in the table.
        ValueError: an argument is wrong, or `to` does not descend from `expected`.
    """
    arguments.whole("to", to, 0, "the id of a snapshot")
    if expected is not None:
        arguments.whole("expected", expected, 0, "the id of a snapshot, or None where main has none")
    arguments.text("branch", branch, "the name of a branch")
    arguments.whole("tries", tries, 1, "a thing is begun at least once")
    if columns is not None:
        arguments.kind("columns", columns, dict, "what commits.columns_of returns, or None")

    def landed():
        loaded = load(spark, table)
        main = head(loaded)
        return to if main is not None and descends(spark, loaded, main, to) else None

    def commit():
        loaded = load(spark, table)
        # bound to the metadata of this moment, so a commit that succeeds began from exactly what is checked here
        manager = loaded.manageSnapshots()
        if (main := head(loaded)) != expected:
            raise MainMoved(table, expected, main)
        if lost := sorted(set((columns or {}).items()) - set(columns_of(loaded).items())):
            raise MainMoved(table, expected, main, f": its column {lost[0][0]} was dropped or replaced meanwhile")
        if (found := head(loaded, branch)) != to:
            raise BranchMoved(f"branch {branch} of {table} is at snapshot {found}, not at {to}")
        if expected is not None and not descends(spark, loaded, to, expected):
            raise ValueError(f"snapshot {to} of {table} does not descend from main's, {expected}")
        tag = f"{branch}_{uuid.uuid4().hex[:8]}"  # seen by nobody: made and removed within the commit
        manager.createTag(tag, to).fastForwardBranch("main", tag).removeTag(tag).removeBranch(branch).commit()
        return to

    def known():
        try:
            return commit()
        except (MainMoved, BranchMoved):
            if value := landed():  # an earlier try whose answer was lost
                return value
            raise

    done = attempt(known, landed=landed, conditional=True, tries=tries, first_wait_s=0.05, longest_wait_s=2)
    if landed() is None:
        main = head(load(spark, table))
        raise OutcomeUnknown(f"the catalog acknowledged main of {table} at snapshot {to}, but main is now {main}")
    return done
