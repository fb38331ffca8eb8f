"""`workbench dbt`: the tests of a dbt project, each told by the cheapest evidence that is proof.

Exit codes are dbt's: 0 passed or warned · 1 a test failed or is an error · 2 refused.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import on_stderr

if TYPE_CHECKING:
    from workbench._base.typing import Catalog, SparkSession
    from workbench.dbt import Outcome, Planned

dbt = typer.Typer(help="Tests of a dbt project on Iceberg tables.", no_args_is_help=True)
Name = tuple[str, ...]
_EVERY_SECONDS = 2


@dbt.callback()
def tests_of_projects() -> None:
    """Run tests of a dbt project on Iceberg tables."""


@dbt.command("test")
def dbt_test(
    target: Annotated[str, typer.Option(metavar="DIR", help="folder with manifest.json, as dbt compile left it")],
    environment: Annotated[str, typer.Option(help="file in params/environments: where the tables are")] = "lake",
    catalog: Annotated[
        str | None, typer.Option(help="catalog of PyIceberg's own configuration, instead of the environment's")
    ] = None,
    engine: Annotated[
        Literal["duckdb", "spark"] | None, typer.Option(help="what answers; left out, the project's adapter")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="what passed earlier; left out, workbench_ledger.db in DIR")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="list the tests that passed, too")] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="then have dbt run, with proved tests emptied: for hooks and packages")
    ] = False,
    dbt_python: Annotated[
        str | None, typer.Option(metavar="FILE", help="interpreter that has dbt; left out, that of the engine dbt")
    ] = None,
    dbt_option: Annotated[
        list[str] | None, typer.Option(metavar="OPTION", help="option for dbt, as --vars={…}; repeatable")
    ] = None,
) -> None:
    """Test tables, and read only what must be read (exit 0 passed or warned, 1 failed or error, 2 refused)."""
    from workbench import session
    from workbench.dbt import dialect, plan, prove, tests, write

    listed, spoken = tests(target), dialect(target)
    _refuse(target, spoken, engine, catalog)
    options = dbt_option or []
    if not replay and (dbt_python or options):
        raise ArgumentError("--dbt-python and --dbt-option are for --replay")
    python = _python(target, dbt_python) if replay else None
    planned = plan(listed, dialect=spoken, kept=f"{target}/workbench_plans.json")
    spark = session.start(environment) if spoken == "spark" else None

    def located() -> dict[str, str]:
        return _by_session(spark, planned) if spark else _by_catalog(environment, catalog, planned)

    pointers = located()
    kept, line = ledger or f"{target}/workbench_ledger.db", _progress(len(listed))
    outcomes = prove(planned, pointers, engine=spark or "duckdb", ledger=kept, on_outcome=line)
    path = write(outcomes, target)
    _print(outcomes, every)
    print(f"written: {path}")
    ours = [outcome for outcome in outcomes if python is None or not outcome.test.asks_command]
    failed = any(outcome.status in ("fail", "error") for outcome in ours)
    if python is not None:
        failed |= not _replayed(outcomes, target, python, environment if spark else None, options)
        failed |= not _unmoved(pointers, located())
    raise typer.Exit(int(failed))


def _refuse(target: str, spoken: str, engine: str | None, catalog: str | None) -> None:
    """Refuse an engine or a catalog that the project's adapter has not."""
    if engine not in (None, spoken):
        raise ArgumentError(f"the tests in {target} are compiled for {spoken}, and --engine is {engine}")
    if catalog is not None and spoken == "spark":
        raise ArgumentError("--catalog is for DuckDB; with Spark the tables are those of --environment")


def _python(target: str, named: str | None) -> Path:
    """Return the interpreter that has dbt, for a target folder of a project."""
    from workbench.dbt import replaying
    from workbench.engines import profiles

    replaying.project(target)
    if named is not None:
        if not Path(named).is_file():
            raise ArgumentError(f"--dbt-python {named} is not a file; name the interpreter that has dbt")
        return Path(named)
    engine = profiles.engine("dbt")
    if wrong := profiles.lacks(engine):
        raise ArgumentError(f"--replay needs dbt: {wrong}; or name your own by --dbt-python")
    return profiles.python(engine) or Path(sys.executable)


