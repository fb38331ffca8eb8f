"""The gate's branches: their names, which say whose they are; made, read, dropped, swept."""

import hashlib
import math
import os
import platform
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from workbench._base import identifiers
from workbench._base.bounds import Ge, Lt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, publication

# wap_<UTC second>_<as much of the id as fits>_<checksum of id>_<host>p<process>_<chance>: lower case letters,
# digits and underscores, so that the branch can be named in SQL without quotes
NAME = re.compile(r"wap_(\d{14})_[a-z0-9_]{1,40}_([0-9a-f]{8})_([0-9a-f]{6})p(\d+)_[0-9a-f]{6}")
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+@=-]{0,99}")
Hours = Annotated[float, Ge(0), Lt(math.inf)]  # neither NaN nor infinity: nothing is ever that old
_open: set[str] = set()  # branches that this process's runs hold now


class AlreadyStaged(WorkbenchError, RuntimeError):
    """A branch of this run id, or of this name, is there already."""


class NothingStaged(WorkbenchError, RuntimeError):
    """The write changed no row on its branch, so there is nothing to audit."""


@dataclass(frozen=True)
class Stage:
    """A branch that takes rows until they are audited.

    Attributes:
        of: the table, as the caller named it.
        branch: the branch's name.
        run_id: the caller's id of the run; the branch's name where the caller gave none.
        attempt: 1 for the first write of a run, 2 after main moved once, and so on.
        base_snapshot_id: main when the branch was made; None when the table had no snapshot.
        root_snapshot_id: the branch's first snapshot: main's, or an empty one where main had none.
    """

    of: str
    branch: str
    run_id: str
    attempt: int
    base_snapshot_id: int | None
    root_snapshot_id: int

    @property
    def table(self) -> str:
        """The name to write to, as SQL has it: `df.writeTo(stage.table)`, `INSERT INTO`, `MERGE INTO … AS t`."""
        return identifiers.on_branch(self.of, self.branch)


def refuse_id(id: str) -> None:
    """Refuse a text that cannot be the id of a run.

    Raises:
        ValueError: it is not such a text.
    """
    if not ID.fullmatch(id):
        raise ArgumentError(f"{id!r} is not a run id; expected up to 100 letters, digits and any of _.:+@=-")


def fresh_name(run_id: str) -> str:
    """Return a branch name that no other run has."""
    slug = re.sub(r"[^a-z0-9]+", "_", run_id.lower()).strip("_")[:40] or "run"
    return (
        f"wap_{datetime.now(UTC):%Y%m%d%H%M%S}_{slug}_{_checksum(run_id, 8)}_"
        f"{_host()}p{os.getpid()}_{secrets.token_hex(3)}"
    )


def create(
    spark: SparkSession,
    table: str,
    branch: str,
    *,
    run_id: str,
    attempt: int,
    retain_days: int,
    known: bool = False,
) -> Stage:
    """Make a branch at main's snapshot, or at an empty one where main has none; return its Stage.

    The branch expires by itself after `retain_days`; until then `expire_snapshots` keeps every snapshot of it,
    which publishing needs to follow it back to main.

    Raises:
        AlreadyStaged: a branch or tag of that name is there.
    """

    def check(at: Java) -> None:
        refuse_taken(at, table, branch)

    age_ms = timedelta(days=retain_days) // timedelta(milliseconds=1)
    staged = publication.stage(
        spark, table, branch, check=check, branch_age_ms=age_ms, snapshot_age_ms=age_ms, known=known
    )
    return Stage(table, branch, run_id, attempt, staged.base_snapshot_id, staged.root_snapshot_id)


def refuse_taken(loaded: Java, table: str, branch: str) -> None:
    """Raise AlreadyStaged where a loaded table has a branch or tag of that name."""
    if loaded.refs().get(branch) is not None:
        raise AlreadyStaged(f"{table} has a branch or tag {branch} already; publish it, drop it, or name another")


def drop(spark: SparkSession, table: str, branch: str, *, known: bool = False) -> None:
    """Drop a branch where there is one."""
    publication.drop(spark, table, branch, known=known)


def hold(branch: str) -> Callable[[], None]:
    """Note that a run of this process holds a branch from now on; return the function that ends it."""
    _open.add(branch)
    return lambda: _open.discard(branch)


