"""What a report says, and what it must never do: run, fetch or give away anything."""

import base64
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from conftest import write_notebook

from workbench_ops.pages import markup, report
from workbench_ops.run.record import Record

PIXEL = (  # a PNG of one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
OWN = "document.title='owned'"
HOSTILE = [  # each is one way to run or fetch something from a page
    f"<script>{OWN}</script>",
    f'<img src="x" onerror="{OWN}">',
    '<img src="https://example.org/pixel.png">',
    '<img src="data:image/svg+xml;base64,PHN2Zy8+">',
    f'<a href="javascript:{OWN}">a</a>',
    f'<a href=" java\nscript:{OWN}">b</a>',
    f'<a href="data:text/html,<script>{OWN}</script>">c</a>',
    f'<a href="https://example.org" title="<table><img src=x onerror={OWN}>">d</a>',
    f'<iframe srcdoc="<script>parent.{OWN}</script>"></iframe>',
    '<iframe src="https://example.org"></iframe>',
    "<style>@import 'https://example.org/a.css'; body { background: url(https://example.org/b) }</style>",
    '<link rel="stylesheet" href="https://example.org/a.css">',
    '<meta http-equiv="refresh" content="0; https://example.org">',
    '<base href="https://example.org/">',
    '<form action="https://example.org"><input name="q"><button>go</button></form>',
    f'<svg onload="{OWN}"><script>{OWN}</script><image href="https://example.org/i"/></svg>',
    f"<math><mtext><style><img src=x onerror={OWN}></style></mtext></math>",
    f'<details open ontoggle="{OWN}"><summary>e</summary></details>',
    '<object data="https://example.org"></object><embed src="https://example.org">',
    '<video src="https://example.org" autoplay></video>',
    '<td style="background: url(https://example.org/c)" background="https://example.org/d">f</td>',
    f'</pre></code></style></title></section><script>{OWN}</script>',
    f'"><script>{OWN}</script>',
]  # fmt: skip
MARKDOWN = [
    f"[g](javascript:{OWN})",
    "![h](https://example.org/h.png)",
    f"## <script>{OWN}</script><img src=x onerror={OWN}> heading",
    f"```\n</code></pre><script>{OWN}</script>\n```",
    f"$</code><script>{OWN}</script>$",
]

HARMLESS = {  # attributes a page may have; the values of href, src and style are looked at one by one
    "href", "src", "alt", "title", "rel", "class", "id", "style", "lang", "charset", "http-equiv", "name",
    "content", "scope", "start", "colspan", "rowspan", "data-label", "aria-hidden", "aria-label",
}  # fmt: skip


class Page(HTMLParser):
    """Elements, visible text and table rows of a page, as a browser would split them."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.words, self.rows, self.headings, self.open = [], [], [], [], []
        self.html = path.read_text("utf-8")
        self.feed(self.html)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("br", "hr", "img", "link", "meta"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" in self.open or "title" in self.open:
            return
        self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] = " ".join([self.rows[-1][-1], *data.split()]).strip()
        if "h2" in self.open and "small" not in self.open:
            self.headings[-1] = f"{self.headings[-1]}{data}".strip()

    def links(self):
        return [a["href"] for tag, a in self.elements if tag == "a" and "href" in a]

    def ids(self):
        return [a["id"] for _, a in self.elements if "id" in a]


def record(day=1, **changes):
    """A record with every key, started on a day of November."""
    values = {
        "run_id": f"202611{day:02}T160501Z-3f9a2c",
        "notebook": "01_first_table",
        "notebook_path": "notebooks/01_first_table.ipynb",
        "notebook_sha256": "ab" * 32,
        "params_file": "params/01_first_table/nightly.yml",
        "parameters": {"RUN_DATE": "2026-01-31", "READINGS": 10000},
        "environment": "local",
        "status": "passed",
        "reason": None,
        "failing_cell": None,
        "started_at": f"2026-11-{day:02}T16:05:01Z",
        "finished_at": f"2026-11-{day:02}T16:05:21Z",
        "seconds": 20.0,
        "versions": {"pyspark": "4.1.4"},
        "tables": [{"name": "lake.first.readings", "snapshot_id": 6211045986231410382}],
        "results": {"rows": 10000},
        "measurements": {"load_seconds": 3.21},
        "checks": [{"name": "no reading is lost", "found": 10000, "expected": 10000, "passed": True}],
        "command": "workbench run notebooks/01_first_table.ipynb --set READINGS=10000",
        "exit_code": 0,
    }
    return Record(**values | changes)


def markdown(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source, number=None, *outputs, tags=()):
    metadata = {"tags": list(tags)}
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "execution_count": number,
        "outputs": list(outputs),
    }


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def display(**data):
    named = {"html": "text/html", "text": "text/plain", "png": "image/png", "svg": "image/svg+xml"}
    return {"output_type": "display_data", "metadata": {}, "data": {named[k]: v for k, v in data.items()}}


def error(*traceback):
    return {"output_type": "error", "ename": "CheckFailed", "evalue": "no", "traceback": list(traceback)}


def written(folder, cells=None, run=None, **options):
    """Write a report of these cells (None: no notebook at all) and read it."""
    if cells is not None:
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (folder / "notebook.ipynb").write_text(json.dumps(notebook))
    return Page(report.write(folder, record() if run is None else run, **options))


def indexed(runs_dir, records, *, pruned=()):
    for r in records:
        if r.run_id not in pruned:
            folder = runs_dir / r.notebook / r.run_id
            folder.mkdir(parents=True)
            (folder / "report.html").touch()
    return Page(report.write_index(runs_dir, records))


def table(page, first):
    """Rows of the table whose first heading is given, without its heading row."""
    start = next(i for i, row in enumerate(page.rows) if row and row[0] == first)
    width = len(page.rows[start])
    rows = []
    for row in page.rows[start + 1 :]:
        if len(row) != width or row[0] in ("Check", "Fact"):
            break
        rows.append(row)
    return rows


def hostile_record():
    text = "".join(HOSTILE)
    return record(
        2,
        run_id=text,
        notebook=text,
        notebook_path=text,
        params_file=text,
        parameters={text: text},
        environment=text,
        status="failed",
        reason=text,
        failing_cell={"number": 1, "first_line": text, "error": text, "message": text, "line": text},
        versions={text: text},
        tables=[{"name": text}],
        results={text: text},
        measurements={text: [text]},
        checks=[{"name": text, "found": text, "expected": {text: 1}, "passed": False}],
        command=text,
    )


def hostile_cells():
    traceback = error(*HOSTILE)
    outputs = [display(html=h, text=h) for h in HOSTILE] + [stream(h) for h in HOSTILE] + [traceback]
    png = display(png='x" onerror="' + OWN, text="fake")
    svg = display(svg=f"<svg onload={OWN}></svg>", text="drawing")
    everything = display(html="".join(HOSTILE))
    return [
        *map(markdown, HOSTILE + MARKDOWN),
        code("".join(HOSTILE), 1, *outputs, png, svg, everything, tags=HOSTILE),
    ]


def assert_inert(page):
    """Nothing in the page runs or fetches: element by element, attribute by attribute."""
    own = {"html", "head", "body", "main", "header", "nav", "section", "title", "style", "meta", "link"}
    assert {tag for tag, _ in page.elements} <= markup.TAGS | own
    assert [tag for tag, _ in page.elements].count("style") == 1
    assert len([tag for tag, _ in page.elements if tag == "meta"]) == 5
    assert "url(" not in page.html.split("<style>")[1].split("</style>")[0]
    assert "@import" not in page.html.split("<style>")[1].split("</style>")[0]
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name in HARMLESS
            if name == "style":
                assert re.fullmatch(r"text-align: ?(left|right|center);?", value)
            if name == "src":
                assert tag == "img"
                assert re.match(r"data:image/(png|jpeg);base64,[\w+/=]+$", value)
            if name == "href" and tag == "link":
                assert value == "data:,"
            elif name == "href":
                assert tag == "a"
                assert re.match(r"https?://|mailto:|#|\.\./|[\w%.-]+/[\w%.-]+/report\.html$", value)
                assert not value.startswith("http") or attributes["rel"] == "noopener noreferrer"


def test_hostile_record_and_notebook_stay_inert(tmp_path):
    page = written(tmp_path, hostile_cells(), hostile_record(), previous=hostile_record())
    assert_inert(page)
    assert page.text.count(OWN) > 40  # shown as text, not lost: the reader sees what was tried
    assert "https://example.org" in page.links()


def test_hostile_records_stay_inert_in_the_index(tmp_path):
    page = Page(report.write_index(tmp_path, [hostile_record(), record(3)]))
    assert_inert(page)
    assert OWN in page.text


def test_each_hostile_piece_alone_stays_inert(tmp_path):
    for piece in HOSTILE + MARKDOWN:
        assert_inert(written(tmp_path, [markdown(piece), code("1", 1, display(html=piece))]))


@pytest.mark.parametrize("page", ["report", "index"])
def test_policy_refuses_everything_but_inline_style_and_data_images(tmp_path, page):
    path = report.write(tmp_path, record()) if page == "report" else report.write_index(tmp_path, [record()])
    policies = [a["content"] for tag, a in Page(path).elements if a.get("http-equiv")]
    assert policies == [
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    ]


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium on the PATH")
@pytest.mark.parametrize(
    ("hostile", "planted", "policy", "title"),
    [
        pytest.param(False, True, False, "owned", id="control: this script does run in a page without defences"),
        pytest.param(False, True, True, "Passed: 01_first_table", id="the policy alone stops a planted script"),
        pytest.param(True, False, False, "Passed: 01_first_table", id="the sanitiser alone leaves no script"),
    ],
)
def test_no_script_runs_in_a_browser(tmp_path, hostile, planted, policy, title):
    path = tmp_path / "report.html"
    text = written(tmp_path, hostile_cells() if hostile else []).html
    if planted:
        text = text.replace("</main>", f"</main><script>{OWN}</script>")
    if not policy:
        text = text.replace("Content-Security-Policy", "x-none")
    path.write_text(text)
    options = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        " --disable-component-update --disable-sync --virtual-time-budget=1000 --dump-dom"
    )
    command = ["chromium", *options.split(), f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert re.findall(r"<title>(.*?)</title>", dom)[:1] == [title]


def test_sections_come_in_order(tmp_path):
    failing = {"number": 1, "first_line": "1/0", "error": "ZeroDivisionError", "message": "division by zero"}
    run = record(status="failed", reason="Cell 1 failed.", failing_cell=failing)
    page = written(tmp_path, [markdown("## 1 Divide"), code("1/0", 1, error("trace"))], run)
    assert page.headings == [
        "Stopped in cell 1", "Checks", "Facts", "Measurements", "Parameters", "Environment", "Versions",
        "Tables", "Times", "Run it again", "Notebook", "1 Divide",
    ]  # fmt: skip
    assert "✗ Failed Cell 1 failed." in page.text
    assert "ZeroDivisionError : division by zero" in page.text


def test_record_is_shown_in_full(tmp_path):
    page = written(tmp_path)
    for words in [
        "✓ Passed", "load_seconds 3.21", "RUN_DATE 2026-01-31 READINGS 10000", "environment local",
        "pyspark 4.1.4", "lake.first.readings snapshot 6211045986231410382",
        "started 2026-11-01 16:05:01 UTC",
        "finished 2026-11-01 16:05:21 UTC", "took 20.0 s", "exit code 0",
        "workbench run notebooks/01_first_table.ipynb --set READINGS=10000",
    ]:  # fmt: skip
        assert words in page.text


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("passed", "✓ Passed"),
        ("failed", "✗ Failed"),
        ("timed_out", "✗ Timed out"),
        ("died", "✗ Kernel died"),
        ("refused", "! Refused"),
        ("interrupted", "! Interrupted"),
        ("running", "… Running"),
    ],
)
def test_verdict_is_a_word(tmp_path, status, words):
    assert words in written(tmp_path, run=record(status=status)).text


def test_checks_show_why_a_number_is_not_a_text(tmp_path):
    checks = [
        {"name": "rows", "expected": 5, "found": 5, "passed": True},
        {"name": "type", "expected": 5, "found": "5", "passed": False},
        {"name": "old", "passed": False},
    ]
    page = written(tmp_path, run=record(checks=checks))
    assert table(page, "Check") == [
        ["rows", "5", "5", "✓ passed"],
        ["type", "5", '"5"', "✗ failed"],
        ["old", "—", "—", "✗ failed"],
    ]
    assert "1 of 3 passed" in page.text


def test_facts_are_compared_with_the_previous_run(tmp_path):
    now = record(2, results={"rows": 5, "equal": True, "text": "5", "extra": None})
    before = record(1, results={"rows": 5, "gone": "x", "text": 5, "equal": 1})
    page = written(tmp_path, run=now, previous=before)
    assert table(page, "Fact") == [
        ["rows", "5", "5", "same"],
        ["equal", "true", "1", "changed"],
        ["text", '"5"', "5", "changed"],
        ["extra", "—", "—", "new"],
        ["gone", "—", "x", "missing"],
    ]
    assert "against the run of 2026-11-01 16:05:01 UTC" in page.text


def test_facts_of_a_first_run_stand_alone(tmp_path):
    page = written(tmp_path)
    assert table(page, "Fact") == [["rows", "10000"]]
    assert "No previous run of this notebook" in page.text


def test_previous_report_is_linked_only_while_it_exists(tmp_path):
    folder, before = tmp_path / "now", tmp_path / record(1).run_id
    folder.mkdir()
    assert written(folder, previous=record(1)).links() == ["../../index.html"]
    before.mkdir()
    report.write(before, record(1))
    assert f"../{before.name}/report.html" in written(folder, previous=record(1)).links()


def test_same_job_means_notebook_parameters_and_environment():
    assert report.same_job(record(1), record(2, status="failed", versions={}))
    assert report.same_job(record(parameters={"A": 1, "B": 2}), record(parameters={"B": 2, "A": 1}))
    assert not report.same_job(record(), record(notebook="02_second"))
    assert not report.same_job(record(), record(environment="lake"))
    assert not report.same_job(record(parameters={"A": 1}), record(parameters={"A": True}))


def test_previous_is_the_latest_earlier_run_of_the_job():
    records = [record(4), record(2, status="failed"), record(1), record(3, environment="lake"), record(5)]
    assert report.previous(records, record(4)) == record(2, status="failed")
    assert report.previous(records, record(1)) is None
    assert report.previous([], record(1)) is None


def test_previous_compares_moments_and_not_texts():
    morning = record(run_id="a", started_at="2026-11-01T09:00:00+00:00")
    noon = record(run_id="b", started_at="2026-11-01T14:00:00+02:00")
    assert report.previous([morning, noon], record(run_id="c", started_at="2026-11-01T13:00:00Z")) == noon
    assert report.previous([noon], morning) is None


def test_prose_of_a_run_with_other_values_is_marked(tmp_path):
    write_notebook(tmp_path / "notebook.ipynb", "# Title", parameters='ENVIRONMENT: str = "local"\nROWS: int = 3')
    for given, words in (({"ROWS": 4}, "this run had ROWS = 4."), ({"ENVIRONMENT": "lake", "ROWS": 3}, None)):
        text = report.write(tmp_path, record(parameters=given)).read_text()
        assert (words in text) if words else ("was written for the default parameters" not in text)


def test_missing_notebook_is_said(tmp_path):
    page = written(tmp_path, run=record(status="refused", reason="READING is not a parameter."))
    assert "! Refused READING is not a parameter." in page.text
    assert page.text.endswith("This run left no notebook.")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"cells": [{"cell_type": "code", "sour',
        b"[]",
        b'{"cells": 5}',
        b'{"cells": [{}]}',
        b'{"cells": [{"cell_type": "code", "source": {}, "outputs": []}]}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
    ],
)
def test_corrupt_notebook_leaves_the_verdict(tmp_path, content):
    (tmp_path / "notebook.ipynb").write_bytes(content)
    page = written(tmp_path, run=record(status="died"))
    assert "✗ Kernel died" in page.text
    assert "The notebook file is damaged and cannot be shown" in page.text


def test_half_executed_notebook_says_how_far_it_came(tmp_path):
    page = written(tmp_path, [code("a = 1", 1), code("b = 2"), code("c = 3"), code("")])
    assert "1 of 3 code cells were started; the others show no output." in page.text
    assert "[1] a = 1 [ ] b = 2 [ ] c = 3" in " ".join(page.text.replace("=", " = ").split())


@pytest.mark.parametrize(
    ("failing", "cells", "prompt"),
    [
        ({"number": 2, "first_line": "b()"}, [code("a()", 1), code("b()", 2, error("x"))], "2"),
        ({"number": 2, "first_line": "b()"}, [code("", None), code("a()", 1), code("b()", 2)], "2"),
        ({"number": 1, "first_line": "b()\n"}, [code("a()", 2), code("b()", 3, error("x"))], "3"),
        (None, [code("a()", 1), code("b()", 2, error("x")), code("c()")], "2"),
        ({"number": 2}, [code("a()", 1), code("b()", 2)], "2"),
    ],
)
def test_failed_cell_is_marked_and_linked(tmp_path, failing, cells, prompt):
    page = written(tmp_path, cells, record(status="failed", failing_cell=failing))
    assert page.ids().count("failed-cell") == 1
    assert page.links().count("#failed-cell") == 1
    assert f"[{prompt}] the run stopped here" in page.text


def test_nothing_is_marked_when_no_cell_is_to_blame(tmp_path):
    caught = [code("a()", 1, error("shown on purpose"))]
    assert "failed-cell" not in written(tmp_path, caught).ids()
    timed_out = record(status="timed_out", failing_cell=None)
    assert "failed-cell" not in written(tmp_path, [code("a()", 1)], timed_out).ids()


def test_contents_lead_to_the_second_level_headings(tmp_path):
    cells = [
        markdown("# Title\n\n## 1 A *fine* & b"),
        markdown("```\n## no heading\n```"),
        markdown("## 2 B\n### c"),
    ]
    page = written(tmp_path, cells)
    assert [link for link in page.links() if link.startswith("#cell")] == ["#cell-1", "#cell-3"]
    assert {"cell-1", "cell-3"} <= set(page.ids())
    assert "Notebook 1 A fine & b 2 B Title" in page.text


def test_outputs_of_every_kind(tmp_path):
    outputs = [
        stream(["one\n", "two\n"]),
        stream("careful\n", "stderr"),
        display(html="<table><tr><td style='text-align: right;'>7</td></tr></table>", text="seven"),
        display(png=PIXEL + "\n", text="<Figure>"),
        display(png=base64.b64encode(b"GIF89a").decode(), text="no PNG at all"),
        display(svg="<svg></svg>", text="a drawing"),
        display(html="<script>plot()</script>", text="a plot"),
        {"output_type": "display_data", "metadata": {}, "data": {"application/x-widget": {}}},
    ]
    page = written(tmp_path, [code("x", 1, *outputs)])
    assert page.text.split("[1] x ")[1] == (
        "one two careful 7 no PNG at all An SVG figure is left out of the report; the notebook has it."
        " a drawing Active content of this output is left out of the report. a plot"
        " An output of type application/x-widget is left out of the report."
    )
    assert [a["src"] for tag, a in page.elements if tag == "img"] == [f"data:image/png;base64,{PIXEL}"]
    assert ("td", {"style": "text-align: right;"}) in page.elements
    assert ("pre", {"class": "output stderr"}) in page.elements


def test_words_inside_dropped_elements_go_with_them(tmp_path):
    html = "<b>kept</b><svg><text>drawn</text></svg><iframe>framed</iframe><style>styled</style>"
    page = written(tmp_path, [markdown(html), code("x", 1, display(html=html))])
    assert page.text.endswith("kept [1] x Active content of this output is left out of the report. kept")


def test_terminal_codes_are_gone(tmp_path):
    bar = [stream("\r 10%"), stream("\r 50%"), stream("\r100%\n"), stream("done\r\n")]
    trace = error("\x1b[31mBoom\x1b[39m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b(B!\x00")
    run = record(status="failed", reason="\x1b[1;31mred\x1b[0m reason")
    page = written(tmp_path, [code("x", 1, *bar, trace)], run)
    assert page.text.endswith("x 100% done Boom link !")
    assert "red reason" in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", page.html)


def test_notices_of_papermill_are_left_out(tmp_path):
    notice = markdown("An Exception was encountered") | {"metadata": {"tags": ["papermill-error-cell-tag"]}}
    assert "Exception was encountered" not in written(tmp_path, [notice]).text


def test_large_output_is_cut(tmp_path):
    page = written(
        tmp_path, [code("x", 1, stream("y" * 300_000), display(html="<p>" + "z" * 300_000, text="short"))]
    )
    assert page.text.endswith("… 100,000 more characters are in notebook.ipynb short")
    assert len(page.html) < 250_000


def test_half_characters_do_not_stop_the_report(tmp_path):
    text = "\ud83d half"
    cells = [markdown(text), code(text, 1, display(html=text), stream(text))]
    assert written(tmp_path, cells, record(reason=text)).text.count("? half") == 4


def test_no_secret_reaches_the_page(tmp_path):
    secret = "s3cr&t<9>"
    split = [stream("key s3c"), stream("r&t<9> end"), stream("\x1b[1ms3c\x1b[0mr&t<9>")]
    escaped = "s3cr&amp;t&lt;9&gt;"
    html = display(html=f'<b>{escaped}</b><a href="https://x" title="{escaped}">link</a>', text="t")
    cells = [
        markdown(f"## Key {escaped}\n\n`{secret}`"),
        code(f"key = '{secret}'", 1, *split, html, display(text=secret), error("a", secret)),
    ]
    run = record(
        status="failed",
        reason=secret,
        parameters={secret: [secret, {"a": secret}]},
        failing_cell={"number": 1, "first_line": secret, "error": secret, "message": secret},
        results={"pin": 12345678},
        command=f"run {secret}",
    )

    def redact(text):
        return text.replace(secret, "[hidden]").replace("12345678", "[hidden]")

    page = written(tmp_path, cells, run, previous=run, redact=redact)
    for spelled in (secret, escaped, "s3cr", "12345678"):
        assert spelled not in page.html
    assert page.text.count("[hidden]") > 12
    assert ("a", {"href": "https://x", "title": "[hidden]", "rel": "noopener noreferrer"}) in page.elements


def test_redaction_leaves_the_tags_alone(tmp_path):
    page = written(tmp_path, [markdown("**a** b")], redact=lambda text: text.replace("strong", "[hidden]"))
    assert page.html.count("<strong>a</strong> b") == 1


def test_page_is_replaced_in_one_step(tmp_path):
    old = written(tmp_path, []).html

    def broken(text):
        raise RuntimeError("no rules")

    with pytest.raises(RuntimeError, match="no rules"):
        report.write(tmp_path, record(2), redact=broken)
    assert (tmp_path / "report.html").read_text() == old
    assert written(tmp_path, run=record(2)).html != old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notebook.ipynb", "report.html"]


def test_reader_of_the_old_page_keeps_it(tmp_path):
    old = written(tmp_path).html
    with (tmp_path / "report.html").open(encoding="utf-8") as reader:
        report.write(tmp_path, record(2))
        assert reader.read() == old


def test_failed_write_leaves_nothing_behind(tmp_path):
    (tmp_path / "report.html" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError):
        report.write(tmp_path, record())
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_empty_records_have_pages(tmp_path):
    first, second = (
        Record(run_id=run_id, notebook="x", status="running", started_at="2026-11-01T16:05:01Z") for run_id in "ab"
    )
    assert "… Running" in written(tmp_path, run=second, previous=first).text
    page = Page(report.write_index(tmp_path, [first, second]))
    assert page.rows[1:] == [
        ["… Running", "x", "—", "2026-11-01 16:05:01", "— none passed before", "—", "pruned"],
        ["… Running", "x", "—", "2026-11-01 16:05:01", "— first run", "—", "pruned"],
    ]


def test_index_lists_runs_newest_first(tmp_path):
    failing = {"number": 6, "first_line": "checks.require(1)", "error": "CheckFailed", "message": "no"}
    runs = [
        record(1),
        record(3, status="failed", failing_cell=failing, seconds=66.0),
        record(2, seconds=75),
        record(4, notebook="02_second", status="refused", reason="No such file.", seconds=None, environment=None),
    ]
    page = indexed(tmp_path, runs)
    parameters = "RUN_DATE=2026-01-31, READINGS=10000"
    assert page.rows[1:] == [
        [
            "! Refused",
            "02_second",
            parameters,
            "2026-11-04 16:05:01",
            "— first run",
            "No such file.",
            "report",
        ],
        [
            "✗ Failed",
            "01_first_table local",
            parameters,
            "2026-11-03 16:05:01",
            "1 min 06 s 1.4x median of 2",
            "cell 6 checks.require(1)",
            "report previous",
        ],
        [
            "✓ Passed",
            "01_first_table local",
            parameters,
            "2026-11-02 16:05:01",
            "1 min 15 s 3.8x median of 1",
            "—",
            "report previous",
        ],
        [
            "✓ Passed",
            "01_first_table local",
            parameters,
            "2026-11-01 16:05:01",
            "20.0 s first run",
            "—",
            "report",
        ],
    ]
    assert "4 runs 2 passed 1 failed 1 refused 2 notebooks" in page.text


def test_ratio_is_against_the_median_of_earlier_passed_runs_of_the_job(tmp_path):
    runs = [
        record(1, seconds=10.0),
        record(2, seconds=20.0),
        record(3, seconds=90.0),
        record(4, seconds=1000.0, status="failed"),
        record(5, seconds=1000.0, environment="lake"),
        record(6, seconds=22.0),
        record(7, seconds=1000.0),
    ]
    page = indexed(tmp_path, runs)
    assert page.rows[2][4] == "22.0 s 1.1x median of 3"


def test_index_links_are_relative(tmp_path):
    page = indexed(tmp_path, [record(1), record(2)])
    first, second = (f"01_first_table/202611{day}T160501Z-3f9a2c/report.html" for day in ("01", "02"))
    assert page.links() == [second, second, first, first, first]


def test_pruned_runs_have_no_link(tmp_path):
    page = indexed(tmp_path, [record(1), record(2)], pruned=[record(1).run_id])
    second = "01_first_table/20261102T160501Z-3f9a2c/report.html"
    assert page.links() == [second, second]
    assert page.rows[2][1:2] + page.rows[2][6:] == ["01_first_table local", "pruned"]


def test_index_never_links_outside_its_folder(tmp_path):
    runs_dir = tmp_path / "runs"
    runs_dir.mkdir()
    for folder in (tmp_path / "r", runs_dir / "a b#c" / "r"):
        folder.mkdir(parents=True)
        (folder / "report.html").touch()
    outside = [record(notebook="..", run_id="r"), record(notebook=str(tmp_path), run_id="r")]
    assert Page(report.write_index(runs_dir, outside)).links() == []
    named = Page(report.write_index(runs_dir, [record(notebook="a b#c", run_id="r")]))
    assert named.links() == ["a%20b%23c/r/report.html"] * 2
