"""The pages people read: a report of each run, and an index of all of them.

Notebooks and records hold text from data, from parameters and from other people's code, and a report is
opened by whoever gets the link. So nothing in a page can run or fetch: jinja2 escapes every value, nh3 lets
only an allow-list of HTML through, and the content security policy refuses scripts and remote addresses once
more. What nh3 returns is not rewritten: that could open what it closed.
"""

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup
from pygments.formatters import HtmlFormatter

from workbench._base import files
from workbench_ops.pages import markup, watched
from workbench_ops.run import notebook as notebooks
from workbench_ops.run.record import Record, document

if TYPE_CHECKING:
    from workbench_ops.run.durations import Work

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


def write(
    run_dir: Path,
    record: Record,
    *,
    previous: Record | None = None,
    redact: Callable[[str], str] = lambda text: text,
) -> Path:
    """Write the report of one run to `report.html` in its folder.

    A missing, half-executed or damaged `notebook.ipynb` is mentioned in a sentence and never raises: the verdict
    comes from the record alone. The page is replaced in one step, so a reader never sees half of it.

    Args:
        run_dir: folder of the run.
        record: its run record.
        previous: record of the run whose facts are compared with this one's.
        redact: removes secrets from a text; every text passes through it first.

    Returns:
        Path of the page.
    """
    run_dir = Path(run_dir)
    shown = markup.cleaned(document(record), redact)
    earlier = None if previous is None else markup.cleaned(document(previous), redact)
    page = _page(
        "report.html.j2",
        r=shown,
        verdict=VERDICTS[record.status],
        failing=shown["failing_cell"],
        checks=[_check(check) for check in shown["checks"]],
        facts=_facts(shown["results"], earlier["results"] if earlier else {}),
        previous=earlier,
        previous_link=previous and _link(run_dir.parent, previous.run_id, up="../"),
        notebook=markup.notebook(run_dir / "notebook.ipynb", record, redact),
        metrics=watched.section(run_dir, record, redact),
        other_values=_other_values(run_dir / "notebook.ipynb", shown["parameters"]),
    )
    return _replace(run_dir / "report.html", page)


def _other_values(path: Path, parameters: Mapping[str, Any]) -> list[str]:
    """Return the parameters that are not the notebook's defaults, for which its prose was written, as text."""
    import nbformat

    try:
        declared = notebooks.parameters(nbformat.read(path, 4))
    except Exception:  # a damaged notebook is mentioned elsewhere, and must not cost the page
        return []
    given = {name: value for name, value in parameters.items() if name in declared and name != "ENVIRONMENT"}
    changed = {name: value for name, value in given.items() if _exact(value) != _exact(declared[name].default)}
    return [f"{name} = {_text(value)}" for name, value in changed.items()]


def write_index(runs_dir: Path, records: list[Record]) -> Path:
    """Write `index.html`, a table of all runs, newest first.

    Args:
        runs_dir: folder that holds `<notebook>/<run id>/`.
        records: run records in any order, free of secrets as the runner wrote them.

    Returns:
        Path of the page.
    """
    runs_dir = Path(runs_dir)
    rows = []
    jobs = defaultdict[str, list[Record]](list)
    for record in sorted(records, key=_order):
        # what `previous` would search for is kept, as an index may list thousands of runs
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


def same_job(a: "Record | Work", b: "Record | Work") -> bool:
    """Say whether two records are of one notebook, parameters and environment."""
    return _job(a) == _job(b)


def previous(records: list[Record], record: Record) -> Record | None:
    """Find the latest run of the same job that started before `record`, whatever its verdict, or None."""
    earlier = [other for other in records if same_job(other, record) and _order(other) < _order(record)]
    return max(earlier, key=_order, default=None)


def _job(record: "Record | Work") -> str:
    return _exact([record.notebook, record.parameters, record.environment])


def _order(record: Record) -> tuple[datetime, str]:
    return record.started, record.run_id


def _exact(value: Any) -> str:
    """Write a value so that two are equal only when their types are: 1, 1.0, true and "1" all differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "—" if value is None else _exact(value)


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    expected, shown = _distinct(check.get("expected"), check.get("found"))
    return {"name": check["name"], "expected": expected, "found": shown, "passed": check["passed"]}


def _distinct(a: Any, b: Any) -> tuple[str, str]:
    """Return two values as text, quoted when only their types differ, so that the reader sees why 5 is not "5"."""
    if _text(a) == _text(b) and _exact(a) != _exact(b):
        return _exact(a), _exact(b)
    return _text(a), _text(b)


def _facts(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[dict[str, str]]:
    """Compare recorded facts with those of an earlier run, in the order recorded, missing ones last."""
    rows = []
    for name in [*now, *(name for name in before if name not in now)]:
        this, that = _distinct(now.get(name), before.get(name))
        if name not in now or name not in before:
            change = "missing" if name not in now else "new"
        else:
            change = "same" if _exact(now[name]) == _exact(before[name]) else "changed"
        rows.append({"name": name, "this": this, "previous": that, "change": change})
    return rows


def _row(runs_dir: Path, record: Record, earlier: Sequence[Record]) -> dict[str, Any]:
    shown = markup.cleaned(document(record), str)
    last = earlier[-1] if earlier else None
    return {
        "verdict": VERDICTS[record.status],
        "notebook": shown["notebook"],
        "environment": shown["environment"],
        "parameters": [(name, _text(value)) for name, value in shown["parameters"].items()],
        "started": shown["started_at"],
        "seconds": record.seconds,
        "ratio": _ratio(record, earlier),
        "failing": shown["failing_cell"],
        "reason": shown["reason"],
        "link": _link(runs_dir, record.notebook, record.run_id),
        "previous_link": last and _link(runs_dir, last.notebook, last.run_id),
        "previous_started": last and last.started_at,
    }


def _ratio(record: Record, earlier: Sequence[Record]) -> str:
    """Compare a run's duration with the earlier passed runs of its job, in words."""
    passed = [other.seconds for other in earlier if other.status == "passed" and other.seconds]
    if not earlier:
        return "first run"
    if not passed:
        return "none passed before"
    if not record.seconds:
        return ""
    return f"{record.seconds / statistics.median(passed):.1f}x median of {len(passed)}"


def _link(folder: Path, *parts: str | None, up: str = "") -> str | None:
    """Return the relative address of a report below `folder`; None if it was pruned or a name is not plain."""
    names = [str(part) for part in parts]
    if not all(parts) or any(name in (".", "..") or "/" in name for name in names):
        return None
    if not folder.joinpath(*names, "report.html").is_file():
        return None
    return up + "/".join(quote(name, safe="") for name in [*names, "report.html"])


def _moment(text: Any) -> str:
    """Return an ISO time as people read it, in UTC; as it is where a part of it was blanked out as a secret."""
    try:
        return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (TypeError, ValueError):
        return _text(text)


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int | float):
        return "—"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _page(template: str, **values: Any) -> str:
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


def _code_css(style: str) -> str:
    rules = HtmlFormatter(style=style, nobackground=True).get_style_defs(".code").splitlines()
    return "\n".join(rule for rule in rules if rule.startswith(".code "))


def _replace(path: Path, page: str) -> Path:
    with files.replacing(path) as new:
        new.write_text(page, encoding="utf-8")
    return path
