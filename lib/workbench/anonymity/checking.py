"""Check the rows of a table that is said to be anonymous, alone and against the table that it was made of.

The literature's terms: a *quasi-identifier* is a column by which, with others, people can be told apart (age,
area); a *class* is the people who are the same in all of them; a table is *k*-anonymous where each class has k
people, and *l*-diverse where each class has l values of the sensitive column.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.anonymity import classes, identity, losses, pairs
from workbench.anonymity.pairs import Pair
from workbench.anonymity.results import Report
from workbench.tables import commits

TOKEN = "[0-9a-f]{64}"  # the form of a keyed SHA-256
_OF_BOTH = ("identifiers", "person", "unchanged", "month", "shares")  # arguments that need a source


@checked
def checks(
    spark: SparkSession,
    table: str,
    *,
    source: str | None = None,
    key: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    person: str | None = None,
    token: str | None = None,
    token_form: str = TOKEN,
    children: Mapping[str, str] | None = None,
    unchanged: Sequence[str] = (),
    month: str | None = None,
    shares: Sequence[str] = (),
    tolerance: Annotated[float, Ge(0), Le(1)] = 0.0,
    quasi: Sequence[str] = (),
    k: Annotated[int, Ge(2)] = 5,
    sensitive: str | None = None,
    l: Annotated[int, Ge(2)] = 2,  # noqa: E741 - the literature's name
    most: Mapping[str, float] | None = None,
    first_of_month: Sequence[str] = (),
    areas: Mapping[str, str] | None = None,
    least_people: Annotated[int, Ge(1)] = 20_000,
    least: Annotated[int, Ge(1)] = 5,
) -> Report:
    """Check whether the rows of a table are anonymous, and whether nothing was lost on the way.

    A check is made where what it needs is named; `Report.not_checked` says which were not. What a table keeps of
    the past is not looked at here: that is `leaks`.

    Args:
        spark: session whose catalog holds the tables.
        table: name of the table that is said to be anonymous.
        source: name of the table that it was made of.
        key: columns of both that name a row.
        identifiers: columns of the source that identify a person: mail, phone, insurance number.
        person: column of the source that names a person.
        token: column of the table that stands for a person.
        token_form: regular expression of a whole token.
        children: {name of a table: its column of tokens}, each of which must be in the table.
        unchanged: columns that must have the same rows in both.
        month: column of a date or moment in both, by whose months rows are counted.
        shares: columns of both whose values must have the same shares.
        tolerance: by how much a share may differ, 0 to 1.
        quasi: quasi-identifiers of the table.
        k: people that each class must have; rows where no token is named.
        sensitive: column of the table that nobody should learn of a person.
        l: values of it that each class must have.
        most: {column: its greatest value}, above which values are to be cut off, such as {"age": 90}.
        first_of_month: columns of dates that must be on the first of a month.
        areas: {column: name of a table with that column and `people`}: an area must have `least_people`.
        least_people: see `areas`.
        least: characters of an identifier that is looked for, because shorter ones are everywhere by chance.

    Returns:
        Report; no finding and no sentence holds a value of the tables.

    Raises:
        ValueError: a table or column does not exist, an identifier is too short, or an argument needs another.
    """
    given = {name: value for name, value in locals().items() if name not in ("spark", "table")}
    commits.classic(spark)
    pair = _pair(spark, table, given)
    steps = _plan(pair, given)
    figures = {name: check() for name, (lacking, check) in steps.items() if lacking is None}
    return Report(
        tuple(pair.findings),
        tuple(figures),
        tuple(f"{name} (needs {lacking})" for name, (lacking, _) in steps.items() if lacking is not None),
        figures.get("k"),
        figures.get("l"),
    )


def _pair(spark: SparkSession, table: str, given: Mapping[str, Any]) -> Pair:
    """Return the tables that are compared.

    Raises:
        ValueError: a table or column does not exist, or an argument needs another one.
    """
    source = given["source"]
    pair = Pair(
        spark, table, pairs.read(spark, table), source, None if source is None else pairs.read(spark, source)
    )
    for name in _OF_BOTH:
        if given[name] and source is None:
            raise ArgumentError(f"{name} needs source: the table that {table} was made of")
    if given["sensitive"] and not given["quasi"]:
        raise ArgumentError("sensitive needs quasi: the columns that make a class")
    both = [*given["key"], *given["unchanged"], *_listed(given["month"]), *given["shares"]]
    own = [*_listed(given["token"]), *given["quasi"], *_listed(given["sensitive"]), *(given["most"] or {})]
    pairs.columns(table, pair.table, [*both, *own, *given["first_of_month"], *(given["areas"] or {})])
    pairs.numbers(table, pair.table, given["most"] or {})
    pairs.dates(table, pair.table, [*given["first_of_month"], *_listed(given["month"])])
    if pair.source is not None:
        pairs.columns(source, pair.source, [*both, *given["identifiers"], *_listed(given["person"])])
        pairs.dates(str(source), pair.source, _listed(given["month"]))
    return pair


def _listed(name: str | None) -> list[str]:
    return [name] if name else []


def _plan(pair: Pair, given: Mapping[str, Any]) -> dict[str, tuple[str | None, Callable[[], int | None]]]:
    """Return the checks in their order: {name: (what it lacks or None, the check)}."""

    def lacking(*names: str) -> str | None:
        return None if all(given[name] for name in names) else " and ".join(names)

    return {
        "patterns": (None, lambda: identity.with_patterns(pair)),
        "raw values": (lacking("source", "identifiers"),
                       lambda: identity.with_raw_values(pair, given["identifiers"], given["least"])),
        "digests": (lacking("source", "identifiers"), lambda: identity.with_digests(pair, given["identifiers"])),
        "tokens": (lacking("token"), lambda: identity.token_forms(pair, given["token"], given["token_form"])),
        "one token a person": (lacking("source", "key", "person", "token"), lambda: identity.one_token_a_person(
            pair, given["key"], given["person"], given["token"])),
        "children": (lacking("token", "children"),
                     lambda: identity.unknown_tokens(pair, given["token"], given["children"])),
        "rows by key": (lacking("source", "key"), lambda: losses.by_key(pair, given["key"])),
        "rows by month": (lacking("source", "month"), lambda: losses.by_month(pair, given["month"])),
        "unchanged": (lacking("source", "unchanged"), lambda: losses.unchanged(pair, given["unchanged"])),
        "shares": (lacking("source", "shares"), lambda: losses.shares(pair, given["shares"], given["tolerance"])),
        "k": (lacking("quasi"), lambda: classes.smallest(pair, given["quasi"], given["token"], given["k"])),
        "l": (lacking("quasi", "sensitive"), lambda: classes.least_diverse(
            pair, given["quasi"], given["sensitive"], given["token"], given["l"])),
        "top-coded": (lacking("most"), lambda: classes.above(pair, given["most"])),
        "dates": (lacking("first_of_month"), lambda: classes.days(pair, given["first_of_month"])),
        "areas": (lacking("areas"), lambda: classes.small_areas(pair, given["areas"], given["least_people"])),
    }  # fmt: skip
