"""`workbench access`: who sees what of a table, by a policy file."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli.printing import columns, printable
from workbench_ops.saying import say

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable

    from workbench.access import Policy
    from workbench_ops.access.page.sharing import Shared

access = typer.Typer(help="Say who sees which columns, rows and cells of a table.", no_args_is_help=True)
File = Annotated[str, typer.Argument(metavar="POLICY", help="the policy file, YAML")]
Name = Annotated[str, typer.Argument(metavar="TABLE", help="namespace.name")]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the tables are")]
LONGEST = 60  # characters of a value in columns
MARK = "░░░"  # a hidden cell, for people: which cells are hidden stands in the list beside them


@access.callback()
def policies() -> None:
    """Say who sees which columns, rows and cells of a table."""


@access.command("check")
def access_check(
    policy: File,
    table: Annotated[str | None, typer.Option(help="only this one; left out, all tables of the policy")] = None,
    environment: Environment = "lake",
) -> None:
    """Read a policy and print who sees which column (exit 2 where it is wrong)."""
    from workbench.access import decide, matrix

    judged = _read(policy)
    names = [table] if table is not None else [declared.name for declared in judged.tables.values()]
    for place, name in enumerate(names):
        schema = _load(judged, environment, name).schema()
        shown = matrix(judged, name, schema)
        if place:
            print()
        print(printable(name))
        columns(
            [
                ("COLUMN", *shown),
                *(
                    (column, *(row[column] for row in shown.values()))
                    for column in schema.column_names
                    if "." not in column
                ),
            ]
        )
        for column in decide(judged, next(iter(judged.principals)), name, schema).columns:
            if column.reason not in ("", "no grant"):
                say(f"{printable(column.name)} of {printable(name)}: {printable(column.reason)}")


@access.command("show")
def access_show(
    policy: File,
    table: Name,
    principal: Annotated[str, typer.Option("--as", help="the reader")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="rows at most")] = 20,
    environment: Environment = "lake",
) -> None:
    """Print the rows of a table as a principal sees them, hidden cells marked and listed."""
    from workbench.access import HIDDEN, arrow, decide

    judged = _read(policy)
    loaded = _load(judged, environment, table)
    rows = arrow(loaded, decide(judged, principal, table, loaded.schema()))
    lines = [
        [MARK if name in row[HIDDEN] else _cell(value) for name, value in row.items() if name != HIDDEN]
        + [", ".join(row[HIDDEN])]
        for row in rows.slice(0, limit).to_pylist()
    ]
    columns([rows.column_names, *lines])
    rest = rows.num_rows - limit
    print(f"the first {limit:,} rows; there are {rest:,} more" if rest > 0 else "these are all visible rows")


@access.command("export")
def access_export(
    policy: File,
    to: Annotated[Literal["lake-formation", "trino"], typer.Option(help="whose words")],
    account: Annotated[str | None, typer.Option(help="AWS account of the Glue catalog, 12 digits")] = None,
    catalog: Annotated[
        str | None, typer.Option(help="Trino's name of the catalog; left out, the policy's")
    ] = None,
    environment: Environment = "lake",
) -> None:
    """Print a policy as calls of AWS Lake Formation or as rules of Trino, as JSON; nothing is sent."""
    from workbench.access import export

    judged = _read(policy)
    tables = {declared.name: _load(judged, environment, declared.name) for declared in judged.tables.values()}
    document: Any
    if to == "lake-formation":
        if account is None:
            raise ArgumentError("--account is missing, the AWS account of the Glue catalog: 12 digits")
        document = list(map(asdict, export.lake_formation(judged, tables, account=account)))
        say("not sent, and not tried on an account; IAMAllowedPrincipals must have lost its grants first")
    else:
        if (name := catalog or judged.catalog) is None:
            raise ArgumentError("--catalog is missing, Trino's name of the catalog; the policy has none either")
        document = export.trino(judged, tables, catalog=name)
        for sentence in export.TOLD:
            say(sentence)
    print(json.dumps(document, indent=1, ensure_ascii=False))


@access.command("bind")
def access_bind(policy: File, table: Name, environment: Environment = "lake") -> None:
    """Write the field ids of tagged columns into a policy file (exit 1 where columns are hidden still)."""
    from workbench.access import bind

    loaded = _load(_read(policy), environment, table)
    binding = bind(policy, table, loaded)
    for label, field_id in binding.bound.items():
        print(f"bound: {printable(label)}, field {field_id}")
    for label, name in binding.renamed.items():
        print(f"renamed: {printable(label)} of the policy is {printable(name)} now, and stays what it was")
    hidden: Mapping[str, Sequence[str]] = {
        "not tagged, hidden from everybody": binding.untagged,
        "another column has the name of one that is bound": binding.replaced,
        "has new fields inside it, hidden until id and fields are taken out and it is bound anew": binding.grown,
    }
    for reason, labels in hidden.items():
        for label in labels:
            print(f"{reason}: {printable(label)}")
    for label in binding.gone:
        print(f"gone: {printable(label)} is in the policy and not in the table")
    raise typer.Exit(int(any(hidden.values())))


@access.command("serve")
def access_serve(
    policy: File,
    users: Annotated[
        str, typer.Option(help="file of those who may log in; `workbench access user add` writes it")
    ],
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port on 127.0.0.1")] = 8765,
    behind_https: Annotated[
        str | None,
        typer.Option(
            help="address of the page in browsers, https://…, where a proxy on this machine ends TLS before it"
        ),
    ] = None,
    environment: Environment = "lake",
) -> None:
    """Serve a page and its GraphQL to people who hold no keys, until ended; only on this machine."""
    import logging

    from workbench_ops.access.page import serving

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    for noisy in ("pyiceberg", "botocore", "urllib3", "fsspec"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    shared = _shared(policy, users, environment)
    say(f"serving http://127.0.0.1:{port}; whoever can read the files of the tables reads all: see docs/access.md")
    serving.run(shared, port=port, behind=behind_https)


Key = Annotated[str, typer.Option(help="file of the key that signs tokens, of mode 600")]
FrontPort = Annotated[int, typer.Option(min=1, max=65535, help="TCP port of the front on 127.0.0.1")]


@access.command("serve-front")
def access_serve_front(
    policy: File,
    key: Key,
    port: FrontPort = 15002,
    environment: Environment = "lake",
) -> None:
    """Serve tables to PySpark's own client of people who hold no keys, until ended; only on this machine."""
    import logging

    from workbench_ops import front
    from workbench_standins import by_hand

    _read(policy)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    sharing = front.share(policy, key=key, environment=environment, port=port)
    with by_hand.interrupted() as ended, sharing as running:
        say(f"a front before Spark Connect on sc://localhost:{running.port}, catalog {running.catalog}")
        say(f"reader  workbench access token {next(iter(running.users))} --key {key} --port {running.port}")
        say("whoever can read the files of the tables reads all: see docs/access.md; Ctrl-C ends it")
        ended.wait()


