"""Prove by two worlds that a route tells nothing of what is hidden: the prover, and routes of a session."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import DataFrame, Judged
from workbench.access.probes import PROBES, Probe

Route: TypeAlias = Callable[[Probe, str], Any]
_CLOCK = re.compile(r"\d+(\.\d+)?\s*(ms|s)\b")


@dataclass(frozen=True)
class Leak:
    """A probe by which a route tells two worlds apart. What it told is not kept."""

    route: str
    probe: str


@dataclass(frozen=True)
class Proof:
    """What probes learned.

    Attributes:
        probes: how many were asked of each route.
        leaks: probes that told the worlds apart.
        undecided: probes whose answers differ between twins or between two times, so that they prove nothing.
        answered: route to how many probes it answered in the first world; the others it refused.
    """

    probes: int
    leaks: tuple[Leak, ...]
    undecided: tuple[Leak, ...]
    answered: Mapping[str, int]

    @property
    def clean(self) -> bool:
        """Whether no probe told the worlds apart."""
        return not self.leaks


@checked
def leaks(
    routes: Judged[Mapping[str, Route]],
    *,
    first: str,
    second: str,
    twin: str,
    probes: Judged[Sequence[Probe]] = PROBES,
) -> Proof:
    """Ask probes of routes, over two worlds that differ only in what the reader may not see.

    A probe leaks where the worlds answer differently and the twins alike, and so a second time. An answer is what
    a route returns, or the refusal that it raises, the table's own name taken out of it: a reader sees both.

    Args:
        routes: name to a function that answers a probe over a table as the reader gets it answered, or raises.
        first: name of the table of the first world.
        second: name of the table of the second world; `worlds.rows` has rows for both.
        twin: name of a table with the rows of the first.
        probes: what is asked.

    Returns:
        Proof.

    Raises:
        ArgumentError: two of the tables are the same, or no probe is answered by a route: then nothing is proved.
        ConnectionError: a route raises it: nobody was there to answer, which is not a refusal and proves nothing.
    """
    if len({first, second, twin}) < 3:
        raise ArgumentError(f"first, second and twin are three tables, found {first}, {second} and {twin}")
    leaking, undecided, answered = [], [], {}
    for name, route in routes.items():
        answered[name] = 0
        for probe in probes:
            refused, in_first = _answer(route, probe, first)
            answered[name] += not refused
            in_second, in_twin = _answer(route, probe, second)[1], _answer(route, probe, twin)[1]
            steady = in_first == in_twin
            if steady and in_first != in_second:  # asked again: times and orders differ by chance
                steady = _answer(route, probe, first)[1] == in_first
                steady &= _answer(route, probe, second)[1] == in_second
            if not steady:
                undecided.append(Leak(name, probe.name))
            elif in_first != in_second:
                leaking.append(Leak(name, probe.name))
        if not answered[name]:
            raise ArgumentError(f"the route {name} answers none of {len(probes)} probes, which proves nothing")
    return Proof(len(probes), tuple(leaking), tuple(undecided), answered)


def _answer(route: Route, probe: Probe, table: str) -> tuple[bool, str]:
    """Return whether a route refuses a probe, and what the reader gets, as a text without the table's own name."""
    try:
        refused, answer = False, route(probe, table)
    except ConnectionError:
        raise
    except Exception as error:  # of whatever engine: a refusal is an answer, which may tell something too
        refused, answer = True, f"{type(error).__name__}: {error}"
    answer = _plain(answer)  # not above: an error of ours is no refusal, it would be the same of both worlds
    own = identifiers.parts(table)[-1]
    return refused, _CLOCK.sub("TIME", re.sub(re.escape(own), "TABLE", str(answer), flags=re.IGNORECASE))


def _plain(value: Any) -> Any:
    """Return an answer as plain values, rows in their order."""
    kind = type(value)  # a row of Trino's client says that it has each attribute
    if hasattr(kind, "to_pylist"):
        value = value.to_pylist()
    if hasattr(kind, "asDict"):
        value = value.asDict(recursive=True)
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    return value.isoformat() if isinstance(value, datetime.date) else value


def by_statement(ask: Callable[[str], Any], *, quoted: Callable[[str], str] = str) -> Route:
    """Return the route of somebody who sends statements.

    Args:
        ask: takes a statement and returns its rows.
        quoted: makes of a table's name what stands in the statement.
    """
    return lambda probe, table: ask(probe.statement.replace("{table}", quoted(table)))


def by_frame(frame: Callable[[str], DataFrame]) -> Route:
    """Return the route of somebody who was given a DataFrame of each table, and asks it.

    Args:
        frame: takes a table's name and returns the DataFrame that the reader was given.
    """

    def route(probe: Probe, table: str) -> Any:
        if not probe.select:
            raise ArgumentError("only statements ask this")
        rows = frame(table)
        rows = rows.where(probe.where) if probe.where else rows
        if not probe.order:
            return rows.selectExpr(*probe.select).collect()
        from pyspark.sql import functions as F

        orders = [
            F.expr(order.removesuffix(" DESC")).desc() if order.endswith(" DESC") else F.expr(order)
            for order in probe.order.split(", ")
        ]
        return rows.orderBy(*orders).selectExpr(*probe.select).collect()

    return route
