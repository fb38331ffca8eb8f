import base64
import io
import json
import struct
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench import plots

DELAYS = pd.DataFrame({"hour": [5, 6, 7], "EWR": [0.6, 3.5, None], "JFK": [0.5, 1.1, 1.3]})
FILES = pd.DataFrame({"way": ["range", "a name that is far too long to stand beside a bar"], "files": [1, 13_000]})
WORDS = {"title": "Delay by hour", "xlabel": "hour, New York time", "ylabel": "delay, minutes"}


@pytest.fixture
def emitted(monkeypatch):
    """What a notebook would get: (data, metadata) of each output, in order."""
    found = []
    monkeypatch.setattr("workbench.show.emit", lambda data, metadata=None: found.append((data, metadata)))
    return found


def picture(output):
    return base64.b64decode(output[0]["image/png"], validate=True)


def chunks(png):
    """Kinds of the chunks of a PNG file."""
    place, found = 8, []
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        found.append(kind.decode())
        place += length + 12
    return found


def pixels(png):
    return (image.imread(io.BytesIO(png))[:, :, :3] * 255).round().astype(int)


def has_colour(png, code):
    wanted = [int(code[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((pixels(png) == wanted).all(axis=2).any())


def test_lines_gives_a_picture_with_its_text_and_then_the_frame(emitted):
    plots.lines(DELAYS, x="hour", y=["EWR", "JFK"], digits=1, **WORDS)
    (data, metadata), (table, _) = emitted
    alt = "Line chart: Delay by hour. Across: hour, New York time. Up: delay, minutes. Lines: EWR, JFK."
    assert (data["text/plain"], metadata) == (alt, {"image/png": {"alt": alt}})
    assert table["text/plain"].splitlines() == [
        "hour   EWR  JFK",
        "----  ----  ---",
        "   5   0.6  0.5",
        "   6   3.5  1.1",
        "   7  null  1.3",
    ]


def test_bars_gives_a_picture_with_its_text_and_then_the_frame(emitted):
    plots.bars(FILES, x="way", y="files", title="Files", xlabel="way", ylabel="files read")
    (data, _), (table, _) = emitted
    assert data["text/plain"] == "Bar chart: Files. Down: way. Across: files read. Bars: files."
    assert table["text/plain"].splitlines()[2:] == [
        "range                                                   1",
        "a name that is far too long to stand beside a bar  13,000",
    ]


@pytest.mark.parametrize("draw", [plots.lines, plots.bars])
def test_a_frame_that_is_shown_already_is_not_printed_again(emitted, draw):
    draw(DELAYS, x="hour", y="JFK", shown=True, **WORDS)
    assert len(emitted) == 1


def test_panels_stand_below_each_other_each_with_its_column(emitted):
    plots.panels(DELAYS, x="hour", y=["EWR", "JFK"], limits=(0, 10), digits=1, **WORDS)
    plots.panels(DELAYS, x="hour", y=["EWR", "JFK"], limits=(0, 4), shown=True, **WORDS)
    plots.panels(DELAYS.assign(LGA=1.0), x="hour", y=["EWR", "JFK", "LGA"], shown=True, **WORDS)
    (data, _), (table, _), (other, _), (three, _) = emitted
    alt = "Line charts: Delay by hour. Across: hour, New York time. Up: delay, minutes. Panels: EWR, JFK."
    assert data["text/plain"] == alt and table["text/plain"].splitlines()[3] == "   6   3.5  1.1"
    first, second, tall = (base64.b64decode(d["image/png"]) for d in (data, other, three))
    assert first != second  # the limits of the axis are those that were given
    assert [struct.unpack(">II", png[16:24]) for png in (first, tall)] == [(800, 450), (800, 600)]
    assert [has_colour(tall, code) for code in plots.PALETTE[:4]] == [True, True, True, False]
    upper, lower = pixels(first)[:225], pixels(first)[225:]
    blue = [int(plots.PALETTE[0][i : i + 2], 16) for i in (1, 3, 5)]
    assert [(half == blue).all(axis=2).any() for half in (upper, lower)] == [True, False]


def test_spans_stand_in_lanes_and_an_open_one_runs_to_the_edge(emitted):
    frame = pd.DataFrame({"who": ["a", "a", "b"], "from": [1, 2, 3], "to": [2, None, 4]})
    plots.spans(frame, x="who", start="from", end="to", title="Lives", xlabel="who", ylabel="commit")
    plots.spans(frame.assign(to=[2, 3, 4]), x="who", start="from", end="to", shown=True, **WORDS)
    (data, _), (table, _), (closed, _) = emitted
    assert data["text/plain"] == "Spans: Lives. Down: who. Across: commit. Lanes: a, b."
    assert table["text/plain"].splitlines()[3] == "a       2  null"
    orange = [int(plots.PALETTE[1][i : i + 2], 16) for i in (1, 3, 5)]
    right = [
        (pixels(base64.b64decode(d["image/png"]))[:, 600:] == orange).all(axis=2).any() for d in (data, closed)
    ]
    assert right == [True, False]
    with pytest.raises(ValueError, match="no column until to draw"):
        plots.spans(frame, x="who", start="from", end="until", **WORDS)


def test_the_end_of_a_lane_is_written_behind_it(emitted, monkeypatch):
    written, draw = [], Axes.annotate
    monkeypatch.setattr(
        Axes,
        "annotate",
        lambda self, text, *rest, **options: (written.append(text), draw(self, text, *rest, **options)),
    )
    frame = pd.DataFrame({"who": ["a", "a", "b", "c"], "from": [0, 2, 0, 5], "to": [2, 1300, 1 / 12, None]})
    plots.spans(frame, x="who", start="from", end="to", shown=True, **WORDS)
    plots.spans(frame[:3], x="who", start="from", end="to", digits=0, shown=True, **WORDS)
    assert written == ["1,300", "0.08", "1,300", "0"]


def test_colours_that_mean_something_have_a_legend(emitted, monkeypatch):
    legends, written = [], []
    monkeypatch.setattr(Figure, "legend", lambda self, bars, names, **options: legends.append((len(bars), names)))
    monkeypatch.setattr(Axes, "annotate", lambda self, text, *rest, **options: written.append(text))
    frame = pd.DataFrame(
        {"who": ["a", "a", "b"], "from": [1, 2, 3], "to": [2, 3, 4], "how": ["new", "old", "new"]}
    )
    spans = {"x": "who", "start": "from", "end": "to", "shown": True, **WORDS}
    plots.spans(frame, colour="how", **spans)
    plots.spans(frame[:1], colour="how", **spans)
    plots.spans(frame, **spans)
    assert (legends, len(written)) == ([(2, ["new", "old"]), (1, ["new"])], 2)  # ends, of the last figure alone
    two, one, _ = (base64.b64decode(data["image/png"]) for data, _ in emitted)
    assert [has_colour(png, code) for png in (two, one) for code in plots.PALETTE[:2]] == [True, True, True, False]
    assert emitted[0][0]["text/plain"].endswith("Lanes: a, b. Colours: new, old.")
    with pytest.raises(ValueError, match="no column why to draw"):
        plots.spans(frame, colour="why", **spans)
    many = pd.DataFrame({"who": "a", "from": range(9), "to": range(1, 10), "how": list("abcdefghi")})
    with pytest.raises(ValueError, match="how has 9 names, expected 1 to 8"):
        plots.spans(many, colour="how", **spans)


@pytest.mark.parametrize("draw", [plots.lines, plots.bars])
def test_a_picture_has_the_stated_size_and_no_text_about_its_maker(emitted, draw):
    draw(DELAYS, x="hour", y=["EWR", "JFK"], shown=True, **WORDS)
    png = picture(emitted[0])
    assert struct.unpack(">II", png[16:24]) == (800, 450)
    assert set(chunks(png)) == {"IHDR", "pHYs", "IDAT", "IEND"}


@pytest.mark.parametrize("draw", [plots.lines, plots.bars, plots.panels])
def test_nothing_is_cut_off(emitted, draw):
    long = {**WORDS, "title": "A title of many words " * 8, "ylabel": "minutes between the plan and the gate " * 3}
    draw(FILES.assign(more=[7, 9_999_999]), x="way", y=["files", "more"], shown=True, **long)
    image = pixels(picture(emitted[0]))
    for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
        assert (edge == 255).all()


def test_each_series_has_a_colour_of_the_palette_and_a_legend_only_when_there_are_several(emitted):
    plots.lines(DELAYS, x="hour", y="JFK", shown=True, **WORDS)
    plots.lines(DELAYS, x="hour", y=["JFK", "EWR"], shown=True, **WORDS)
    one, two = map(picture, emitted)
    assert [has_colour(one, code) for code in plots.PALETTE[:2]] == [True, False]
    assert [has_colour(two, code) for code in plots.PALETTE[:2]] == [True, True]

    def has_black_at_the_right(png):  # the names in a legend
        return bool((pixels(png)[180:270, 730:] < 60).all(axis=2).any())

    assert [has_black_at_the_right(png) for png in (one, two)] == [False, True]


def test_all_eight_series_can_be_drawn_and_a_ninth_is_refused(emitted):
    wide = pd.DataFrame(np.arange(18).reshape(2, 9), columns=list("abcdefghi"))
    plots.bars(wide, x="a", y=list("abcdefgh"), shown=True, **WORDS)
    assert all(has_colour(picture(emitted[0]), code) for code in plots.PALETTE)
    with pytest.raises(ValueError, match="9 columns to draw, expected 1 to 8"):
        plots.lines(wide, x="a", y=list("abcdefghi"), **WORDS)


def test_a_wrong_column_and_an_empty_frame_are_refused(emitted):
    with pytest.raises(ValueError, match="no column LGA to draw; the columns are hour, EWR, JFK"):
        plots.lines(DELAYS, x="hour", y=["EWR", "LGA"], **WORDS)
    with pytest.raises(ValueError, match="has no rows"):
        plots.bars(DELAYS.head(0), x="hour", y="EWR", **WORDS)
    assert emitted == []


CHILD = """
import json, sys, threading, types, pandas
from workbench import plots, show

found = []
show.emit = lambda data, metadata=None: found.append(data)
if settings := json.loads(sys.argv[1]):
    import matplotlib
    matplotlib.rcParams.update(settings)
else:  # matplotlib says after five seconds that it builds its font cache: here at once
    threading.Timer = lambda seconds, act: types.SimpleNamespace(start=act, cancel=int)
frame = pandas.DataFrame({"x": ["a", "b"], "y": [1.25, 2500]})
plots.bars(frame, x="x", y="y", title="t", xlabel="x", ylabel="y")
plots.lines(frame, x="x", y="y", title="t", xlabel="x", ylabel="y")
assert "matplotlib.pyplot" not in sys.modules
print(json.dumps(found))
"""


def child(settings):
    command = [sys.executable, "-c", CHILD, json.dumps(settings)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_two_processes_draw_the_same_bytes_whatever_the_settings_of_the_user():
    mine = {"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30, "figure.figsize": [2, 2]}
    default, styled = child({}), child(mine)
    assert "image/png" in default.stdout
    assert default.stdout == styled.stdout


def test_the_first_figure_on_a_machine_prints_no_note_about_a_font_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    run = child({})
    assert (run.returncode, run.stderr) == (0, "")
    assert list(tmp_path.glob("fontlist*.json"))


CELLS = pd.DataFrame(
    [("append", "append", "retried"), ("append", "merge", "data"), ("merge", "append", "SILENT")],
    columns=["first", "second", "outcome"],
)
AROUND = {"x": "second", "y": "first", "value": "outcome", "title": "t", "xlabel": "second", "ylabel": "first"}


def test_a_grid_gives_a_picture_with_a_colour_a_name_and_the_table_of_names(emitted):
    plots.grid(CELLS, colours={"retried": 2, "data": 0, "SILENT": 1}, **AROUND)
    (data, _), (table, _) = emitted
    assert data["text/plain"] == "Grid: t. Down: first. Across: second. Cells: retried, data, SILENT."
    assert table["text/plain"].splitlines() == [
        "first     1        2",
        "--------  -------  ----",
        "1 append  retried  data",
        "2 merge   SILENT   null",
    ]
    assert picture(emitted[0]).startswith(b"\x89PNG")


RATIOS = pd.DataFrame(
    {"query": ["q1", "q2", "q3"], "ratio": [8.0, 0.5, 2.0], "verdict": ["equal", "vacuous", "equal"]}
)


def test_ranked_stands_in_order_on_a_logarithmic_axis_with_a_colour_a_name(emitted, monkeypatch):
    drawn, words = [], {"title": "Ratios", "xlabel": "query", "ylabel": "times as fast"}
    monkeypatch.setattr(
        "matplotlib.axes.Axes.plot", lambda axes, x, y, **style: drawn.append((list(x), list(y), style))
    )
    scaled = Axes.set_yscale
    monkeypatch.setattr(Axes, "set_yscale", lambda axes, scale: drawn.append(scale) or scaled(axes, scale))
    monkeypatch.setattr(plots, "_legend", lambda figure, axes, series: drawn.append(series))
    plots.ranked(RATIOS, y="ratio", colour="verdict", **words)
    (*points, scale, names) = drawn
    assert [(x, y, style["label"]) for x, y, style in points] == [
        ([2, 3], [2.0, 8.0], "equal"),
        ([1], [0.5], "vacuous"),
    ]
    assert len({style["color"] for *_, style in points}) == 2 and (scale, names) == ("log", ["vacuous", "equal"])
    assert emitted[0][0]["text/plain"] == (
        "Points in order: Ratios. Across: query. Up: times as fast. Colours: vacuous, equal."
    )
    assert emitted[1][0]["text/plain"].splitlines()[2].split() == ["q1", "8.00", "equal"]
    plots.ranked(RATIOS, y="ratio", colour="verdict", shown=True, **words)
    assert len(emitted) == 3
    with pytest.raises(ValueError, match="9 columns to draw, expected 1 to 8"):
        plots.ranked(
            pd.DataFrame({"ratio": range(1, 10), "verdict": list("abcdefghi")}),
            y="ratio",
            colour="verdict",
            **words,
        )


@pytest.mark.parametrize(
    ("ratios", "labels"),
    [([0.5, 2, 8], ["0.5", "1", "2", "5"]), ([0.8, 30, 140], ["1", "2", "5", "10", "20", "50", "100"])],
)
def test_ranked_writes_plain_numbers_at_its_axis(monkeypatch, ratios, labels):
    drawn = []
    monkeypatch.setattr(plots, "_emit", lambda figure, alt: drawn.append(figure))
    frame = RATIOS.assign(ratio=ratios)
    plots.ranked(frame, y="ratio", colour="verdict", title="Ratios", xlabel="query", ylabel="times", shown=True)
    drawn[0].draw_without_rendering()
    axes = drawn[0].axes[0]
    low, high = axes.get_ylim()
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    written = [(tick.get_loc(), tick.label1.get_text()) for tick in ticks]
    assert [text for place, text in written if low <= place <= high and text] == labels


def test_a_grid_with_a_cell_twice_is_refused(emitted):
    with pytest.raises(ValueError, match="one cell for each second and first"):
        plots.grid(pd.concat([CELLS, CELLS]), colours={}, **AROUND)
    assert emitted == []
