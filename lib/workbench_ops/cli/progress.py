"""The progress of runs: lines kept up to date on a terminal, plain ones elsewhere, and the verdicts."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench_ops.cli.printing import from_here
from workbench_ops.saying import on_stderr

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

if TYPE_CHECKING:  # at run time only a run loads what a record needs
    from workbench_ops.run.record import Record

REFRESHES_A_SECOND = 2


@dataclass
class Running:
    """A run under way, as its line shows it; `begin` is of time.monotonic."""

    name: str
    usual_seconds: float | None = None
    begin: float = field(default_factory=time.monotonic)
    cell: str = "starting"
    heading: str = ""


@dataclass
class Several:
    """Runs that belong together: how many at once, name to usual seconds, and the verdicts so far."""

    at_once: int
    usual_seconds: Mapping[str, float | None]
    verdicts: dict[str, str] = field(default_factory=dict)


@contextmanager
def shown(several: Several | None = None) -> Iterator[Callable[..., None]]:
    """Show the progress of runs on standard error.

    On a terminal each run under way has a line, cut where it is too long, and verdicts scroll by above.
    Elsewhere there are plain lines only: one when a run of several starts, and its verdict.

    Args:
        several: what is known about all of them; None for a single run.

    Yields:
        Function that takes a run's name and its events, as `batch.run` tells them.
    """
    from rich.console import Console
    from rich.live import Live

    terminal = sys.stderr.isatty()
    console = Console(stderr=True, highlight=False, markup=False, emoji=False, force_terminal=terminal)
    if not terminal or console.is_dumb_terminal:
        yield lambda name, event, **facts: _plain(several, name, event, facts)
        return
    running: dict[str, Running] = {}
    moving = Live(
        console=console, get_renderable=lambda: _cut(lines(list(running.values()), several, time.monotonic())),
        refresh_per_second=REFRESHES_A_SECOND, transient=True,
    )  # fmt: skip
    with moving:
        yield lambda name, event, **facts: _updated(moving, running, several, name, event, facts)


def named(name: str, tell: Callable[..., None]) -> Callable[..., None]:
    """Return the function that a single run reports its events to: `tell` without the name."""
    return lambda event, **facts: tell(name, event, **facts)


def lines(running: list[Running], several: Several | None, now: float) -> list[str]:
    """Return the lines of the runs under way, one each, and one for all of several.

    Args:
        running: in the order of their lines.
        several: as for `shown`.
        now: of time.monotonic.
    """
    width = max((len(run.name) for run in running), default=0)
    shown = [
        "  ".join(
            part
            for part in (
                run.name.ljust(width), run.cell, f"{now - run.begin:.0f} s", _rest(run, now), run.heading,
            )
            if part
        )
        for run in running
    ]  # fmt: skip
    return shown + ([_whole(running, several, now)] if several else [])


def verdict(record: "Record") -> str:
    """Return how a run ended, in lines: its verdict, the failing cell, where the report is."""
    from workbench_ops.run import record as records

    text = f"{record.notebook}  {record.status}  {record.seconds:.1f} s"
    if record.reason:
        text += f"  {record.reason}"
    if cell := record.failing_cell:
        where = cell.line or cell.first_line
        text += f"\n  cell {cell.number}: {where}\n  {cell.error}: {cell.message.strip()[:500]}"
    if record.kept_lake:
        text += f"\n  the throw-away lake is kept: {from_here(record.kept_lake)}"
    page = records.folder(record) / "report.html"
    return f"{text}\n  {from_here(page)}" if page.is_file() else text


def _rest(run: Running, now: float) -> str:
    """Say how long a run may still take, empty where that is not known."""
    if run.usual_seconds is None:
        return ""
    rest = run.usual_seconds - (now - run.begin)
    return f"{_about(rest)} left" if rest > 0 else f"longer than the usual {run.usual_seconds:.0f} s"


def _whole(running: list[Running], several: Several, now: float) -> str:
    """Return how far several runs are; the time left is that of all, shared out, at least the longest one's."""
    count, verdicts = len(several.usual_seconds), list(several.verdicts.values())
    text = f"{len(verdicts)} of {count} have ended"
    if wrong := len(verdicts) - verdicts.count("passed"):
        text += f", {wrong} without passing"
    so_far = {run.name: now - run.begin for run in running}
    open_runs = {name: usual for name, usual in several.usual_seconds.items() if name not in several.verdicts}
    rests = [max(usual - so_far.get(name, 0), 0) for name, usual in open_runs.items() if usual is not None]
    if len(rests) < len(open_runs) or not any(rests):  # not known, or all of them are over their usual time
        return text
    return f"{text}, {_about(max(*rests, sum(rests) / several.at_once))} left"


def _about(seconds: float) -> str:
    return f"about {max(round(seconds / 5) * 5, 5)} s" if seconds < 90 else f"about {round(seconds / 60)} min"


def _plain(several: Several | None, name: str, event: str, facts: Mapping[str, Any]) -> None:
    """Print a line when a run of several starts, and the verdict when a run has ended."""
    if event == "start" and several:
        on_stderr(f"{name}  started")
    elif text := _readable(name, event, facts):
        on_stderr(text)


def _readable(name: str, event: str, facts: Mapping[str, Any]) -> str:
    """Return the text of an event, empty where it changes the lines only."""
    if event == "end":
        return verdict(facts["record"])
    if event == "unrecorded":
        return f"{name}  ended before anything was recorded"
    return str(facts["text"]) if event == "said" else ""


def _updated(
    moving: "Live",
    running: dict[str, Running],
    several: Several | None,
    name: str,
    event: str,
    facts: Mapping[str, Any],
) -> None:
    """Change the lines of a terminal by an event, and print what stays above them."""
    from rich.text import Text

    run = running.setdefault(name, Running(name, several.usual_seconds[name] if several else None))
    if event == "begin":
        run.usual_seconds = facts["usual_seconds"]
    elif event == "stop":
        run.cell, run.heading, run.usual_seconds = "stopping", "", None
    elif event == "cell":
        run.cell, run.heading = f"cell {facts['number']} of {facts['of']}", facts["heading"]
    elif event in ("end", "unrecorded"):
        del running[name]
        if several:
            several.verdicts[name] = facts["record"].status if event == "end" else event
    if text := _readable(name, event, facts):
        moving.console.print(Text(text), soft_wrap=True)
    moving.refresh()


def _cut(texts: list[str]) -> "Group":
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(text, no_wrap=True, overflow="ellipsis") for text in texts))