def staged(stage: Stage, loaded: Java) -> int:
    """Return the snapshot id that a write left on its branch.

    Args:
        stage: Stage.
        loaded: the table after the write.

    Raises:
        NothingStaged: no snapshot was added, or those added changed no file.
        BranchMoved: the branch is gone, or no longer descends from where it was made.
    """
    top = at = commits.head(loaded, stage.branch)
    if top is None:
        raise commits.BranchMoved(f"branch {stage.branch} of {stage.of} is gone; it was made by this run")
    changed = False
    while at != stage.root_snapshot_id:
        snapshot = loaded.snapshot(at)
        if snapshot is None or snapshot.parentId() is None:
            raise commits.BranchMoved(
                f"branch {stage.branch} of {stage.of} no longer descends from snapshot {stage.root_snapshot_id}, "
                "where it was made"
            )
        changed = changed or changes_files(loaded, snapshot)
        at = snapshot.parentId()
    if not changed:
        main = commits.head(loaded)
        moved = "" if main == stage.base_snapshot_id else f"; main moved meanwhile to snapshot {main}"
        raise NothingStaged(
            f"the write committed {'no snapshot' if top == at else 'no changed file'} to {stage.table}; "
            f"it has to write to stage.table, not to the table itself{moved}"
        )
    return top


def changes_files(loaded: Java, snapshot: Java) -> bool:
    """Say whether a snapshot added or removed a data or delete file, by its manifests."""
    io = loaded.io()
    return any(
        files.iterator().hasNext()
        for files in (
            snapshot.addedDataFiles(io),
            snapshot.removedDataFiles(io),
            snapshot.addedDeleteFiles(io),
            snapshot.removedDeleteFiles(io),
        )
    )


def of_run(loaded: Java, run_id: str) -> list[str]:
    """Return the names of the branches that runs of an id have made and not dropped."""
    checksum = _checksum(run_id, 8)
    return [branch for branch in _gates(loaded) if _parts(branch)[1] == checksum]


def holder(branch: str) -> bool | None:
    """Say whether the run that made a branch lives; None where it is of another machine."""
    _, _, host, process = _parts(branch)
    if host != _host():
        return None
    if int(process) == os.getpid():
        return branch in _open
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True  # or another process of that number: then the branch stays until it expires


@checked
def sweep(spark: SparkSession, table: str, *, older_than_hours: Hours) -> tuple[str, ...]:
    """Drop the branches that dead runs of the gate left on a table.

    A branch is one of the gate's by the form of its name, which names the run's id, machine and process. It is
    left by a dead run when that process is gone (on another machine that cannot be seen: age alone decides) and
    nothing happened on it for long enough. Branches that people made, and those of `staging`, are never touched.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        older_than_hours: how long a branch is left alone after it was made or last committed to.

    Returns:
        tuple of the names of the branches dropped, oldest first.

    Raises:
        TableNotFound: no such table.
        ValueError: it is not an Iceberg table, or older_than_hours is not a number of hours.
    """
    return drop_dead(spark, table, commits.load(spark, table), older_than_hours)


def drop_dead(spark: SparkSession, table: str, loaded: Java, older_than_hours: float) -> tuple[str, ...]:
    """Drop the branches that dead runs of the gate left on a loaded table; return their names, oldest first."""
    now, dropped = datetime.now(UTC), []
    for branch in _gates(loaded):
        idle_hours = (now - _last_used(loaded, branch)).total_seconds() / 3600
        if idle_hours >= older_than_hours and not holder(branch):
            drop(spark, table, branch)
            dropped.append(branch)
    return tuple(dropped)


def _gates(loaded: Java) -> list[str]:
    """Return the names of the gate's branches, oldest first; a tag of such a name is somebody else's."""
    return sorted(name for name, ref in loaded.refs().items() if ref.isBranch() and NAME.fullmatch(name))


def _parts(branch: str) -> tuple[str, str, str, str]:
    """Return the time, the checksum of the run's id, the host and the process in the name of a gate's branch."""
    if (match := NAME.fullmatch(branch)) is None:
        raise ArgumentError(f"{branch!r} is not the name of a gate's branch")
    return match[1], match[2], match[3], match[4]


def _last_used(loaded: Java, branch: str) -> datetime:
    created = datetime.strptime(_parts(branch)[0], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    snapshot = loaded.snapshot(commits.head(loaded, branch))
    return max(created, datetime.fromtimestamp(snapshot.timestampMillis() / 1000, UTC))


def _checksum(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _host() -> str:
    return _checksum(platform.node(), 6)
