"""Answer each test by the cheapest evidence that is proof.

A fast way may only say *zero failures*. Whatever is not proved to be zero is counted by dbt's own statement.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from workbench._base import worklist
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.dbt.outcomes import Outcome, judged
from workbench.dbt.planning import Planned
from workbench.dbt.states import State, connected, shown

LEDGER = worklist.Form(
    name="ledger of dbt tests",
    user="run of dbt tests",
    table="dbt_passed",
    columns={"digest": "TEXT NOT NULL", "states": "TEXT NOT NULL", "engine": "TEXT NOT NULL", "told_by": "TEXT"},
    key=("digest", "states", "engine"),
    outlives_power=False,
)
_AT_ONCE = 500  # digests in one question to SQLite


@checked
def prove(
    plan: Sequence[Planned], tables: Mapping[str, str], *, ledger: str | Path | None = None
) -> list[Outcome]:
    """Answer tests on Iceberg tables, each by the cheapest evidence that is proof.

    All tests see the same state of a table: the one that its metadata file names. Evidence, in this order: the
    ledger has the test as passed for the same states (not where it asks a clock or chance); metrics of the data
    files; dbt's own statement in DuckDB. Only what passed is kept in the ledger, after it was told.

    Args:
        plan: the tests, as `dbt.plan` returns them.
        tables: {name as dbt writes it, such as `"shop"."main"."people"`: location of the metadata file}.
        ledger: SQLite file of what passed, made when missing; None keeps nothing.

    Returns:
        One outcome a test, in the same order. A test that reads a table that is not named, or that raises, is an
        error; the others are answered.

    Raises:
        ArgumentError: a table's metadata cannot be read, or the ledger is another file.
    """
    states = _states(tables)
    with ExitStack() as stack:
        kept = stack.enter_context(worklist.opened(ledger, LEDGER)) if ledger is not None else None
        run = _Run(states, kept)
        stack.callback(run.close)
        run.recall({planned.test.digest for planned in plan})
        return [run.outcome(planned) for planned in plan]


def _states(tables: Mapping[str, str]) -> dict[tuple[str, ...], State]:
    """Return the states by name in lower case, as DuckDB compares names."""
    try:
        from sqlglot import exp
    except ModuleNotFoundError:
        raise MissingPackageError("sqlglot is not installed; install iceberg-workbench[dbt]") from None
    names = {
        tuple(part.name for part in exp.to_table(name, dialect="duckdb").parts): location
        for name, location in tables.items()
    }
    return {_lower(name): State(name, location) for name, location in names.items()}


def _lower(name: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in name)


class _Run:
    """One run: the states, what the ledger knows, and a connection that is opened when first needed."""

    def __init__(self, states: dict[tuple[str, ...], State], ledger: worklist.Worklist | None) -> None:
        self.states, self.ledger = states, ledger
        self.connection: Any = None
        self.views: set[tuple[str, ...]] = set()
        self.known: set[tuple[str, str]] = set()
        self.engine = ""

    def close(self) -> None:
        """Close the connection, if one was opened."""
        if self.connection is not None:
            self.connection.close()

    def recall(self, digests: set[str]) -> None:
        """Read what passed earlier, on the same engine in the same time zone."""
        if self.ledger is None or not digests:
            return
        import duckdb

        with duckdb.connect(":memory:") as connection:
            zone = connection.execute("SELECT current_setting('TimeZone')").fetchall()[0][0]
        self.engine = f"duckdb {duckdb.__version__} {zone}"
        ordered = sorted(digests)
        for start in range(0, len(ordered), _AT_ONCE):
            rows = self.ledger.rows(digest=ordered[start : start + _AT_ONCE], engine=[self.engine])
            self.known |= {(row["digest"], row["states"]) for row in rows}

    def outcome(self, planned: Planned) -> Outcome:
        """Answer one test."""
        missing = [name for name in planned.tables if _lower(name) not in self.states]
        if missing:
            listed = ", ".join(sorted(".".join(state.name) for state in self.states.values())) or "none"
            message = f"{'.'.join(missing[0])} is not among the tables; they are {listed}"
            return Outcome(planned.test, "error", None, message, "nothing")
        states = [self.states[_lower(name)] for name in planned.tables]
        texts = {".".join(state.name): state.text for state in states}
        key = (planned.test.digest, " ".join(f"{name}={text}" for name, text in sorted(texts.items())))
        if planned.steady and states and key in self.known:
            return Outcome(planned.test, "pass", 0, None, "known", texts)
        if planned.null_column and _passes_at_zero(planned) and states[0].is_free_of_null(planned.null_column):
            outcome = Outcome(planned.test, "pass", 0, None, "metrics", texts)
        else:
            outcome = self.counted(planned, states, texts)
        if self.ledger is not None and outcome.status == "pass" and planned.steady and states:
            row = {"digest": key[0], "states": key[1], "engine": self.engine, "told_by": outcome.told_by}
            self.ledger.put([row])
        return outcome

    def counted(self, planned: Planned, states: list[State], texts: dict[str, str]) -> Outcome:
        """Answer one test by dbt's own statement."""
        import duckdb

        self.connection = self.connection or connected()
        try:
            for state in states if planned.tables else self.states.values():
                if state.name not in self.views:
                    shown(self.connection, state)
                    self.views.add(state.name)
            rows = self.connection.execute(planned.test.statement).fetchall()
            if len(rows) != 1 or None in rows[0]:
                raise ArgumentError(f"the statement must give one row without NULL, found {rows[:2]}")
        except (duckdb.Error, ArgumentError) as error:
            return Outcome(planned.test, "error", None, str(error), "dbt", texts)
        status, failures, message = judged(planned.test, *rows[0])
        return Outcome(planned.test, status, failures, message, "dbt", texts)


def _passes_at_zero(planned: Planned) -> bool:
    """Return whether no failures are a pass, which `warn_if` and `error_if` can say otherwise."""
    conditions = (planned.test.warn_if, planned.test.error_if)
    return all(re.fullmatch(r"(!=|<>) *0|> *\d+", condition.strip()) for condition in conditions)
