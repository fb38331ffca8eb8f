"""`workbench doctor`: what is wrong with this machine's set-up; `workbench doctor table`: what hurts a table."""

from pathlib import Path
from typing import Annotated

import typer

from workbench._base.errors import ArgumentError

doctor = typer.Typer(invoke_without_command=True)


@doctor.callback()
def setup(
    context: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="fetch what is missing without asking")] = False,
    environment: Annotated[str, typer.Option(help="look at what this environment needs")] = "local",
    port: Annotated[int | None, typer.Option(help="also look whether this port is free")] = None,
):
    """Say what is wrong with this machine's set-up and what to do, a sentence each; `table`: with a table."""
    if context.invoked_subcommand:
        if fix or port is not None or environment != "local":
            raise ArgumentError("options of the set-up do not go with a table: write them behind its name")
        return
    from workbench_ops import machine as diagnoses

    raise typer.Exit(diagnoses.main(fix=fix, environment=environment, port=port))


@doctor.command()
def table(
    name: Annotated[str, typer.Argument(help="namespace.name")],
    environment: Annotated[str, typer.Option(help="file in params/environments: where the table is")] = "lake",
    queries: Annotated[
        str | None, typer.Option(metavar="FILE.sql", help="your queries, to judge by what they ask for")
    ] = None,
    policy: Annotated[str | None, typer.Option(metavar="FILE", help="of maintenance: sizes and ages")] = None,
    cure: Annotated[bool, typer.Option("--cure", help="do what maintenance can do, after asking")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="with --cure: do not ask")] = False,
):
    """Say what hurts a table and what to do (exit 0 healthy, 1 with findings, 2 refused)."""
    from workbench import session
    from workbench._base import identifiers
    from workbench.tables import commits, maintenance, snapshots
    from workbench.tables import doctor as tables

    if yes and not cure:
        raise ArgumentError("--yes answers the question of --cure; say that too")
    identifiers.quoted(name)
    rules = maintenance.read_policy(policy) if policy else None
    asked = _statements(queries) if queries else ()
    spark = session.start(environment)
    try:
        columns = tables.asked(spark, name, asked) if asked else ()
        found = tables.diagnose(spark, name, policy=rules, columns=columns)
    except snapshots.TableNotFound:
        raise
    except Exception as error:
        _print_damage(spark, name)  # raises nothing where the table's pointer is fine
        if not commits.causes(error):
            raise
        # such as a catalog that nobody answers for: it is no finding, so the exit code must not be 1
        raise ArgumentError(f"{name} cannot be looked at: {commits.errors.first_line(error)}") from error
    doubt = _print_doubt(spark, name)
    if found.findings or not doubt:
        _print(name, found)
    if asked and found.findings:
        for number, one in enumerate(tables.trial(spark, name, asked, policy=rules, columns=columns), 1):
            _print_tried(number, one)
    if cure and doubt:
        print("left   nothing is cured: a commit would go on from where the pointer is")
    elif cure and any(one.by != "owner" for one in found.findings):
        what = [one.cause for one in found.findings if one.by != "owner"]
        if not yes and not typer.confirm(f"Cure {', '.join(what)}?"):
            raise typer.Exit(1)
        _print_cured(tables.cure(spark, found))
        found = tables.diagnose(spark, name, policy=rules, columns=columns)
        _print(name, found)
    raise typer.Exit(1 if found.findings or doubt else 0)


def _statements(path):
    """Return the queries of a file, one a semicolon at the end of a line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror}") from None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    found = [part.strip() for part in "\n".join([*lines, ""]).split(";\n") if part.strip()]
    if not found:
        raise ArgumentError(f"{path} has no query")
    return found


def _print(name, found):
    if not found.findings:
        return print(f"{name} is healthy")
    from workbench.tables.doctor.findings import would_do

    for one in found.findings:
        print(f"{one.severity:6} {one.cause}: {one.what}")
        print(f"       {one.advice}")
        print(f"       by {one.by}: {would_do(one)}")


def _print_damage(spark, name):
    """Say what is wrong with a table's pointer and end; return where nothing is, or nobody can tell."""
    from workbench.tables.doctor import pointers

    try:
        pointer = pointers.look(spark, name)
    except Exception:
        return
    if pointer.damage is None:
        return
    print(f"high   damaged_pointer: the catalog names {pointer.location}: {pointer.damage}")
    for one in pointer.versions:
        rows = "" if one.rows is None else f", {one.rows:,} rows"
        state = one.damage or ("good" if one.committed else "never committed, as far as can be told")
        print(f"       {one.location.rpartition('/')[2]}{rows}: {state}")
    if pointer.offered:
        rows = "nobody knows how many rows" if pointer.rows_lost is None else f"{pointer.rows_lost:,} rows"
        print(f"       the last good one loses {len(pointer.lost)} snapshots that added {rows}")
        print(
            f"       by owner: doctor.pointers.restore(spark, {pointer.table!r}, to={pointer.offered.location!r})"
        )
    else:
        print("       there is no good one: bring the table back from a copy")
    raise typer.Exit(1)


def doubt_of(spark, name):
    """Return what speaks against a table's pointer, None where nothing does or nobody can tell, which is said."""
    from workbench.tables import commits
    from workbench.tables.doctor import pointers

    try:
        return pointers.doubt(spark, name)
    except Exception as error:  # such as a storage that lists nothing: the table itself was read
        said = commits.errors.first_line(error)
        print(f"note   whether the pointer is an old one cannot be told: {said}", flush=True)
        return None


def _print_doubt(spark, name):
    """Say what speaks against the pointer of a table that can be read; returns it, None where nothing does."""
    if doubt := doubt_of(spark, name):
        print(f"high   doubtful_pointer: {doubt}")
        print("       find out which is right before anybody commits")
        print(f"       by owner: doctor.pointers.look(spark, {name!r})")
    return doubt


def _print_tried(number, one):
    same = "the answer is the same" if one.equal else "THE ANSWER IS ANOTHER: has the query an order of its own?"
    print(
        f"try    query {number}: opens {one.files_before:,} files, cured {one.files_after:,}; reads "
        f"{one.bytes_before:,} bytes, cured {one.bytes_after:,}; {one.ratio:.1f} times as fast; {same}"
    )


def _print_cured(cured):
    from workbench.tables import doctor

    for one in cured.done:
        print(f"done   {one.name}: {one.files:,} files became {one.files_after:,}, {one.commits} commits")
    for name, text in cured.properties:
        print(f"done   set {name} to {text}")
    for sentence in doctor.sentences(cured):
        print(f"left   {sentence}")