@access.command("serve-trino")
def access_serve_trino(
    policy: File,
    folder: Annotated[
        str, typer.Option(help="folder of the server's files, made when missing; who reads it can issue tokens")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0: a free one")] = 8443,
    environment: Environment = "lake",
) -> None:
    """Serve tables to clients of Trino of people who hold no keys, until ended; only on this machine."""
    import logging

    from workbench.access import export
    from workbench_ops.access import engine
    from workbench_standins import by_hand

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("pyiceberg").setLevel(logging.WARNING)
    principals = _read(policy).principals
    sharing = engine.share(policy, environment=environment, folder=folder, port=port)
    with by_hand.interrupted() as ended, sharing as server:
        say(f"Trino on https://127.0.0.1:{server.port}; its certificate is {server.certificate}")
        say(f"reader  workbench access trino-token {next(iter(principals), 'NAME')} --folder {folder}")
        for sentence in export.TOLD[-1:]:
            say(sentence)
        say("whoever can read the files of the tables reads all: see docs/access.md; Ctrl-C ends it")
        ended.wait()


@access.command("trino-token")
def access_trino_token(
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="the reader, as the policy names it")],
    folder: Annotated[str, typer.Option(help="folder of the server's files")],
) -> None:
    """Print a token of 15 minutes for a reader of the Trino that serves from a folder: a secret."""
    from workbench_standins import trino

    print(trino.Server(0, Path(folder)).token(principal))


@access.command("token")
def access_token(
    principal: Annotated[str, typer.Argument(metavar="PRINCIPAL", help="the reader, as the policy names it")],
    key: Key,
    port: FrontPort = 15002,
) -> None:
    """Print the address for a reader's SparkSession.builder.remote, with a token of 15 minutes: a secret."""
    from workbench_ops.front import tokens

    print(f"sc://localhost:{port}/;token={tokens.issue(tokens.read_key(key), principal)}")


