"""A run's notebook as HTML that is safe to open: rendered, sanitised, with nothing that can run or fetch.

nh3 lets only an allow-list of HTML through. What it returns is not rewritten: that could open what it closed.
"""

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mistune
import nh3
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from workbench_ops.run.record import Record

Redact = Callable[[str], str]
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

_renderer = mistune.HTMLRenderer(escape=False)
_parse = mistune.create_markdown(renderer=_renderer, plugins=["table", "strikethrough", "url", "math"])
_renderer.register("inline_math", lambda _, text: f"<code>{html.escape(text)}</code>")
_renderer.register("block_math", lambda _, text: f"<pre>{html.escape(text)}</pre>")


def notebook(path: Path, record: Record, redact: Redact) -> dict[str, Any]:
    """Render a run's notebook: its cells, its contents, and in `note` what is missing."""
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
    note = "" if ran == len(code) else f"{ran} of {len(code)} code cells were started; the others show no output."
    failed = _failed(cells, record, redact)
    if failed is not None:
        failed["failed"] = True
    return {"cells": cells, "contents": _contents(cells), "note": note, "failed": failed is not None}


def _html(markdown: str) -> str:
    return str(_parse(markdown))


def _tags(cell: Mapping[str, Any]) -> list[str]:
    return cell.get("metadata", {}).get("tags", [])


def _cell(cell: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    kind, source = cell["cell_type"], _plain(cell.get("source", ""), redact)
    rendered = {
        "type": kind,
        "source": source,
        "tags": _tags(cell),
        "number": None,
        "outputs": [],
        "failed": False,
    }
    if kind == "markdown":
        return rendered | {"html": _safe(_html(source), redact)}
    if kind != "code":
        return rendered
    number = cell.get("execution_count")
    body = Markup(highlight(source, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))
    outputs = [rendered for output in _merged(cell.get("outputs", [])) for rendered in _output(output, redact)]
    return rendered | {"number": number, "html": body, "outputs": outputs}


def _merged(outputs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join neighbouring pieces of one stream: a secret or a progress bar may lie across two of them."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        if joined and output["output_type"] == "stream" and output.get("name") == joined[-1].get("name"):
            joined[-1]["text"] += _joined(output["text"])
        else:
            joined.append(output | {"text": _joined(output["text"])} if "text" in output else output)
    return joined


def _output(output: Mapping[str, Any], redact: Redact) -> list[tuple[str, str]]:
    """Return an output as (kind, content) pairs; of several forms the richest that is safe."""
    kind = output["output_type"]
    if kind == "stream":
        return [(output.get("name", "stdout"), _cut(_plain(output["text"], redact)))]
    if kind == "error":
        trace = "\n".join(output.get("traceback") or []) or f"{output.get('ename')}: {output.get('evalue')}"
        return [("error", _cut(_plain(trace, redact)))]
    data = output.get("data", {})
    shown: list[tuple[str, str]] = []
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
        return [*shown, ("html", _safe(_html(_plain(data["text/markdown"], redact)), redact))]
    if "image/svg+xml" in data:
        shown.append(("note", "An SVG figure is left out of the report; the notebook has it."))
    if "text/plain" in data:
        shown.append(("text", _cut(_plain(data["text/plain"], redact))))
    return shown or [
        ("note", f"An output of type {', '.join(sorted(data)) or 'unknown'} is left out of the report.")
    ]


def _image(media: str, content: Any, start: bytes) -> str | None:
    """Return the data address of an image; None if the bytes are not what their type says."""
    encoded = "".join(_joined(content).split())
    try:
        return (
            f"data:{media};base64,{encoded}"
            if base64.b64decode(encoded, validate=True).startswith(start)
            else None
        )
    except binascii.Error:
        return None


def _safe(source: str, redact: Redact) -> Markup:
    """Return what an allow-list keeps of somebody's HTML."""

    def value(_tag: str, name: str, text: str) -> str | None:
        if name in VALUES:
            return text if VALUES[name].fullmatch(text) else None
        return redact(text)

    def words(
        match: re.Match[str],
    ) -> str:  # once more without entities: a secret with & or < in it is spelled differently in HTML
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


def _contents(cells: Iterable[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """Return the second-level headings as (number of the cell, heading)."""
    return [
        (number, Markup(heading).striptags())
        for number, cell in enumerate(cells, 1)
        if cell["type"] == "markdown"
        for heading in re.findall(r"<h2>(.*?)</h2>", cell["html"], flags=re.S)
    ]


def _failed(cells: Sequence[dict[str, Any]], record: Record, redact: Redact) -> dict[str, Any] | None:
    """Return the cell that stopped the run: the one with most evidence: number, first line, an error output."""
    if record.status == "passed":
        return None
    failing = record.failing_cell
    number, first_line = (failing.number, _plain(failing.first_line, redact).strip()) if failing else (None, "")
    code = [cell for cell in cells if cell["type"] == "code"]
    evidence = [
        (number is not None and number in (cell["number"], position))
        + bool(first_line and cell["source"].strip().startswith(first_line))
        + any(kind == "error" for kind, _ in cell["outputs"])
        for position, cell in enumerate(code, 1)
    ]
    return code[evidence.index(max(evidence))] if any(evidence) else None


def cleaned(value: Any, redact: Redact) -> Any:
    """Return a value with every text in it, names included, made plain; numbers only if they are a secret."""
    if isinstance(value, dict):
        return {_plain(str(name), redact): cleaned(item, redact) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item, redact) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = _plain(str(value), redact)
    return text if isinstance(value, str) or text != str(value) else value


def _plain(text: str | list[str], redact: Redact) -> str:
    """Return a text without colour codes, control characters, half characters (UTF-8 has none) and secrets."""
    lines = ANSI.sub("", _joined(text)).split("\n")
    # of a line that a progress bar wrote over and over, only its last state is kept
    text = CONTROL.sub("", "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))
    return redact(text.encode("utf-8", "replace").decode("utf-8"))


def _joined(text: str | list[str]) -> str:
    """Return a text as one: notebook files also hold texts as lists of lines."""
    return "".join(text) if isinstance(text, list) else text


def _cut(text: str) -> str:
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return text[:MAX_OUTPUT_CHARS] + f"\n… {len(text) - MAX_OUTPUT_CHARS:,} more characters are in notebook.ipynb"
