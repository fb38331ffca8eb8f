"""How far a run is, in the table itself: in the summary of the snapshot that brought its last wave.

What a run is, its input and its sources, stands in a table property, set by the commit that begins it. While
it goes on, a tag, `maps_<run>_<snapshot>`, keeps the snapshot of its last wave from expiry. The end moves the
position into the property and takes the tag away.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from workbench._base import identifiers
from workbench._base.errors import WorkbenchError
from workbench._base.typing import Java, SparkSession
from workbench.tables import commits, publication

POSITION = "maps.position"
RUN = "maps.run."
RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"


class AnotherWriter(WorkbenchError, RuntimeError):
    """Another process runs the same run of a map, or the table was rolled back under it."""


@dataclass(frozen=True)
class Position:
    """How far a run is.

    Attributes:
        state: running, succeeded or failed.
        redrive: how often it was redriven.
        files: of its sources that are done.
        waves: commits of rows.
        items: that are done.
        failed: of them, by their last try.
        writer: name of the branch of the process that wrote this.
    """

    state: str = RUNNING
    redrive: int = 0
    files: int = 0
    waves: int = 0
    items: int = 0
    failed: int = 0
    writer: str = ""


@dataclass(frozen=True)
class Run:
    """What a run of a map is.

    Attributes:
        run_id: its name.
        definition: digest of the definition.
        started: when it began, ISO 8601 in UTC.
        input: of the Map state.
        variables: that the states before the Map assigned.
        sources: digest of its files.
        files: their number.
        items: in them that are to be run.
        tolerated_count: how many items may fail; None where only the percentage counts.
        tolerated_percentage: how many of a hundred may fail, as a decimal's text; None where only the count does.
        position: where the run is over; None while it goes on.
        given: digest of the state machine's input; None in a run that was begun before it was kept.
        sequence: sequence number of main's snapshot before the one that ended the run; None while it goes on, and
            in a run that ended before it was kept.
    """

    run_id: str
    definition: str
    started: str
    input: Any = field(repr=False)
    variables: dict[str, Any] = field(repr=False)
    sources: str
    files: int
    items: int
    tolerated_count: int | None
    tolerated_percentage: str | None
    position: Position | None = None
    given: str | None = None
    sequence: int | None = None


def short(run_id: str) -> str:
    """Return sixteen letters that stand for a run."""
    return hashlib.sha256(run_id.encode()).hexdigest()[:16]


def ref(run_id: str) -> str:
    """Return what the names of a run's tags and branches begin with."""
    return f"maps_{short(run_id)}_"


def entry(run: Run) -> dict[str, str]:
    """Return the table property of a run, as a dict of one."""
    return {RUN + short(run.run_id): json.dumps(asdict(run), sort_keys=True)}


def summary(run: Run, position: Position) -> dict[str, str]:
    """Return what a snapshot's summary says of a run's position."""
    return {POSITION: json.dumps({"run": run.run_id, **asdict(position)}, sort_keys=True)}


def find(spark: SparkSession, loaded: Java, run_id: str) -> tuple[Run, Position] | None:
    """Return a run of a table and its position; None where the table has no such run.

    Raises:
        AnotherWriter: the run has begun, and no snapshot in main's history says how far it is, or that it ended:
            the table was rolled back or made anew.
    """
    text = loaded.properties().get(RUN + short(run_id))
    if text is None:
        return None
    content = json.loads(text)
    over = content.pop("position")
    run = Run(**content)
    if over is not None:
        run = replace(run, position=Position(**over))
        if not _ended(spark, loaded, run):
            raise AnotherWriter(
                f"run {run_id} ended in {loaded.name()}, and main's history does not have its end: the table was "
                "rolled back or replaced, or rows of the run were deleted. Begin another run"
            )
        return run, Position(**over)
    tagged = publication.positions.tags(loaded, ref(run_id))
    position, _ = publication.positions.newest(
        spark, loaded, lambda snapshot: _parse(snapshot, run_id), tagged=tagged.values()
    )
    if position is None:
        raise AnotherWriter(
            f"run {run_id} has begun in {loaded.name()}, and no snapshot in main's history says how far it is: "
            "the table was rolled back or replaced. Begin another run"
        )
    return run, position


def _ended(spark: SparkSession, loaded: Java, run: Run) -> bool:
    """Say whether main descends from the end of a run; where its history is cut, whether the items are there."""
    cut = False
    for snapshot in publication.positions.line(spark, loaded, commits.head(loaded)):
        if _parse(snapshot, run.run_id) == run.position:
            return True
        if run.sequence is not None and 0 < snapshot.sequenceNumber() <= run.sequence:  # 0 in format 1
            return False
        cut = snapshot.parentId() is not None
    return cut and _has_items(spark, loaded, run)


def _has_items(spark: SparkSession, loaded: Java, run: Run) -> bool:
    """Say whether the table has as many items of a run as its position says; each counts by its last redrive."""
    from pyspark.sql import functions as F

    assert run.position is not None
    table = spark.read.option("versionAsOf", str(commits.head(loaded))).table(identifiers.quoted(loaded.name()))
    rows = table.where(F.col("_run") == F.lit(run.run_id))
    last = rows.where("_record <= 1").groupBy("_index").agg(F.max_by("_items", "_redrive").alias("items"))
    (items,) = last.agg(F.coalesce(F.sum("items"), F.lit(0)).alias("items")).collect()
    return bool(items["items"] == run.position.items)


def _parse(snapshot: Java, run_id: str) -> Position | None:
    text = (snapshot.summary() or {}).get(POSITION)
    content = json.loads(text) if text else {}
    if content.pop("run", None) != run_id:
        return None
    return Position(**content)