@access.command("keys")
def access_keys(
    policy: File,
    table: Name,
    principal: Annotated[str, typer.Option("--as", help="the reader")],
    to: Annotated[str, typer.Option(help="file that is made with mode 600 for the keys, a secret")],
    role: Annotated[
        str | None,
        typer.Option(help="ARN of the role that is assumed; left out, that of the server on this machine"),
    ] = None,
    sts_endpoint: Annotated[
        str | None, typer.Option(help="address of the STS; left out, that of the S3 server, or AWS's")
    ] = None,
    seconds: Annotated[int, typer.Option(min=900, max=3600, help="how long the keys are good")] = 900,
    environment: Environment = "lake",
) -> None:
    """Write short-lived keys of a table's files for a principal who may read all of it (exit 1 where not)."""
    from workbench import access, session
    from workbench_ops.front import tokens

    judged = _read(policy)
    if Path(to).exists():
        raise ArgumentError(f"the file {to} is there already")
    server = session.stand_in(environment)
    if (role := role or getattr(server, "role", None)) is None:
        raise ArgumentError(
            "--role is missing: the ARN of a role that may read the tables, and only the owner assume"
        )
    properties = session.catalog_properties(environment)
    try:
        keys = access.keys(
            judged, principal, table, catalog=session.catalog(environment), s3=session.s3_client(environment),
            sts=access.sts_client(properties, endpoint=sts_endpoint), role=role, seconds=seconds,
        )  # fmt: skip
    except (access.NothingVisible, access.NoKeys) as error:
        say(str(error))
        if isinstance(error, access.NoKeys):
            say(f"for the owner alone: {error.reason}")
        raise typer.Exit(1) from None
    content = {
        "table": keys.table, "metadata_location": keys.metadata_location, "expires": keys.expires.isoformat(),
        "properties": keys.properties(),
    }  # fmt: skip
    tokens.write_secret(to, json.dumps(content, indent=1).encode())
    say(f"keys of {printable(keys.location)} until {keys.expires:%H:%M:%S} UTC are in {to}, which is a secret")


def _shared(policy: str, users: str, environment: str) -> "Shared":
    """Return what is shared, once the policy, the users and the catalog are found to be right."""
    from workbench import session
    from workbench_ops.access.page import users as people
    from workbench_ops.access.page.sharing import Shared

    principals = _read(policy).principals
    for user in people.read(Path(users)).values():
        if user.principal not in principals:
            raise ArgumentError(
                f"{user.name} of {users} reads as {user.principal}, which is not a principal of {policy}; "
                f"principals are {', '.join(principals)}"
            )
    session.catalog(environment)
    return Shared(Path(policy).resolve(), Path(users).resolve(), lambda: session.catalog(environment))


user = typer.Typer(help="Say who may log in to the page.", no_args_is_help=True)
access.add_typer(user, name="user")
Users = Annotated[str, typer.Argument(metavar="USERS", help="the file, made with mode 600")]
Login = Annotated[str, typer.Argument(metavar="NAME", help="what is typed to log in")]


@user.command("add")
def user_add(
    users: Users, name: Login, principal: Annotated[str, typer.Option(help="reader of the policy")]
) -> None:
    """Add a user, or give one another password: asked for twice, or read from standard input."""
    from workbench_ops.access.page import users as people

    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    people.add(Path(users), name, principal=principal, password=password)
    print(f"{printable(name)} may log in and reads as {printable(principal)}")


@user.command("remove")
def user_remove(users: Users, name: Login) -> None:
    """Take a user out; sessions of that user end with their next request."""
    from workbench_ops.access.page import users as people

    people.remove(Path(users), name)
    print(f"{printable(name)} may not log in any more")


@user.command("list")
def user_list(users: Users) -> None:
    """List those who may log in."""
    from workbench_ops.access.page import users as people

    columns([("NAME", "READS AS"), *((each.name, each.principal) for each in people.read(Path(users)).values())])


def _read(path: str) -> "Policy":
    from workbench.access import read

    return read(path)


def _load(policy: "Policy", environment: str, table: str) -> "IcebergTable":
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    from workbench import session

    try:
        return session.catalog(environment).load_table(policy.key(table))
    except (NoSuchTableError, NoSuchNamespaceError):
        raise ArgumentError(f"there is no table {table} in the environment {environment}") from None


def _cell(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
