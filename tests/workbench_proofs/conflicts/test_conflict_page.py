"""docs/conflicts.md says nothing that the committed matrix does not hold."""

import re

import pytest
from bench import conflicts as bench
from conftest import ROOT
from test_conflict_races import TELLING

from workbench_proofs import conflicts
from workbench_proofs.conflicts import claims

PAGE = (ROOT / "docs" / "conflicts.md").read_text(encoding="utf-8")
ABOUT, MATRIX = conflicts.measured()
BESIDE, VARIANTS = conflicts.measured(name="conflicts_s3_variants")
TEXT = " ".join(PAGE.replace("- ", " ").split())
ALL = list(dict.fromkeys(one.first for one in MATRIX))
CHANGES, BEFORE, INSERTS = ("merge", "update", "delete"), ("append", "overwrite_dynamic"), "merge_insert_only"
OK, DATA = {"both_committed", "retried_and_committed"}, {"data_conflict"}
SWAP, RED, OTHER = {"catalog_conflict"}, {"silent_anomaly"}, {"other_error"}
COW, MOR, V3 = conflicts.MODES
SAME, APART, LOOSE, STRICT = {"partition": "same"}, {"partition": "other"}, {"isolation": "snapshot"}, {
    "isolation": "serializable"}  # fmt: skip
LETTERS = {"ok": OK, "data": DATA, "swap": SWAP, "**red**": RED, "other": OTHER}


def but(*names):
    return tuple(one for one in ALL if one not in names)


# a sentence of the page: firsts, seconds, what else the cells have in common, their outcomes, how messages begin
SAID = [
    ("**An append and a dynamic overwrite commit** behind everything", ALL, BEFORE, {}, OK, None),
    ("An insert-only MERGE commits, too", but(INSERTS, "merge", "delete"), (INSERTS,), {}, OK, None),
    ("that is **red** at either isolation and in every mode", (INSERTS, "merge", "delete"), (INSERTS,), SAME, RED, None),
    ("`expire_snapshots` commits behind everything but another one", but("expire_snapshots"), ("expire_snapshots",),
     {}, OK, None),
    ("At `serializable`, **MERGE, UPDATE and DELETE are refused** behind an append and an insert-only MERGE",
     ("append", INSERTS), CHANGES, SAME | STRICT, DATA, "Found conflicting files that can contain records matching "),
    ("`part = 0 AND id IN (1, 5)` of an UPDATE with literals", ("append", INSERTS), ("update",), SAME | STRICT | {"mode": COW},
     DATA,
     'Found conflicting files that can contain records matching (ref(name="part") == 0 and ref(name="id") in (1, 5))'),
    ("`true` of a MERGE that joins", (*BEFORE, INSERTS), ("merge",), STRICT | {"mode": COW}, DATA,
     "Found conflicting files that can contain records matching true: "),
    ("At `snapshot` they commit. The appended row is not updated: equal to `second_first`", ("append",), CHANGES,
     SAME | LOOSE | {"equal_to": "second_first"}, OK, None),
    ("**MERGE and DELETE behind an insert-only MERGE are red** there", (INSERTS,), ("merge", "delete"), SAME | LOOSE,
     RED, None),
    ("they are refused at either level, by other checks", ("overwrite_dynamic", *CHANGES), ("merge", "update"), SAME,
     DATA, None),
    ("they are refused at either level, by other checks", ("overwrite_dynamic", *CHANGES), ("delete",),
     SAME | {"mode": (COW, V3)}, DATA, None),
    ("a DELETE behind an UPDATE or a DELETE commits, and is as if it had come second", ("update", "delete"),
     ("delete",), SAME | {"mode": MOR, "equal_to": ("first_second", "both")}, OK, None),
    ("**a DELETE behind a MERGE at `snapshot` is red**", ("merge",), ("delete",), SAME | LOOSE | {"mode": MOR}, RED,
     None),
    ("Deletion vectors (v3) refuse all three.", CHANGES, ("delete",), SAME | LOOSE | {"mode": V3}, DATA,
     "Found concurrently added DV"),
    ("UPDATE and DELETE by literals commit behind all that changes rows of another partition",
     (*BEFORE, INSERTS, *CHANGES), ("update", "delete"), APART, OK, None),
    ("**MERGEs of two partitions conflict** where they are serializable", ("merge",), ("merge",), APART | STRICT, DATA,
     None),
    ("and behind a MERGE, an UPDATE or a DELETE in merge-on-read and v3 at `snapshot`, too", CHANGES, ("merge",),
     APART | LOOSE | {"mode": (MOR, V3)}, DATA, "Found new conflicting delete files that can apply to records matching true"),
    ("compaction is a data conflict behind an overwrite, a MERGE, an UPDATE, a DELETE and another compaction",
     ("overwrite_dynamic", *CHANGES, "rewrite_data_files"), ("rewrite_data_files",), {}, DATA, None),
    ("MERGE, UPDATE and DELETE are behind a compaction, at either isolation", ("rewrite_data_files",), CHANGES, {},
     DATA, None),
    ("Appends, overwrites and insert-only MERGEs commit behind it", ("rewrite_data_files",), (*BEFORE, INSERTS), {}, OK,
     None),
    ("and it commits behind appends and insert-only MERGEs", ("append", INSERTS), ("rewrite_data_files",), {}, OK,
     None),
    ("**`rewrite_manifests` is stopped** (`Deleted manifest … could not be found`) by an overwrite, compaction, another",
     ("overwrite_dynamic", "rewrite_data_files", "rewrite_manifests"), ("rewrite_manifests",), {}, DATA,
     "Deleted manifest <path> could not be found"),
    ("and in copy-on-write by MERGE, UPDATE and DELETE, too", CHANGES, ("rewrite_manifests",), {"mode": COW}, DATA,
     "Deleted manifest <path> could not be found"),
    ("and in copy-on-write by MERGE, UPDATE and DELETE, too", CHANGES, ("rewrite_manifests",), {"mode": (MOR, V3)}, OK,
     None),
    ("It stops nobody but itself, `fast_forward` and `add_column`", ("rewrite_manifests",),
     but("rewrite_manifests", "fast_forward", "add_column"), {}, OK, None),
    ("**`fast_forward` and `add_column` are refused behind everything**", ALL, ("fast_forward", "add_column"), {}, SWAP,
     "Table metadata refresh is required"),
    ("Behind `fast_forward` all others but a serializable MERGE commit", ("fast_forward",),
     but("merge", "fast_forward", "add_column"), {}, OK, None),
    ("Behind `fast_forward` all others but a serializable MERGE commit", ("fast_forward",), ("merge",), STRICT, DATA,
     None),
    ("Behind `fast_forward` all others but a serializable MERGE commit", ("fast_forward",), ("merge",), LOOSE, OK,
     None),
    ("`expire_snapshots` behind another one, in each mode (NoSuchKeyException, 404)", ("expire_snapshots",),
     ("expire_snapshots",), {"error_class": "NoSuchKeyException", "equal_to": "first_alone"}, OTHER, None),
]  # fmt: skip


