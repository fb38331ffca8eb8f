"""The gate: write to a branch, audit the snapshot, publish it with its evidence, again when main moved."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.tables import commits, publication
from workbench.verdicts import Verdict
from workbench.wap import attestation, branches
from workbench.wap import quarantine as quarantines
from workbench.wap.branches import Hours, Stage

OWN_BRANCH = "the gate names its own branch"


@dataclass(frozen=True)
class Outcome:
    """How a run of the gate ended.

    Attributes:
        published: whether the rows are on main.
        verdict: the last audit's verdicts.Verdict.
        attempts: how often the write was called: once, and again each time that main moved.
        run_id: the caller's id; the last branch's name where the caller gave none.
        branch: the last branch; gone.
        staged_snapshot_id: the audited snapshot. After a failed audit no branch holds it, and it can be read by
            its id until `expire_snapshots` removes it.
        published_snapshot_id: its child that carries the evidence, main's snapshot at publication; None when
            nothing was published.
        rows_quarantined: rows that went to the quarantine table; None where their snapshot was removed at once.
        swept: branches of dead runs that were dropped at the start, those of the same id first.
    """

    published: bool
    verdict: Verdict
    attempts: int
    run_id: str
    branch: str
    staged_snapshot_id: int
    published_snapshot_id: int | None
    rows_quarantined: int | None
    swept: tuple[str, ...]


@checked
def run(
    spark: SparkSession,
    table: str,
    *,
    write: Callable[[Stage], object],
    audit: Callable[[DataFrame], Verdict],
    id: str | None = None,
    quarantine: str | None = None,
    rebases: Annotated[int, Ge(0), Le(1000)] = 3,
    retain_days: Annotated[int, Ge(1), Le(36500)] = 7,
    sweep_after_hours: Hours = 24,
    takeover: bool = False,
    on_step: Callable[[str, Stage], object] | None = None,
) -> Outcome:
    """Write to a branch, audit what was written, and publish exactly that, also while others commit to main.

    1. a branch of its own name at main's snapshot; 2. `write(stage)`; 3. `audit(df)` on the staged snapshot, read
    by its id; 4. failed: the verdict's quarantined rows are appended to the quarantine table, and main is
    untouched; 5. passed: the evidence, a zero-row child of the audited snapshot; 6. main is moved to it, and the
    branch dropped, in one commit that Iceberg refuses if main or the branch moved; 7. main moved: everything again
    from 1, because only the write knows what its rows become on another base; so too when the catalog refused a
    commit to the branch. The branch is dropped on every way out.

    With the id of a run that was killed it drops what that run left, and does everything anew.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`; may be without a snapshot.
        write: function of a Stage that writes to `stage.table`, in one commit or several. Called once an attempt,
            so what it computes from the table's rows it has to read then, from `stage.table`.
        audit: function of a DataFrame that returns a verdicts.Verdict.
        id: the run's own name, a date say; it is published once, as far back as main's history goes.
        quarantine: table that takes the quarantined rows of a failed audit, made when missing: their columns with
            wap_run_id, wap_branch (string) and wap_snapshot_id (long), the audited snapshot.
        rebases: how often the whole is done again when main moved, or a commit to the branch was refused.
        retain_days: days after which the branch expires if the run dies.
        sweep_after_hours: branches of dead runs that were idle for longer are dropped at the start.
        takeover: drop a branch of the same id also if its run may live (it is of another machine). That run then
            fails without publishing.
        on_step: function of a step's name (branched, written, audited, quarantined, attested, published, dropped)
            and the Stage, called after each; for logs.

    Returns:
        Outcome.

    Raises:
        MainMoved: main moved during the last attempt too; main has nothing of this run.
        NothingStaged: the write changed no row on its branch.
        BranchMoved: somebody else committed to the branch or dropped it; main has nothing of this run.
        AlreadyStaged: a run of the same id has a branch, and may live.
        AlreadyPublished: a run of the same id was published.
        OutcomeUnknown: the catalog did not answer, and main may have been moved or not; run it again with its id.
        TableNotFound: no such table.
        ValueError: an argument is wrong, or the audit returned no Verdict.
        Exception: what `write`, `audit` or `on_step` raised.
    """
    if id is not None:
        branches.refuse_id(id)
    publication.refuse_session_branch(spark, OWN_BRANCH)
    loaded = commits.load(spark, table)
    swept: tuple[str, ...] = ()
    if quarantine is not None:
        quarantines.check(spark, quarantine, table, loaded)
    if id is not None:
        swept = _settle(spark, table, loaded, id, quarantine, takeover)
    swept += branches.drop_dead(spark, table, loaded, sweep_after_hours)
    step = on_step or (lambda name, stage: None)
    attempt = 0
    while True:
        attempt += 1
        try:
            return _once(
                spark, table, write, audit, step, id=id, attempt=attempt,
                retain_days=retain_days, quarantine=quarantine, swept=swept,
            )  # fmt: skip
        except commits.MainMoved as moved:
            if attempt > rebases:
                note = f" during attempt {attempt}, the last of {rebases + 1}; nothing of this run is on main"
                raise commits.MainMoved(table, moved.expected, moved.found, note) from moved
        except Exception as error:
            # Iceberg tries again by itself, but for what some REST servers refuse: a commit to another branch of
            # the table took this one's sequence number. Main has nothing of it, and the branch is dropped
            if commits.kind(error) != commits.CONFLICT or attempt > rebases:
                raise


def _once(
    spark: SparkSession,
    table: str,
    write: Callable[[Stage], object],
    audit: Callable[[DataFrame], Verdict],
    step: Callable[[str, Stage], object],
    *,
    id: str | None,
    attempt: int,
    retain_days: int,
    quarantine: str | None,
    swept: tuple[str, ...],
) -> Outcome:
    with _branch(spark, table, id, attempt, retain_days, step) as stage:
        if id is not None:  # what is published from here on moves main, and this run comes by here again
            _refuse_published(spark, table, commits.load(spark, table, fresh=False), id)
        write(stage)
        step("written", stage)
        transaction = publication.begun(spark, table)
        audited = branches.staged(stage, transaction.table())
        columns = commits.columns_of(transaction.table(), audited)  # those that the audit sees
        verdict = attestation.judged(audit, attestation.read(spark, table, audited))
        step("audited", stage)
        published: int | None = None
        rows: int | None = 0
        if verdict.passed:
            published = attestation.commit(spark, stage, audited, verdict, transaction)
            step("attested", stage)
            commits.fast_forward(
                spark, table, to=published, expected=stage.base_snapshot_id, branch=stage.branch,
                columns=columns, known=True,
            )  # fmt: skip
            step("published", stage)
        elif quarantine is not None and verdict.quarantined is not None:
            try:
                rows = quarantines.append(spark, quarantine, verdict.quarantined, stage=stage, audited=audited)
            except Exception as error:
                error.add_note(
                    f"the audit of {table} had failed ({'; '.join(verdict.reasons) or 'no reason given'}), and "
                    f"{quarantine} could not take the rows; main is untouched"
                )
                raise
            step("quarantined", stage)
    return Outcome(
        published=verdict.passed,
        verdict=verdict,
        attempts=attempt,
        run_id=stage.run_id,
        branch=stage.branch,
        staged_snapshot_id=audited,
        published_snapshot_id=published,
        rows_quarantined=rows,
        swept=swept,
    )


@contextmanager
def _branch(
    spark: SparkSession,
    table: str,
    id: str | None,
    attempt: int,
    retain_days: int,
    step: Callable[[str, Stage], object],
) -> Iterator[Stage]:
    name = branches.fresh_name(id or "run")
    release = branches.hold(name)
    try:
        try:
            stage = branches.create(
                spark, table, name, run_id=id or name, attempt=attempt, retain_days=retain_days, known=attempt == 1
            )
            step("branched", stage)
            yield stage
        except BaseException as error:
            try:
                branches.drop(spark, table, name)
            except Exception as failed:  # what went wrong first is what the caller has to know
                error.add_note(f"branch {name} could not be dropped and is left to sweep: {failed}")
            raise
        branches.drop(spark, table, name, known=True)  # where the publication has not dropped it
        step("dropped", stage)
    finally:
        release()


def _settle(
    spark: SparkSession, table: str, loaded: Java, id: str, quarantine: str | None, takeover: bool
) -> tuple[str, ...]:
    """Drop and return the branches of an earlier run of the id; refuse when it was published or may live."""
    earlier = branches.of_run(loaded, id)
    lives = {branch: branches.holder(branch) for branch in earlier}
    for branch in earlier:
        top = commits.tip(loaded, branch)
        if not takeover and lives[branch] is not False:
            where = "whose process lives" if lives[branch] else "made on another machine"
            raise branches.AlreadyStaged(
                f"run {id} of {table} is already staged on branch {branch}, {where}; wait for that run, or if it "
                "is dead run again with takeover=True, which drops the branch"
            )
        if quarantine is not None:
            quarantines.forget(spark, quarantine, top, id)
        branches.drop(spark, table, branch)
    _refuse_published(spark, table, commits.load(spark, table) if earlier else loaded, id)
    return tuple(earlier)


def _refuse_published(spark: SparkSession, table: str, loaded: Java, id: str) -> None:
    evidence_id = attestation.published(spark, table, loaded, key=attestation.RUN, value=id)
    if evidence_id is not None:
        raise attestation.AlreadyPublished(
            f"run {id} of {table} is already published, by evidence snapshot {evidence_id}; "
            "another load needs another id",
            evidence_id,
        )
