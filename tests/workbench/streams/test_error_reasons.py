"""Reasons of an error store: the page names each that the code can give, and no other."""

import ast
import re

import pytest
from conftest import ROOT

from workbench.streams import nulls

WORD = re.compile(r"[a-z]+(_[a-z0-9]+)*")
TEXTS = (ast.JoinedStr, ast.Call, ast.Name, ast.Subscript)  # what a message is, but for a plain text


def given(code):
    """The reasons in some code: what a Bad is raised with, and a word that stands before a message in a tuple."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")).endswith("Bad"):
            found |= {one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)}
        for word, text in zip(node.elts, node.elts[1:], strict=False) if isinstance(node, ast.Tuple) else ():
            said = isinstance(text, TEXTS) or (isinstance(text, ast.Constant) and " " in str(text.value))
            if isinstance(word, ast.Constant) and WORD.fullmatch(str(word.value)) and said:
                found.add(word.value)
    return found


def told(page):
    """The reasons in the first column of a page's table of them."""
    table = page[page.index("| reason | |") :].split("\n\n")[0].splitlines()[2:]
    return {word for line in table for word in re.findall(r"`(\w+)`", line.split(" | ")[0])}


def test_the_page_names_all_reasons_and_no_other():
    lib, page = ROOT / "lib/workbench", (ROOT / "docs/delivery.md").read_text()
    modules = (
        "records/aggregates",
        "records/avro",
        "records/avro_logical",
        "records/avro_resolution",
        "records/avro_values",
        "records/framing",
        "streams/nulls",
        "records/parsing",
        "records/protobuf",
        "streams/routes",
        "records/types",
    )
    ours = set().union(*(given((lib / f"{name}.py").read_text()) for name in modules)) | {nulls.TOMBSTONE}
    assert told(page) == ours and len(ours) > 20


@pytest.mark.parametrize(
    ("code", "reasons"),
    [
        ("raise types.Bad('new_one', f'{x}')", {"new_one"}),
        ("raise _Bad('a_b' if x else 'c', text)", {"a_b", "c"}),
        ("yield 'new_one', text, x", {"new_one"}),
        ("dead.append((place, 'new_one', str(error)[:5]))", {"new_one"}),
        ("return 'new_one', 'it is so'", {"new_one"}),
        ("KINDS = ('null', 'dead')", set()),
    ],
)
def test_a_new_reason_is_seen(code, reasons):
    assert given(code) == reasons
