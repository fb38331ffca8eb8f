"""`workbench formats`: tables of other formats looked at, moved to Iceberg, followed, compared and taken over."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_ops.saying import say

if TYPE_CHECKING:
    from workbench._base.typing import SparkSession
    from workbench.formats import Verification

formats = typer.Typer(
    help="Delta and Hudi tables: what they are, and moved to Iceberg in place.", no_args_is_help=True
)
Path = Annotated[str, typer.Argument(metavar="PATH", help="folder of a Delta or Hudi table, or s3://bucket/key")]
Table = Annotated[str, typer.Argument(metavar="TABLE", help="Iceberg table: namespace.name")]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the Iceberg table is")]
Reader = Annotated[
    Literal["deltalake", "duckdb", "hudi"] | None,
    typer.Option(help="what reads the source for the comparison; else what reads its format and columns"),
]


@formats.command("look")
def formats_look(path: Path) -> None:
    """Say what a table is, and what keeps it from being moved (exit 0 nothing, 1 an obstacle, 2 refused)."""
    from workbench.formats import look

    looked = look(path)
    print(f"{looked.kind} table in {looked.location}, version {looked.version}")
    counts = f"{_counted(looked.files, 'file')}, {_counted(looked.bytes, 'byte')}, {_counted(looked.rows, 'row')}"
    print(f"{counts}, {looked.deleted_rows:,} deleted")
    print(f"features: {', '.join(looked.features) or 'none'}")
    print(f"partitioned by: {', '.join(looked.partitioned_by) or 'nothing'}")
    _listed("note", looked.notes)
    _listed("obstacle", looked.obstacles)
    raise typer.Exit(int(bool(looked.obstacles)))


@formats.command("move")
def formats_move(
    path: Path,
    table: Table,
    environment: Environment = "lake",
    version: Annotated[int | None, typer.Option(min=0, help="version of the source; else the newest")] = None,
    verify: Annotated[bool, typer.Option(help="compare table and source, row by row")] = True,
    reader: Reader = None,
) -> None:
    """Make an Iceberg table of a Delta or Hudi table's files, in one commit.

    Exit 0 made and equal, 1 made and it differs or could not be compared, 2 refused: nothing was made.
    """
    from workbench import session
    from workbench._base import settings
    from workbench.formats import moving, verifying

    inspection = moving.inspected(
        path,
        table,
        version,
        lambda: settings.environment(environment),
        lambda: verifying.refuse_reader(path, reader) if verify else None,
    )
    spark = session.start(environment)
    moved = moving.made(spark, inspection, table)
    counts = f"{_counted(moved.files, 'file')}, {_counted(moved.rows, 'row')}"
    print(f"{table} is version {moved.version} of {moved.source}: {counts}")
    vectors = f"{_counted(moved.deletion_vectors, 'deletion vector')} copied, " if moved.deletion_vectors else ""
    print(f"{vectors}no data file was written")
    _listed("note", moved.notes)
    if not verify:
        return
    try:
        verification = verifying.verify(spark, table, reader=reader)
    except (ArgumentError, MissingPackageError) as error:
        say(f"{table} was made and follows its source, and could not be compared with it: {error}")
        raise typer.Exit(1) from None
    raise typer.Exit(_verified(table, verification))


@formats.command("follow")
def formats_follow(
    table: Table,
    environment: Environment = "lake",
    version: Annotated[int | None, typer.Option(min=0, help="version of the source; else the newest")] = None,
) -> None:
    """Bring a moved table to a later version of its source, in one commit (exit 0 done, 2 refused)."""
    from workbench.formats import follow

    followed = follow(_started(environment, table), table, version=version)
    if followed.snapshot_id is None:
        print(f"{table} is at version {followed.version}: nothing to do")
        return
    print(
        f"{table} went from version {followed.before} to {followed.version}: "
        f"{_counted(followed.added_files, 'file')} added, {followed.removed_files:,} removed, "
        f"{followed.changed_vectors:,} kept whose deleted rows changed"
    )


@formats.command("verify")
def formats_verify(table: Table, environment: Environment = "lake", reader: Reader = None) -> None:
    """Compare a moved table with its source, row by row (exit 0 equal, 1 it differs, 2 refused)."""
    from workbench.formats import verify

    raise typer.Exit(_verified(table, verify(_started(environment, table), table, reader=reader)))


@formats.command("take-over")
def formats_take_over(
    table: Table,
    files: Annotated[
        Literal["copied", "adopted"],
        typer.Option(help="copied: into the table's folder, the source goes on; adopted: the source is given up"),
    ],
    environment: Environment = "lake",
    reader: Reader = None,
) -> None:
    """Follow once more, compare, and make a moved table the owner of its files (exit 0 done, 2 refused)."""
    from workbench.formats import take_over

    taken = take_over(_started(environment, table), table, files=files, reader=reader)
    _verified(table, taken.verification)
    what = f"{_counted(taken.copied_files, 'file')}, {_counted(taken.copied_bytes, 'byte')} copied"
    if files == "adopted":
        what = f"the files in {taken.source} are the table's: write nothing there and run no VACUUM or clean"
    print(f"{table} follows nothing any more; {what}")


def _started(environment: str, table: str) -> "SparkSession":
    """Start a session; what is wrong with the names of environment and table is said before, at once.

    Raises:
        ValueError: so it is.
    """
    from workbench import session
    from workbench._base import identifiers, settings
    from workbench.formats import moving

    moving.at_once(lambda: identifiers.parts(table), lambda: settings.environment(environment))
    return session.start(environment)


def _verified(table: str, verification: "Verification") -> int:
    """Print a comparison; return the exit code."""
    version, by = verification.version, verification.reader
    rows, source_rows = verification.rows, verification.source_rows
    if verification.equal:
        print(f"equal to the source at version {version}: {_counted(rows, 'row')}, read by {by}")
    else:
        which = f"; the columns {', '.join(verification.columns)} differ" if verification.columns else ""
        if rows != source_rows:
            which = (
                f": {_counted(abs(rows - source_rows), 'row')} {'missing' if rows < source_rows else 'too many'}"
            )
        print(
            f"NOT equal to the source at version {version}: {_counted(rows, 'row')}, the source has "
            f"{source_rows:,} by {by}{which}"
        )
    if verification.written:
        print(
            f"somebody else wrote to {table} since it followed: its newest snapshot is of the kind "
            f"{verification.written}"
        )
    if verification.newest != version:
        print(f"the source is at version {verification.newest} by now: workbench formats follow {table}")
    return 0 if verification.equal else 1


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _listed(what: str, sentences: tuple[str, ...]) -> None:
    for sentence in sentences:
        print(f"{what}: {sentence}")
