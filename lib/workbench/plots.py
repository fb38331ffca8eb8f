"""What a notebook draws: a pandas frame as a figure that is the same, byte for byte, on every run.

No comparison of notebooks looks into a picture, so the frame that is drawn is printed under it too.
"""

import base64
import io
import logging
import textwrap
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from workbench import show
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

# Okabe and Ito: eight colours that people with any kind of colour vision tell apart. A marker goes with each.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DOTS_PER_INCH = 100
INCHES = (8, 4.5)


@checked
def lines(
    frame: Any,
    *,
    x: Hashable,
    y: str | Iterable[Hashable],
    title: str,
    xlabel: str,
    ylabel: str,
    digits: Annotated[int, Ge(0)] = 2,
    shown: bool = False,
) -> None:
    """Draw columns of a frame as lines over another column, and print the frame.

    Args:
        frame: pandas DataFrame, one row a point of `x`, in the order of drawing.
        x: column of the horizontal axis; numbers, texts or dates.
        y: column, or list of up to eight columns, one line each; a null leaves a gap.
        title: what the figure shows.
        xlabel: what `x` is, with its unit.
        ylabel: what `y` is, with its unit.
        digits: decimals of the floats that are printed.
        shown: the frame stands in the notebook already, so it is not printed again.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or there are more than eight lines.
    """
    series = _series(frame, x, y)
    with _figure(title) as (figure, axes):
        for number, name in enumerate(series):
            values = frame[name].astype(float)
            axes.plot(frame[x], values, label=str(name), color=PALETTE[number], marker=MARKERS[number])
        axes.set_xlabel(textwrap.fill(xlabel, 60))
        axes.set_ylabel(textwrap.fill(ylabel, 40))
        axes.grid(alpha=0.3)
        _thousands(axes.yaxis, [frame[name] for name in series])
        if _is_integer(frame[x]):
            axes.xaxis.get_major_locator().set_params(integer=True)
        _legend(figure, axes, series)
        _emit(figure, f"Line chart: {title}. Across: {xlabel}. Up: {ylabel}. Lines: {_listed(series)}.")
    if not shown:
        show.rows(frame[[x, *series]], limit=len(frame), digits=digits)


@checked
def bars(
    frame: Any,
    *,
    x: Hashable,
    y: str | Iterable[Hashable],
    title: str,
    xlabel: str,
    ylabel: str,
    digits: Annotated[int, Ge(0)] = 2,
    shown: bool = False,
) -> None:
    """Draw columns of a frame as bars, one group a row, the first row on top, and print the frame.

    The bars lie, so that names of any length stay readable; each carries its value.

    Args:
        frame: pandas DataFrame, one row a group of bars.
        x: column with the names of the groups.
        y: column, or list of up to eight columns, one bar each.
        title: what the figure shows.
        xlabel: what `x` is.
        ylabel: what the bars measure, with the unit.
        digits: decimals of the floats that are printed and written at the bars.
        shown: the frame stands in the notebook already, so it is not printed again.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or there are more than eight columns.
    """
    series = _series(frame, x, y)
    places, height = range(len(frame)), 0.8 / len(series)
    with _figure(title) as (figure, axes):
        for number, name in enumerate(series):
            offset = (number - (len(series) - 1) / 2) * height
            drawn = axes.barh(
                [place + offset for place in places],
                frame[name].astype(float),
                height=height,
                label=str(name),
                color=PALETTE[number],
            )
            axes.bar_label(drawn, labels=[show.cell(value, digits) for value in frame[name].tolist()], padding=3)
        axes.set_yticks(list(places), [textwrap.fill(str(name), 28) for name in frame[x]])
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.set_xlabel(textwrap.fill(ylabel, 60))
        axes.set_ylabel(textwrap.fill(xlabel, 40))
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        _thousands(axes.xaxis, [frame[name] for name in series])
        _legend(figure, axes, series)
        _emit(figure, f"Bar chart: {title}. Down: {xlabel}. Across: {ylabel}. Bars: {_listed(series)}.")
    if not shown:
        show.rows(frame[[x, *series]], limit=len(frame), digits=digits)


