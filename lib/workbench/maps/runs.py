"""A definition's distributed Map, run: waves of whole files, one commit each, continued after a kill."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from workbench._base.bounds import Ge, MinLen
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import DataFrame, Judged, SparkSession
from workbench.maps import files, plans, publish, resources, targets
from workbench.maps.definitions import Definition
from workbench.maps.jobs import Job, Resources, begun
from workbench.maps.positions import FAILED, RUNNING, SUCCEEDED, Position, Run
from workbench.maps.targets import Failure

Name = Annotated[str, MinLen(1)]
SHORT = 200  # characters of a cause in a message
NAMED = 3  # errors in a message


@dataclass(frozen=True)
class MapRun:
    """How far a run of a map is.

    Attributes:
        run_id: its name.
        state: running, succeeded or failed.
        redrive: how often it was redriven.
        files: of its sources.
        files_done: of them.
        items: in the sources.
        items_done: of them.
        failed: items of those that are done whose last try failed.
        waves: commits of rows.
    """

    run_id: str
    state: str
    redrive: int
    files: int
    files_done: int
    items: int
    items_done: int
    failed: int
    waves: int


class TooManyFailed(WorkbenchError, RuntimeError):
    """More items of a run failed than are tolerated; it is continued by `redrive`.

    Attributes:
        run: MapRun.
        failures: the most frequent errors, a Failure each.
    """

    def __init__(self, run: MapRun, tolerated: str, failures: Sequence[Failure]) -> None:
        errors = "; ".join(map(_described, failures))
        super().__init__(
            f"run {run.run_id} failed: {run.failed:,} of {run.items:,} items failed, and {tolerated}. {errors}. "
            "Call redrive to run them again, and what had not begun"
        )
        self.run = run
        self.failures = tuple(failures)


def _described(failure: Failure) -> str:
    causes = f" for {failure.causes:,} causes" if failure.causes > 1 else ""
    cause = failure.cause if len(failure.cause) <= SHORT else f"{failure.cause[:SHORT]}…"
    return f"{failure.items:,} by {failure.error}{causes}, as item {failure.index}: {cause}"


@checked
def run(
    spark: SparkSession,
    definition: Definition,
    table: Name,
    *,
    run_id: Name,
    input: Judged[Any] = None,
    resources: Resources | None = None,
    buckets: Mapping[str, str] | None = None,
    wave_rows: Annotated[int, Ge(1)] = 1_000_000,
    threads: Annotated[int, Ge(1)] = 1,
    started: datetime | None = None,
    on_wave: Callable[[MapRun, int], Any] | None = None,
) -> MapRun:
    """Run a definition's distributed Map: each item once, into an append-only Iceberg table.

    A wave, which is files of `wave_rows` items together, is one commit. A run that was killed is continued by
    the same call, with the wave that it was at; a run that is over is not run again. Calls to functions are at
    least once: what a killed wave had called is called again, by the same key.

    The states before the Map run in this process, once for a run: what they give is kept with it.

    Args:
        spark: classic session.
        definition: of `read`.
        table: `namespace.name` or `catalog.namespace.name`; made where it is not there. One row an item, or one a
            record that it delivered.
        run_id: name of the run, unique in the table.
        input: of the state machine, as JSON has it; may be left out where the run has begun.
        resources: ARN or name of what Task states call, to a function of (arguments, Call), or to a Delivery.
        buckets: name of an S3 bucket to the folder or location that stands for it here.
        wave_rows: items after which a wave ends with its file.
        threads: children at once in each task of Spark, for functions that wait.
        started: what `$now()` and the context say, with a time zone; None takes the time of the call.
        on_wave: called after each wave with the MapRun, and how many waves are left.

    Returns:
        MapRun, succeeded.

    Raises:
        TooManyFailed: more items failed than are tolerated.
        StatesFailed: the states before the Map failed; no item was run.
        AnotherWriter: another process runs the same run.
        ItemsChanged: a file was changed while it was read.
        FilesSplit: something else in the session changed how Spark splits files.
        ValueError: an argument is wrong; a resource is not bound; sources are missing, or changed since the run
            began; the table is another map's.
    """
    job, position = begun(
        spark,
        definition,
        table,
        run_id,
        input,
        resources or {},
        buckets or {},
        wave_rows,
        threads,
        started,
        on_wave,
    )
    if position.state == RUNNING:
        position = _waves(job, position)
    return _ended(spark, table, job.run, position)


@checked
def redrive(
    spark: SparkSession,
    definition: Definition,
    table: Name,
    *,
    run_id: Name,
    resources: Resources | None = None,
    buckets: Mapping[str, str] | None = None,
    wave_rows: Annotated[int, Ge(1)] = 1_000_000,
    threads: Annotated[int, Ge(1)] = 1,
    on_wave: Callable[[MapRun, int], Any] | None = None,
) -> MapRun:
    """Run the failed items of a run again, in one commit, and then what had not begun.

    The rows of before stay; `results` gives those that count. The files must be those that the run began with.

    Args:
        spark: classic session.
        definition: the run's.
        table: the run's.
        run_id: name of a run that is over.
        resources: as `run` has them.
        buckets: as `run` has them.
        wave_rows: items after which a wave ends with its file.
        threads: children at once in each task of Spark.
        on_wave: called after each wave with the MapRun, and how many waves are left.

    Returns:
        MapRun, succeeded.

    Raises:
        TooManyFailed: more items failed than are tolerated.
        AnotherWriter: another process runs the same run.
        ValueError: there is no such run, it is not over, none of its items failed, or what `run` refuses.
    """
    targets.run_of(spark, table, run_id)
    job, position = begun(
        spark, definition, table, run_id, None, resources or {}, buckets or {}, wave_rows, threads, None, on_wave
    )
    if position.state == RUNNING:
        raise ArgumentError(f"run {run_id} is not over; run continues it")
    children = targets.failed(spark, table, run_id, position.redrive)
    if not children and position.files == len(job.planned.files):
        raise ArgumentError(f"no item of run {run_id} failed; there is nothing to run again")
    position = _again(job, position, children)
    return _ended(spark, table, job.run, _waves(job, position))


@checked
def describe(spark: SparkSession, table: Name, *, run_id: Name) -> MapRun:
    """Describe a run of a map.

    Args:
        spark: classic session.
        table: the run's.
        run_id: its name.

    Returns:
        MapRun.

    Raises:
        ValueError: the table has no such run.
    """
    return _map_run(*targets.run_of(spark, table, run_id))


@checked
def failures(spark: SparkSession, table: Name, *, run_id: Name, most: Annotated[int, Ge(1)] = 10) -> list[Failure]:
    """List the errors by which most items of a run failed, by their last try.

    Args:
        spark: classic session.
        table: the run's.
        run_id: its name.
        most: errors at most.

    Returns:
        Failure each, the most frequent first; none where no item failed.

    Raises:
        ValueError: the table has no such run.
    """
    return targets.failures(spark, table, run_id, targets.run_of(spark, table, run_id)[1].redrive, most)


@checked
def results(spark: SparkSession, table: Name, *, run_id: Name) -> DataFrame:
    """Return the rows that count of a run: of each item those of its last redrive.

    Args:
        spark: classic session.
        table: the run's.
        run_id: its name.

    Returns:
        DataFrame with the table's columns; lazy.

    Raises:
        ValueError: the table has no such run.
    """
    return targets.rows(spark, table, run_id, targets.run_of(spark, table, run_id)[1].redrive)


def _waves(job: Job, position: Position) -> Position:
    """Run the waves that are left, and end the run."""
    done = None
    for places in plans.waves(job.planned, position.files, job.wave_rows):
        if _exceeded(job.run, position):
            break
        items = sum(job.planned.files[place].rows for place in places)
        after = replace(position, files=places.stop, waves=position.waves + 1, items=position.items + items)
        position = _wave(job, position, after, places, items, None)
    else:
        done = len(job.planned.files)  # the last ones may be without items, and in no wave
    state = FAILED if _exceeded(job.run, position) else SUCCEEDED
    after = replace(position, state=state, files=position.files if done is None else done)
    return publish.note(job.place, job.run, position, after)


def _again(job: Job, position: Position, children: list[Any]) -> Position:
    """Run failed children again, in one commit; a redrive without any is begun by a commit of its own."""
    after = replace(position, state=RUNNING, redrive=position.redrive + 1)
    if not children:
        return publish.note(job.place, job.run, position, after)
    chosen: dict[str, set[int]] = defaultdict(set)
    for child in children:
        chosen[child["_source"]].add(child["_index"])
    items = sum(child["_items"] for child in children)
    places = [place for place, file in enumerate(job.planned.files) if file.name in chosen]
    after = replace(after, waves=after.waves + 1, failed=after.failed - items)
    indexes = {name: frozenset(numbers) for name, numbers in chosen.items()}
    return _wave(job, position, after, places, items, indexes)


def _wave(
    job: Job,
    position: Position,
    after: Position,
    places: range | list[int],
    items: int,
    chosen: dict[str, frozenset[int]] | None,
) -> Position:
    spark, planned = job.place.spark, job.planned
    target = resources.delivery(job.bound)
    work = plans.work(
        planned, places, job.bound, redrive=after.redrive, threads=_threads(job), output="_output" in job.columns,
        parser=None if target is None else resources.records(target).parser(), chosen=chosen,
    )  # fmt: skip
    frame = plans.frame(spark, planned, places, work, targets.ddl(job.columns), _partitions(job))
    with plans.reading(spark, planned):
        position = publish.wave(
            job.place, job.run, position, frame, items, after,
            unchanged=lambda: files.refuse_changed(spark, [planned.files[place] for place in places]),
        )  # fmt: skip
    if job.on_wave is not None:
        waves_left = plans.waves(job.planned, position.files, job.wave_rows)
        job.on_wave(_map_run(job.run, position), len(waves_left))
    return position


def _threads(job: Job) -> int:
    most = job.planned.limits.concurrency
    return min(job.threads, most) if most else job.threads


def _partitions(job: Job) -> int | None:
    """Return how many tasks there are at most, so that not more children run at once than MaxConcurrency."""
    most = job.planned.limits.concurrency
    return max(1, most // _threads(job)) if most else None


def _exceeded(run: Run, position: Position) -> bool:
    return plans.exceeded(position.failed, run.items, run.tolerated_count, run.tolerated_percentage)


def _ended(spark: SparkSession, table: str, run: Run, position: Position) -> MapRun:
    ended = _map_run(run, position)
    if position.state != FAILED:
        return ended
    limits = []
    if run.tolerated_count is not None:
        limits.append(f"{run.tolerated_count:,} items")
    if run.tolerated_percentage is not None:
        limits.append(f"{run.tolerated_percentage} %")
    frequent = targets.failures(spark, table, run.run_id, position.redrive, NAMED)
    raise TooManyFailed(ended, f"{' and '.join(limits)} may" if limits else "none may", frequent)


def _map_run(run: Run, position: Position) -> MapRun:
    return MapRun(
        run.run_id, position.state, position.redrive, run.files, position.files, run.items, position.items,
        position.failed, position.waves,
    )  # fmt: skip
