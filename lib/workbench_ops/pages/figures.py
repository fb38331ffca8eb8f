"""Figures of what a watched run did, as SVG within its report: stages in time, tasks of a stage, files of scans.

Every text in them is escaped, and colours are classes of the page's style: they follow its light and dark.
"""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from workbench.metrics import Run
from workbench.metrics.runs import Scan, Stage, Task

WIDTH = 760
LEFT, RIGHT, TOP, BOTTOM = 150, 20, 34, 40  # of the plot: room for labels, the legend, the axis
ROW = 20
MOST_STAGES, MOST_TASKS, MOST_TABLES = 30, 100, 15
LABEL_CHARS = 19


class Figure(NamedTuple):
    """A figure: its heading, the picture, and a sentence on what is left out, empty where nothing is."""

    title: str
    svg: Markup
    note: str


class Part(NamedTuple):
    """A part of a bar: its class in the style, where it begins, and how long it is."""

    kind: str
    start: float
    length: float


def stages(run: Run) -> Figure | None:
    """Draw when the stages of a run were at work; None where it had none.

    Args:
        run: of one session or several.
    """
    begun = [(stage, *_span(stage, run)) for stage in run.stages if stage.started]
    if not begun:
        return None
    longest = sorted(begun, key=lambda entry: entry[1] - entry[2])[:MOST_STAGES]
    shown = sorted(longest, key=lambda entry: (entry[1], entry[0].stage_id))
    rows = [(_label(stage), stage.name, [Part(_kind(stage), start, end - start)]) for stage, start, end in shown]
    legend = [("done", "finished"), ("bad", "failed"), ("open", "no end in the log")]
    used = [(kind, words) for kind, words in legend if any(_kind(stage) == kind for stage, *_ in shown)]
    left_out = len(begun) - len(shown)
    note = f"The {len(shown)} longest of {len(begun)} stages." if left_out else ""
    return Figure(
        "Stages in time", _bars(rows, used, axis="stages by number, seconds since the session began"), note
    )


def tasks(run: Run) -> Figure | None:
    """Draw how long the tasks of a run's slowest stage took, and with what; None where it had none."""
    if not run.tasks:
        return None
    stage = max(run.stages, key=lambda stage: stage.run_seconds, default=None)
    if stage is None:
        return None
    own = [t for t in run.tasks if (t.stage_id, t.stage_attempt) == (stage.stage_id, stage.attempt)]
    if not own:
        return None
    longest = sorted(own, key=lambda task: -task.seconds)[:MOST_TASKS]
    median = statistics.median(task.seconds for task in own)
    note = f"Median of its {len(own)} tasks: {median:,.3g} s."
    note += f" The {len(longest)} longest are shown." if len(longest) < len(own) else ""
    title = f"Tasks of the slowest stage, {stage.stage_id}: {stage.name}"
    return Figure(title, _columns(longest, median), note)


def files(run: Run) -> Figure | None:
    """Draw how many data files each Iceberg table's scans read, of those planned and those there; or None."""
    tables: dict[str, list[Scan]] = {}
    for scan in run.scans:
        tables.setdefault(scan.table.partition(" ")[0], []).append(scan)
    if not tables:
        return None
    entries = []
    for table, scans in tables.items():
        read = sum(min(scan.data_files, scan.splits or 0) for scan in scans)
        planned, skipped = sum(scan.data_files for scan in scans), sum(scan.skipped_files for scan in scans)
        parts = [Part("done", 0, read), Part("open", read, planned - read), Part("idle", planned, skipped)]
        entries.append(
            (table, f"{table}: {len(scans)} scans, read {read}, planned {planned}, skipped {skipped}", parts)
        )
    entries.sort(key=lambda entry: -(entry[2][2].start + entry[2][2].length))
    legend = [("done", "read"), ("open", "planned, not read"), ("idle", "skipped by their figures")]
    left_out = len(entries) - MOST_TABLES
    note = f"{left_out} tables of fewer files are left out." if left_out > 0 else ""
    return Figure(
        "Data files of scans",
        _bars(entries[:MOST_TABLES], legend, axis="files, over all scans of the table"),
        note,
    )


def _span(stage: Stage, run: Run) -> tuple[float, float]:
    """Return when a stage began and ended, in seconds of the run; without an end it lasts until the last event."""
    assert stage.started is not None
    start = (stage.started - run.started).total_seconds()
    return max(start, 0.0), max(((stage.ended or run.until) - run.started).total_seconds(), start, 0.0)


def _label(stage: Stage) -> str:
    again = f" try {stage.attempt + 1}" if stage.attempt else ""
    call = stage.name.partition(" at ")[0]
    return f"{stage.stage_id}{again}" if call.startswith("$") else f"{stage.stage_id}{again} {call}"


def _kind(stage: Stage) -> str:
    return "bad" if stage.failure else "open" if stage.ended is None else "done"


