"""Evidence: a zero-row child of the audited snapshot whose summary says what was audited, by which rules, and how.

A snapshot's summary is fixed when it is committed and the verdict comes later, so the evidence is a snapshot of
its own. It is what gets published, so it is in the history of main as long as that history is kept.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import DataFrame, Java, SparkSession
from workbench.tables import commits, publication
from workbench.verdicts import Verdict
from workbench.wap import branches
from workbench.wap.branches import Stage

PREFIX = "wap."  # never wap.id: that key is Iceberg's own
RUN, BRANCH, BASE = PREFIX + "run-id", PREFIX + "branch", PREFIX + "base-snapshot-id"
AUDITED, VERDICT = PREFIX + "audited-snapshot-id", PREFIX + "verdict"
RULES, FIGURES = PREFIX + "rules-sha256", PREFIX + "figures"
CHANGED = ("added-data-files", "deleted-data-files", "added-delete-files", "removed-delete-files")  # Iceberg's
SCHEMA = (
    "evidence_snapshot_id BIGINT, audited_snapshot_id BIGINT, attested_at TIMESTAMP, run_id STRING, "
    "branch STRING, verdict STRING, rules_sha256 STRING, figures MAP<STRING, STRING>"
)


class AlreadyPublished(WorkbenchError, RuntimeError):
    """What was to be published is in the history of main already.

    Attributes:
        snapshot_id: the evidence snapshot by which it was published.
    """

    def __init__(self, message: str, snapshot_id: int) -> None:
        super().__init__(message)
        self.snapshot_id = snapshot_id


@dataclass(frozen=True)
class Attested:
    """What an audit of a stage came to.

    Attributes:
        verdict: the audit's verdicts.Verdict.
        audited_snapshot_id: the snapshot it was about.
        evidence_snapshot_id: its child that carries the evidence; None where the audit failed.
    """

    verdict: Verdict
    audited_snapshot_id: int
    evidence_snapshot_id: int | None


@checked
def attest(spark: SparkSession, stage: Stage, *, audit: Callable[[DataFrame], Verdict]) -> Attested:
    """Audit what is staged, and commit the evidence on its branch if the audit passed.

    The audit gets the staged snapshot by its id, so rows that somebody commits to the branch meanwhile are not in
    what it sees; they make the attestation fail. The newest verdict counts: evidence of an earlier audit is taken
    off the branch before the audit begins, and again when it failed.

    Args:
        spark: classic session whose catalog holds the table.
        stage: Stage from `staging`.
        audit: function of a DataFrame that returns a verdicts.Verdict.

    Returns:
        Attested. After a failed audit the branch ends in the audited snapshot, and cannot be published.

    Raises:
        NothingStaged: the branch has no change that main has not.
        BranchMoved: somebody committed to the branch during the audit.
        ValueError: the audit returned something other than a Verdict.
    """
    withdraw(spark, stage)
    audited = branches.staged(stage, commits.load(spark, stage.of))
    verdict = judged(audit, read(spark, stage.of, audited))
    if verdict.passed:
        return Attested(verdict, audited, commit(spark, stage, audited, verdict))
    withdraw(spark, stage)  # somebody else's audit of the same stage may have passed meanwhile
    return Attested(verdict, audited, None)


def withdraw(spark: SparkSession, stage: Stage) -> None:
    """Take the evidence off the end of a stage's branch, so that it cannot be published."""

    def decide(loaded: Java) -> commits.Refs | None:
        top = at = commits.head(loaded, stage.branch)
        while at not in (None, stage.root_snapshot_id) and flaw(loaded, at) is None:
            at = loaded.snapshot(at).parentId()
        return commits.Refs(branches={stage.branch: at}) if at is not None and at != top else None

    def landed() -> bool | None:
        return True if decide(commits.load(spark, stage.of)) is None else None

    commits.change(spark, stage.of, decide, landed=landed)


def read(spark: SparkSession, table: str, snapshot_id: int) -> DataFrame:
    """Return a snapshot's rows; lazy."""
    return spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {int(snapshot_id)}")


def judged(audit: Callable[[DataFrame], Verdict], df: DataFrame) -> Verdict:
    """Return the audit's verdict.

    Raises:
        ValueError: the audit returned something else.
    """
    verdict = audit(df)
    if not isinstance(verdict, Verdict):
        raise ArgumentError(f"audit has to return a verdicts.Verdict; it returned {verdict!r}"[:300])
    return verdict


