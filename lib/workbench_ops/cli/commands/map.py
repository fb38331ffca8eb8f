"""`workbench map`: a published definition's distributed Map, run on Spark; prints how far it is as JSON.

Exit codes: 0 succeeded · 1 failed (more items than are tolerated, another writer, changed files) · 2 refused.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli import given
from workbench_ops.saying import on_stderr, say

if TYPE_CHECKING:
    from workbench.maps import Definition, MapRun

map = typer.Typer(help="Run the distributed Map of a published definition.", no_args_is_help=True)

DELIVERS = "deliver:"
File = Annotated[str, typer.Argument(help="Amazon States Language file, JSON")]
Table = Annotated[str, typer.Argument(help="namespace.name; run makes it where it is not there")]
RunId = Annotated[str, typer.Option(help="name of the run, unique in the table")]
Names = Annotated[
    list[str] | None, typer.Option("--name", metavar="NAME=VALUE", help="what ${NAME} in the file stands for")
]
Bound = Annotated[
    list[str] | None,
    typer.Option(
        "--bind", metavar="ARN=WHAT", help="what a task calls: a function of --functions, or deliver:COLUMNS"
    ),
]
Functions = Annotated[str | None, typer.Option(metavar="FILE", help="Python file with the functions of --bind")]
Buckets = Annotated[
    list[str] | None, typer.Option("--bucket", metavar="NAME=FOLDER", help="what stands for an S3 bucket here")
]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the table is")]
WaveRows = Annotated[int, typer.Option(min=1, help="items after which a wave ends with its file")]
Threads = Annotated[int, typer.Option(min=1, help="children at once in each task, for functions that wait")]


@map.command()
def check(file: File, name: Names = None) -> None:
    """Check a definition: print all reasons for which it does not run here (exit 0 none, 2 some)."""
    definition = _read(file, name)
    states = definition.machine["States"]
    print(f"{file} runs here: {definition.state}, with {len(states) - 1} states around and "
          f"{len(definition.child['States'])} within")  # fmt: skip


@map.command()
def run(
    file: File,
    table: Table,
    run_id: RunId,
    input: Annotated[str | None, typer.Option(metavar="JSON", help="input of the state machine")] = None,
    name: Names = None,
    bind: Bound = None,
    functions: Functions = None,
    bucket: Buckets = None,
    environment: Environment = "lake",
    wave_rows: WaveRows = 1_000_000,
    threads: Threads = 1,
) -> None:
    """Run a definition's Map, or go on with a run that was stopped."""
    from workbench import maps, session

    definition, options = _options(file, name, bind, functions, bucket, wave_rows, threads)
    value = _json(input)
    spark = session.start(environment)
    _print(lambda: maps.run(spark, definition, table, run_id=run_id, input=value, on_wave=_progress(), **options))


@map.command()
def redrive(
    file: File,
    table: Table,
    run_id: RunId,
    name: Names = None,
    bind: Bound = None,
    functions: Functions = None,
    bucket: Buckets = None,
    environment: Environment = "lake",
    wave_rows: WaveRows = 1_000_000,
    threads: Threads = 1,
) -> None:
    """Run the failed items of a run again, and what had not begun."""
    from workbench import maps, session

    definition, options = _options(file, name, bind, functions, bucket, wave_rows, threads)
    spark = session.start(environment)
    _print(lambda: maps.redrive(spark, definition, table, run_id=run_id, on_wave=_progress(), **options))


@map.command()
def describe(table: Table, run_id: RunId, environment: Environment = "lake") -> None:
    """Describe a run: its state, and its items."""
    from workbench import maps, session

    spark = session.start(environment)
    print(json.dumps(asdict(maps.describe(spark, table, run_id=run_id))))


@map.command()
def failures(
    table: Table,
    run_id: RunId,
    environment: Environment = "lake",
    most: Annotated[int, typer.Option(min=1, help="errors at most")] = 10,
) -> None:
    """List the errors by which most items failed: a line of JSON each, with the first item and its cause."""
    from workbench import maps, session

    spark = session.start(environment)
    for failure in maps.failures(spark, table, run_id=run_id, most=most):
        print(json.dumps(asdict(failure), ensure_ascii=False))


def _print(work: "Callable[[], MapRun]") -> None:
    """Print how a run ended; a run that failed is printed, too, with exit code 1."""
    from workbench import maps

    try:
        print(json.dumps(asdict(work())))
    except maps.TooManyFailed as error:
        print(json.dumps(asdict(error.run)), flush=True)
        say(str(error))
        raise typer.Exit(1) from None


def _progress() -> "Callable[[MapRun, int], None]":
    """Return what prints a line after each wave: items, failed, waves, the time that may be left."""
    begin, first = time.monotonic(), None

    def line(run: "MapRun", waves_left: int) -> None:
        nonlocal first
        if first is None:
            first = run.items_done  # a part of them may have been done before
        rest = ""
        seconds, since = time.monotonic() - begin, run.items_done - first
        if waves_left and since > 0:
            rest = f", about {round(seconds * (run.items - run.items_done) / since)} s left"
        on_stderr(
            f"{run.run_id}  {run.items_done:,} of {run.items:,} items, {run.failed:,} failed, "
            f"wave {run.waves} of {run.waves + waves_left}{rest}"
        )

    return line


def _options(
    file: str,
    name: list[str] | None,
    bind: list[str] | None,
    functions: str | None,
    bucket: list[str] | None,
    wave_rows: int,
    threads: int,
) -> "tuple[Definition, dict[str, Any]]":
    """Return a definition and the options of a run, all checked before a session is started."""
    definition = _read(file, name)
    resources = _resources(given.pairs("--bind", bind), functions)
    buckets = given.pairs("--bucket", bucket)
    return definition, {"resources": resources, "buckets": buckets, "wave_rows": wave_rows, "threads": threads}


def _read(file: str, name: list[str] | None) -> "Definition":
    from workbench import maps

    return maps.read(file, names=given.pairs("--name", name))


def _json(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"--input is not JSON: {error}") from None


def _resources(bound: Mapping[str, str], functions: str | None) -> dict[str, Any]:
    """Return what tasks call: functions of a Python file, and deliveries."""
    from workbench import maps

    named = sorted({what for what in bound.values() if not what.startswith(DELIVERS)})
    if named and functions is None:
        raise ArgumentError(f"--bind names the function {named[0]}, and --functions no file")
    content = {} if functions is None else given.functions(functions, named, option="--functions")
    return {
        resource: maps.Delivery(what.removeprefix(DELIVERS)) if what.startswith(DELIVERS) else content[what]
        for resource, what in bound.items()
    }
