"""The pages people read: a report of each run, and an index of all of them.

Notebooks and records hold text from data, from parameters and from other people's code, and a report is
opened by whoever gets the link. So nothing in a page can run or fetch: jinja2 escapes every value, nh3 lets
only an allow-list of HTML through, and the content security policy refuses scripts and remote addresses once
more. What nh3 returns is not rewritten: that could open what it closed.
"""

import base64
import binascii
import html
import json
import re
import statistics
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from urllib.parse import quote

import jinja2
import mistune
import nh3
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
VERDICTS = {  # status: word, tone, sign (colour is never the only difference)
    "passed": ("Passed", "good", "✓"),
    "failed": ("Failed", "bad", "✗"),
    "timed_out": ("Timed out", "bad", "✗"),
    "died": ("Kernel died", "bad", "✗"),
    "refused": ("Refused", "warn", "!"),
    "interrupted": ("Interrupted", "warn", "!"),
    "running": ("Running", "busy", "…"),
}
MAX_OUTPUT_CHARS = 200_000  # a browser on a phone still opens the page; notebook.ipynb has the rest

# fmt: off
TAGS = {
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q",
    "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "u", "ul", "var",
}
ACTIVE = {
    "audio", "canvas", "embed", "iframe", "math", "noscript", "object", "script", "svg", "template", "video",
}
# fmt: on
CELL = {"style", "colspan", "rowspan"}
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt"},
    "ol": {"start"},
    "tr": {"style"},
    "td": CELL,
    "th": CELL,
}
VALUES = {  # the whole value of an attribute; no other style is needed, and none is as harmless
    "href": re.compile(r"(https?://|mailto:)\S+", re.I),
    "src": re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]+"),
    "style": re.compile(r"\s*text-align:\s*(left|right|center)\s*;?\s*"),
}
ACTIVE_TAG = re.compile(rf"<({'|'.join(ACTIVE)}|form|input|button)\b", re.I)
IMAGES = {"image/png": b"\x89PNG\r\n", "image/jpeg": b"\xff\xd8\xff"}  # media type: how its bytes begin
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_markdown = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url", "math"])
_markdown.renderer.register("inline_math", lambda _, text: f"<code>{html.escape(text)}</code>")
_markdown.renderer.register("block_math", lambda _, text: f"<pre>{html.escape(text)}</pre>")


def write(
    run_dir: Path, record: dict, *, previous: dict | None = None, redact: Callable[[str], str] = lambda t: t
) -> Path:
    """Write the report of one run to `report.html` in its folder.

    A missing, half-executed or damaged `notebook.ipynb` is said in a sentence and never raises: the verdict
    comes from the record alone. The page is replaced in one step, so a reader never sees half of it.

    Args:
        run_dir: folder of the run.
        record: its run record; any key may be missing.
        previous: record of the run whose facts are compared with this one's.
        redact: removes secrets from a text; every text passes through it first.

    Returns:
        Path of the page.
    """
    run_dir = Path(run_dir)
    record = _cleaned(record, redact)
    earlier = None if previous is None else _cleaned(previous, redact)
    page = _page(
        "report.html.j2",
        r=record,
        verdict=_verdict(record),
        failing=record.get("failing_cell"),
        checks=[_check(check) for check in record.get("checks") or []],
        facts=_facts(record, earlier),
        previous=earlier,
        previous_link=earlier and _link(run_dir.parent, earlier.get("run_id"), up="../"),
        notebook=_notebook(run_dir / "notebook.ipynb", record, redact),
    )
    return _replace(run_dir / "report.html", page)


