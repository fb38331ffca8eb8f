"""What others do while a run is in any of its steps: newer runs, compaction, expiry, the table made again."""

import pytest
from conftest import PROVE
from restated import FIRST, Source, by_another_engine, make, night, options

from workbench import pulls
from workbench.pulls import pulling
from workbench.tables import commits

STEPS = ("ask", "dead stage", "dead write", "dead publish", "stage", "write", "publish")
IN_CHECK = ("publish",)
WAYS = ("run", pytest.param("whole", marks=pytest.mark.proof("`run` publishes by the same function")))
COMPACT = "CALL system.rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))"
EXPIRE = "CALL system.expire_snapshots(table => '{}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"


def pull(spark, table, source, way="run", cells=(), **other):
    """Pull by a source as of now; the cells are dead."""

    def answer(since=FIRST, until=FIRST):
        return pulls.Answer(source.ask(since, until), dead=cells)

    if way == "whole":
        return pulls.whole(spark, table, source="shop", ask=answer, key=["event_date", "country"], **other)
    return pulls.run(spark, table, **options(source, night(0), ask=answer, **other))


def in_step(step, do):
    """A function for `on_step` that does something once, before a step."""
    done = []

    def at(now):
        if now == step and not done:
            done.append(now)
            do()

    return at


def pulled_before(spark, namespace, way="run"):
    """A table with a pulled day, its source, and the table of its dead letters."""
    table, source = f"{namespace}.{way}", Source()
    make(spark, table)
    source.put(night(0), "DE", 1)
    pull(spark, table, source, way)
    return table, source, f"{namespace}.{way}_dead"


def zombie(spark, table, source, way, number, step, dead):
    """Let a run sleep before a step until the source changed its mind and a newer run was through."""

    def newer():
        source.put(night(0), "DE", 2 * number + 1)
        pull(spark, table, source, way)

    source.put(night(0), "DE", 2 * number)
    cell = pulls.DeadCell(f"S!A{number}", "no number", "x")
    return pull(spark, table, source, way, [cell], dead_letters=dead, on_step=in_step(step, newer))


@pytest.mark.parametrize("way", WAYS)
def test_a_zombie_brings_no_older_figures_back(spark, namespace, way):
    table, source, dead = pulled_before(spark, namespace, way)
    for number, step in enumerate(STEPS if PROVE else IN_CHECK, 1):
        if step == "ask":  # it asks after it woke, and what it is told is in the table
            assert zombie(spark, table, source, way, number, step, dead).snapshot_id is None
        else:
            with pytest.raises(pulls.AnotherWriter, match="let one of the two run"):
                zombie(spark, table, source, way, number, step, dead)
        assert by_another_engine(spark, table) == source.truth(night(0)), step
        source.put(night(0), "FR", number)
        pull(spark, table, source, way)
        assert by_another_engine(spark, table) == source.truth(night(0)), step
    branches = spark.sql(f"SELECT name FROM {table}.refs WHERE type = 'BRANCH'").collect()
    assert [row.name for row in branches] == ["main"]


def test_an_unfenced_zombie_would(spark, namespace, monkeypatch):
    """The planted fault: without the comparison of positions older figures are published over newer ones."""
    table, source, dead = pulled_before(spark, namespace)
    monkeypatch.setattr(pulling._Target, "check", lambda target, loaded: None)
    zombie(spark, table, source, "run", 1, "stage", dead)
    assert by_another_engine(spark, table) != source.truth(night(0))


def test_a_tag_that_begins_like_a_pulls_leaves_the_fence(spark, namespace):
    """It keeps an older position, which a newer run does not move."""
    table, source, dead = pulled_before(spark, namespace)
    spark.sql(f"ALTER TABLE {table} CREATE TAG pulls_before_the_fix")
    source.put(night(0), "FR", 1)
    pull(spark, table, source)
    with pytest.raises(pulls.AnotherWriter, match="let one of the two run"):
        zombie(spark, table, source, "run", 1, "stage", dead)
    assert by_another_engine(spark, table) == source.truth(night(0))