@checked
def spans(
    frame: Any,
    *,
    x: Hashable,
    start: Hashable,
    end: Hashable,
    title: str,
    xlabel: str,
    ylabel: str,
    colour: Hashable | None = None,
    digits: Annotated[int, Ge(0)] = 2,
    shown: bool = False,
) -> None:
    """Draw rows as bars on a line of time, all bars of one name in one lane, the first name on top.

    Behind a lane whose last span has ended stands where that is, unless colours have a meaning.

    Args:
        frame: pandas DataFrame, one row a span.
        x: column with the names of the lanes.
        start: column where a span begins; numbers.
        end: column where it ends; a null means that it has not ended, and the bar runs to the edge.
        title: what the figure shows.
        xlabel: what the lanes are.
        ylabel: what the line measures, with the unit.
        colour: column of names, up to eight, one colour each, which a legend tells; without it neighbours differ.
        digits: decimals of the floats that are printed, and of the ends that are written.
        shown: the frame stands in the notebook already, so it is not printed again.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or there are more than eight names.
    """
    _series(frame, x, [start, end, *([] if colour is None else [colour])])
    names = [] if colour is None else list(dict.fromkeys(frame[colour]))
    if len(names) > len(PALETTE):
        raise ArgumentError(f"{colour} has {len(names)} names, expected 1 to {len(PALETTE)}")
    lanes = list(dict.fromkeys(frame[x]))
    last = max(frame[start].max(), frame[end].max() if frame[end].notna().any() else frame[start].max()) + 1
    drawn: dict[int, Any] = {}  # a bar of each colour
    with _figure(title) as (figure, axes):
        for number, lane in enumerate(lanes):
            rows = frame[frame[x] == lane]
            places = [turn % 2 for turn in range(len(rows))] if colour is None else map(names.index, rows[colour])
            for place, begin, stop in zip(places, rows[start], rows[end].fillna(last), strict=True):
                edge = "white" if colour is None else PALETTE[place]
                bar = axes.barh(number, stop - begin, left=begin, height=0.6, color=PALETTE[place], edgecolor=edge)
                drawn.setdefault(place, bar)
            if colour is None and rows[end].notna().all():
                ended = float(rows[end].max())
                text = f"{round(ended, digits):,.10g}"
                axes.annotate(text, (ended, number), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(lanes)), [textwrap.fill(str(lane), 28) for lane in lanes])
        axes.invert_yaxis()
        # an open span touches the edge; behind closed ones there is room for the number
        axes.set_xlim(right=last if frame[end].isna().any() else last + 0.12 * (last - frame[start].min()))
        axes.set_xlabel(textwrap.fill(ylabel, 60))
        axes.set_ylabel(textwrap.fill(xlabel, 40))
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        _thousands(axes.xaxis, [frame[start]])
        alt = f"Spans: {title}. Down: {xlabel}. Across: {ylabel}. Lanes: {_listed(lanes)}."
        if colour is not None:
            margin = 0.02 * (last - frame[start].min())
            axes.set_xlim(frame[start].min() - margin, last + margin)
            bars = [drawn[place] for place in range(len(names))]
            figure.legend(bars, list(map(str, names)), loc="outside right center", frameon=False)
            alt += f" Colours: {_listed(names)}."
        _emit(figure, alt)
    if not shown:
        show.rows(frame, limit=len(frame), digits=digits)