def _replayed(
    outcomes: "Sequence[Outcome]", target: str, python: Path, environment: str | None, options: Sequence[str]
) -> bool:
    """Have dbt run, print what it says otherwise; return whether it passed and agrees."""
    from workbench import dbt as tested

    replayed = tested.replay(outcomes, target, python=python, environment=environment, arguments=options)
    for name, (ours, theirs) in replayed.differences.items():
        print(f"differs  {name}: {ours}; dbt: {theirs}")
    alone = sum(outcome.test.asks_command for outcome in outcomes)
    agrees = f"agrees with all {len(outcomes) - alone:,} tests" if not replayed.differences else "differs"
    print(f"the replay by dbt {agrees}; {replayed.emptied:,} of them it asked for no rows: {replayed.path}")
    if alone:
        print(f"{alone:,} more tests ask which command dbt runs: their outcomes are dbt's alone, in that file")
    return not replayed.differences and replayed.exit_code == 0


def _unmoved(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """Name the tables that were changed while dbt ran: their emptied tests speak of an earlier state than dbt."""
    moved = [name for name, location in before.items() if after.get(name) != location]
    for name in moved:
        plain = name.replace('"', "").replace("`", "")
        print(f"{plain} was changed by a commit during the run; run the tests again")
    return not moved


def _by_session(spark: "SparkSession", planned: "Sequence[Planned]") -> dict[str, str]:
    """Return the pointers of the tables as a session's catalog has them."""
    from pyspark.errors import AnalysisException

    from workbench.dbt import pointer

    pointers = {}
    for name in _names(planned):
        quoted = ".".join("`" + part.replace("`", "``") + "`" for part in name)
        try:
            pointers[quoted] = pointer(spark, name)
        except AnalysisException:
            continue  # of its tests alone: they are told which tables there are
    return pointers


def _by_catalog(environment: str, catalog: str | None, planned: "Sequence[Planned]") -> dict[str, str]:
    """Return the pointers of tables: their last two parts are a namespace and a name of the catalog."""
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    loaded, pointers = _loaded(environment, catalog), {}
    for name in _names(planned):
        try:
            location = loaded.load_table(name[-2:]).metadata_location
        except (NoSuchTableError, NoSuchNamespaceError):
            continue  # of its tests alone: they are told which tables there are
        pointers[".".join('"' + part.replace('"', '""') + '"' for part in name)] = location
    return pointers


def _loaded(environment: str, catalog: str | None) -> "Catalog":
    from workbench import session

    if catalog is None:
        return session.catalog(environment)
    from pyiceberg.catalog import load_catalog

    try:
        return load_catalog(catalog)
    except ValueError as error:
        raise ArgumentError(f"--catalog {catalog} is not in PyIceberg's configuration: {error}") from None


def _names(planned: "Iterable[Planned]") -> list[Name]:
    return sorted({name for entry in planned for name in entry.tables})


def _progress(total: int) -> "Callable[[Outcome], None]":
    """Return what says from time to time how far a run is."""
    statuses: Counter[str] = Counter()
    begin = last = time.monotonic()

    def line(outcome: "Outcome") -> None:
        nonlocal last
        statuses[outcome.status] += 1
        done, now = statuses.total(), time.monotonic()
        if now - last < _EVERY_SECONDS or done == total:
            return
        last = now
        rest = round((now - begin) / done * (total - done))
        on_stderr(f"{done:,} of {total:,} tests, {_counts(statuses)}, about {rest} s left")

    return line


def _counts(statuses: Mapping[str, int]) -> str:
    return ", ".join(
        f"{statuses[name]:,} {name}" for name in ("pass", "warn", "fail", "error") if statuses.get(name)
    )


def _print(outcomes: "Sequence[Outcome]", every: bool) -> None:
    """Print the tests that did not pass, and by what the tests were told."""
    shown = [outcome for outcome in outcomes if every or outcome.status != "pass"]
    lines = [
        (
            o.status,
            o.test.unique_id,
            "" if o.failures is None else f"{o.failures:,}",
            o.told_by,
            _files(o.files_read),
        )
        for o in shown
    ]
    if lines:
        columns([("STATUS", "TEST", "FAILURES", "TOLD BY", "FILES READ"), *lines])
        print()
    for outcome in shown:
        if outcome.status == "error":
            first = (outcome.message or "").strip().splitlines() or [""]
            print(f"error  {outcome.test.unique_id}: {first[0]}")
    tests = Counter(outcome.told_by for outcome in outcomes)
    read: Counter[str] = Counter()
    for outcome in outcomes:
        read[outcome.told_by] += outcome.files_read or 0
    columns(
        [("TOLD BY", "TESTS", "FILES READ"), *((name, f"{n:,}", f"{read[name]:,}") for name, n in tests.items())]
    )
    print(f"{len(outcomes):,} tests: {_counts(Counter(outcome.status for outcome in outcomes))}")


def _files(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"