def test_a_rollback_is_not_called_another_run(spark, namespace):
    table, source, _ = pulled_before(spark, namespace)
    first = commits.head(commits.load(spark, table))
    source.put(night(0), "DE", 2)
    pull(spark, table, source)
    source.put(night(0), "DE", 3)

    def rolled_back():
        spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first})")

    with pytest.raises(pulls.AnotherWriter, match="was rolled back, or made again, while shop was pulled"):
        pull(spark, table, source, on_step=in_step("publish", rolled_back))
    pull(spark, table, source)
    assert by_another_engine(spark, table) == source.truth(night(0))


@pytest.mark.parametrize("step", ["dead stage", "dead write", "dead publish"])
def test_two_pulls_write_to_one_table_of_dead_letters(spark, namespace, step):
    dead = f"{namespace}.dead"
    for name in ("one", "other"):
        make(spark, f"{namespace}.{name}")
    source = Source()
    source.put(night(0), "DE", 1)

    def letters(name, **more):
        cells = [pulls.DeadCell(f"{name}!A1", "no number", "x")]
        return pull(spark, f"{namespace}.{name}", source, cells=cells, dead_letters=dead, **more)

    assert letters("one", on_step=in_step(step, lambda: letters("other"))).dead == 1
    written = spark.sql(f"SELECT address FROM {dead} ORDER BY 1").collect()
    assert [row.address for row in written] == ["one!A1", "other!A1"]
    before = commits.load(spark, dead).operations().current().metadataFileLocation()
    assert letters("one").dead == 0  # nothing new is no commit, not one of a branch either
    assert commits.load(spark, dead).operations().current().metadataFileLocation() == before


@pytest.mark.parametrize("way", WAYS)
def test_upkeep_in_each_step_changes_nothing(spark, namespace, way):
    """Compaction and expiry to one snapshot while a run is in a step, and between two runs."""
    table, source, dead = pulled_before(spark, namespace, way)
    for number, step in enumerate(STEPS if PROVE else IN_CHECK, 1):
        source.put(night(0), "DE", number)
        source.put(night(0), "FR", number)
        pull(spark, table, source, way)
        source.put(night(0), "DE", number + 100)
        cell = pulls.DeadCell(f"S!A{number}", "no number", "x")

        def upkeep():
            for statement in (COMPACT, EXPIRE):
                spark.sql(statement.format(table))
            commits.forget(spark, table)

        done = pull(spark, table, source, way, [cell], dead_letters=dead, on_step=in_step(step, upkeep))
        assert (done.changed, done.dead) == (1, 1), step
        assert by_another_engine(spark, table) == source.truth(night(0)), step
        upkeep()
        assert pull(spark, table, source, way).snapshot_id is None, step


def test_a_table_made_again_in_each_step(spark, namespace):
    """Nothing of a run reaches a table of the same name that was made while it ran."""
    for number, step in enumerate(STEPS if PROVE else IN_CHECK, 1):
        for first in (False, True) if PROVE else (False,):
            table, source = f"{namespace}.t{number}{'first' if first else ''}", Source()
            dead = f"{table}_dead"
            make(spark, table)
            source.put(night(0), "DE", 1)
            if not first:
                pull(spark, table, source)
            source.put(night(0), "DE", 2)

            def again(table=table):
                spark.sql(f"DROP TABLE {table} PURGE")
                make(spark, table)

            cell = pulls.DeadCell(f"S!A{number}", "no number", "x")
            given = {"cells": [cell], "dead_letters": dead}
            try:
                pull(spark, table, source, on_step=in_step(step, again), **given)
            except pulls.AnotherWriter:
                commits.forget(spark, table)
                assert by_another_engine(spark, table) == set(), step
            assert by_another_engine(spark, table) in (set(), source.truth(night(0))), step
            pull(spark, table, source, **given)
            assert by_another_engine(spark, table) == source.truth(night(0)), step


@pytest.mark.proof("test_a_zombie_brings_no_older_figures_back, where the newer run has something to commit")
def test_a_restatement_that_was_taken_back_is_published_once(spark, namespace):
    """A limit: the newer run finds the table as the source has it, so it commits nothing that stops the older one."""
    table, source, _ = pulled_before(spark, namespace)
    source.put(night(0), "DE", 2)

    def taken_back():
        source.put(night(0), "DE", 1)
        assert pull(spark, table, source).snapshot_id is None

    pull(spark, table, source, on_step=in_step("stage", taken_back))
    assert by_another_engine(spark, table) != source.truth(night(0))
    pull(spark, table, source)
    assert by_another_engine(spark, table) == source.truth(night(0))
