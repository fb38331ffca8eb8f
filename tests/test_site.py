"""The site: every page is in its order once, and a link to nothing or a request to another host fails its build."""

import importlib.util
from itertools import chain

import nbformat
import pytest
import yaml
from conftest import ROOT

from workbench import errata

pytest.importorskip("sphinx")
spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "site" / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)

GOOD = '<a href="b.html#there">b</a><a href="#top">up</a><a href="https://example.org">out</a><img src="b.png"><p id="top">'


@pytest.fixture
def html(tmp_path):
    """Two pages, the links of which are right."""
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "b.png").touch()
    return tmp_path


def test_every_page_is_in_the_order_once():
    order = yaml.safe_load((ROOT / "docs" / "site" / "order.yml").read_text())
    listed = list(chain.from_iterable(order.values()))
    pages = [
        path.relative_to(ROOT).with_suffix("")
        for path in (*ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb"))
    ]
    assert sorted(listed) == sorted([*map(str, pages), "CHANGELOG", "CONTRIBUTING"])


def test_right_links(html):
    assert [*build.broken_links(html), *build.outside_requests(html)] == []


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ('<a href="c.html">', "a.html: c.html leads to no file"),
        ('<a class="x" href="b.html#gone">', "a.html: b.html#gone leads to no place on its page"),
        ('<a href="#gone">', "a.html: #gone leads to no place on its page"),
        (
            '<script src="https://cdn.example.org/x.js">',
            "a.html: asks another host for https://cdn.example.org/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example.org/x.css">',
            "a.html: asks another host for //fonts.example.org/x.css",
        ),
        ('<img alt="" src="http://example.org/x.png">', "a.html: asks another host for http://example.org/x.png"),
    ],
)
def test_a_planted_fault_is_seen(html, planted, said):
    (html / "a.html").write_text(GOOD + planted)
    assert [*build.broken_links(html), *build.outside_requests(html)] == [said]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"a": 1, "b": {"c": 2, "d": "x|y"}}, ["- a: 1\n- b: c 2, d x\\|y"]),
        ({"rows": [{"a": 1}, {"b": 2}]}, ["## rows", "| a | b |\n| --- | --- |\n| 1 |  |\n|  | 2 |"]),
    ],
)
def test_evidence_as_markdown(value, lines):
    assert list(build.shown(value)) == lines


def executed(folder, name, *cells):
    """Write a notebook of cells, each its source and what it printed."""
    new = nbformat.v4
    codes = [
        new.new_code_cell(source, outputs=[new.new_output("stream", name="stdout", text=text)] if text else [])
        for source, text in cells
    ]
    nbformat.write(new.new_notebook(cells=[new.new_markdown_cell("# Try it\n\nWhy."), *codes]), folder / name)


def test_errata_are_listed_with_their_notebooks(tmp_path, capsys):
    errata.show(2, says="10 | rows", found="3 rows")
    printed = capsys.readouterr().out
    executed(
        tmp_path,
        "50_b.ipynb",
        ("errata.show(2, says='10 | rows', found='3 rows')", printed),
        ("print(1)", printed),
    )
    executed(tmp_path, "40_a.ipynb", ("x = 1", "erratum 9: the text says nothing of it\n"))
    found = list(build.errata(tmp_path))
    sentence = "the text says 10 | rows, found 3 rows"
    assert found == [{"notebook": "50_b", "title": "Try it", "number": 2, "sentence": sentence}]
    page = build.errata_page(found)
    assert "## Try it\n\nIn [50_b](notebooks/50_b.ipynb):" in page and "- 2: the text says 10 \\| rows" in page


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([("errata.show(1, says=1, found=2)", "")], "whose outputs show no erratum"),
        (
            [("errata.show(1, says=1, found=2)", "erratum 1: the text says 1, found 2\n")] * 2,
            "two errata of number 1",
        ),
    ],
    ids=["not executed", "one number twice"],
)
def test_an_erratum_that_is_not_shown_or_twice_is_refused(tmp_path, cells, said):
    executed(tmp_path, "40_a.ipynb", *cells)
    with pytest.raises(ValueError, match=said):
        list(build.errata(tmp_path))


@pytest.mark.proof("the tests above see what would fail it")
def test_the_site_is_built(tmp_path):
    assert build.main(tmp_path) == 0
    assert (tmp_path / "html" / "reference" / "wap.html").is_file()
