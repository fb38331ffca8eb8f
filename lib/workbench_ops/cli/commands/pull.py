"""`workbench pull`: a service into a table, which then equals it; prints what changed as JSON.

A line a day goes to standard error. Exit codes: 0 pulled, or nothing was new · 1 stopped by what was answered (bad
values, another writer, too many rows gone), or days are missing because the service stopped early · 2 refused.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench._base import identifiers, secrets
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_ops.cli import given
from workbench_ops.saying import on_stderr, say

if TYPE_CHECKING:
    from workbench.pulls import Pull

pull = typer.Typer(help="Pull a service that changes its mind into a table.", no_args_is_help=True)

Table = Annotated[str, typer.Argument(help="namespace.name of a table that exists")]
File = Annotated[str, typer.Argument(help="Python file with the function that asks the service")]
Source = Annotated[str, typer.Option(help="name of the source, kept in the table")]
Ask = Annotated[str, typer.Option(metavar="NAME", help="function of the file")]
Day = Annotated[str, typer.Option(metavar="COLUMN", help="column of the day")]
Key = Annotated[list[str], typer.Option(metavar="COLUMN", help="tells rows apart; may be repeated")]
KeyOfDay = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="tells rows of a day apart; may be repeated, none where a day has one row"
    ),
]
First = Annotated[str, typer.Option(metavar="DATE", help="first day of all, ISO")]
Until = Annotated[str, typer.Option(metavar="DATE", help="last day, ISO, or yesterday (UTC)")]
Settled = Annotated[int, typer.Option(min=0, max=1000, help="days after a day in which its figures may change")]
Dead = Annotated[str | None, typer.Option(metavar="TABLE", help="table of cells that cannot become rows")]
Environment = Annotated[str, typer.Option(help="file in params/environments: where the table is")]
Credentials = Annotated[
    str, typer.Option(metavar="REFERENCE", help="service account's JSON key: env:NAME or ssm:/path")
]
Endpoint = Annotated[str | None, typer.Option(help="address of a service other than Google's own")]
Removed = Annotated[float, typer.Option(min=0, max=1, help="share of the rows that may vanish at once")]
Columns = Annotated[
    list[str], typer.Option("--column", metavar="HEADER=TYPE", help="text, integer, decimal, date, …")
]
Dimensions = Annotated[
    list[str], typer.Option("--dimension", metavar="COLUMN=NAME", help="dimension of the report")
]
Metrics = Annotated[list[str], typer.Option(metavar="COLUMN=NAME", help="metric of the report")]


@pull.command()
def run(
    file: File,
    table: Table,
    source: Source,
    day: Day,
    first: First,
    settled_days: Settled,
    key: KeyOfDay = None,
    until: Until = "yesterday",
    ask: Ask = "ask",
    dead_letters: Dead = None,
    environment: Environment = "lake",
) -> None:
    """Pull by a function of the first and the last day."""
    from workbench import pulls, session
    from workbench.pulls import judging

    _refuse_names(table, source)
    key = key or []
    judging.refuse_names(key, day, dead_letters)
    days = _days(first, until)
    function = _function(file, ask, 2)
    spark = session.start(environment)
    _print(lambda: pulls.run(
        spark, table, source=source, ask=function, day=day, key=key, settled_days=settled_days,
        dead_letters=dead_letters, **days,
    ))  # fmt: skip


@pull.command()
def whole(
    file: File,
    table: Table,
    source: Source,
    key: Key,
    ask: Ask = "ask",
    most_removed: Removed = 0.2,
    dead_letters: Dead = None,
    environment: Environment = "lake",
) -> None:
    """Pull all that a service has, by a function without arguments."""
    from workbench import pulls, session
    from workbench.pulls import judging

    _refuse_names(table, source)
    judging.refuse_names(key, None, dead_letters)
    function = _function(file, ask, 0)
    spark = session.start(environment)
    _print(lambda: pulls.whole(
        spark, table, source=source, ask=function, key=key, most_removed=most_removed, dead_letters=dead_letters
    ))  # fmt: skip


@pull.command()
def analytics(
    table: Table,
    property: Annotated[str, typer.Option(help="number of the property of Google Analytics 4")],
    credentials: Credentials,
    dimension: Dimensions,
    metric: Metrics,
    first: First,
    settled_days: Settled,
    until: Until = "yesterday",
    refuse: Annotated[list[str] | None, typer.Option(help="thresholded, sampled, other; may be repeated")] = None,
    endpoint: Endpoint = None,
    environment: Environment = "lake",
) -> None:
    """Pull a report of Google Analytics 4; its key are the dimensions without the date."""
    from workbench import pulls, session
    from workbench.pulls import analytics as reports

    _refuse_names(table, endpoint=endpoint)
    dimensions, days = given.pairs("--dimension", dimension, form="COLUMN=NAME", filled=True), _days(first, until)
    by_day = [column for column, name in dimensions.items() if name == reports.DAY]
    if not by_day:
        raise ArgumentError(f"no --dimension is COLUMN={reports.DAY}, by which days are told apart")
    key = [column for column in dimensions if column not in by_day]
    doubts: Any = refuse or ["other"]  # judged by the function
    function = reports.report(
        _client(credentials, reports.SCOPE, endpoint), property, dimensions=dimensions,
        metrics=given.pairs("--metric", metric, form="COLUMN=NAME", filled=True), refuse=doubts,
    )  # fmt: skip
    spark = session.start(environment)
    _print(lambda: pulls.run(
        spark, table, source=f"properties/{property}", ask=function, day=by_day[0], key=key,
        settled_days=settled_days, **days,
    ))  # fmt: skip


@pull.command()
def sheet(
    table: Table,
    book: Annotated[str, typer.Option(help="id of the spreadsheet")],
    tab: Annotated[str, typer.Option(help="title of the tab")],
    credentials: Credentials,
    column: Columns,
    key: Key,
    most_removed: Removed = 0.2,
    dead_letters: Dead = None,
    endpoint: Endpoint = None,
    environment: Environment = "lake",
) -> None:
    """Pull a tab of Google Sheets; the columns of the key must be filled in."""
    from workbench import pulls, session
    from workbench.pulls import judging, sheets

    _refuse_names(table, endpoint=endpoint)
    judging.refuse_names(key, None, dead_letters)
    columns: Mapping[str, Any] = given.pairs("--column", column, form="HEADER=TYPE", filled=True)
    account = _account(credentials, sheets.SCOPE)
    from google.auth.transport import requests

    authorized: Any = requests.AuthorizedSession  # without types
    function = sheets.tab(
        authorized(account), book, tab, columns, required=key, endpoint=endpoint or sheets.ENDPOINT
    )
    spark = session.start(environment)
    _print(lambda: pulls.whole(
        spark, table, source=f"spreadsheets/{book}/{tab}", ask=function, key=key, most_removed=most_removed,
        dead_letters=dead_letters,
    ))  # fmt: skip


@pull.command()
def lateness(
    table: Table,
    source: Annotated[str, typer.Argument(help="name of the source")],
    environment: Environment = "lake",
) -> None:
    """Say how old figures were when they changed, and whether the settled days suffice."""
    from workbench import pulls, session

    _refuse_names(table, source)
    late = pulls.lateness(session.start(environment), table, source)
    print(json.dumps(asdict(late)))
    on_stderr(late.sentence)


def _print(work: "Callable[[], Pull]") -> None:
    """Print what a pull did; a line a day as they are known."""
    pulled = work()
    for day in pulled.days:
        on_stderr(f"{day.day}  {day.added:,} added, {day.changed:,} changed, {day.removed:,} removed")
    print(json.dumps(asdict(pulled), default=str), flush=True)
    if pulled.stopped:
        say(f"the last days are missing: {pulled.stopped}")
        raise typer.Exit(1)


def _refuse_names(table: str, source: str | None = None, endpoint: str | None = None) -> None:
    """Refuse what cannot be the name of a table or a source, or an address, before a session starts."""
    identifiers.parts(table)
    if source is not None and not source.strip():
        raise ArgumentError(f"source must be a name, found {source!r}")
    if endpoint is not None and not endpoint.strip():  # else Google's own would be asked
        raise ArgumentError(f"--endpoint must be an address, found {endpoint!r}; leave it out for Google's own")


def _function(file: str, name: str, count: int) -> Any:
    """Return a function of a file that takes so many arguments."""
    from workbench.pulls import judging

    function = given.functions(file, [name])[name]
    judging.refuse_function(function, count)
    return function


def _days(first: str, until: str) -> dict[str, Any]:
    from workbench.pulls import judging

    yesterday = datetime.now(UTC).date() - timedelta(1)
    days = {
        "first": _date("--first", first),
        "until": yesterday if until == "yesterday" else _date("--until", until),
    }
    judging.refuse_days(**days)
    return days


def _date(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentError(f"{option} must be a date such as 2026-01-31, found {text!r}") from None


def _account(reference: str, scope: str) -> Any:
    """Return the credentials of a service account, whose key a reference stands for; nothing of it is shown."""
    if not secrets.REFERENCE.fullmatch(reference):
        raise ArgumentError(
            "--credentials must be a reference, env:NAME or ssm:/path: a key never stands in a command"
        )
    text = secrets.resolve(reference)
    try:
        from google.oauth2 import service_account
    except ImportError:
        raise MissingPackageError(
            "google-auth is not installed: pip install 'iceberg-workbench[saas]'", name="google.auth"
        ) from None
    credentials: Any = service_account.Credentials  # without types
    try:
        return credentials.from_service_account_info(json.loads(text), scopes=[scope])
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError(f"{reference} is not the JSON key of a service account") from None


def _client(reference: str, scope: str, endpoint: str | None) -> Any:
    account = _account(reference, scope)
    from google.analytics.data_v1beta import BetaAnalyticsDataClient

    options = {"api_endpoint": endpoint} if endpoint else None
    return BetaAnalyticsDataClient(credentials=account, transport="rest", client_options=options)
