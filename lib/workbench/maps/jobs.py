"""A run begun in its table, or found where it is: what this process needs to go on with it."""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.maps import expressions, files, plans, positions, publish, resources, targets
from workbench.maps.definitions import Definition
from workbench.maps.plans import Plan
from workbench.maps.positions import Position, Run
from workbench.maps.publish import Place
from workbench.maps.resources import Delivery, Function
from workbench.tables import commits, snapshots

Resources = Mapping[str, Any]  # ARN or name to a function, or a Delivery


@dataclass(frozen=True)
class Job:
    """A run that this process continues.

    Attributes:
        place: where it writes.
        run: what it is.
        planned: what it does.
        bound: name of a Task state to what it calls.
        columns: of the table.
        threads: children at once in a task.
        wave_rows: items after which a wave ends.
        on_wave: called after each wave with the MapRun, and how many waves are left.
    """

    place: Place
    run: Run
    planned: Plan
    bound: Mapping[str, Function | Delivery]
    columns: Mapping[str, str]
    threads: int
    wave_rows: int
    on_wave: Callable[..., Any] | None


def begun(
    spark: SparkSession,
    definition: Definition,
    table: str,
    run_id: str,
    value: Any,
    given: Resources,
    buckets: Mapping[str, str],
    wave_rows: int,
    threads: int,
    started: datetime | None,
    on_wave: Callable[..., Any] | None,
) -> tuple[Job, Position]:
    """Begin a run in its table, or find where it is; look at its files.

    Args:
        spark: classic session.
        definition: Definition.
        table: the run's.
        run_id: its name.
        value: input of the state machine; may be None where the run has begun, and must not be another one.
        given: what tasks call, by name.
        buckets: what stands for buckets.
        wave_rows: items after which a wave ends.
        threads: children at once in a task.
        started: what the clock says; None for now.
        on_wave: called after each wave.

    Returns:
        Job, and the run's position.
    """
    value = _json("input", value)
    bound = resources.bind(definition.child["States"], given)
    outside = resources.bind(_outside(definition), given)
    resources.refuse_unused([definition.child["States"], _outside(definition)], given)
    if wrong := sorted(name for name, target in outside.items() if isinstance(target, Delivery)):
        raise ArgumentError(f"{wrong[0]}, a state before the Map, is bound to a Delivery; only children deliver")
    columns = targets.columns(definition.map, bound)
    before = positions.find(spark, commits.load(spark, table), run_id) if snapshots.exists(spark, table) else None
    targets.ensure(spark, table, columns)
    own = targets.token(spark, table)
    place = Place(spark, table, run_id, f"{positions.ref(run_id)}{uuid.uuid4().hex[:8]}")
    if before is None:
        moment = _moment(started)
        known = plans.about(definition, run_id, moment, own)
        entered, variables = plans.entered(definition, known, value, outside)
        planned = plans.plan(spark, definition, known, entered, variables, buckets)
        run = _new(definition, run_id, moment, planned, value)
        position = publish.note(place, run, None, Position())
    else:
        run, position = before
        if run.definition != definition.digest:
            raise ArgumentError(f"run {run_id} of {table} was begun with another definition; begin another run")
        if value is not None and run.given not in (None, _digest(value)):
            raise ArgumentError(f"run {run_id} of {table} was begun with another input; begin another run")
        known = plans.about(definition, run_id, run.started, own)
        planned = plans.plan(spark, definition, known, run.input, run.variables, buckets)
        _refuse_changed(run, planned)
    return Job(place, run, planned, bound, columns, threads, wave_rows, on_wave), position


def _outside(definition: Definition) -> dict[str, Any]:
    """Return the states around the Map."""
    return {name: state for name, state in definition.machine["States"].items() if name != definition.state}


def _digest(value: Any) -> str:
    """Return a digest of a state machine's input, whatever the order of its fields."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _new(definition: Definition, run_id: str, moment: str, planned: Plan, value: Any) -> Run:
    limits = planned.limits
    return Run(
        run_id, definition.digest, moment, planned.input, dict(planned.variables),
        files.digest(planned.files), len(planned.files), planned.items, limits.tolerated_count,
        limits.tolerated_percentage, given=_digest(value),
    )  # fmt: skip


def _refuse_changed(run: Run, planned: Plan) -> None:
    if (now := files.digest(planned.files)) != run.sources:
        same = (len(planned.files), planned.items) == (run.files, run.items)
        what = "as many, but of other names, sizes or times" if same else (
            f"{run.files} with {run.items:,} items then, {len(planned.files)} with {planned.items:,} now"
        )  # fmt: skip
        raise ArgumentError(
            f"the files of run {run.run_id} are not those that it began with: {what} ({now[:8]}, not "
            f"{run.sources[:8]}); begin another run"
        )


def _moment(started: datetime | None) -> str:
    moment = datetime.now(UTC) if started is None else started
    if moment.tzinfo is None:
        raise ArgumentError(f"started is {moment.isoformat()}, expected a datetime with a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _json(name: str, value: Any) -> Any:
    """Return a value as JSON has it.

    Raises:
        ValueError: it is not JSON, or larger than a state machine's input may be.
    """
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{name} is not JSON: {error}") from None
    if size > expressions.MOST_BYTES:
        raise ArgumentError(f"{name} has {size:,} bytes; at most {expressions.MOST_BYTES:,} are taken")
    return json.loads(text)