def commit(spark: SparkSession, stage: Stage, audited: int, verdict: Verdict, transaction: Java = None) -> int:
    """Commit the evidence of a passed audit on the stage's branch; return its snapshot id.

    Args:
        spark: classic session.
        stage: Stage.
        audited: id of the snapshot that was audited.
        verdict: the audit's, passed.
        transaction: `publication.begun` when the snapshot was found; saves a look at the table.

    Raises:
        BranchMoved: the branch is not at the audited snapshot, or was not when the evidence landed.
    """
    summary = {
        RUN: stage.run_id,
        BRANCH: stage.branch,
        BASE: "none" if stage.base_snapshot_id is None else str(stage.base_snapshot_id),
        AUDITED: str(audited),
        VERDICT: "passed",
        RULES: hashlib.sha256(verdict.rules.encode()).hexdigest(),
        FIGURES: json.dumps({name: str(value) for name, value in verdict.figures.items()}, sort_keys=True),
    }

    def decide(loaded: Java) -> publication.Append:
        if (top := commits.head(loaded, stage.branch)) != audited:
            raise commits.BranchMoved(
                f"branch {stage.branch} of {stage.of} is at snapshot {top}, but {audited} was audited: somebody "
                "else committed to it or dropped it, and what was not audited is not published"
            )
        return publication.Append(summary, branch=stage.branch)

    def landed() -> int | None:
        loaded = commits.load(spark, stage.of)
        top = commits.head(loaded, stage.branch)
        return top if top is not None and top != audited and not flaw(loaded, top, summary) else None

    return publication.append(spark, stage.of, decide, landed=landed, transaction=transaction, tries=5)


def flaw(loaded: Java, snapshot_id: int, expected: Mapping[str, str] | None = None) -> str | None:
    """Say why a snapshot is not evidence about its parent; None when it is.

    Args:
        loaded: Iceberg's own object of the table.
        snapshot_id: of one of its snapshots.
        expected: summary entries that it must have.
    """
    snapshot = loaded.snapshot(snapshot_id)
    summary = dict(snapshot.summary() or {})
    if AUDITED not in summary:
        return "its head has no evidence in its summary"
    if summary[AUDITED] != str(snapshot.parentId()):
        return f"its evidence is about snapshot {summary[AUDITED]}, but stands on snapshot {snapshot.parentId()}"
    if summary.get(VERDICT) != "passed" or not summary.get(RULES):
        return "its evidence names no rules, or no passed audit"
    if {key: summary.get(key) for key in expected or {}} != (expected or {}):
        return "its evidence is another audit's"
    if branches.changes_files(loaded, snapshot):
        return "its evidence adds or removes files, which nobody audited"
    return None


def published(spark: SparkSession, table: str, loaded: Java, *, key: str, value: str) -> int | None:
    """Return the evidence snapshot in main's history whose summary has an entry; None when there is none."""
    main = commits.head(loaded)
    if main is None:
        return None
    snapshots = commits.snapshots_of(spark, loaded)
    ids = [
        snapshot["snapshot-id"]
        for snapshot in snapshots
        if _is_evidence(snapshot) and snapshot["summary"].get(key) == value
    ]
    return next((i for i in ids if commits.descends(spark, loaded, main, i)), None)


def _is_evidence(snapshot: Mapping[str, Any]) -> bool:
    """Say whether a snapshot of `snapshots_of` is evidence about its parent, by its summary alone."""
    summary = snapshot["summary"]
    about = summary.get(AUDITED) == str(snapshot.get("parent-snapshot-id"))
    return about and not any(key in summary for key in CHANGED)


@checked
def evidence(spark: SparkSession, table: str) -> DataFrame:
    """Return the evidence of every audited snapshot in the history of main.

    It is read from the table itself: what `expire_snapshots` removed from the history is gone from here too.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.

    Returns:
        DataFrame, one row an audited snapshot, oldest first: evidence_snapshot_id, audited_snapshot_id (long),
        attested_at (timestamp), run_id, branch, verdict, rules_sha256 (string), figures (map of text to text).
        Reads metadata only, at once.

    Raises:
        TableNotFound: no such table.
    """
    loaded = commits.load(spark, table)
    known = {snapshot["snapshot-id"]: snapshot for snapshot in commits.snapshots_of(spark, loaded)}
    at, rows = commits.head(loaded), []
    while snapshot := known.get(at):
        summary, parent = snapshot["summary"], snapshot.get("parent-snapshot-id")
        if _is_evidence(snapshot):
            texts = [summary.get(key) for key in (RUN, BRANCH, VERDICT, RULES)]
            moment = datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC)
            rows.append((at, parent, moment, *texts, json.loads(summary.get(FIGURES) or "{}")))
        at = parent
    return spark.createDataFrame(rows[::-1], SCHEMA)
