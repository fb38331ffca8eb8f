"""One snapshot to a table, written on a branch, and main moved to it where the position is still the same."""

import uuid
from collections.abc import Callable, Mapping

from workbench._base import identifiers
from workbench._base.typing import Java, SparkSession
from workbench.pulls import positions
from workbench.pulls.positions import AnotherWriter
from workbench.tables import commits, publication

TRIES = 30  # of a commit that does not take long
REBASES = 10  # of rows that are written again because main moved
BRANCH_AGE_MS = 7 * 24 * 3600 * 1000  # of a run that was killed

Write = Callable[[str], object]


def fenced(
    spark: SparkSession,
    table: str,
    prefix: str,
    *,
    check: Callable[[Java], None],
    write: Callable[[str, Mapping[str, str]], bool],
    summary: Mapping[str, str],
    verify: Callable[[str], None] = lambda name: None,
    on_step: Callable[[str], object] = lambda step: None,
) -> int | None:
    """Commit what a function writes to a branch at main, and move main to it, in one commit that both stand.

    Where main moved meanwhile and `check` has nothing against it (compaction, other rows), all is written again.

    Args:
        spark: classic session.
        table: its name.
        prefix: of the names of branches and tags.
        check: function of the loaded table that raises where this run is a zombie.
        write: function of the branch as a table, and of the summary's entries; commits once, or returns False
            where there is nothing to write.
        summary: entries of the snapshot's summary; `positions.ATTEMPT` among them.
        verify: function of the branch as a table, called with what was written; raises to refuse it.
        on_step: called before `stage`, `write`, `publish`; for tests.

    Returns:
        Id of main's snapshot; None where there was nothing to write.

    Raises:
        AnotherWriter: somebody else dropped the branch, or what `check` raised.
        MainMoved: it moved more often than it is tried.
        OutcomeUnknown: the commit may be in the table or not.
    """
    branch = f"{prefix}{uuid.uuid4().hex}"
    for rebase in range(REBASES + 1):
        on_step("stage")
        staged = publication.stage(
            spark, table, branch, check=check, branch_age_ms=BRANCH_AGE_MS, tries=TRIES,
        )  # fmt: skip
        on_step("write")
        top = _written(spark, table, branch, staged.root_snapshot_id, write, summary)
        if top is None:
            publication.drop(spark, table, branch, tries=TRIES)
            return None
        try:
            verify(identifiers.on_branch(table, branch))
        except Exception:
            publication.drop(spark, table, branch, tries=TRIES)
            raise
        on_step("publish")
        try:
            _published(spark, table, prefix, branch, top, staged.base_snapshot_id, check)
        except commits.MainMoved:
            if rebase == REBASES:
                raise
            continue
        except commits.BranchMoved as error:
            raise another(table, "its branch was moved") from error
        return top
    raise AssertionError("the loop returns or raises")


def _written(
    spark: SparkSession,
    table: str,
    branch: str,
    root: int,
    write: Callable[[str, Mapping[str, str]], bool],
    summary: Mapping[str, str],
) -> int | None:
    """Write to the branch; return the id of its snapshot, None where nothing was to be written."""
    attempt = summary[positions.ATTEMPT]

    def landed() -> int | None:
        loaded = commits.load(spark, table)
        top = commits.head(loaded, branch)
        if top is None or top == root:
            return None
        return top if loaded.snapshot(top).summary().get(positions.ATTEMPT) == attempt else None

    written = True

    def commit() -> None:
        nonlocal written
        written = write(identifiers.on_branch(table, branch), summary)

    try:
        commits.attempt(commit, landed=landed)
    except Exception as error:
        if commits.head(commits.load(spark, table), branch) is None:
            raise another(table, "its branch was dropped") from error
        raise
    if not written:
        return None
    if (top := landed()) is None:
        raise another(table, "its branch was dropped or moved")
    return top


def _published(
    spark: SparkSession,
    table: str,
    prefix: str,
    branch: str,
    top: int,
    base: int | None,
    check: Callable[[Java], None],
) -> None:
    """Move main to what was written; its tag takes the place of the last one, branches of killed runs go."""

    def refs(loaded: Java) -> commits.Refs:
        tag = f"{prefix}{top}"
        removed = [name for name in list(loaded.refs()) if name.startswith(prefix) and name != tag]
        return commits.Refs(tags={tag: top}, removed=tuple(removed))

    commits.fast_forward(
        spark, table, to=top, expected=base, branch=branch, tries=TRIES, check=check, refs=refs, known=True
    )


def another(table: str, what: str) -> AnotherWriter:
    """Return what is raised where another run is at work."""
    return AnotherWriter(
        f"another run pulls into {table}: {what}. Nothing of this run was committed; let one of the two run"
    )
