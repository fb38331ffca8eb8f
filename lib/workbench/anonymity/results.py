"""What an audit of anonymity returns: counts and places, never a value that identifies somebody."""

from dataclasses import dataclass

from workbench._base.door import checked
from workbench._base.typing import PandasFrame


@dataclass(frozen=True)
class Leak:
    """A place in which values are that identify somebody.

    Attributes:
        table: name of the table.
        place: `rows`, `deleted rows` of files that are still read, `branch …`, `tag …`, `older snapshot …`,
            `delete file`, `bounds`, `partition`, `properties`, `snapshot summary`, `older metadata`, `statistics`,
            `orphan file`.
        column: name of the column, dotted in a struct; None outside of columns.
        kind: which values, by their name in `values`.
        count: how many different values were seen there.
        rows: how many rows have one; None outside of rows.
        file: name of a file that holds them, the first one.
    """

    table: str
    place: str
    column: str | None
    kind: str
    count: int
    rows: int | None
    file: str


@dataclass(frozen=True)
class Leaks:
    """What was found of some values in a table, all that it keeps included.

    Attributes:
        leaks: the places; none where nothing was found.
        unread: files that could not be looked through, with the reason.
        files: how many files were looked through.
        snapshots: how many snapshots hold them.
        values: how many different values were looked for.
    """

    leaks: tuple[Leak, ...]
    unread: tuple[str, ...]
    files: int
    snapshots: int
    values: int

    @property
    def clean(self) -> bool:
        """Say whether nothing was found and everything was looked through."""
        return not self.leaks and not self.unread


@dataclass(frozen=True)
class Finding:
    """What a check found wrong.

    Attributes:
        check: its name, as in `Report.checked`.
        column: which column, or several with commas; None for the table.
        count: how many rows, people, values or months are concerned, as `sentence` says.
        sentence: what is wrong.
    """

    check: str
    column: str | None
    count: int
    sentence: str


@dataclass(frozen=True)
class Report:
    """What the checks of a table found.

    Attributes:
        findings: what is wrong; none where every check passed.
        checked: names of the checks that were made.
        not_checked: names of those that were not, each with what they would need.
        k: people in the smallest class of the quasi-identifiers; None where none are named, or there are no rows.
        l: different values of the sensitive column in the class that has fewest; None likewise.
    """

    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    k: int | None
    l: int | None  # noqa: E741 - the literature's name

    @property
    def passed(self) -> bool:
        """Say whether no check that was made found anything; what was not checked is not said."""
        return not self.findings


@checked
def told(result: Leaks | Report) -> PandasFrame:
    """Return what was found as a pandas DataFrame, to be shown: a row a leak or a finding, no raw value in it."""
    import pandas as pd

    if isinstance(result, Leaks):
        names = ["table", "place", "column", "kind", "count", "rows", "file"]
        rows = [[getattr(leak, name) for name in names] for leak in result.leaks]
        return pd.DataFrame(rows, columns=names).astype({"rows": "Int64"})
    names = ["check", "column", "count", "sentence"]
    return pd.DataFrame([[getattr(finding, name) for name in names] for finding in result.findings], columns=names)