def write_index(runs_dir: Path, records: list[dict]) -> Path:
    """Write `index.html`, a table of all runs, newest first.

    Args:
        runs_dir: folder that holds `<notebook>/<run id>/`.
        records: run records in any order, free of secrets as the runner wrote them.

    Returns:
        Path of the page.
    """
    runs_dir = Path(runs_dir)
    rows, jobs = [], defaultdict(list)
    for record in sorted((_cleaned(record, str) for record in records), key=_order):
        # what `previous` would search for is kept at hand, as an index may list thousands of runs
        earlier = jobs[_job(record)]
        rows.append(_row(runs_dir, record, earlier))
        earlier.append(record)
    counts = Counter(row["verdict"][0].lower() for row in rows)
    page = _page(
        "index.html.j2",
        rows=rows[::-1],
        counts=[
            ("passed", counts.pop("passed", 0)),
            ("failed", counts.pop("failed", 0)),
            *sorted(counts.items()),
        ],
        notebooks=len({row["notebook"] for row in rows}),
    )
    return _replace(runs_dir / "index.html", page)


def same_job(a: dict, b: dict) -> bool:
    """Tell whether two records are of the same notebook, parameters and environment."""
    return _job(a) == _job(b)


def previous(records: list[dict], record: dict) -> dict | None:
    """Find the latest run of the same job that started before `record`, whatever its verdict, or None."""
    earlier = [other for other in records if same_job(other, record) and _order(other) < _order(record)]
    return max(earlier, key=_order, default=None)


def _job(record):
    return _exact([record.get("notebook"), record.get("parameters") or {}, record.get("environment")])


def _order(record):
    return _time(record.get("started_at")) or datetime.min.replace(tzinfo=UTC), str(record.get("run_id"))


def _exact(value):
    """Write a value so that two are equal only when their types are: 1, 1.0, true and "1" all differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _text(value):
    return value if isinstance(value, str) else "—" if value is None else _exact(value)


def _check(check):
    expected, found = _told_apart(check.get("expected"), check.get("found"))
    return {
        "name": check.get("name"),
        "expected": expected,
        "found": found,
        "passed": check.get("passed") is True,
    }


def _told_apart(a, b):
    """Two values as text; quoted when only their types differ, so that the reader sees why 5 is not "5"."""
    if _text(a) == _text(b) and _exact(a) != _exact(b):
        return _exact(a), _exact(b)
    return _text(a), _text(b)


def _facts(record, earlier):
    """Compare recorded facts with those of an earlier run, in the order recorded, missing ones last."""
    now, before = record.get("results") or {}, (earlier or {}).get("results") or {}
    rows = []
    for name in [*now, *(name for name in before if name not in now)]:
        this, that = _told_apart(now.get(name), before.get(name))
        if name not in now or name not in before:
            change = "missing" if name not in now else "new"
        else:
            change = "same" if _exact(now[name]) == _exact(before[name]) else "changed"
        rows.append({"name": name, "this": this, "previous": that, "change": change})
    return rows


def _row(runs_dir, record, earlier):
    last = earlier[-1] if earlier else {}
    return {
        "verdict": _verdict(record),
        "notebook": _text(record.get("notebook")),
        "environment": record.get("environment"),
        "parameters": [(name, _text(value)) for name, value in (record.get("parameters") or {}).items()],
        "started": record.get("started_at"),
        "seconds": record.get("seconds"),
        "ratio": _ratio(record, earlier),
        "failing": record.get("failing_cell"),
        "reason": record.get("reason"),
        "link": _link(runs_dir, record.get("notebook"), record.get("run_id")),
        "previous_link": _link(runs_dir, last.get("notebook"), last.get("run_id")),
        "previous_started": last.get("started_at"),
    }


def _ratio(record, earlier):
    """Compare a run's duration with the earlier passed runs of its job, in words."""
    passed = [r["seconds"] for r in earlier if r.get("status") == "passed" and r.get("seconds")]
    if not earlier:
        return "first run"
    if not passed:
        return "none passed before"
    if not record.get("seconds"):
        return ""
    return f"{record['seconds'] / statistics.median(passed):.1f}x median of {len(passed)}"


def _link(folder, *parts, up=""):
    """Relative address of a report below `folder`; None when it was pruned or a name is no plain name."""
    names = [str(part) for part in parts]
    if not all(parts) or any(name in (".", "..") or "/" in name for name in names):
        return None
    if not folder.joinpath(*names, "report.html").is_file():
        return None
    return up + "/".join(quote(name, safe="") for name in [*names, "report.html"])


