"""Random histories: every back-end on every kind of table, and the history built from them, equal the oracle."""

from collections import Counter
from datetime import UTC, datetime

import oracle
import pytest
import scripts
from conftest import PROVE, drop_namespace
from hypothesis import HealthCheck, Phase, given, settings

from workbench import history
from workbench.tables import changes

COUNT, AT_LEAST = (500, 50) if PROVE else (100, 6)
PLAYED = scripts.COMMITS if PROVE else 6  # of the eight commits
COMPOSITE, SINGLE = ["shop", "id"], ["code"]


def drawn():
    """The histories, the same on every machine."""
    found = []

    @settings(
        max_examples=COUNT * 3, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(scripts.histories())
    def draw(one):
        if len(found) < COUNT and one not in found:
            found.append(one)

    draw()
    return found


FOUND = drawn()


def test_each_kind_of_event_is_in_enough_histories():
    assert len(FOUND) == COUNT
    counts = Counter(event for one in FOUND for event in one.events)
    assert {event: counts[event] for event in scripts.EVENTS if counts[event] < AT_LEAST} == {}


def test_the_oracle_keeps_the_invariants_and_they_can_be_broken():
    states = scripts.states(FOUND, COMPOSITE)
    found = oracle.versions(states, scripts.TIMES)
    assert list(oracle.broken(found, states, scripts.TIMES)) == []
    assert list(oracle.broken(found[1:], states, scripts.TIMES)) != []
    longer = [oracle.Version(v.key, v.values, v.start, None, v.number, v.born) for v in found]
    assert list(oracle.broken(longer, states, scripts.TIMES)) != []


KINDS = [
    pytest.param(kind, marks=[] if kind == "v3_cow" else pytest.mark.proof(
        "v3_cow is read by all three back-ends, and test_a_row_a_change reads merge-on-read"))
    for kind in scripts.KINDS
]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def played(spark, request):
    """All histories on a table of a kind, a history built in three runs on the way; (kind, source, target)."""
    namespace = f"oracle_{request.param}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    source, target = f"{namespace}.source", f"{namespace}.in_steps"
    play = scripts.Play(spark, source, request.param, FOUND)
    allowed = ()
    # the first stop stands between two commits of one millisecond, the second between two of a clock that was held
    for stop in sorted({3, 6, PLAYED}):
        play.until(stop)
        allowed = changes.back_ends(spark, source)
        history.build(spark, source, target, key=COMPOSITE, back_end="auto" if stop == 3 else allowed[-1])
    yield request.param, source, target, allowed
    drop_namespace(spark, namespace)


def test_changes_by_every_back_end(spark, played):
    kind, source, _, allowed = played
    assert set(allowed) == ALLOWED[kind]
    states = scripts.states(FOUND, SINGLE)[:PLAYED]
    expected = sorted(oracle.changes(states), key=str)
    net = sorted(oracle.changes([states[-1]], before=states[2]), key=str)
    third = scripts_commit(spark, source, 2)
    for back_end in allowed:
        found = changes.between(spark, source, key=SINGLE, back_end=back_end).collect()
        assert sorted(map(as_change, found), key=str) == expected, back_end
        assert {(r.change_ordinal, millis(r.commit_time)) for r in found} == set(enumerate(scripts.TIMES[:PLAYED]))
        found = changes.between(spark, source, key=SINGLE, back_end=back_end, start=third, net=True).collect()
        assert sorted(((0, *as_change(r)[1:]) for r in found), key=str) == net, back_end


ALLOWED = {
    "v2_cow": {"snapshot diff", "changelog view"},
    "v2_mor": {"snapshot diff"},
    "v3_cow": {"row lineage", "snapshot diff", "changelog view"},
    "v3_mor": {"row lineage", "snapshot diff"},
}


def test_history_in_steps(spark, played):
    _, _, target, _ = played
    compare(spark, target, COMPOSITE)


@pytest.mark.proof("test_history_in_steps compares a history of the same commits, built in two runs")
def test_history_in_one_run(spark, played):
    _, source, target, allowed = played
    for back_end in allowed:
        whole = f"{target}_{allowed.index(back_end)}"
        history.build(spark, source, whole, key="code", back_end=back_end)
        compare(spark, whole, SINGLE)


def compare(spark, target, key):
    """Every version, the state at every commit and the open ones equal the oracle's."""
    states, times = scripts.states(FOUND, key)[:PLAYED], scripts.TIMES[:PLAYED]
    places = [scripts.COLUMNS.index(name) for name in key]
    rows = spark.table(target).collect()
    found = [as_version(row, places) for row in rows]
    assert sorted(found, key=lambda v: (v.key, v.number)) == oracle.versions(states, times)
    assert list(oracle.broken(found, states, times)) == []
    assert all(row.is_current == (row.valid_to is None) for row in rows)
    moment = datetime.fromtimestamp(scripts.TIMES[1] / 1000, UTC)
    assert {values(r) for r in history.as_of(spark, target, moment).collect()} == set(states[1].values())
    assert {values(r) for r in history.current(spark, target).collect()} == set(states[-1].values())


def values(row):
    return tuple(row[name] for name in scripts.COLUMNS)


def as_change(row):
    return row.change_ordinal, (row.code,), row.change_type, values(row)


def as_version(row, places):
    key = tuple(values(row)[p] for p in places)
    end = None if row.valid_to is None else millis(row.valid_to)
    return oracle.Version(key, values(row), millis(row.valid_from), end, row.version, row.change_ordinal)


def millis(time):
    return round(time.replace(tzinfo=UTC).timestamp() * 1000)


def scripts_commit(spark, table, n):
    """Snapshot id of the commit number n: by the value that the beating row has after it."""
    for row in spark.sql(f"SELECT snapshot_id FROM {table}.snapshots WHERE operation <> 'replace'").collect():
        if spark.sql(f"SELECT price FROM {table} VERSION AS OF {row[0]} WHERE code = -1").collect()[0][0] == n:
            return row[0]
    raise AssertionError(f"no commit {n}")
