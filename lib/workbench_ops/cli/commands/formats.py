"""`workbench formats`: tables of other formats looked at, moved to Iceberg, followed, compared and taken over."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from workbench.formats import Verification

formats = typer.Typer(
    help="Delta and Hudi tables: what they are, and moved to Iceberg in place.", no_args_is_help=True
)
Path = Annotated[str, typer.Argument(metavar="PATH", help="folder of a Delta or Hudi table, or s3://bucket/key")]
Table = Annotated[str, typer.Argument(metavar="TABLE", help="Iceberg table: namespace.name")]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the Iceberg table is")]
Reader = Annotated[
    Literal["deltalake", "duckdb", "hudi"] | None,
    typer.Option(help="what reads the source for the comparison; else deltalake or hudi, as the source is"),
]


@formats.command("look")
def formats_look(path: Path) -> None:
    """Say what a table is, and what keeps it from being moved (exit 0 nothing, 1 an obstacle, 2 refused)."""
    from workbench.formats import look

    looked = look(path)
    print(f"{looked.kind} table in {looked.location}, version {looked.version}")
    print(f"{looked.files:,} files, {looked.bytes:,} bytes, {looked.rows:,} rows, {looked.deleted_rows:,} deleted")
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
    """Make an Iceberg table of a Delta or Hudi table's files, in one commit (exit 0, 1 it differs, 2 refused)."""
    from workbench import session
    from workbench.formats import move
    from workbench.formats import verify as compare

    spark = session.start(environment)
    moved = move(spark, path, table, version=version)
    print(f"{table} is version {moved.version} of {moved.source}: {moved.files:,} files, {moved.rows:,} rows")
    print(f"{moved.deletion_vectors:,} deletion vectors were copied, no data file was written")
    _listed("note", moved.notes)
    raise typer.Exit(_verified(compare(spark, table, reader=reader)) if verify else 0)


@formats.command("follow")
def formats_follow(
    table: Table,
    environment: Environment = "lake",
    version: Annotated[int | None, typer.Option(min=0, help="version of the source; else the newest")] = None,
) -> None:
    """Bring a moved table to a later version of its source, in one commit (exit 0 done, 2 refused)."""
    from workbench import session
    from workbench.formats import follow

    followed = follow(session.start(environment), table, version=version)
    if followed.snapshot_id is None:
        print(f"{table} is at version {followed.version}: nothing to do")
        return
    print(
        f"{table} went from version {followed.before} to {followed.version}: {followed.added_files:,} files came, "
        f"{followed.removed_files:,} went, of {followed.changed_vectors:,} other rows are deleted"
    )


@formats.command("verify")
def formats_verify(table: Table, environment: Environment = "lake", reader: Reader = None) -> None:
    """Compare a moved table with its source, row by row (exit 0 equal, 1 it differs, 2 refused)."""
    from workbench import session
    from workbench.formats import verify

    raise typer.Exit(_verified(verify(session.start(environment), table, reader=reader)))


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
    from workbench import session
    from workbench.formats import take_over

    taken = take_over(session.start(environment), table, files=files, reader=reader)
    _verified(taken.verification)
    what = f"{taken.copied_files:,} files, {taken.copied_bytes:,} bytes were copied"
    if files == "adopted":
        what = f"the files in {taken.source} are the table's: write nothing there and run no VACUUM or clean"
    print(f"{table} follows nothing any more; {what}")


def _verified(verification: "Verification") -> int:
    """Print a comparison; return the exit code."""
    if verification.equal:
        at, rows = verification.version, verification.rows
        print(f"equal to the source at version {at}: {rows:,} rows, read by {verification.reader}")
        return 0
    which = f"; the columns {', '.join(verification.columns)} differ" if verification.columns else ""
    print(
        f"NOT equal to the source at version {verification.version}: {verification.rows:,} rows, the source "
        f"has {verification.source_rows:,} by {verification.reader}{which}"
    )
    return 1


def _listed(what: str, sentences: tuple[str, ...]) -> None:
    for sentence in sentences:
        print(f"{what}: {sentence}")