@pytest.mark.parametrize("said", SAID, ids=[f"{n} {one[0][:50]}" for n, one in enumerate(SAID)])
def test_a_sentence_stands_on_every_cell_that_it_is_about(said):
    holds(said, MATRIX)


def holds(said, matrix):
    sentence, firsts, seconds, where, outcomes, begins = said
    assert sentence in TEXT
    about = [one for one in matrix if one.first in firsts and one.second in seconds and fits(one, where, CELLS)]
    assert {(one.first, one.second) for one in about} == {(one, other) for one in firsts for other in seconds}
    assert {one.outcome for one in about} <= outcomes
    assert all(fits(one, where, RESULTS) and (one.message or "").startswith(begins or "") for one in about)


ROWS = (*BEFORE, INSERTS, *CHANGES)
OWN, COMPACTS = tuple(conflicts.VARIANTS), ("rewrite_data_files",)
APPENDS, OVERWRITES, REPLACES, UPDATES, BY_KEY, WHOLE = OWN
# as SAID, of the variants
SAID_OF_VARIANTS = [
    ("**An overwrite that reads its own table loses what came since it read**, in every mode",
     (*BEFORE, INSERTS, "merge", "update", *OWN), (OVERWRITES, REPLACES), {"equal_to": "neither"}, RED, None),
    ("(Behind the DELETE the overwrite is as if it had come first.)", ("delete",), (OVERWRITES,),
     {"equal_to": "second_first"}, OK, None),
    ("Behind a compaction or the DELETE the rows are those of an order", (*COMPACTS, "delete"), (REPLACES,),
     {"equal_to": ("both", "second_first")}, RED, None),
    ("**An append that reads its own table gives a number twice**, or one that no order would give: behind another one, "
     "and behind an overwrite, a MERGE of either kind and a partition that was dropped",
     (APPENDS, "overwrite_dynamic", INSERTS, "merge", WHOLE), (APPENDS,), {}, RED, None),
    ("`update_from_itself` is refused where an UPDATE is", (*BEFORE, INSERTS, *CHANGES, *COMPACTS), (UPDATES,),
     STRICT | {"partition": ("same", None)}, DATA, None),
    ("two of them in two partitions are red at either isolation", (UPDATES,), (UPDATES,), APART, RED, None),
    ("behind an insert-only MERGE it is red in every mode", (INSERTS,), (BY_KEY,), LOOSE, RED, None),
    ("in merge-on-read of format 2 also behind an UPDATE of either kind and a MERGE", ("update", "merge", UPDATES), (BY_KEY,),
     LOOSE | {"mode": MOR}, RED, None),
    ("**An insert-only MERGE is red behind any DELETE**, whole partitions too, and behind an append that reads its own",
     (BY_KEY, WHOLE, APPENDS), (INSERTS,), {}, RED, None),
    ("Behind that append a MERGE is red at `snapshot`", (APPENDS,), ("merge",), LOOSE, RED, None),
    ("**A DELETE of whole files commits behind everything**, as if it had come second", (*ROWS, *COMPACTS, *OWN), (WHOLE,),
     {"equal_to": ("first_second", "both")}, OK, None),
    ("Behind it compaction is refused", (WHOLE,), COMPACTS, {}, DATA, None),
    ("The 20 other errors are one: an UPDATE, a DELETE or a MERGE in merge-on-read or v3, behind a replacement",
     (REPLACES,), ("merge", "update", "delete", UPDATES, BY_KEY),
     {"mode": (MOR, V3), "error_class": "IllegalArgumentException", "equal_to": "first_alone"}, OTHER, "Snapshot <id> is not"),
]  # fmt: skip