@checked
def panels(
    frame: Any,
    *,
    x: Hashable,
    y: str | Iterable[Hashable],
    title: str,
    xlabel: str,
    ylabel: str,
    limits: Sequence[float] | None = None,
    digits: Annotated[int, Ge(0)] = 2,
    shown: bool = False,
) -> None:
    """Draw columns of a frame as lines, each in a panel of its own, one below the other on shared axes.

    Args:
        frame: pandas DataFrame, one row a point of `x`, in the order of drawing.
        x: column of the horizontal axis; numbers, texts or dates.
        y: list of up to eight columns, one panel each, named by the column; a null leaves a gap.
        title: what the figure shows.
        xlabel: what `x` is, with its unit.
        ylabel: what the columns are, with the unit.
        limits: (lowest, highest) of the vertical axis, so that figures of several frames can be compared.
        digits: decimals of the floats that are printed.
        shown: the frame stands in the notebook already, so it is not printed again.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or there are more than eight panels.
    """
    series = _series(frame, x, y)
    with _figure(title, panels=len(series)) as (figure, every):
        for number, (name, axes) in enumerate(zip(series, every, strict=True)):
            axes.plot(frame[x], frame[name].astype(float), color=PALETTE[number], marker=MARKERS[number])
            axes.set_title(str(name), loc="left", fontsize="medium")
            axes.grid(alpha=0.3)
            axes.set_ylim(limits)
            _thousands(axes.yaxis, [frame[name]])
        figure.supylabel(textwrap.fill(ylabel, 60), fontsize="medium")
        axes.set_xlabel(textwrap.fill(xlabel, 60))
        if _is_integer(frame[x]):
            axes.xaxis.get_major_locator().set_params(integer=True)
        _emit(figure, f"Line charts: {title}. Across: {xlabel}. Up: {ylabel}. Panels: {_listed(series)}.")
    if not shown:
        show.rows(frame[[x, *series]], limit=len(frame), digits=digits)


@checked
def grid(
    frame: Any,
    *,
    x: Hashable,
    y: Hashable,
    value: Hashable,
    colours: Mapping[Any, int],
    title: str,
    xlabel: str,
    ylabel: str,
) -> None:
    """Draw a frame as a grid of named cells, one colour a name, and print it as a table of the names.

    Columns are numbered, so that their names need no room; the row of the same name says which it is.

    Args:
        frame: pandas DataFrame, one row a cell.
        x: column whose values are across, in the order in which they come first.
        y: column whose values are down.
        value: column with the cell's name.
        colours: name to its place in PALETTE; what has none stays white.
        title: what the figure shows.
        xlabel: what is across.
        ylabel: what is down.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or a cell is there twice.
    """
    _series(frame, x, [y, value])
    if frame.duplicated([x, y]).any():
        raise ArgumentError(f"a grid has one cell for each {x} and {y}; the frame has several")
    names = list(dict.fromkeys([*frame[y], *frame[x]]))
    table = frame.pivot(index=y, columns=x, values=value).reindex(index=names, columns=names)
    table = table.dropna(axis=0, how="all").dropna(axis=1, how="all")
    with _figure(title) as (figure, axes):
        for down, row in enumerate(table.itertuples(index=False)):
            for across, name in enumerate(row):
                colour = PALETTE[colours[name]] if name in colours else "white"
                axes.barh(down, 1, left=across, height=1, color=colour, edgecolor="white", alpha=0.6)
                axes.text(across + 0.5, down, show.cell(name, 0), ha="center", va="center", fontsize="x-small")
        axes.set_yticks(range(len(table)), [f"{names.index(name) + 1} {name}" for name in table.index])
        numbers = [names.index(name) + 1 for name in table.columns]
        axes.set_xticks([place + 0.5 for place in range(len(numbers))], numbers)
        axes.invert_yaxis()
        axes.set_xlabel(textwrap.fill(xlabel, 60))
        axes.set_ylabel(textwrap.fill(ylabel, 40))
        _emit(figure, f"Grid: {title}. Down: {ylabel}. Across: {xlabel}. Cells: {_listed(colours)}.")
    table.columns = list(map(str, numbers))
    table.insert(0, y, [f"{names.index(name) + 1} {name}" for name in table.index])
    show.rows(table.reset_index(drop=True), limit=len(table))


