"""The gate by hand: a branch for a block of plain writes, and its publication once it is attested."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

from workbench._base import identifiers
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, publication
from workbench.wap import attestation, branches, gate
from workbench.wap.branches import Stage

ENABLED = "write.wap.enabled"


class UnknownBranch(ArgumentError):
    """There is no such branch, and none of that name was published; the message lists those there are."""


class NotAudited(WorkbenchError, RuntimeError):
    """A branch does not end in the evidence of a passed audit."""


@checked
@contextmanager
def staging(
    spark: SparkSession, table: str, *, branch: str, retain_days: Annotated[int, Ge(1)] = 7, enable: bool = False
) -> Iterator[Stage]:
    """Send the session's plain writes of a table to a branch for the time of a block.

    Within the block `spark.wap.branch` is set: writes and reads that name the table alone go to the branch, in
    every thread of the session and for every table whose property write.wap.enabled is true. It is unset on every
    way out; nothing is rebased. The branch stays for `attest` and `publish`; when the block raises, it is dropped.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        branch: name of the branch to make, of printable characters; not main, nor in the form of the gate's own.
        retain_days: days after which it expires by itself.
        enable: whether to set the table property write.wap.enabled where it is not set. It changes the table for
            every session; without it Iceberg would ignore the branch and write to main, so that False refuses.

    Yields:
        Stage.

    Raises:
        AlreadyStaged: a branch or tag of that name is there.
        TableNotFound: no such table.
        ValueError: a wrong argument, the property is not set, or the session has a branch set already.
    """
    publication.refuse_session_branch(spark, gate.OWN_BRANCH)
    loaded = commits.load(spark, table)
    _refuse_branch(branch)
    branches.refuse_taken(loaded, table, branch)
    if (loaded.properties().get(ENABLED) or "").lower() != "true":
        if not enable:
            raise ArgumentError(
                f"{table} has no table property {ENABLED} = true, so Iceberg would ignore the branch and write to "
                "main; set it, or say enable=True to have it set for every session"
            )
        spark.sql(f"ALTER TABLE {identifiers.quoted(table)} SET TBLPROPERTIES ('{ENABLED}' = 'true')")
    stage = branches.create(spark, table, branch, run_id=branch, attempt=1, retain_days=retain_days)
    try:
        spark.conf.set("spark.wap.branch", branch)
        try:
            yield stage
        finally:
            spark.conf.unset("spark.wap.branch")
    except BaseException as error:
        try:
            branches.drop(spark, table, branch)
        except Exception as failed:
            error.add_note(f"branch {branch} could not be dropped: {failed}")
        raise


@checked
def publish(spark: SparkSession, table: str, branch: str) -> int:
    """Publish an attested branch: main is moved to its evidence and the branch dropped, in one commit.

    Nothing is rebased: rows that were audited on another base than main's are not published.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        branch: name of a branch whose head is the evidence that `attest` committed.

    Returns:
        int, the evidence's snapshot id, now main's.

    Raises:
        UnknownBranch: there is no branch of that name, or it is a tag's.
        AlreadyPublished: what was staged under that name is on main.
        NotAudited: the branch has no evidence, or something was committed after it.
        MainMoved: main is no longer the snapshot that the branch was made from.
        OutcomeUnknown: the catalog did not answer, and main may have been moved or not.
        TableNotFound: no such table.
    """
    loaded = commits.load(spark, table)
    if branch == "main" or (ref := loaded.refs().get(branch)) is None or not ref.isBranch():
        _refuse_missing(spark, table, loaded, branch)
    top, main = ref.snapshotId(), commits.head(loaded)
    wrong = attestation.flaw(loaded, top)
    if main is not None and commits.descends(spark, loaded, main, top) and not wrong:
        raise attestation.AlreadyPublished(f"branch {branch} of {table} is already published: main has it", top)
    if wrong:
        raise NotAudited(f"branch {branch} of {table} is not published: {wrong}; audit it by attest")
    base = loaded.snapshot(top).summary().get(attestation.BASE)
    expected = None if base == "none" else int(base)
    return commits.fast_forward(spark, table, to=top, expected=expected, branch=branch).value


def _refuse_branch(branch: str) -> None:
    """Refuse a name that a branch cannot have, or that would not tell it from main or from the gate's own."""
    try:
        own = branches.NAME.fullmatch(identifiers.ref(branch))
    except ValueError as error:
        raise ArgumentError(f"{branch!r} cannot be the name of a branch: {error}") from None
    if own or branch == "main":
        whose = "the gate's own branches have" if own else "the table's main branch has"
        raise ArgumentError(f"{branch!r} cannot be the name of a branch: {whose} such a name")


def _refuse_missing(spark: SparkSession, table: str, loaded: Java, branch: str) -> NoReturn:
    evidence_id = attestation.published(spark, table, loaded, key=attestation.BRANCH, value=branch)
    if evidence_id is not None:
        raise attestation.AlreadyPublished(
            f"branch {branch} of {table} is already published, by evidence snapshot {evidence_id}", evidence_id
        )
    names = sorted(name for name, ref in loaded.refs().items() if name != "main" and ref.isBranch())
    tag = f"; {branch} is a tag" if branch != "main" and loaded.refs().get(branch) is not None else ""
    raise UnknownBranch(f"{table} has no branch {branch} to publish{tag}; it has {', '.join(names) or 'none'}")