@pytest.mark.parametrize(
    "said", SAID_OF_VARIANTS, ids=[f"{n} {one[0][:50]}" for n, one in enumerate(SAID_OF_VARIANTS)]
)
def test_a_sentence_about_variants_stands_on_every_cell_that_it_is_about(said):
    holds(said, VARIANTS)


@pytest.mark.parametrize(("matrix", "sentences", "outcome"), [
    (MATRIX, SAID, RED), (MATRIX, SAID, OTHER), (VARIANTS, SAID_OF_VARIANTS, RED), (VARIANTS, SAID_OF_VARIANTS, OTHER)],
    ids=["red", "other", "red variants", "other variants"])  # fmt: skip
def test_the_cells_that_end_badly_are_those_that_the_page_names(matrix, sentences, outcome):
    bad = {conflicts.kept.cell_of(one) for one in matrix if one.outcome in outcome}
    named = [said for said in sentences if said[4] == outcome]
    there = {
        conflicts.kept.cell_of(one)
        for _, firsts, seconds, where, *_ in named
        for one in matrix
        if one.first in firsts and one.second in seconds and fits(one, where, CELLS)
    }
    assert bad == there and bad


@pytest.mark.parametrize("name", ["conflicts", "conflicts_rest", "conflicts_s3_variants"])
def test_what_evidence_says_of_itself_is_what_its_cells_are(name):
    about, cells = conflicts.measured(name=name)
    assert about["outcomes"] == {kind: sum(one.outcome == kind for one in cells) for kind in conflicts.OUTCOMES}
    assert about["cells_measured"] == len(cells) == len({conflicts.kept.cell_of(one) for one in cells})
    assert len(about["repeated"]) + len(about["repeated_unlike"]) == about["cells_repeated"] > 0
    versions = about["versions"]["pyspark"], about["versions"]["iceberg"]
    assert {(one.spark, one.iceberg) for one in cells} == {versions}
    assert f"Spark {versions[0]}, Iceberg {versions[1]}, S3" in TEXT


def test_the_page_counts_the_variants():
    counted = BESIDE["outcomes"]
    assert BESIDE["cells_measured"] == len(VARIANTS) == len(conflicts.variants())
    assert BESIDE["repeated_unlike"] == [] and counted["both_committed"] == counted["catalog_conflict"] == 0
    assert (
        f"has all {len(VARIANTS)}, {BESIDE['cells_repeated']} of them measured twice and none unlike: "
        f"{counted['retried_and_committed']} committed after a built-in retry, {counted['data_conflict']} data conflicts, "
        f"{counted['other_error']} other errors, and **{counted['silent_anomaly']} silent anomalies**"
    ) in TEXT
    assert all(f"| {name} | `" in PAGE for name in conflicts.VARIANTS)


CELLS, RESULTS = {"mode", "isolation", "partition"}, {"equal_to", "error_class"}


def fits(one, where, names):
    wanted = {
        name: value if isinstance(value, tuple) else (value,) for name, value in where.items() if name in names
    }
    return all(getattr(one, name) in values for name, values in wanted.items())