def _notebook(path, record, redact):
    """Render a run's notebook: its cells, its contents, and in `note` what is missing from it."""
    if not path.is_file():
        return {"cells": [], "contents": [], "note": "This run left no notebook."}
    try:
        # papermill writes its own notices of the error into the notebook; the report has a better one
        raw = [
            cell
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            if "papermill-error-cell-tag" not in _tags(cell)
        ]
        cells = [_cell(cell, redact) for cell in raw]
    except Exception as error:  # whatever is wrong with the file, the verdict must still reach its reader
        note = f"The notebook file is damaged and cannot be shown ({type(error).__name__})."
        return {"cells": [], "contents": [], "note": note}
    code = [cell for cell in cells if cell["source"].strip() and cell["type"] == "code"]
    ran = sum(cell["number"] is not None for cell in code)
    note = (
        ""
        if ran == len(code)
        else f"{ran} of {len(code)} code cells were started; the others show no output."
    )
    failed = _failed(cells, record)
    if failed is not None:
        failed["failed"] = True
    return {"cells": cells, "contents": _contents(cells), "note": note, "failed": failed is not None}


def _tags(cell):
    return cell.get("metadata", {}).get("tags", [])


def _cell(cell, redact):
    kind, source = cell["cell_type"], _plain(cell.get("source", ""), redact)
    shown = {
        "type": kind,
        "source": source,
        "tags": _tags(cell),
        "number": None,
        "outputs": [],
        "failed": False,
    }
    if kind == "markdown":
        return shown | {"html": _safe(_markdown(source), redact)}
    if kind != "code":
        return shown
    number = cell.get("execution_count")
    body = Markup(highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))
    outputs = [shown for output in _merged(cell.get("outputs", [])) for shown in _output(output, redact)]
    return shown | {"number": number, "html": body, "outputs": outputs}


def _merged(outputs):
    """Join neighbouring pieces of one stream: a secret or a progress bar may lie across two of them."""
    joined = []
    for output in outputs:
        if joined and output["output_type"] == "stream" and output.get("name") == joined[-1].get("name"):
            joined[-1]["text"] += _joined(output["text"])
        else:
            joined.append(output | {"text": _joined(output["text"])} if "text" in output else output)
    return joined


def _output(output, redact):
    """Turn one output into (kind, content) pairs; of several forms the richest that is safe is taken."""
    kind = output["output_type"]
    if kind == "stream":
        return [(output.get("name", "stdout"), _cut(_plain(output["text"], redact)))]
    if kind == "error":
        trace = "\n".join(output.get("traceback") or []) or f"{output.get('ename')}: {output.get('evalue')}"
        return [("error", _cut(_plain(trace, redact)))]
    data, shown = output.get("data", {}), []
    for media, start in IMAGES.items():
        if media in data and (image := _image(media, data[media], start)):
            return [("image", image)]
    if "text/html" in data:
        source = _plain(data["text/html"], redact)
        if ACTIVE_TAG.search(source):
            shown.append(("note", "Active content of this output is left out of the report."))
        safe = _safe(source, redact)
        if len(safe) <= MAX_OUTPUT_CHARS and (safe.striptags() or "<img src" in safe):
            return [*shown, ("html", safe)]
    if "text/markdown" in data:
        return [*shown, ("html", _safe(_markdown(_plain(data["text/markdown"], redact)), redact))]
    if "image/svg+xml" in data:
        shown.append(("note", "An SVG figure is left out of the report; the notebook has it."))
    if "text/plain" in data:
        shown.append(("text", _cut(_plain(data["text/plain"], redact))))
    return shown or [
        ("note", f"An output of type {', '.join(sorted(data)) or 'unknown'} is left out of the report.")
    ]


def _image(media, content, start):
    """Data address of an image; None when the bytes are not what their type says."""
    encoded = "".join(_joined(content).split())
    try:
        return (
            f"data:{media};base64,{encoded}"
            if base64.b64decode(encoded, validate=True).startswith(start)
            else None
        )
    except binascii.Error:
        return None


