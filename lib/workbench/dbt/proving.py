"""Answer each test by the cheapest evidence that is proof.

A fast way may only say *zero failures*. Whatever is not proved to be zero is counted by dbt's own statement.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from workbench._base import worklist
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import SparkSession
from workbench.dbt.duckdbs import DuckDB
from workbench.dbt.outcomes import Evidence, Outcome, judged
from workbench.dbt.planning import Planned
from workbench.dbt.sparks import Spark
from workbench.dbt.states import State, Unreadable

LEDGER = worklist.Form(
    name="ledger of dbt tests",
    user="run of dbt tests",
    table="dbt_passed",
    # of what a test passed for: states of its tables, or one data file; a line of each project is of no engine
    columns={"digest": "TEXT NOT NULL", "states": "TEXT NOT NULL", "engine": "TEXT NOT NULL", "told_by": "TEXT"},
    key=("digest", "states", "engine"),
    outlives_power=False,
)
OF_THE_COMMAND = (
    "it, or a macro that it calls, asks which command dbt runs, so the text that `dbt compile` left is not what "
    "`dbt test` asks; only dbt itself can answer it, as with --replay"
)
_AT_ONCE = 500  # digests in one question to SQLite


@checked
def prove(
    plan: Sequence[Planned],
    tables: Mapping[str, str],
    *,
    engine: Literal["duckdb"] | SparkSession = "duckdb",
    ledger: str | Path | None = None,
    storage: Mapping[str, str] | None = None,
    on_outcome: Callable[[Outcome], object] | None = None,
) -> list[Outcome]:
    """Answer tests on Iceberg tables, each by the cheapest evidence that is proof.

    All tests see the same state of a table: the one that its metadata file names. Evidence, in this order: the
    ledger has the test as passed for the same states, or for each data file; metrics of the data files; a scan of
    the files that are left; as many hashes of a key as rows; dbt's own statement. A test that asks a clock or
    chance has its own statement alone. Only what passed is kept in the ledger, after it was told.

    Args:
        plan: the tests, as `dbt.plan` returns them, of the engine's dialect.
        tables: {name as dbt writes it, such as `"shop"."main"."people"`: location of the metadata file}.
        engine: `duckdb`, or a session whose catalog has the tables by the same names.
        ledger: SQLite file of what passed, made when missing; None keeps nothing.
        storage: properties by which PyIceberg reads the tables' files.
        on_outcome: takes each outcome when it is there.

    Returns:
        One outcome a test, in the same order. A test is an error that raises, or reads a table that is not named,
        cannot be read or moved, or that asks which command dbt runs; the others are answered.

    Raises:
        ArgumentError: a table's metadata is elsewhere than on this machine and the engine is DuckDB; or the ledger
            is another file, or of another project.
    """
    answering = DuckDB() if isinstance(engine, str) else Spark(engine)
    with ExitStack() as stack:
        stack.callback(answering.close)
        states = _states(tables, answering.dialect, storage)
        kept = stack.enter_context(worklist.opened(ledger, LEDGER)) if ledger is not None else None
        run = _Run(states, answering, kept)
        run.look()
        run.recall(plan)
        outcomes = []
        for planned in plan:
            outcomes.append(run.outcome(planned))
            if on_outcome is not None:
                on_outcome(outcomes[-1])
        return outcomes


def _states(
    tables: Mapping[str, str], dialect: str, storage: Mapping[str, str] | None
) -> dict[tuple[str, ...], State]:
    """Return the states by name in lower case, as engines compare names."""
    try:
        from sqlglot import exp
    except ModuleNotFoundError:
        raise MissingPackageError("sqlglot is not installed; install iceberg-workbench[dbt]") from None
    names = {
        tuple(part.name for part in exp.to_table(name, dialect=dialect).parts): location
        for name, location in tables.items()
    }
    for name, location in names.items():
        if dialect == "duckdb" and re.match(r"(?!file:)[a-z][a-z0-9+.-]+:", location):
            raise ArgumentError(
                f"{'.'.join(name)} is in {location.partition(':')[0]}:, and DuckDB is asked about files of this "
                "machine only; compile the project for dbt-spark"
            )
    return {_lower(name): State(name, location, storage) for name, location in names.items()}


def _lower(name: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in name)


class _Run:
    """One run: the states, the engine, and what the ledger knows."""

    def __init__(
        self, states: dict[tuple[str, ...], State], engine: DuckDB | Spark, ledger: worklist.Worklist | None
    ) -> None:
        self.states, self.engine, self.ledger = states, engine, ledger
        self.known: set[tuple[str, str]] = set()
        self.unreadable: dict[tuple[str, ...], str] = {}

    def look(self) -> None:
        """Read the metadata of each table, and note which cannot be read, such as that of one that was dropped."""
        for name, state in [*self.states.items()]:
            try:
                _ = state.text
            except Unreadable as error:
                self.unreadable[name] = str(error)
                del self.states[name]

    def recall(self, plan: Sequence[Planned]) -> None:
        """Read what passed earlier, on the same engine in the same time zone."""
        if self.ledger is None or not plan:
            return
        projects = {planned.test.unique_id.split(".")[1] for planned in plan}
        others = {row["states"] for row in self.ledger.rows(digest=["project"])}
        if others and not others & projects:
            raise ArgumentError(
                f"{self.ledger.path} is the ledger of the project {', '.join(sorted(others))}, and the tests are "
                f"of {', '.join(sorted(projects))}: name a ledger of its own"
            )
        if projects - others:
            lines = [{"digest": "project", "states": name, "engine": ""} for name in sorted(projects - others)]
            self.ledger.put(lines)
            if not others:
                return
        self._look_up({planned.test.digest for planned in plan})
        rest = [planned for planned in plan if not self.knows(planned)]
        self._look_up({*filter(None, map(self.digest, rest))})

    def _look_up(self, asked: set[str]) -> None:
        assert self.ledger is not None
        digests = sorted(asked)
        for start in range(0, len(digests), _AT_ONCE):
            rows = self.ledger.rows(digest=digests[start : start + _AT_ONCE], engine=[self.engine.name])
            self.known |= {(row["digest"], row["states"]) for row in rows}

    def knows(self, planned: Planned) -> bool:
        """Return whether the ledger has a test as passed for the states of its tables."""
        if not planned.steady or any(_lower(name) not in self.states for name in planned.tables):
            return False
        return (planned.test.digest, _key(self.texts(planned))) in self.known

    def texts(self, planned: Planned) -> dict[str, str]:
        """Return the texts of the states that a test reads, by the name of the table."""
        states = [self.states[_lower(name)] for name in planned.tables]
        return {".".join(state.name): state.text for state in states}

    def digest(self, planned: Planned) -> str | None:
        """Return what a test asks of each data file: its text, its columns by field id; else None."""
        state = self.states.get(_lower(planned.tables[0])) if planned.kind in ("rows", "keys") else None
        if state is None:
            return None
        columns = sorted(column.model_dump_json() for column in state.fields(planned.columns))
        return hashlib.sha256("\n".join([planned.test.digest, *columns]).encode()).hexdigest()

    def outcome(self, planned: Planned) -> Outcome:
        """Answer one test."""
        if planned.test.asks_command:
            return Outcome(planned.test, "error", None, OF_THE_COMMAND, "nothing")
        missing = [name for name in planned.tables if _lower(name) not in self.states]
        if missing:
            listed = ", ".join(sorted(".".join(state.name) for state in self.states.values())) or "none"
            unknown = f"{'.'.join(missing[0])} is not among the tables; they are {listed}"
            message = self.unreadable.get(_lower(missing[0]), unknown)
            return Outcome(planned.test, "error", None, message, "nothing")
        states = [self.states[_lower(name)] for name in planned.tables]
        texts = self.texts(planned)
        keeps = planned.steady and bool(states)
        if keeps and self.knows(planned):
            return Outcome(planned.test, "pass", 0, None, "known", texts)
        try:
            zero = self.zero(planned, states)
            if zero is not None:
                outcome = Outcome(planned.test, "pass", 0, None, zero[0], texts, zero[1])
            else:
                outcome = self.counted(planned, states, texts)
        except Unreadable as error:  # manifests that somebody removed during the run
            return Outcome(planned.test, "error", None, str(error), "nothing", texts)
        if keeps and outcome.status == "pass":
            self.keep(planned.test.digest, [_key(texts)], outcome.told_by)
        return outcome

    def zero(self, planned: Planned, states: Sequence[State]) -> tuple[Evidence, int | None] | None:
        """Return the evidence that a test has no failing row, and how many files were read; None without any.

        Where the engine raises, as at a file that was removed meanwhile, dbt's own statement says what is wrong.
        """
        try:
            if planned.kind in ("rows", "keys"):
                return self.zero_of_files(planned, states[0])
            if planned.unique is None or not self.engine.distinct(planned, states[0]):
                return None
            return ("hash", _count(states)) if self.engine.binds(planned, states[0]) else None
        except self.engine.errors:
            return None

    def zero_of_files(self, planned: Planned, state: State) -> tuple[Evidence, int | None] | None:
        """Return the evidence that no data file has a row that fails."""
        files, digest = state.files, self.digest(planned)
        if files is None or digest is None:
            return None
        unknown = [file for file in files if (digest, file.path) not in self.known]
        refuted = state.refuted(planned.fails, unknown)
        unread = [file for file in unknown if file.path not in refuted]
        if not unread:
            evidence: Evidence = "files" if files and not unknown else "metrics"
            return (evidence, 0) if self.engine.binds(planned, state) else None
        if self.engine.failing(planned, state, unread) != 0:
            return None
        self.keep(digest, [file.path for file in unread if self.engine.raw or not file.deletes], "scan")
        return "scan", len(unread)

    def counted(self, planned: Planned, states: Sequence[State], texts: dict[str, str]) -> Outcome:
        """Answer one test by dbt's own statement."""
        shown = states if planned.tables else [*self.states.values()]
        read = _count(states) if planned.tables else None
        try:
            rows = self.engine.rows(planned, shown)
            if len(rows) != 1 or None in rows[0]:
                raise ArgumentError(f"the statement must give one row without NULL, found {rows[:2]}")
        except self.engine.errors as error:
            return Outcome(planned.test, "error", None, str(error), "dbt", texts, read)
        status, failures, message = judged(planned.test, *rows[0])
        return Outcome(planned.test, status, failures, message, "dbt", texts, read)

    def keep(self, digest: str, states: Sequence[str], evidence: str) -> None:
        """Note what passed, after it was told."""
        if self.ledger is not None and states:
            line = {"digest": digest, "engine": self.engine.name, "told_by": evidence}
            self.ledger.put([{**line, "states": text} for text in states])


def _key(texts: Mapping[str, str]) -> str:
    """Return states of tables as the ledger has them."""
    return " ".join(f"{name}={text}" for name, text in sorted(texts.items()))


def _count(states: Sequence[State]) -> int | None:
    """Return how many data files some tables have, None where one's cannot be planned."""
    counts = [None if state.files is None else len(state.files) for state in states]
    return None if None in counts else sum(filter(None, counts))