def _ticks(most: float) -> list[float]:
    """Return round numbers from 0 to at least `most`, at most seven."""
    if most <= 0:
        return [0.0, 1.0]
    step = 10.0 ** math.floor(math.log10(most / 5))
    step *= next(factor for factor in (1, 2, 5, 10) if most / (step * factor) <= 6)
    return [step * number for number in range(math.ceil(most / step - 1e-9) + 1)]


def _number(value: float) -> str:
    return f"{value:,.6g}"


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> Markup:
    tag = '<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>'
    return Markup(tag).format(kind, x, y, anchor, words)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> Markup:
    tag = '<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'
    return Markup(tag).format(kind, x1, y1, x2, y2)


def _box(kind: str, x: float, y: float, width: float, height: float, words: str = "") -> Markup:
    """Return a rectangle; `words` are shown when it is pointed at."""
    tag = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    return Markup(tag).format(kind, x, y, width, height, words)


def _legend(entries: Sequence[tuple[str, str]], left: int) -> list[Markup]:
    drawn, x = [], left
    for kind, words in entries:
        drawn += [_box(kind, x, 8, 12, 12), _text(x + 17, 18, words)]
        x += 34 + 7 * len(words)
    return drawn


def _svg(height: int, label: str, parts: Sequence[Markup]) -> Markup:
    head = Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, label)
    return Markup().join([head, *parts, Markup("</svg>")])


def _bars(
    rows: Sequence[tuple[str, str, Sequence[Part]]], legend: Sequence[tuple[str, str]], *, axis: str
) -> Markup:
    """Draw horizontal bars: (label, what is shown when it is pointed at, parts), from the top."""
    ticks = _ticks(max(part.start + part.length for _, _, parts in rows for part in parts))
    scale = (WIDTH - LEFT - RIGHT) / ticks[-1]
    bottom = TOP + ROW * len(rows)
    drawn = _legend(legend, LEFT)
    for tick in ticks:
        x = LEFT + tick * scale
        drawn += [_line(x, TOP, x, bottom), _text(x, bottom + 15, _number(tick), "tick", "middle")]
    for number, (label, words, parts) in enumerate(rows):
        y = TOP + ROW * number
        drawn.append(_text(LEFT - 8, y + 14, _short(label), anchor="end"))
        drawn += [
            _box(part.kind, LEFT + part.start * scale, y + 3, max(part.length * scale, 1), ROW - 6, words)
            for part in parts
            if part.length > 0 or len(parts) == 1
        ]
    drawn.append(_text(LEFT + (WIDTH - LEFT - RIGHT) / 2, bottom + 33, axis, "axis", "middle"))
    return _svg(bottom + BOTTOM, axis, drawn)


def _columns(tasks: Sequence[Task], median: float) -> Markup:
    """Draw a column a task, the longest first: what it took in CPU, in collection, and in waiting."""
    left, height = 70, 200
    ticks = _ticks(tasks[0].seconds)
    scale, bottom = height / ticks[-1], TOP + height
    pitch = (WIDTH - left - RIGHT) / max(len(tasks), 12)
    drawn = _legend([("done", "CPU"), ("bad", "garbage collection"), ("idle", "waiting and overhead")], left)
    for tick in ticks:
        y = bottom - tick * scale
        drawn += [_line(left, y, WIDTH - RIGHT, y), _text(left - 6, y + 4, _number(tick), "tick", "end")]
    for number, task in enumerate(tasks):
        y = float(bottom)
        for kind, seconds in _shares(task):
            y -= seconds * scale
            x = left + (number + 0.1) * pitch
            drawn.append(_box(kind, x, y, pitch * 0.8, seconds * scale, _told(task)))
    y = bottom - median * scale
    drawn += [
        _line(left, y, WIDTH - RIGHT, y, "median"),
        _text(WIDTH - RIGHT, y - 4, "median", "axis", "end"),
        _text(left - 6, 18, "seconds", "axis", "end"),
        _text(left + (WIDTH - left - RIGHT) / 2, bottom + 24, "tasks, the longest first", "axis", "middle"),
    ]
    return _svg(bottom + BOTTOM, "seconds of each task of the slowest stage", drawn)


def _shares(task: Task) -> list[tuple[str, float]]:
    """Return what a task's seconds were spent on."""
    cpu = min(task.cpu_seconds, task.seconds)
    collected = min(task.gc_seconds, task.seconds - cpu)
    return [("done", cpu), ("bad", collected), ("idle", task.seconds - cpu - collected)]


def _told(task: Task) -> str:
    words = f"part {task.partition}: {task.seconds:,.3g} s, CPU {task.cpu_seconds:,.3g} s"
    return words if task.succeeded else f"{words}, failed"


def _short(text: str) -> str:
    """Return a label that fits: of a table's name the end tells most, of a stage the beginning."""
    if len(text) <= LABEL_CHARS:
        return text
    return text[: LABEL_CHARS - 1] + "…" if " " in text else "…" + text[1 - LABEL_CHARS :]
