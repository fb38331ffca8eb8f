"""Do what maintenance can do about a diagnosis; name the rest, or do it when the owner names it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from workbench._base import arguments, moved
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Judged, SparkSession
from workbench.tables import commits, maintenance
from workbench.tables.doctor import looking, pointers
from workbench.tables.doctor.findings import CAUSES, Diagnosis, Finding
from workbench.tables.maintenance import Done, Planned, Remark, expiry, limits, metadata, wording
from workbench.tables.maintenance.results import Mark

OWNERS = (
    "too_many_partitions",
    "wrong_partition_transform",
    "skewed_files",
    "unsorted_files",
    "dangling_refs",
)
_LEFT = ("limited", "undone")  # kinds of maintenance's remarks on what a person may want to know
_PARTITIONING = ("too_many_partitions", "wrong_partition_transform")


@dataclass(frozen=True)
class Cured:
    """The result of a cure.

    Attributes:
        done: of maintenance, one for each action.
        properties: (name, text) that were set.
        statements: that ran because the owner named their cause.
        undecided: findings whose cure the owner may decide on, and has not.
    """

    done: tuple[Done, ...]
    properties: tuple[tuple[str, str], ...]
    statements: tuple[str, ...]
    undecided: tuple[Finding, ...]

    @property
    def remarks(self) -> tuple[tuple[str, Remark], ...]:
        """What maintenance left: (name of the action, Remark), of the kinds `limited` and `undone`."""
        return tuple(
            (action.name, remark) for action in self.done for remark in action.remarks if remark.kind in _LEFT
        )

    @property
    def left(self) -> tuple[str, ...]:
        """Sentences on what was left; a field of version 0.1."""
        moved.field("left of Cured", "undecided and remarks, or doctor.sentences(cured)")
        return sentences(self)


@checked
def cure(
    spark: SparkSession,
    diagnosis: Diagnosis,
    *,
    agreed: Iterable[str] = (),
    marks: Judged[Iterable[Mark]] = (),
    properties: bool = True,
    now: datetime | None = None,
    tries: Annotated[int, Ge(1)] = 5,
    max_bytes: limits.MaxBytes | None = None,
    max_minutes: limits.MaxMinutes | None = None,
    max_commits: limits.MaxCommits | None = None,
) -> Cured:
    """Do what maintenance can do about a diagnosis, set the properties that are safe, and name what is left.

    Maintenance is planned anew from the table's present state, with the actions alone that the findings name, and
    runs within the policy and its limits, beside writers. What changes a partitioning, sorts all data or drops a
    ref is done only for causes named in `agreed`, because readers and writers may count on what is there.

    Args:
        spark: classic session whose catalog holds the table.
        diagnosis: Diagnosis.
        agreed: causes of the diagnosis whose statements the owner wants to run: some of `OWNERS`.
        marks: snapshot ids and names of refs that readers need.
        properties: set those that the findings name.
        now: datetime with a zone, by which ages are measured; the diagnosis' own by default.
        tries: how often each thing is begun at most.
        max_bytes: as of `maintenance.run`, like the next two.
        max_minutes: after which nothing new is begun.
        max_commits: of all actions of maintenance.

    Returns:
        Cured.

    Raises:
        TableNotFound: no such table.
        ValueError: the table was made anew since, its pointer is in doubt, a cause in `agreed` was not found or
            cannot be agreed to, a mark is not in the table, or another argument is wrong; nothing was done.
    """
    marks, now = limits.several(marks), limits.moment(now or diagnosis.now)
    causes: tuple[str, ...] = arguments.texts("agreed", agreed, "causes")
    _refuse(spark, diagnosis, causes, marks)
    agreed_findings = [finding for finding in diagnosis.findings if finding.cause in causes]
    statements = tuple(statement for finding in agreed_findings for statement in finding.statements)
    for finding in agreed_findings:
        for statement in finding.statements:
            spark.sql(statement)
        if finding.cause in _PARTITIONING:
            statements += (_rewrite(spark, diagnosis),)
    settings = (
        {name: text for finding in diagnosis.findings for name, text in finding.properties} if properties else {}
    )
    if settings:
        commits.set_profile(spark, diagnosis.table, properties=settings)
    actions: tuple[Done, ...] = ()
    if planned := _planned(spark, diagnosis, agreed_findings, marks, now):
        actions = maintenance.run(
            spark, planned,
            now=now, tries=tries, max_bytes=max_bytes, max_minutes=max_minutes, max_commits=max_commits,
        )  # fmt: skip
    undecided = tuple(
        finding for finding in diagnosis.findings if finding.by == "owner" and finding not in agreed_findings
    )
    return Cured(actions, tuple(settings.items()), statements, undecided)


@checked
def sentences(cured: Cured) -> tuple[str, ...]:
    """Return what a cure left: what the owner may decide, and what was in maintenance's way."""
    advice = [f"{finding.cause}: {finding.advice}" for finding in cured.undecided]
    return (*advice, *(f"{action}: {wording.sentence(remark)}" for action, remark in cured.remarks))


