"""Many processes on one table, and one that is killed when its commit is in the catalog and it has not heard so."""

import commits_child
import commits_processes as processes
import pytest

from workbench.tables import commits, snapshots

WRITERS, EACH = 4, 25
WHOLE = {"lost": 0, "doubled": 0, "not_acknowledged": 0, "files_twice": 0}


@pytest.mark.proof(
    "22_race_writers meets an append, a compaction and an expiry with another commit, two auditors are "
    "two processes"
)
def test_four_processes_append_while_one_compacts_and_one_expires(spark, namespace):
    table = f"{namespace}.t"
    processes.make(spark, table)
    commits.set_profile(spark, table)
    told, compacted, expired = processes.everybody_at_once(spark, table, writers=WRITERS, commits_each=EACH)
    acknowledged = [(f"w{n}", number) for n, lines in told.items() for number, _, _ in lines]
    assert sorted(acknowledged) == [(f"w{n}", number) for n in range(WRITERS) for number in range(1, EACH + 1)]
    assert processes.figures(spark, table, acknowledged) == WHOLE
    assert compacted > 0 and sum(expired) > 0  # all three were at it


def test_figures_see_what_they_are_for(spark, namespace):
    table = f"{namespace}.t"
    processes.make(spark, table)
    one_file = spark.range(0, 3, 1, 1).selectExpr("'a' AS name", "IF(id = 2, 3L, 1L) AS n")
    one_file.writeTo(table).append()
    file = commits.load(spark, table).currentSnapshot().addedDataFiles(commits.load(spark, table).io()).iterator()
    commits.load(spark, table).newAppend().appendFile(file.next()).commit()
    assert processes.figures(spark, table, [("a", 1), ("a", 2)]) == {
        "lost": 1, "doubled": 4, "not_acknowledged": 1, "files_twice": 1,
    }  # fmt: skip


@pytest.mark.proof(
    "test_a_stream_that_stopped_behind_a_merge_goes_on stops behind a named write, and its rerun finds it"
)
def test_killed_between_swap_and_return(spark, namespace):
    """The rerun of a named write finds it; without the name it doubles, which is what names are for."""
    table = f"{namespace}.t"
    processes.make(spark, table)
    child = processes.start("killed_append", table, "night 1")
    processes.ready(child)
    processes.killed(child)
    assert processes.figures(spark, table, [("once", 1)]) == WHOLE  # the swap had been made
    swapped = snapshots.current(spark, table)

    def write():
        commits_child.row(spark, "once", 1).writeTo(table).append()

    assert commits.retrying(spark, table, write, id="night 1") == commits.Attempt(swapped, 0, True)
    assert processes.figures(spark, table, [("once", 1)]) == WHOLE
    assert commits.retrying(spark, table, write) == commits.Attempt(None, 1, False)
    assert processes.figures(spark, table, [("once", 1)]) == WHOLE | {"doubled": 1}
