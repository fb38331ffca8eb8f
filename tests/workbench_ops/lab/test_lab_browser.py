"""The panel, a SQL cell, its table and its progress, in a headless Chromium."""

import json
import time

import browser
import labs
import nbformat
import psutil
import pytest
import sqlalchemy
from pyiceberg.catalog import load_catalog

from workbench import session

PANEL = 'document.querySelector("#iceberg-workbench-panel")'
NOTEBOOK = "[...window.jupyterapp.shell.widgets('main')].find(each => each.content?.model?.cells)"
FRONT = ("remoteEntry", "panel", "pages", "table", "progress", "colours")
BROKEN = {"a syntax error": "export const = ;", "a throw": "throw new Error('planted')", "nothing": ""}
pytestmark = pytest.mark.skipif(browser.PROGRAM is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with labs.running(labs.folder_of(tmp_path_factory.mktemp("lab"))) as running:
        yield running


@pytest.fixture
def page():
    with browser.opened() as page:
        yield page


def boot(page, lab):
    page.go(f"{lab.address}lab?reset&token={labs.TOKEN}")
    page.until('document.querySelector(".jp-LauncherCard")', 120)


def press(page, command, **given):
    page.run(f"void window.jupyterapp.commands.execute({json.dumps(command)}, {json.dumps(given)})")


def look_at(page, table):
    """Open the panel, choose the environment and click a table."""
    page.until(PANEL)
    page.run('window.jupyterapp.shell.activateById("iceberg-workbench-panel")')
    page.until(f'{PANEL}.querySelectorAll("option").length > 3')
    page.run(
        f'(() => {{ const s = {PANEL}.querySelector("select"); s.value = "own"; s.dispatchEvent(new Event("change")) }})()'
    )
    page.until(f'{PANEL}.querySelectorAll("[data-table]").length == 2')
    page.run(f"[...{PANEL}.querySelectorAll('[data-table]')].find(b => b.title === {json.dumps(table)}).click()")
    page.until(f'{PANEL}.querySelector(".workbench-tabs")')


def tab(page, name):
    page.run(f"[...{PANEL}.querySelectorAll('[role=tab]')].find(b => b.textContent === '{name}').click()")
    page.until(f"!{PANEL}.querySelector('.workbench-waiting')")
    return page.run(f"{PANEL}.querySelector('.workbench-page').innerText")


def outside(page, box, inner):
    """The texts of what stands right of its box."""
    return page.run(f"""(() => {{ const right = {box}.getBoundingClientRect().right + 1;
        return [...{box}.querySelectorAll({json.dumps(inner)})].filter(node => node.offsetWidth &&
          node.getBoundingClientRect().right > right).map(node => node.innerText) }})()""")


def pale(page, box, inks):
    """The texts whose contrast to their ground is under 4.5, with it; a colour that shines through is mixed with it."""
    return page.run(f"""(() => {{
        const numbers = text => text.match(/[\\d.]+/g).map(Number);
        const over = (top, below) => {{ const a = top[3] ?? 1; return [0, 1, 2].map(n => a * top[n] + (1 - a) * below[n]) }};
        const ground = node => {{ const color = numbers(getComputedStyle(node).backgroundColor);
          return (color[3] ?? 1) === 1 || !node.parentElement ? color.slice(0, 3) : over(color, ground(node.parentElement)) }};
        const light = color => {{ const [r, g, b] = color.map(c => c / 255)
          .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }};
        return [...{box}.querySelectorAll({json.dumps(inks)})].map(node => {{ const below = ground(node);
          const [ink, paper] = [over(numbers(getComputedStyle(node).color), below), below].map(light);
          return [node.innerText, (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)] }})
          .filter(([text, contrast]) => contrast < 4.5) }})()""")


def dress(page, width, theme):
    """Choose a theme and a width of the window."""
    page.run(
        f'window.jupyterapp.commands.execute("apputils:change-theme", {{theme: {json.dumps(theme)}}}).then(() => 1)'
    )
    page.until(f"document.body.dataset.jpThemeName === {json.dumps(theme)}")
    page.size(width, 900)


def sources(page):
    return page.run(f"[...{NOTEBOOK}.content.model.cells].map(cell => cell.sharedModel.getSource())")


def test_the_panel_shows_a_table_and_writes_its_cell(lab, page):
    boot(page, lab)
    look_at(page, "sales.orders")
    shown = page.run(f"{PANEL}.innerText")
    assert "<script>window.stolen = 1</script>" in shown and "5 rows in 3 data files" in shown
    assert "price" in tab(page, "columns") and "in cents <b>" in tab(page, "columns")
    assert "<script>window.stolen = 1</script>" in tab(page, "rows") and str(2**60) in tab(page, "rows")
    assert "3 files" in tab(page, "files") and "first tag" in tab(page, "refs")
    assert "first" in tab(page, "snapshots")
    page.run(f'[...{PANEL}.querySelectorAll("button")].find(b => b.textContent === "compare").click()')
    page.until(f'{PANEL}.innerText.includes("1 data file came with 1 row")')
    page.run(f'{PANEL}.querySelector(".workbench-action").click()')
    page.until('document.querySelectorAll(".jp-Notebook .jp-CodeCell").length == 2', 120)
    setup, query = sources(page)
    assert "session.start('own')" in setup and "VERSION AS OF" in query
    page.until('document.querySelector(".jp-Notebook .jp-CodeCell:nth-child(2) .cm-line span")')
    assert page.run("window.stolen === undefined")
    assert {address.split("/")[2] for address in page.requested() if address.startswith("http")} == {
        lab.address.split("/")[2]
    }
    order = page.run(
        f"import('{lab.address}lab/extensions/iceberg-workbench/static/table.js').then(({{placed}}) => "
        "[[['9', '10', '-1', null], 'bigint'], [['0.5', '-0.25', '0.50', 'NaN'], 'decimal(9,2)'], "
        "[['9007199254740993', '9007199254740992'], 'bigint'], [['b', null, 'B'], 'string'], "
        "[['1e-7', 'inf', '-inf', '3.0'], 'double']].map(([values, type]) => "
        "values.sort((a, b) => placed(a, b, type, 1))))"
    )
    assert order == [
        ["-1", "9", "10", None], ["-0.25", "0.5", "0.50", "NaN"], ["9007199254740992", "9007199254740993"],
        ["B", "b", None], ["-inf", "1e-7", "3.0", "inf"],
    ]  # fmt: skip


def click(page, text, within=PANEL):
    page.run(f"[...{within}.querySelectorAll('button')].find(b => b.textContent === {json.dumps(text)}).click()")


def last_source(page, words):
    """The cell that was written last, once it holds some words."""
    page.until(f"{NOTEBOOK}?.content.model.cells.length", 120)
    page.until(
        f"[...{NOTEBOOK}.content.model.cells].at(-1).sharedModel.getSource().includes({json.dumps(words)})", 120
    )
    return sources(page)[-1]


def filtered(page, text):
    """What the tree shows when a text is in its filter."""
    page.run(
        f"(() => {{ const f = {PANEL}.querySelector('input'); f.value = {json.dumps(text)}; f.dispatchEvent(new Event('input')) }})()"
    )
    return page.run(f"{PANEL}.querySelector('.workbench-tree').innerText").split("\n")


def with_a_view(lab):
    """Enter a view in the catalog of the lab as Iceberg's own JDBC catalog does; return the catalog."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(lab.folder))
        catalog = load_catalog(**session.catalog_properties("own"))
    columns = [each["name"] for each in sqlalchemy.inspect(catalog.engine).get_columns("iceberg_tables")]
    with catalog.engine.begin() as connection:
        if "iceberg_type" not in columns:
            connection.execute(sqlalchemy.text("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)"))
        connection.execute(
            sqlalchemy.text(
                "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, iceberg_type) "
                "VALUES (:catalog, 'sales', 'few', 'VIEW')"
            ),
            {"catalog": catalog.name},
        )
    return catalog


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell opens each page of the panel")
def test_the_panel_follows_what_changes(page, tmp_path):
    """Environments read anew, names filtered, cells of a view and a tag, a table that is dropped meanwhile."""
    with labs.running(labs.folder_of(tmp_path)) as lab:
        boot(page, lab)
        look_at(page, "sales.orders")
        tab(page, "refs")
        page.run(f"{PANEL}.querySelector('.workbench-page .workbench-action').click()")
        assert "VERSION AS OF 'first'" in last_source(page, "VERSION AS OF")
        with_a_view(lab).drop_table("sales.orders")
        for name in ("snapshots", "columns", "refs"):
            assert "table sales.orders is not in the catalog" in tab(page, name)
        (lab.folder / "params" / "environments" / "newer.yml").write_text(labs.DOWN)
        click(page, "⟳")
        page.until(f'{PANEL}.querySelector("option[value=newer]")')
        page.until(
            f'{PANEL}.querySelectorAll("[data-table]").length == 2 && {PANEL}.querySelector("select").value === "own"'
        )
        assert filtered(page, "") == ["sales 2", "`<script>window`", "few (view)"]
        assert filtered(page, "FEW") == ["sales 1", "few (view)"]
        assert filtered(page, "few more") == ["no table has this in its name"]
        filtered(page, "")
        click(page, "few (view)")
        assert last_source(page, "a view").endswith("SELECT *\nFROM sales.few")
        (lab.folder / "params" / "environments" / "own.yml").unlink()
        click(page, "⟳")
        page.until(f'{PANEL}.innerText.includes("environment own is no longer there: choose another")')
        assert page.run(f'{PANEL}.querySelectorAll("[data-table]").length') == 0


def broken_words(page):
    """The texts of cells and headings of the rows that stand on several lines, though none holds a line's end."""
    return page.run(f"""[...{PANEL}.querySelectorAll('.workbench-page table th, .workbench-page table td')]
        .filter(cell => cell.offsetHeight > 30).map(cell => cell.innerText)""")


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell has one window")
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("width", [500, 1400])
def test_rows_are_not_broken_into_pieces(lab, page, width, theme):
    """What is wider than the panel scrolls sideways, and a value that is cut is whole in its title."""
    boot(page, lab)
    dress(page, width, theme)
    look_at(page, "sales.orders")
    for name in ("rows", "files", "columns"):
        tab(page, name)
        assert broken_words(page) == []
    tab(page, "rows")
    box = f"{PANEL}.querySelector('.workbench-page')"
    assert page.run(f"{box}.scrollWidth > {box}.clientWidth && getComputedStyle({box}).overflowX === 'auto'")
    assert page.run(f"{box}.querySelector('td[title*=script]').title") == "<script>window.stolen = 1</script>"
    assert page.run(f"document.documentElement.scrollWidth <= {width}")
    tab(page, "snapshots")
    headings = f"{PANEL}.querySelectorAll('.workbench-marks small')"
    marks = f"{PANEL}.querySelectorAll('.workbench-snapshots input')"
    middles = (
        "(nodes => [...nodes].slice(0, 2).map(n => n.getBoundingClientRect()).map(r => r.left + r.width / 2))"
    )
    assert page.run(f"[...{headings}].map(n => n.innerText)") == ["from", "to"]
    assert page.run(f"{middles}({headings})") == page.run(f"{middles}({marks})")


def open_cells_of_a_table(page, lab):
    """Let the panel write a notebook that asks for a table; its kernel is ready."""
    boot(page, lab)
    look_at(page, "sales.orders")
    page.run(f'{PANEL}.querySelector(".workbench-action").click()')
    page.until('document.querySelectorAll(".jp-Notebook .jp-CodeCell").length == 2', 120)
    page.until('document.querySelector(".jp-Notebook-ExecutionIndicator[data-status=idle]")', 120)
    time.sleep(5)  # Lab connects a second time to the kernel of a new notebook, and loses what is sent meanwhile


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell opens Lab and each page of the panel")
def test_a_cell_runs_with_progress_and_a_table_that_stays(lab, page):
    open_cells_of_a_table(page, lab)
    press(page, "notebook:run-all-cells")
    page.until('document.querySelector(".workbench-table")', 300)
    rows = page.run(
        "[...document.querySelectorAll('.workbench-table tbody tr')].map(row => row.cells[0].innerText)"
    )
    assert len(rows) == 5
    click = "document.querySelector('.workbench-table th button').click()"
    column = "[...document.querySelectorAll('.workbench-table tbody tr')].map(row => row.cells[0].innerText)"
    page.run(click)
    assert page.run(column) == ["1", "2", "10", "30", str(2**60)]
    page.run(click)
    assert page.run(column) == [str(2**60), "30", "10", "2", "1"]
    assert page.run("window.stolen === undefined")
    page.run(f"{NOTEBOOK}.content.activeCellIndex = 1")
    page.run('window.jupyterapp.commands.execute("notebook:insert-cell-below").then(() => 1)')
    sleep = "reflect('java.lang.Thread', 'sleep', 200L)"  # as long on any machine
    slow = f'_ = spark.range(0, 60, 1, 60).selectExpr("id", "{sleep}").collect(); print("done")'
    page.run(f"{NOTEBOOK}.content.activeCell.model.sharedModel.setSource({json.dumps(slow)})")
    press(page, "notebook:run-cell")
    page.until('document.querySelector(".workbench-progress")?.innerText.includes("of 60 tasks")', 120)
    page.until('document.querySelector(".workbench-progress")?.innerText.includes("rows read")', 120)
    page.until('!document.querySelector(".workbench-progress")', 300)
    page.until('[...document.querySelectorAll(".jp-OutputArea-output")].some(o => o.innerText.trim() === "done")')
    page.run(f"{NOTEBOOK}.context.save().then(() => 1)")
    path = max(lab.folder.glob("notebooks/Untitled*.ipynb"), key=lambda path: path.stat().st_mtime_ns)
    saved = json.loads(path.read_text())
    assert "progress" not in path.read_text() and "widget" not in path.read_text()
    media = [set(output.get("data", {})) for cell in saved["cells"] for output in cell["outputs"]]
    assert {"application/vnd.workbench.table+json", "text/html", "text/plain"} in media
    with browser.opened() as other:  # another browser, and no kernel
        other.go(f"{lab.address}lab/tree/{path.name}?reset&token={labs.TOKEN}")
        other.until('document.querySelector(".workbench-table")', 120)
        other.run(click)
        assert other.run(column) == ["1", "2", "10", "30", str(2**60)]
        assert other.run("document.querySelector('.workbench-table').innerText.includes('<script>')")
    path.unlink()


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell opens Lab with whole files")
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", FRONT)
def test_lab_works_with_a_broken_file_of_ours(lab, page, name, how):
    page.replace(f"iceberg-workbench/static/{name}.js", BROKEN[how])
    boot(page, lab)
    press(page, "notebook:create-new", kernelName="python3")
    page.until('document.querySelector(".jp-Notebook .jp-CodeCell")', 120)
    whole = set(FRONT[1:]) - {name, "panel" if name == "pages" else name} if name != "remoteEntry" else set()
    assert bool(page.run(f"!!{PANEL}")) == ("panel" in whole)
    known = page.run('window.jupyterapp.hasPlugin("iceberg-workbench:table")')
    assert known == ("table" in whole)
    if name == "table":
        assert "panel" in whole


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell has one window")
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("width", [600, 1400])
def test_what_the_panel_says_can_be_read(lab, page, width, theme):
    """Nothing of the panel is outside of it, and its text has a contrast of at least 4.5 to its ground."""
    boot(page, lab)
    dress(page, width, theme)
    look_at(page, "sales.orders")
    tab(page, "snapshots")
    assert outside(page, PANEL, "p, li, button, h3") == []
    assert pale(page, PANEL, "h3, .workbench-fact, summary, .workbench-snapshots b, [data-table]") == []


def stored(path, rows):
    """Write a notebook whose one cell has a table of rows as its output, as a SQL cell stores it."""
    columns = [
        {"name": "order_id", "type": "bigint"},
        {"name": "a_name_of_many_words", "type": "struct<" + "a:string," * 9},
    ]
    data = {
        "application/vnd.workbench.table+json": {"columns": columns, "rows": rows, "note": "… and more than 60 rows"},
        "text/plain": "as text", "text/html": "<b>as HTML</b>",
    }  # fmt: skip
    output = nbformat.v4.new_output("display_data", data=data)
    cell = nbformat.v4.new_code_cell("%%sql\nSELECT 1", outputs=[output], execution_count=1)
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell sorts the values of a table")
@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("width", [600, 1400])
def test_what_a_table_says_can_be_read(lab, page, width, theme):
    """Opened without a kernel: a long text is broken, what is wide scrolls in its own box, pages go on."""
    path = lab.folder / "notebooks" / f"stored_{width}_{theme[-4:].strip()}.ipynb"
    stored(path, [[str(n), None if n % 2 else "word " * 60 + "w" * 300] for n in range(60)])
    page.go(f"{lab.address}lab/tree/{path.name}?reset&token={labs.TOKEN}")
    page.until('document.querySelector(".workbench-table")', 120)
    dress(page, width, theme)
    table = "document.querySelector('.workbench-table')"
    assert page.run(f"{table}.querySelectorAll('tbody tr').length") == 50
    assert page.run(f"{table}.clientWidth <= document.querySelector('.jp-OutputArea').clientWidth")
    assert page.run(f"document.documentElement.scrollWidth <= {width}")
    inks = "th span, th small, td, .workbench-table-foot"
    assert pale(page, table, inks) == []
    page.run(f"{table}.querySelector('.workbench-table-foot button:last-of-type').click()")
    assert page.run(f"{table}.querySelectorAll('tbody tr').length") == 10
    assert "page 2 of 2" in page.run(f"{table}.innerText")
    path.unlink()


@pytest.mark.proof("test_the_panel_shows_a_table_and_writes_its_cell asks the panel without a kernel")
def test_a_busy_and_a_dead_kernel_hold_the_panel_up_in_nothing(lab, page):
    """The panel answers while a cell runs; when its kernel is killed the progress goes and the panel still answers."""
    open_cells_of_a_table(page, lab)
    slow = "\n_ = spark.range(0, 600, 1, 600).selectExpr(\"reflect('java.lang.Thread', 'sleep', 200L)\").collect()"
    page.run(
        f"(s => s.setSource(s.getSource() + {json.dumps(slow)}))({NOTEBOOK}.content.widgets[0].model.sharedModel)"
    )
    page.run(f"{NOTEBOOK}.content.activeCellIndex = 0")
    press(page, "notebook:run-cell")
    page.until('document.querySelector(".workbench-progress")?.innerText.includes("of 600 tasks")', 300)
    assert pale(page, "document.querySelector('.workbench-progress')", "span") == []
    assert "in cents <b>" in tab(page, "columns")
    id = page.run(f"{NOTEBOOK}.sessionContext.session.kernel.id")
    (kernel,) = [
        each
        for each in psutil.Process(lab.process.pid).children()
        if each.is_running() and any(id in word for word in each.cmdline())
    ]
    kernel.kill()
    page.until('!document.querySelector(".workbench-progress")', 120)
    assert "3 files" in tab(page, "files")
    status, _ = lab.ask("api/status")
    assert status == 200