def _refuse(spark: SparkSession, diagnosis: Diagnosis, agreed: Sequence[str], marks: Sequence[Mark]) -> None:
    loaded = metadata.still(spark, commits.load(spark, diagnosis.table))
    if (uuid := loaded.uuid().toString()) != diagnosis.uuid:
        raise ArgumentError(
            f"{diagnosis.table} was diagnosed as table {diagnosis.uuid} and is now {uuid}: look anew"
        )
    expiry.marked(spark, loaded, marks)
    for cause in agreed:
        if cause not in diagnosis.causes:
            causes = ", ".join(diagnosis.causes) or "none"
            raise ArgumentError(f"{cause} was not found in {diagnosis.table}; found were: {causes}")
    check_owners(agreed)
    if doubt := _doubt(spark, diagnosis.table):
        raise ArgumentError(
            f"nothing is cured, because a commit would go on from a pointer that is in doubt: {doubt}"
        )


def check_owners(agreed: Sequence[str]) -> None:
    """Refuse causes that nobody can agree to.

    Raises:
        ValueError: with one, and those that can be agreed to.
    """
    for cause in agreed:
        if cause not in CAUSES:
            raise ArgumentError(f"{cause!r} is not a cause; those that can be agreed to: {OWNERS}")
        if cause not in OWNERS:
            raise ArgumentError(
                f"{cause} cannot be agreed to: it needs no agreement, or "
                f"no single statement cures it; those that can: {OWNERS}"
            )


def _doubt(spark: SparkSession, table: str) -> str | None:
    try:
        return pointers.doubt(spark, table)
    except Exception:  # such as a storage that lists nothing: the table itself can be read
        return None


def _rewrite(spark: SparkSession, diagnosis: Diagnosis) -> str:
    """Rewrite all data into the present partitioning; returns the statement."""
    statement = (
        f"CALL {looking.procedures(spark, diagnosis.table)}.rewrite_data_files("
        f"table => {looking.argument(diagnosis.table)}, options => map("
        f"'rewrite-all', 'true', 'target-file-size-bytes', '{diagnosis.policy.target_file_bytes}'))"
    )
    spark.sql(statement)
    return statement


def _planned(
    spark: SparkSession, diagnosis: Diagnosis, agreed: Sequence[Finding], marks: Sequence[Mark], now: datetime
) -> Planned | None:
    """Plan the actions that the findings name, from the table's present state; None where they name none."""
    named = {action for finding in diagnosis.findings for action in finding.actions}
    if any(finding.cause == "dangling_refs" for finding in agreed):
        named.add("expire_snapshots")
    actions = tuple(action for action in maintenance.ACTIONS if action in named)
    if not actions:
        return None
    policy = diagnosis.policy.model_copy(update={"actions": actions})
    return maintenance.plan(spark, diagnosis.table, policy=policy, marks=marks, now=now)
