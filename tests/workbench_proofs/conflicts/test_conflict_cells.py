"""Which cells there are, and what is refused."""

import re

import pytest

from workbench_proofs import conflicts
from workbench_proofs.conflicts import Cell


def test_the_reduced_list():
    found = conflicts.cells()
    assert len(found) == len(set(found)) == 783
    by_mode = {mode: sum(cell.mode == mode for cell in found) for mode in conflicts.MODES}
    assert by_mode == {"copy-on-write": 261, "merge-on-read": 261, "v3": 261}
    pairs = {(cell.first, cell.second) for cell in found}
    assert pairs == {(one, other) for one in conflicts.OPERATIONS for other in conflicts.OPERATIONS}


def test_isolation_and_partition_vary_only_where_they_say_something():
    found = conflicts.cells(["append", "update", "add_column"], modes=["v3"])
    assert [cell.key[:4] for cell in found] == [
        ("append", "append", "-", "same"), ("append", "append", "-", "other"),
        ("append", "update", "serializable", "same"), ("append", "update", "serializable", "other"),
        ("append", "update", "snapshot", "same"), ("append", "update", "snapshot", "other"),
        ("append", "add_column", "-", "-"),
        ("update", "append", "serializable", "same"), ("update", "append", "serializable", "other"),
        ("update", "append", "snapshot", "same"), ("update", "append", "snapshot", "other"),
        ("update", "update", "serializable", "same"), ("update", "update", "serializable", "other"),
        ("update", "update", "snapshot", "same"), ("update", "update", "snapshot", "other"),
        ("update", "add_column", "serializable", "-"), ("update", "add_column", "snapshot", "-"),
        ("add_column", "append", "-", "-"),
        ("add_column", "update", "serializable", "-"), ("add_column", "update", "snapshot", "-"),
        ("add_column", "add_column", "-", "-"),
    ]  # fmt: skip


def test_eight_telling_cells_a_mode():
    assert len(conflicts.telling()) == 8
    both = conflicts.telling(["copy-on-write", "v3"])
    assert [cell.mode for cell in both] == ["copy-on-write"] * 8 + ["v3"] * 8
    assert set(both) <= set(conflicts.cells())


def test_variants_are_cells_of_their_own():
    found = conflicts.variants()
    assert len(found) == len(set(found)) == 645 and not set(found) & set(conflicts.cells())
    assert all({cell.first, cell.second} & set(conflicts.VARIANTS) for cell in found)
    across = {(cell.first, cell.second) for cell in found if cell.partition == "other"}
    assert across == {("update_from_itself", "update_from_itself")}
    some = conflicts.variants(isolation=["snapshot"], modes=["v3"])
    assert {cell.mode for cell in some} == {"v3"} and {cell.isolation for cell in some} == {"snapshot", None}


def test_a_variant_reads_the_table_that_it_writes():
    one, other = Cell("append_from_itself", "update_from_itself", "snapshot", "same").statements("n.t")
    assert one == "INSERT INTO n.t (id, part, v) SELECT coalesce(max(id), 0) + 1, 0, 1 FROM n.t WHERE part = 0"
    assert other == "UPDATE n.t SET v = (SELECT max(v) + 2 FROM n.t) WHERE part = 0 AND id IN (1, 5)"


def test_statements_of_one_partition_touch_common_keys_and_of_two_partitions_none():
    same = Cell("append", "delete", "snapshot", "same").statements("n.t")
    assert same == (
        "INSERT INTO n.t (id, part, v) VALUES (1, 0, 1), (5, 0, 1)",
        "DELETE FROM n.t WHERE part = 0 AND id IN (1, 5) AND v < 14 + 2",
    )
    other = Cell("append", "delete", "snapshot", "other").statements("n.t")
    assert other[1] == "DELETE FROM n.t WHERE part = 1 AND id IN (11, 15) AND v < 14 + 2"


def test_a_turned_pair_has_the_same_two_statements():
    for partition in ("same", "other"):
        one = Cell("append", "update", "snapshot", partition).statements("n.t")
        assert one == Cell("update", "append", "snapshot", partition).statements("n.t")[::-1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"operations": ["apend"]}, "'apend' is not a known operation (did you mean append?); there are append, "),
        ({"operations": "append"}, "operations must be a list of operations: write operations=['append']"),
        ({"operations": []}, "operation must be one name or several different ones, found none"),
        (
            {"operations": ["append", "append"]},
            "operation must be one name or several different ones, found append, append",
        ),
        ({"isolation": ["read"]}, "'read' is not a known isolation; there are serializable, snapshot"),
        ({"modes": ["v2"]}, "'v2' is not a known mode; there are copy-on-write, merge-on-read, v3"),
        ({"partitions": ["both"]}, "'both' is not a known partition"),
    ],
)
def test_a_wrong_name_is_refused(given, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        conflicts.cells(**given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("append", "append", "snapshot", "same"), "isolation does not apply to append and append; leave it out"),
        (
            ("append", "add_column", None, "same"),
            "partition does not apply to append and add_column; leave it out",
        ),
        (("append", "update", None, "same"), "'None' is not a known isolation|None is not a known isolation"),
        (("update", "update", "snapshot"), "None is not a known partition"),
        (("append", "append", None, "same", "v4"), "'v4' is not a known mode"),
    ],
)
def test_a_cell_that_cannot_be_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Cell(*given)
