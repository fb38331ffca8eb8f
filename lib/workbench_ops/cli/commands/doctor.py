"""`workbench doctor`: what is wrong with this machine's set-up; `workbench doctor table`: what hurts a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession

if TYPE_CHECKING:
    from workbench.tables.doctor import Cured, Diagnosis, Tried

doctor = typer.Typer(invoke_without_command=True)


@doctor.callback()
def setup(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="fetch what is missing without asking")] = False,
    environment: Annotated[str, typer.Option(help="environment whose requirements are checked")] = "local",
    port: Annotated[int | None, typer.Option(help="a port that must be free")] = None,
) -> None:
    """Check this machine's set-up and say what to do about each problem; `table` checks a table."""
    if context.invoked_subcommand:
        if fix or port is not None or environment != "local":
            raise ArgumentError("options of the set-up are not those of a table: write a table's after its name")
        return
    from workbench_ops import machine as diagnoses

    raise typer.Exit(diagnoses.main(fix=fix, environment=environment, port=port))


@doctor.command()
def table(
    name: Annotated[str, typer.Argument(help="namespace.name")],
    environment: Annotated[str, typer.Option(help="file in params/environments: where the table is")] = "lake",
    queries: Annotated[
        str | None,
        typer.Option(metavar="FILE.sql", help="your queries: a cure is judged by the columns that they filter by"),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="maintenance policy: its sizes and ages are used")
    ] = None,
    cure: Annotated[bool, typer.Option("--cure", help="cure what maintenance can cure, after asking you")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="with --cure: do not ask")] = False,
) -> None:
    """Say what hurts a table and what to do (exit 0 healthy, 1 with findings, 2 refused)."""
    from workbench import session
    from workbench._base import identifiers
    from workbench.tables import commits, maintenance, snapshots
    from workbench.tables import doctor as tables

    if yes and not cure:
        raise ArgumentError("--yes answers the question of --cure; give --cure, too")
    identifiers.quoted(name)
    rules = maintenance.read_policy(policy) if policy else None
    asked = _statements(queries) if queries else ()
    spark = session.start(environment)
    try:
        columns = tables.asked(spark, name, asked) if asked else ()
        diagnosis = tables.diagnose(spark, name, policy=rules, columns=columns)
    except snapshots.TableNotFound:
        raise
    except Exception as error:
        _print_damage(spark, name)  # raises nothing where the table's pointer is fine
        if not commits.causes(error):
            raise
        # such as a catalog that does not answer: that is not a finding, so the exit code must not be 1
        raise ArgumentError(f"{name} cannot be looked at: {commits.errors.first_line(error)}") from error
    doubt = _print_doubt(spark, name)
    if diagnosis.findings or not doubt:
        _print(name, diagnosis)
    if asked and diagnosis.findings:
        for number, tried in enumerate(tables.trial(spark, name, asked, policy=rules, columns=columns), 1):
            _print_tried(number, tried)
    if cure and doubt:
        print("left   nothing is cured: a commit would go on from where the pointer is")
    elif cure and (curable := [finding.cause for finding in diagnosis.findings if finding.by != "owner"]):
        if not yes and not typer.confirm(f"Cure {', '.join(curable)}?"):
            raise typer.Exit(1)
        _print_cured(tables.cure(spark, diagnosis))
        diagnosis = tables.diagnose(spark, name, policy=rules, columns=columns)
        _print(name, diagnosis)
    raise typer.Exit(1 if diagnosis.findings or doubt else 0)


def _statements(path: str) -> list[str]:
    """Return the queries of a file, each ended by a semicolon at the end of a line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}") from None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    queries = [part.strip() for part in "\n".join([*lines, ""]).split(";\n") if part.strip()]
    if not queries:
        raise ArgumentError(f"{path} has no query")
    return queries


def _print(name: str, diagnosis: "Diagnosis") -> None:
    if not diagnosis.findings:
        print(f"{name} is healthy")
        return
    from workbench.tables.doctor.findings import would_do

    for finding in diagnosis.findings:
        print(f"{finding.severity:6} {finding.cause}: {finding.what}")
        print(f"       {finding.advice}")
        print(f"       by {finding.by}: {would_do(finding)}")


def _print_damage(spark: SparkSession, name: str) -> None:
    """Say what is wrong with a table's pointer and end; return where it is fine or cannot be looked at."""
    from workbench.tables.doctor import pointers

    try:
        pointer = pointers.look(spark, name)
    except Exception:
        return
    if pointer.damage is None:
        return
    print(f"high   damaged_pointer: the catalog names {pointer.location}: {pointer.damage}")
    for version in pointer.versions:
        rows = "" if version.rows is None else f", {version.rows:,} rows"
        state = version.damage or ("good" if version.committed else "never committed, as far as can be told")
        print(f"       {version.location.rpartition('/')[2]}{rows}: {state}")
    if pointer.offered:
        rows = "an unknown number of rows" if pointer.rows_lost is None else f"{pointer.rows_lost:,} rows"
        print(f"       the last good one loses {len(pointer.lost)} snapshots that added {rows}")
        print(
            f"       by owner: doctor.pointers.restore(spark, {pointer.table!r}, to={pointer.offered.location!r})"
        )
    else:
        print("       there is no good one: bring the table back from a copy")
    raise typer.Exit(1)


def doubt_of(spark: SparkSession, name: str) -> str | None:
    """Return what speaks against a table's pointer; None where nothing does, or where it is unknown (printed)."""
    from workbench.tables import commits
    from workbench.tables.doctor import pointers

    try:
        return pointers.doubt(spark, name)
    except Exception as error:  # such as a storage that lists nothing: the table itself was read
        reason = commits.errors.first_line(error)
        print(f"note   whether the pointer is an old one cannot be told: {reason}", flush=True)
        return None


def _print_doubt(spark: SparkSession, name: str) -> str | None:
    """Print and return what speaks against the pointer of a table that can be read, None where nothing does."""
    if doubt := doubt_of(spark, name):
        print(f"high   doubtful_pointer: {doubt}")
        print("       find out which one is right before anybody commits")
        print(f"       by owner: doctor.pointers.look(spark, {name!r})")
    return doubt


def _print_tried(number: int, tried: "Tried") -> None:
    same = (
        "the answer is the same" if tried.equal else "THE ANSWER DIFFERS: does the query have an order of its own?"
    )
    print(
        f"try    query {number}: opens {tried.files_before:,} files, cured {tried.files_after:,}; reads "
        f"{tried.bytes_before:,} bytes, cured {tried.bytes_after:,}; {tried.ratio:.1f} times as fast; {same}"
    )


def _print_cured(cured: "Cured") -> None:
    from workbench.tables import doctor

    for done in cured.done:
        print(f"done   {done.name}: {done.files:,} files became {done.files_after:,}, {done.commits} commits")
    for name, text in cured.properties:
        print(f"done   set {name} to {text}")
    for sentence in doctor.sentences(cured):
        print(f"left   {sentence}")
