"""What maintenance can do about a diagnosis, done; the rest is said, or done when the owner names it."""

from dataclasses import dataclass

from workbench._base import arguments
from workbench._base.errors import ArgumentError
from workbench.tables import commits, maintenance
from workbench.tables.doctor import looking, pointers
from workbench.tables.doctor.findings import CAUSES, Diagnosis, Finding
from workbench.tables.maintenance import Done, Remark, expiry, limits, metadata, wording

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
    """What was done about a diagnosis.

    Attributes:
        done: of maintenance, one an action.
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


def cure(spark, diagnosis, *, agreed=(), marks=(), properties=True, now=None, tries=5, **most):
    """Do what maintenance can do about a diagnosis, set the properties that are safe, and say what is left.

    Maintenance is planned anew from the table's present state, with the actions alone that the findings name, and
    runs within the policy and its limits, beside writers. What changes a partitioning, sorts all data or drops a
    ref is done only for causes named in `agreed`, because readers and writers may count on what is there.

    Args:
        spark: classic session whose catalog holds the table.
        diagnosis: Diagnosis.
        agreed: causes of the diagnosis whose statements the owner wants to run: some of `OWNERS`.
        marks: snapshot ids and names of refs that readers need.
        properties: set those that the findings name.
        now: datetime with a zone, by which ages are told; the diagnosis' own by default.
        tries: how often each thing is begun at most.
        most: `max_bytes`, `max_minutes` and `max_commits` of `maintenance.run`.

    Returns:
        Cured.

    Raises:
        TableNotFound: no such table.
        ValueError: the table was made anew since, its pointer is in doubt, a cause in `agreed` was not found or
            cannot be agreed to, a mark is not in the table, or another argument is wrong; nothing was done.
    """
    arguments.kind("diagnosis", diagnosis, Diagnosis, "what doctor.diagnose returns")
    marks, agreed = limits.several(marks), arguments.texts("agreed", agreed, "causes")
    _refuse_limits(most, tries=tries, properties=properties, now=now)
    _refuse(spark, diagnosis, agreed, marks)
    wanted = [one for one in diagnosis.findings if one.cause in agreed]
    ran = tuple(statement for one in wanted for statement in one.statements)
    for one in wanted:
        for statement in one.statements:
            spark.sql(statement)
        if one.cause in _PARTITIONING:
            ran += (_rewrite(spark, diagnosis),)
    given = {name: text for one in diagnosis.findings for name, text in one.properties} if properties else {}
    if given:
        commits.set_profile(spark, diagnosis.table, properties=given)
    done = _maintained(spark, diagnosis, wanted, marks, now or diagnosis.now, tries, most)
    undecided = tuple(finding for finding in diagnosis.findings if finding.by == "owner" and finding not in wanted)
    return Cured(done, tuple(given.items()), ran, undecided)


def sentences(cured: Cured) -> tuple[str, ...]:
    """Return what a cure left: what the owner may decide, and what was in maintenance's way."""
    advice = [f"{finding.cause}: {finding.advice}" for finding in cured.undecided]
    return (*advice, *(f"{action}: {wording.sentence(remark)}" for action, remark in cured.remarks))


def _refuse_limits(most, *, tries, properties, now):
    there = ("max_bytes", "max_minutes", "max_commits")
    if unknown := sorted(most.keys() - set(there)):
        raise ArgumentError(f"{unknown[0]} is no limit of a run; there are {', '.join(there)}")
    limits.check(**most, tries=tries, properties=properties)
    limits.moment(now)


def _refuse(spark, diagnosis: Diagnosis, agreed, marks):
    loaded = metadata.still(spark, commits.load(spark, diagnosis.table))
    if (uuid := loaded.uuid().toString()) != diagnosis.uuid:
        raise ArgumentError(
            f"{diagnosis.table} was diagnosed as table {diagnosis.uuid} and is now {uuid}: look anew"
        )
    expiry.marked(spark, loaded, marks)
    for cause in agreed:
        if cause not in diagnosis.causes:
            there = ", ".join(diagnosis.causes) or "none"
            raise ArgumentError(f"{cause} was not found in {diagnosis.table}; found were: {there}")
    check_owners(agreed)
    if doubt := _doubt(spark, diagnosis.table):
        raise ArgumentError(f"nothing is cured, for a commit would go on from where the pointer is: {doubt}")


def check_owners(agreed):
    """Refuse causes that nobody can agree to.

    Raises:
        ValueError: with one, and those that can be agreed to.
    """
    for cause in agreed:
        if cause not in CAUSES:
            raise ArgumentError(f"{cause!r} is no cause; those that can be agreed to: {OWNERS}")
        if cause not in OWNERS:
            raise ArgumentError(f"{cause} needs no agreement or has no one statement; those that have: {OWNERS}")


def _doubt(spark, table):
    try:
        return pointers.doubt(spark, table)
    except Exception:  # such as a storage that lists nothing: the table itself can be read
        return None


def _rewrite(spark, diagnosis):
    """Rewrite all data into the present partitioning; returns the statement."""
    statement = (
        f"CALL {looking.procedures(spark, diagnosis.table)}.rewrite_data_files("
        f"table => {looking.argument(diagnosis.table)}, options => map("
        f"'rewrite-all', 'true', 'target-file-size-bytes', '{diagnosis.policy.target_file_bytes}'))"
    )
    spark.sql(statement)
    return statement


def _maintained(spark, diagnosis, wanted, marks, now, tries, most):
    """Run the actions that the findings name, as they are planned now."""
    named = {action for one in diagnosis.findings for action in one.actions}
    if any(one.cause == "dangling_refs" for one in wanted):
        named.add("expire_snapshots")
    actions = tuple(one for one in maintenance.ACTIONS if one in named)
    if not actions:
        return ()
    policy = diagnosis.policy.model_copy(update={"actions": actions})
    planned = maintenance.plan(spark, diagnosis.table, policy=policy, marks=marks, now=now)
    return maintenance.run(spark, planned, now=now, tries=tries, **most)
