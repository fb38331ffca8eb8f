"""JSONata's own suite of cases, of the version that Step Functions names, against the engine that maps are run with.

The cases are `LICENSE` and `test/test-suite` of jsonata-js/jsonata at v2.0.6 (MIT), as `git archive` gives them.
"""

import json
import tarfile
from pathlib import Path

import jlens

CASES = Path(__file__).with_name("jsonata-2.0.6.tar.xz")
SUITE = "test/test-suite/"
TIMED = 11  # cases that ask how soon endless recursion is stopped: the reference is given a limit, and ours has its own
# Python has no text with half a character in it to hand over; the reference refuses such a text by D3140
HALVES = {"$encodeUrl('\ud800')", "$encodeUrlComponent('\ud800')"}
OTHER_CODES = {"$string(1/0)": ("D3001", "D1001")}  # refused by both: as a text, and as a number

# Python's None is no document, and not the document null; in a state machine no expression has a document
NULL_DOCUMENT = [("groups/transform", "$", ("value", None), ("nothing",))]


def suite():
    """Yield each case with the name of its group; `expr` and `data` are its expression and its document."""
    with tarfile.open(CASES) as archive:
        files = {
            member.name.removeprefix(SUITE): archive.extractfile(member).read()
            for member in archive
            if member.isfile() and member.name.startswith(SUITE)
        }
    documents = {Path(name).stem: json.loads(text) for name, text in files.items() if name.startswith("datasets/")}
    for name, text in files.items():
        if not name.startswith("groups/") or not name.endswith(".json"):
            continue
        given = json.loads(text)
        folder = name.rpartition("/")[0]
        for case in given if isinstance(given, list) else [given]:
            if "expr-file" in case:
                case["expr"] = files[f"{folder}/{case['expr-file']}"].decode()
            case.setdefault("data", documents.get(case.get("dataset")))
            yield folder, case


def answer(case):
    """Return what the engine makes of a case: ("value", …), ("nothing",) or ("refused", code)."""
    bindings = case.get("bindings") or {}
    try:
        value = jlens.Expression(case["expr"]).evaluate(case["data"], bindings)
        if value is None:  # null or nothing
            kind = jlens.Expression(f"$type(({case['expr']}))").evaluate(case["data"], bindings)
            return ("nothing",) if kind is None else ("value", None)
    except jlens.JlensError as error:
        return ("refused", error.code)
    return ("value", value)


def expected(case):
    if "undefinedResult" in case:
        return ("nothing",)
    if "result" in case:
        return ("value", case["result"])
    return ("refused", case["error"]["code"] if "error" in case else case["code"])


def same(left, right):
    """Say whether two values are equal as JSON, in which true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def test_the_suite_of_the_reference():
    timed, asked, other_codes, differ = 0, 0, {}, []
    for folder, case in suite():
        if "timelimit" in case:
            timed += 1
        elif case["expr"] not in HALVES:
            asked += 1
            got, wanted = answer(case), expected(case)
            if got[0] == wanted[0] == "refused" and got != wanted:
                other_codes[case["expr"]] = (wanted[1], got[1])
            elif not same(got, wanted):
                differ.append((folder, case["expr"], wanted, got))
    assert (asked, timed, other_codes) == (1614 - len(HALVES), TIMED, OTHER_CODES)
    assert differ == NULL_DOCUMENT


def test_a_planted_difference_is_found():
    case = {"expr": "1 + 1", "data": None, "result": 2}
    assert same(answer(case), expected(case))
    for wrong in ({"result": 3}, {"result": None}, {"undefinedResult": True}, {"code": "D3001"}, {"result": True}):
        changed = {key: value for key, value in case.items() if key != "result"} | wrong
        assert not same(answer(changed), expected(changed))
    assert not same([1], [True]) and same({"a": [1, None]}, {"a": [1.0, None]})
