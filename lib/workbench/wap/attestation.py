"""Evidence: a zero-row child of the audited snapshot whose summary says what was audited, by which rules, and how.

A snapshot's summary is fixed when it is committed and the verdict comes later, so the evidence is a snapshot of
its own. It is what gets published, so it is in the history of main as long as that history is kept.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench import verdicts
from workbench._base import identifiers
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.tables import commits, publication
from workbench.wap import branches

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

    def __init__(self, message, snapshot_id):
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

    verdict: verdicts.Verdict
    audited_snapshot_id: int
    evidence_snapshot_id: int | None


def attest(spark, stage, *, audit):
    """Audit what is staged, and commit the evidence on its branch if it passed.

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
        NothingStaged: the branch has no row that main has not.
        BranchMoved: somebody committed to the branch during the audit.
        ValueError: the audit returned something else than a Verdict.
    """
    withdraw(spark, stage)
    audited = branches.staged(stage, commits.load(spark, stage.of))
    verdict = judged(audit, read(spark, stage.of, audited))
    if verdict.passed:
        return Attested(verdict, audited, commit(spark, stage, audited, verdict))
    withdraw(spark, stage)  # somebody else's audit of the same stage may have passed meanwhile
    return Attested(verdict, audited, None)


def withdraw(spark, stage):
    """Take the evidence off the end of a stage's branch, so that it cannot be published."""

    def decide(loaded):
        top = at = commits.head(loaded, stage.branch)
        while at not in (None, stage.root_snapshot_id) and flaw(loaded, at) is None:
            at = loaded.snapshot(at).parentId()
        return commits.Refs(branches={stage.branch: at}) if at != top else None

    def landed():
        return True if decide(commits.load(spark, stage.of)) is None else None

    commits.change(spark, stage.of, decide, landed=landed)


def read(spark, table, snapshot_id):
    """Return a snapshot's rows; lazy."""
    return spark.sql(f"SELECT * FROM {identifiers.quoted(table)} VERSION AS OF {int(snapshot_id)}")


def judged(audit, df):
    """Return the audit's verdict; anything that is none is an error."""
    verdict = audit(df)
    if not isinstance(verdict, verdicts.Verdict):
        raise ArgumentError(f"audit has to return a verdicts.Verdict; it returned {verdict!r}"[:300])
    return verdict


def commit(spark, stage, audited, verdict, transaction=None):
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

    def decide(loaded):
        if (top := commits.head(loaded, stage.branch)) != audited:
            raise commits.BranchMoved(
                f"branch {stage.branch} of {stage.of} is at snapshot {top}, but {audited} was audited: somebody "
                "else committed to it or dropped it, and what was not audited is not published"
            )
        return publication.Append(summary, branch=stage.branch)

    def landed():
        loaded = commits.load(spark, stage.of)
        top = commits.head(loaded, stage.branch)
        return top if top is not None and top != audited and not flaw(loaded, top, summary) else None

    return publication.append(spark, stage.of, decide, landed=landed, transaction=transaction, tries=5)


def flaw(loaded, snapshot_id, expected=None):
    """Say why a snapshot is no evidence of its parent; None when it is.

    Args:
        loaded: Iceberg's table.
        snapshot_id: one of its snapshots.
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


def published(spark, table, loaded, *, key, value):
    """Return the evidence snapshot in main's history whose summary has an entry; None when there is none."""
    main = commits.head(loaded)
    if main is None:
        return None
    snapshots = commits.snapshots_of(spark, loaded)
    found = [one["snapshot-id"] for one in snapshots if _tells(one) and one["summary"].get(key) == value]
    return next((i for i in found if commits.descends(spark, loaded, main, i)), None)


def _tells(snapshot):
    """Say whether a snapshot of `snapshots_of` is evidence of its parent, by its summary alone."""
    summary = snapshot["summary"]
    about = summary.get(AUDITED) == str(snapshot.get("parent-snapshot-id"))
    return about and not any(key in summary for key in CHANGED)


def evidence(spark, table):
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
    known = {one["snapshot-id"]: one for one in commits.snapshots_of(spark, loaded)}
    at, found = commits.head(loaded), []
    while one := known.get(at):
        summary, parent = one["summary"], one.get("parent-snapshot-id")
        if _tells(one):
            told = [summary.get(key) for key in (RUN, BRANCH, VERDICT, RULES)]
            moment = datetime.fromtimestamp(one["timestamp-ms"] / 1000, UTC)
            found.append((at, parent, moment, *told, json.loads(summary.get(FIGURES) or "{}")))
        at = parent
    return spark.createDataFrame(found[::-1], SCHEMA)