@pytest.mark.parametrize(("matrix", "begins", "ends", "firsts", "seconds"), [
    (MATRIX, "| first \\ second | append |", "*ok* is", ALL, ALL),
    (VARIANTS, "| first \\ second | append_from_itself |", "\n- ", [*ROWS, *COMPACTS, *OWN], OWN),
], ids=["matrix", "variants"])  # fmt: skip
def test_a_table_at_the_defaults_is_its_matrix(matrix, begins, ends, firsts, seconds):
    rows = re.findall(r"^\| (\w+) \| (.+) \|$", PAGE.partition(begins)[2].partition(ends)[0], re.M)
    there = {
        (one.first, one.second): one.outcome
        for one in matrix
        if fits(one, {"mode": COW, "isolation": ("serializable", None), "partition": ("same", None)}, CELLS)
    }
    assert [name for name, _ in rows] == firsts
    for name, letters in rows:
        for second, letter in zip(seconds, letters.split(" | "), strict=True):
            assert there[name, second] in LETTERS[letter]


def test_the_telling_cells_of_the_check_are_those_of_the_matrix():
    """Of isolations and partitions they say nothing, so there is one like each of them."""
    there = {(one.first, one.second, one.outcome, one.error_class, one.rows, one.equal_to, one.orders)
             for one in MATRIX}  # fmt: skip
    assert {tuple(one) for one in TELLING} <= there


def test_the_page_counts_the_cells_that_there_are():
    by_mode = {sum(cell.mode == mode for cell in conflicts.cells()) for mode in conflicts.MODES}
    assert f"That leaves {len(conflicts.cells())} cells: {by_mode.pop()} in each of" in TEXT and not by_mode
    assert f"On `rest` the {len(bench.left_out('rest'))} cells of v3 with an UPDATE, a DELETE or a MERGE" in TEXT
    versions, counted = ABOUT["versions"], ABOUT["outcomes"]
    assert f"All {ABOUT['cells_measured']} cells were measured (Spark {versions['pyspark']}, Iceberg" in TEXT
    assert ABOUT["cells_measured"] == len(conflicts.cells()) and ABOUT["repeated_unlike"] == []
    assert f"{ABOUT['cells_repeated']} of them twice, and none of those came out differently" in TEXT
    assert (
        f"{counted['retried_and_committed']} committed after a built-in retry, {counted['data_conflict']} were data "
        f"conflicts, {counted['catalog_conflict']} catalog conflicts, {counted['silent_anomaly']} are silent "
        f"anomalies, and {counted['other_error']} another error"
    ) in TEXT
    assert sum(counted.values()) == ABOUT["cells_measured"] and counted["both_committed"] == 0
    assert all(f"| `{name}` |" in PAGE for name in conflicts.OUTCOMES)


def test_on_a_rest_catalog_only_expiry_and_schema_changes_differ():
    about, there = conflicts.measured(name="conflicts_rest")
    swapped = {conflicts.kept.cell_of(one): one for one in MATRIX}
    same = [one for one in there if swapped[conflicts.kept.cell_of(one)] == one]
    other = [one for one in there if swapped[conflicts.kept.cell_of(one)] != one]
    assert f"has the {len(there)} cells that can be on `rest`" in TEXT and about["cells_measured"] == len(there)
    assert f"{about['cells_repeated']} of them twice and none unlike" in TEXT and about["repeated_unlike"] == []
    assert (
        f"{len(same)} are as above, the {sum(one.outcome in RED for one in same)} silent anomalies among" in TEXT
    )
    assert f"the other {len(other)} have `expire_snapshots` or `add_column` on a side" in TEXT
    assert all({one.first, one.second} & {"expire_snapshots", "add_column"} for one in other)
    assert not RED & {one.outcome for one in other}
    twice = [one for one in other if one.first == one.second]
    assert {(one.first, one.error_class) for one in twice} == {("expire_snapshots", "NoSuchKeyException")}
    assert {one.outcome for one in other if one not in twice} == {"both_committed"}
    behind = {one.first for one in there if one.second == "add_column" and one.outcome in SWAP}
    assert "a schema change commits behind all but another schema change" in TEXT and behind == {"add_column"}


def test_what_is_said_elsewhere_has_the_matrixs_verdict():
    """A row a claim, in their order, each beginning with the verdict: agrees, differs or not measured."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE.partition("## What is said elsewhere")[2], re.M)[2:]
    held = claims.held(MATRIX)
    assert [said for _, said, _ in rows] == [one.claim.says for one in held]
    assert all(one.claim.source.startswith(source) for (source, _, _), one in zip(rows, held, strict=True))
    verdicts = [next((v for v in ("agrees", "differs", "not measured") if text.startswith(v)), text)
                for _, _, text in rows]  # fmt: skip
    assert verdicts == [one.verdict for one in held]