@checked
def ranked(
    frame: Any, *, y: Hashable, colour: Hashable, title: str, xlabel: str, ylabel: str, shown: bool = False
) -> None:
    """Draw a column of a frame from its least to its greatest value, a point a row, on a logarithmic axis.

    Args:
        frame: pandas DataFrame; numbers above 0.
        y: column of the numbers.
        colour: column of names, up to eight, one colour each.
        title: what the figure shows.
        xlabel: what a point is.
        ylabel: what the numbers are.
        shown: the frame stands in the notebook already, so it is not printed.

    Raises:
        ValueError: a column is not in the frame, the frame is empty, or there are more than eight names.
    """
    _series(frame, colour, y)
    ordered = frame.sort_values(y, kind="stable").assign(place=range(1, len(frame) + 1))
    names = list(dict.fromkeys(ordered[colour]))
    _series(ordered.assign(**dict.fromkeys(names, 0)), colour, names)
    with _figure(title) as (figure, axes):
        for number, name in enumerate(sorted(names)):
            rows, marker = ordered[ordered[colour] == name], MARKERS[number]
            axes.plot(rows["place"], rows[y], label=str(name), color=PALETTE[number], marker=marker, linestyle="")
        axes.set_yscale("log")
        axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
        axes.yaxis.set(major_formatter="{x:g}", minor_formatter="")  # 10 and not 10 to the power of 1
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set(xlabel=textwrap.fill(xlabel, 60), ylabel=textwrap.fill(ylabel, 40))
        axes.grid(alpha=0.3)
        _legend(figure, axes, names)
        _emit(figure, f"Points in order: {title}. Across: {xlabel}. Up: {ylabel}. Colours: {_listed(names)}.")
    if not shown:
        show.rows(frame, limit=len(frame))


def _series(frame: Any, x: Hashable, y: Hashable | Iterable[Hashable]) -> list[Any]:
    series = [y] if isinstance(y, str) or not isinstance(y, Iterable) else list(y)
    if unknown := [name for name in (x, *series) if name not in frame.columns]:
        raise ArgumentError(f"no column {_listed(unknown)} to draw; the columns are {_listed(frame.columns)}")
    if not 1 <= len(series) <= len(PALETTE):
        raise ArgumentError(f"{len(series)} columns to draw, expected 1 to {len(PALETTE)}")
    if frame.empty:
        raise ArgumentError("the frame to draw has no rows")
    return series


@contextmanager
def _figure(title: str, *, panels: int | None = None) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and its axes, a list of them for panels, with matplotlib's defaults whatever the user set."""
    with _quiet():
        from matplotlib import style
        from matplotlib.figure import Figure

        with style.context("default"):
            height = INCHES[1] if not panels else max(INCHES[1], 2 * panels)
            figure = Figure(figsize=(INCHES[0], height), dpi=DOTS_PER_INCH, layout="constrained")
            every = list(figure.subplots(panels or 1, 1, sharex=True, sharey=True, squeeze=False)[:, 0])
            figure.suptitle(textwrap.fill(title, 70), x=0.01, ha="left", fontsize="large", fontweight="bold")
            for axes in every:
                axes.spines[["top", "right"]].set_visible(False)
            yield figure, every if panels else every[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep matplotlib's notes about its font cache, which a first use on a machine prints, out of the notebook."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _thousands(axis: Any, columns: Iterable[Any]) -> None:
    """Write the ticks of an axis with separators; of whole numbers, put them on whole numbers only."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if float(value).is_integer() else f"{value:,g}")
    if all(_is_integer(column) for column in columns):
        axis.get_major_locator().set_params(integer=True)


def _is_integer(column: Any) -> bool:
    return column.dtype.kind in "iu"


def _legend(figure: Any, axes: Any, series: list[Any]) -> None:
    if len(series) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False)


def _listed(series: Iterable[Hashable]) -> str:
    return ", ".join(map(str, series))


def _emit(figure: Any, alt: str) -> None:
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    picture = base64.b64encode(file.getvalue()).decode("ascii")
    show.emit({"image/png": picture, "text/plain": alt}, {"image/png": {"alt": alt}})
