"""docs/conflicts.md says nothing that neither the committed matrix nor the telling cells of the check hold."""

import re

import pytest
from bench import conflicts as bench
from conftest import ROOT
from test_conflict_races import TELLING

from workbench import conflicts
from workbench.conflicts import claims

PAGE = (ROOT / "docs" / "conflicts.md").read_text(encoding="utf-8")
ABOUT, MATRIX = conflicts.measured()
TEXT = " ".join(PAGE.replace("- ", " ").split())
CHANGES, BEFORE = ("merge", "update", "delete"), ("append", "overwrite_dynamic")
COMMITTED, DATA, SWAP = {"both_committed", "retried_and_committed"}, {"data_conflict"}, {"catalog_conflict"}
DEFAULT = {"mode": ("copy-on-write",), "isolation": ("serializable", None), "partition": ("same", None)}
INSERTS = "merge_insert_only"

# a sentence of the page: which firsts and seconds it is about, the outcomes it says, and what their message begins with
SAID = [
    ("**An append, a dynamic overwrite and an insert-only MERGE commit** behind an append, an overwrite",
     BEFORE, (*BEFORE, INSERTS), {"retried_and_committed"}, None),
    ("and an insert-only MERGE, after a built-in retry", (INSERTS,), BEFORE, {"retried_and_committed"}, None),
    ("**An insert-only MERGE is red** behind another one", (INSERTS,), (INSERTS,), {"silent_anomaly"}, None),
    ("A MERGE that may also match is checked, and refused.", (INSERTS,), ("merge",), DATA, "Found conflicting"),
    ("**MERGE, UPDATE and DELETE are refused** (`Found conflicting files that can contain records matching …`) "
     "behind an append and an overwrite", BEFORE, CHANGES, DATA,
     "Found conflicting files that can contain records matching "),
    ("`part = 0 AND id IN (1, 5)` of an UPDATE with literals", BEFORE, ("update",), DATA,
     'Found conflicting files that can contain records matching (ref(name="part") == 0 and ref(name="id") in (1, 5))'),
    ("`true` of a MERGE that joins", (*BEFORE, INSERTS), ("merge",), DATA,
     "Found conflicting files that can contain records matching true: "),
    ("are data conflicts** behind an overwrite (`Missing required files to delete`", ("overwrite_dynamic",),
     ("rewrite_data_files",), DATA, "Missing required files to delete"),
    ("`Deleted manifest … could not be found`)", ("overwrite_dynamic",), ("rewrite_manifests",), DATA,
     "Deleted manifest <path> could not be found"),
    ("Behind an append both commit.", ("append",), ("rewrite_data_files", "rewrite_manifests"), COMMITTED, None),
    ("**`fast_forward` and schema changes are refused** behind an append and an overwrite", BEFORE,
     ("fast_forward", "add_column"), SWAP, "Table metadata refresh is required"),
    ("`expire_snapshots` commits behind an append and an overwrite.", BEFORE, ("expire_snapshots",), COMMITTED, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "firsts", "seconds", "outcomes", "begins"), SAID, ids=[one[0][:60] for one in SAID]
)
def test_a_sentence_stands_on_every_cell_that_it_is_about(sentence, firsts, seconds, outcomes, begins):
    assert sentence in TEXT
    cells = [one for one in MATRIX if one.first in firsts and one.second in seconds and default(one)]
    assert {(one.first, one.second) for one in cells} == {(one, other) for one in firsts for other in seconds}
    assert {one.outcome for one in cells} <= outcomes
    assert all((one.message or "").startswith(begins or "") for one in cells)


def default(one):
    return all(getattr(one, name) in values for name, values in DEFAULT.items())


# what only the eight cells hold that the check runs twice: first, second, outcome, what the rows are equal to
CHECKED = [
    ("MERGEs of two partitions conflict.", ("merge", "merge", "data_conflict", "first_alone")),
    ("At `snapshot` isolation the UPDATE behind an append commits",
     ("append", "update", "retried_and_committed", "second_first")),
    ("compaction behind an UPDATE, too", ("update", "rewrite_data_files", "data_conflict", "first_alone")),
    ("and a schema change behind another one", ("add_column", "add_column", "catalog_conflict", "first_alone")),
    ("not measured, but for UPDATE in the check: so it is",
     ("update", "rewrite_data_files", "data_conflict", "first_alone")),
    ("not measured, but in the check: so it is, on `true`", ("merge", "merge", "data_conflict", "first_alone")),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "cell"), CHECKED, ids=[one[0][:60] for one in CHECKED])
def test_a_sentence_stands_on_a_telling_cell(sentence, cell):
    assert sentence in TEXT
    assert cell in [(first, second, outcome, equal) for first, second, outcome, _, _, equal, _ in TELLING]


def test_the_last_overwrite_wins():
    assert (
        "commits behind an append and another overwrite, and replaces what they brought: the last one wins" in TEXT
    )
    cells = [one for one in MATRIX if one.first in BEFORE and one.second == "overwrite_dynamic" and default(one)]
    assert [(one.outcome, one.equal_to) for one in cells] == [("retried_and_committed", "first_second")] * 2


def test_the_page_counts_the_cells_that_there_are():
    by_mode = {sum(cell.mode == mode for cell in conflicts.cells()) for mode in conflicts.MODES}
    assert f"That leaves {len(conflicts.cells())} cells: {by_mode.pop()} in each of" in TEXT and not by_mode
    assert f"On `rest` the {len(bench.left_out('rest'))} cells of v3 with an UPDATE, a DELETE or a MERGE" in TEXT
    assert ("No cell so far is `other_error`." in TEXT) == (ABOUT["outcomes"]["other_error"] == 0)
    assert all(f"| `{name}` |" in PAGE for name in conflicts.OUTCOMES)


def test_what_is_said_elsewhere_has_the_matrixs_verdict():
    """A row a claim, in their order, each beginning with the verdict: agrees, differs or not measured."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE.partition("## What is said elsewhere")[2], re.M)[2:]
    held = claims.held(MATRIX)
    assert [said for _, said, _ in rows] == [one.claim.says for one in held]
    assert all(one.claim.source.startswith(source) for (source, _, _), one in zip(rows, held, strict=True))
    verdicts = [next((v for v in ("agrees", "differs", "not measured") if text.startswith(v)), text)
                for _, _, text in rows]  # fmt: skip
    assert verdicts == [one.verdict for one in held]
