"""`workbench tables`: look at the tables of an environment without starting Spark."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench_ops.cli.printing import columns, printable

if TYPE_CHECKING:
    from workbench.tables.browse import Column, File, Snapshot

tables = typer.Typer(help="Look at tables without starting Spark.", no_args_is_help=True)
Table = Annotated[str, typer.Argument(metavar="TABLE", help="namespace.name")]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the tables are")]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON document")]
Version = Annotated[
    str | None, typer.Option("--at", metavar="VERSION", help="a snapshot's id, a branch, a tag or a time (UTC)")
]
LONGEST = 60  # characters of a value in columns
STILL_COUNTED = "rows are those of data files; rows that delete files delete are still counted"


@tables.command("tree")
def tables_tree(
    namespace: Annotated[str | None, typer.Argument(help="only this one and those inside it")] = None,
    environment: Environment = "lake",
    as_json: AsJson = False,
) -> None:
    """List namespaces and their tables (exit 1 where some cannot be listed)."""
    from workbench.tables import browse

    listed = browse.tree(_catalog(environment), namespace=namespace)
    if as_json:
        _as_json(listed)
    else:
        for each in listed:
            print(printable(each.name if each.error is None else f"{each.name}  {each.error}"))
            for table in each.tables:
                print(printable(f"  {table}"))
            for view in each.views:
                print(printable(f"  {view}  (a view)"))
    raise typer.Exit(int(any(each.error for each in listed)))


@tables.command("head")
def tables_head(table: Table, environment: Environment = "lake", as_json: AsJson = False) -> None:
    """Say what a table is now: its columns, how it is divided, how much it holds."""
    from workbench.tables import browse

    head = browse.head(_catalog(environment), table)
    if as_json:
        return _as_json(head)
    print(f"{printable(head.table)}, format version {head.format_version}, in {printable(head.location)}")
    if head.current is None:
        print("it has no snapshot yet")
    else:
        now = head.current
        print(f"{_several(now.rows, 'row')} in {_several(now.data_files, 'data file')}")
        if now.delete_files:
            verb = "deletes" if now.delete_files == 1 else "delete"
            print(f"rows that its {_several(now.delete_files, 'delete file')} {verb} are still counted")
        count = _several(head.snapshots, "snapshot")
        print(f"{count}, the current one is {now.snapshot_id} of {_time(now.committed)}")
    print(f"partitioned by: {printable(', '.join(head.partitioned_by)) or 'nothing'}")
    print(f"sorted by: {printable(', '.join(head.sorted_by)) or 'nothing'}")
    for ref in head.refs:
        print(f"{ref.kind} {printable(ref.name)}: {ref.snapshot_id}")
    _columns(head.columns)


@tables.command("snapshots")
def tables_snapshots(table: Table, environment: Environment = "lake", as_json: AsJson = False) -> None:
    """List the snapshots of a table, oldest first."""
    from workbench.tables import browse

    listed = browse.snapshots(_catalog(environment), table)
    if as_json:
        return _as_json(listed)
    names = ("N", "SNAPSHOT", "COMMITTED (UTC)", "OPERATION", "ADDED", "REMOVED", "ROWS", "FILES", "REFS")
    columns([names, *map(_line, listed)])
    if any(each.delete_files for each in listed):
        print(STILL_COUNTED)


def _line(snapshot: "Snapshot") -> tuple[object, ...]:
    counts = (snapshot.added_rows, snapshot.removed_rows, snapshot.rows, snapshot.data_files)
    refs = ", ".join(snapshot.refs) or ("" if snapshot.on_main else "not on main")
    return (snapshot.n, snapshot.snapshot_id, _time(snapshot.committed), snapshot.operation or "",
            *map(_count, counts), refs)  # fmt: skip


@tables.command("schemas")
def tables_schemas(table: Table, environment: Environment = "lake", as_json: AsJson = False) -> None:
    """List the schemas that a table has had."""
    from workbench.tables import browse

    listed = browse.schemas(_catalog(environment), table)
    if as_json:
        return _as_json(listed)
    for schema in listed:
        print(f"schema {schema.id}{', the current one' if schema.current else ''}")
        _columns(schema.columns)


@tables.command("files")
def tables_files(
    table: Table, at: Version = None, environment: Environment = "lake", as_json: AsJson = False
) -> None:
    """List the files of a table at a version, data and deletes."""
    from workbench.tables import browse

    listed = browse.files(_catalog(environment), table, at=_version(at))
    if as_json:
        return _as_json(listed)
    columns([("CONTENT", "ROWS", "BYTES", "PARTITION", "PATH"), *map(_of_file, listed)])


def _of_file(file: "File") -> tuple[object, ...]:
    partition = ", ".join(f"{name}={value}" for name, value in file.partition.items())
    return file.content, f"{file.rows:,}", f"{file.bytes:,}", partition, file.path


@tables.command("preview")
def tables_preview(
    table: Table,
    at: Version = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="rows at most")] = 20,
    environment: Environment = "lake",
    as_json: AsJson = False,
) -> None:
    """Show a few rows of a table at a version."""
    from workbench.tables import browse

    shown = browse.preview(_catalog(environment), table, at=_version(at), limit=limit)
    if as_json:
        return _as_json(shown)
    columns([shown.columns, *(tuple(map(_cut, row)) for row in shown.rows)])
    print(
        "these are all rows" if shown.complete else f"the first {_several(len(shown.rows), 'row')}; there are more"
    )


@tables.command("diff")
def tables_diff(
    table: Table,
    before: Annotated[str, typer.Argument(help="a snapshot's id, a branch, a tag or a time (UTC)")],
    after: Annotated[str | None, typer.Argument(help="as before; left out, the current version")] = None,
    environment: Environment = "lake",
    as_json: AsJson = False,
) -> None:
    """Say what differs between two versions of a table, in files, rows and columns."""
    from workbench.tables import browse

    difference = browse.difference(_catalog(environment), table, _version(before), _version(after))
    if as_json:
        return _as_json(difference)
    print(f"from {difference.before} to {difference.after}")
    for what, files, rows in (
        ("came", difference.added_files, difference.added_rows),
        ("went", difference.removed_files, difference.removed_rows),
    ):
        print(f"{_several(len(files), 'data file')} {what} with {_several(rows, 'row')}")
    print(
        f"{_several(len(difference.added_deletes), 'delete file')} came, {len(difference.removed_deletes):,} went"
    )
    if difference.has_delete_files:
        print(STILL_COUNTED)
    for what, several in (("came", difference.added_columns), ("went", difference.removed_columns)):
        for column in several:
            print(f"column {what}: {printable(_described(column))}")
    for old, new in difference.changed_columns:
        print(f"column changed: {printable(_described(old))} became {printable(_described(new))}")


def _described(column: "Column") -> str:
    comment = f" ({column.comment})" if column.comment else ""
    return f"{column.name} {column.type}{' required' if column.required else ''}{comment}"


def _catalog(environment: str) -> dict[str, str]:
    from workbench import session

    return session.catalog_properties(environment)


def _version(text: str | None) -> int | str | None:
    """Return a version as it is written on a command line: digits are a snapshot's id."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _columns(several: "Sequence[Column]") -> None:
    lines = [(each.id, each.name, each.type, "required" if each.required else "", each.comment or "")
             for each in several]  # fmt: skip
    columns([("ID", "COLUMN", "TYPE", "", "COMMENT"), *lines])


def _cut(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _several(number: int | None, noun: str) -> str:
    return f"{_count(number)} {noun}{'' if number == 1 else 's'}"


def _time(moment: datetime) -> str:
    from workbench._base import moments

    return moments.written(moment)


def _as_json(value: Any) -> None:
    plain = list(map(asdict, value)) if isinstance(value, tuple) else asdict(value)
    print(json.dumps(plain, indent=1, ensure_ascii=False, default=str))