def _safe(source, redact):
    """Keep what an allow-list names of somebody's HTML."""

    def value(_tag, name, text):
        if name in VALUES:
            return text if VALUES[name].fullmatch(text) else None
        return redact(text)

    def words(match):  # once more without entities: a secret with & or < in it is spelled differently in HTML
        plain = html.unescape(match[2] or "")
        return html.escape(redact(plain), quote=False) if plain and redact(plain) != plain else match[0]

    clean = nh3.clean(
        source,
        tags=TAGS,
        clean_content_tags=ACTIVE | {"style"},
        attributes=ATTRIBUTES,
        attribute_filter=value,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer",
    )
    return Markup(re.sub(r'(<(?:[^<>"]|"[^"]*")*>)|([^<]+)', words, clean))


def _contents(cells):
    """List the second-level headings as (number of the cell, heading)."""
    return [
        (number, Markup(heading).striptags())
        for number, cell in enumerate(cells, 1)
        if cell["type"] == "markdown"
        for heading in re.findall(r"<h2>(.*?)</h2>", cell["html"], flags=re.S)
    ]


def _failed(cells, record):
    """The cell that stopped the run: the one that number, first line and an error output speak for most."""
    if record.get("status") == "passed":
        return None
    failing = record.get("failing_cell") or {}
    number, first_line = failing.get("number"), (failing.get("first_line") or "").strip()
    code = [cell for cell in cells if cell["type"] == "code"]
    evidence = [
        (number is not None and number in (cell["number"], position))
        + bool(first_line and cell["source"].strip().startswith(first_line))
        + any(kind == "error" for kind, _ in cell["outputs"])
        for position, cell in enumerate(code, 1)
    ]
    return code[evidence.index(max(evidence))] if any(evidence) else None


def _cleaned(value, redact):
    """Pass every text of a record, names included, through `_plain`; numbers only when they are a secret."""
    if isinstance(value, dict):
        return {_plain(str(name), redact): _cleaned(item, redact) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item, redact) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = _plain(str(value), redact)
    return text if isinstance(value, str) or text != str(value) else value


def _plain(text, redact):
    """Text without colour codes, control characters, half characters (UTF-8 has none) and secrets."""
    lines = ANSI.sub("", _joined(text)).split("\n")
    # of a line that a progress bar wrote over and over, only its last state is kept
    text = CONTROL.sub("", "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))
    return redact(text.encode("utf-8", "replace").decode("utf-8"))


def _joined(text):
    """A text as one: notebook files hold them as lists of lines, too."""
    return "".join(text) if isinstance(text, list) else text


def _cut(text):
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return (
        text[:MAX_OUTPUT_CHARS]
        + f"\n… {len(text) - MAX_OUTPUT_CHARS:,} more characters are in notebook.ipynb"
    )


def _verdict(record):
    status = record.get("status")
    return VERDICTS.get(status, (_text(status) if status else "Unknown", "none", "?"))


def _time(text):
    """An ISO time as a datetime in UTC; None when it is missing or none."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _moment(text):
    moment = _time(text)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else _text(text)


def _duration(seconds):
    if not isinstance(seconds, int | float):
        return "—"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _page(template, **values):
    folder = resources.files(__package__) / "templates"
    env = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {"text": _text, "moment": _moment, "duration": _duration}
    css = (folder / "style.css").read_text("utf-8").replace("/* code: light */", _code_css("default"))
    css = css.replace("/* code: dark */", _code_css("github-dark"))
    return env.get_template(template).render(policy=POLICY, css=Markup(css), **values)


def _code_css(style):
    rules = HtmlFormatter(style=style, nobackground=True).get_style_defs(".code").splitlines()
    return "\n".join(rule for rule in rules if rule.startswith(".code "))


def _replace(path, page):
    """Write a file in one step; the temporary name is new each time, as runs may end together."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        part.write_text(page, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
