"""A table equals its source after every night and at every snapshot, whatever the source takes back."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from restated import COUNTRIES, FIRST, Source, by_another_engine, make, night, nights, options

from workbench import pulls
from workbench.pulls import comparing, pulling
from workbench.tables import commits, snapshots
from workbench.verdicts import Verdict


def pulled(spark, table, source, until, **other):
    return pulls.run(spark, table, **options(source, until, **other))


def refs(spark, table):
    return sorted(row.name.split("_")[0] for row in spark.sql(f"SELECT name FROM {table}.refs").collect())


def test_every_night_and_every_snapshot(spark, namespace):
    table, source, believed = f"{namespace}.t", Source(), {}
    make(spark, table)
    source.put(night(0), "DE", 5)
    source.put(night(1), "FR", 7, "10.25")
    first = pulled(spark, table, source, night(1))
    assert (first.rows, first.added, first.requests, [day.day for day in first.days]) == (
        2, 2, 1, [night(0), night(1)],
    )  # fmt: skip
    believed[first.snapshot_id] = source.truth(night(1))
    source.put(night(0), "DE", 6)  # changed
    source.put(night(0), "IT", 1)  # late
    del source.rows[night(1), "FR"]  # vanished: the day has no row left
    source.put(night(3), "PL", 2)  # a night was missed
    second = pulled(spark, table, source, night(3))
    believed[second.snapshot_id] = source.truth(night(3))
    assert (second.rows, second.added, second.changed, second.removed) == (3, 2, 1, 1)
    assert [day.day for day in second.days] == [night(0), night(1), night(3)]
    assert (second.settled, source.asked[-1]) == (night(0), (FIRST, night(3)))
    assert by_another_engine(spark, table) == source.truth(night(3))
    again = pulled(spark, table, source, night(3))
    assert (again.snapshot_id, again.requests, again.days) == (None, 1, ())
    assert source.asked[-1] == (night(1), night(3))  # night 0 is settled
    for snapshot_id, rows in believed.items():
        assert by_another_engine(spark, table, snapshot_id) == rows
    assert snapshots.history(spark, table).count() == 3  # an empty one, and the two
    assert refs(spark, table) == ["main", "pulls"]


def test_rows_that_move(spark, namespace):
    """To another day, as a late time zone makes them, and to another key: gone where they were, once where they are."""
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(2):
        source.put(night(number), "DE", 5, "10.25")
    pulled(spark, table, source, night(1))
    source.rows[night(1), "PL"] = source.rows.pop((night(0), "DE"))
    source.rows[night(1), "FR"] = source.rows.pop((night(1), "DE"))
    done = pulled(spark, table, source, night(1))
    assert (done.added, done.changed, done.removed, [day.day for day in done.days]) == (
        2,
        0,
        2,
        [night(0), night(1)],
    )
    assert by_another_engine(spark, table) == source.truth(night(1)) and len(source.rows) == 2


@pytest.mark.proof(
    "test_every_night_and_every_snapshot has each case of such a history, and 14_pull_from_saas requires the "
    "truth after every night of a drawn one"
)
@pytest.mark.parametrize("seed", [7])
def test_random_histories(spark, namespace, seed):
    make(spark, f"{namespace}.t")
    assert nights(spark, f"{namespace}.t", seed) == 0


SEEN = pytest.mark.proof("a window that is too short shows that rows that differ are seen")


@pytest.mark.parametrize(
    "fault",
    [
        "a window too short",
        pytest.param("a digest without a column", marks=SEEN),
        pytest.param("what vanished stays", marks=SEEN),
    ],
)
def test_a_planted_fault_is_seen(spark, namespace, monkeypatch, fault):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    source.put(night(0), "DE", 5)
    source.put(night(0), "FR", 5)
    pulled(spark, table, source, night(0))
    if fault == "a window too short":
        pulled(spark, table, source, night(0), settled_days=0)
        source.put(night(1), "DE", 1)
        pulled(spark, table, source, night(1), settled_days=0)
        source.put(night(0), "DE", 6)
        pulled(spark, table, source, night(2), settled_days=0)
    elif fault == "a digest without a column":
        parts = comparing._parts
        monkeypatch.setattr(comparing, "_parts", lambda rows: parts(rows.drop("revenue")))
        monkeypatch.setattr(pulling, "_changed", lambda *given: {})
        source.put(night(0), "DE", 5, "9.99")
        pulled(spark, table, source, night(0))
    else:
        ask = source.ask
        source.ask = lambda since, until: [
            *ask(since, until), {"event_date": night(0), "country": "FR", "users": 5, "revenue": Decimal("1.50")},
        ]  # fmt: skip
        del source.rows[night(0), "FR"]
        pulled(spark, table, source, night(0))
    assert by_another_engine(spark, table) != source.truth(night(2))


def test_nulls_are_told_apart(spark):
    rows = spark.createDataFrame([(1, None, "a"), (2, "a", None)], "k INT, x STRING, y STRING")
    other = spark.createDataFrame([(1, "a", None), (2, None, "a")], "k INT, x STRING, y STRING")
    assert comparing.digests(rows, ["k"], None) != comparing.digests(other, ["k"], None)
    assert {d.changed for d in comparing.compare(rows, other, ["k"], None).values()} == {2}


def test_expired_compacted_and_made_again(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(5):
        source.put(night(number), "DE", number)
        pulled(spark, table, source, night(number))
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    spark.sql(
        f"CALL system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    )
    commits.forget(spark, table)
    source.put(night(4), "FR", 9)
    done = pulled(spark, table, source, night(5))
    assert (source.asked[-1], done.rows) == ((night(2), night(5)), 2)
    assert by_another_engine(spark, table) == source.truth(night(5))
    spark.sql(f"DROP TABLE {table} PURGE")
    make(spark, table)
    assert pulled(spark, table, source, night(5)).since == FIRST
    assert by_another_engine(spark, table) == source.truth(night(5))


@pytest.mark.proof("test_expired_compacted_and_made_again reads the position in a changed history, too")
def test_a_rolled_back_table_is_pulled_again(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    source.put(night(0), "DE", 1)
    first = pulled(spark, table, source, night(0))
    source.put(night(1), "DE", 1)
    pulled(spark, table, source, night(5))
    spark.sql(f"CALL system.rollback_to_snapshot('{table}', {first.snapshot_id})")
    commits.forget(spark, table)
    pulled(spark, table, source, night(5))
    assert by_another_engine(spark, table) == source.truth(night(5))


@pytest.mark.proof(
    "test_a_zombie_brings_no_older_figures_back has the newer run, and "
    "test_upkeep_in_each_step_changes_nothing a compaction"
)
def test_a_second_run_is_refused_and_compaction_is_not(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    source.put(night(0), "DE", 1)
    pulled(spark, table, source, night(0))
    source.put(night(0), "DE", 2)

    def overtaken(step):
        if step == "publish":
            pulled(spark, table, source, night(0))

    with pytest.raises(pulls.AnotherWriter, match="let one of the two run"):
        pulled(spark, table, source, night(0), on_step=overtaken)
    source.put(night(0), "DE", 3)
    compacted = []

    def beside(step):
        if step == "publish" and not compacted:
            compacted.append(True)
            spark.sql(f"INSERT INTO {table} VALUES (DATE'2020-01-01', 'XX', 0, 0)")

    pulled(spark, table, source, night(0), on_step=beside)
    old = (date(2020, 1, 1), "XX", 0, Decimal("0.00"))
    assert by_another_engine(spark, table) == source.truth(night(0)) | {old}


def test_a_part_of_the_days(spark, namespace):
    """Tokens are used up: the days that are complete are kept, the others asked for again."""
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(3):
        source.put(night(number), "DE", number)
    ask = source.ask

    def some(since, until):
        return pulls.Answer(ask(since, night(1)), through=night(1), stopped="the quota is used up", requests=4)

    done = pulled(spark, table, source, night(2), ask=some)
    assert (done.stopped, done.requests, done.rows) == ("the quota is used up", 4, 2)
    assert by_another_engine(spark, table) == source.truth(night(1))
    pulled(spark, table, source, night(2))
    assert by_another_engine(spark, table) == source.truth(night(2))


def row(**other):
    return {"event_date": FIRST, "country": "DE", "users": 1, "revenue": Decimal("1.00")} | other


BAD = {
    "a column is missing": ([{"event_date": FIRST}], "lacks the column country"),
    "a column too many": ([row(city="X")], "has the column city"),
    "rows with other keys": ([row(), {"event_date": FIRST}], "row 2 .* differ in the key country"),
    "money beyond the scale": ([row(revenue=Decimal("1.005"))], "cannot be decimal.18,2. .* Decimal..1.005"),
    "a text that is no number": ([row(users="many")], "cannot be int .*'many'"),
    "a number too large": ([row(users=2**40)], "cannot be int"),
    "a number for a text": ([row(country=7)], "country of the answer is bigint"),
    "a key twice": ([row(), row(users=2)], "2 rows of 2026-03-01 have one key, country 'DE'"),
    "no key": ([row(country=None)], "has no country"),
    "no day": ([row(event_date=None)], "has no event_date"),
    "another day": ([row(event_date=date(2026, 2, 28))], "rows of 2026-02-28, expected 2026-03-01"),
    "no rows at all": ("soon", "is str, expected an Arrow table"),
    "mixed types": ([row(users="1"), row(users=2, country="FR")], "the column users has values of int, str"),
}


def test_bad_answers_leave_the_table(spark, namespace):
    table = f"{namespace}.t"
    make(spark, table)
    for what, (rows, said) in BAD.items():
        with pytest.raises(pulls.AnswerRefused, match=said):
            pulled(spark, table, Source(), FIRST, ask=lambda since, until, rows=rows: rows)
        assert snapshots.history(spark, table).count() == 0, what
    arrow = pa.table({"event_date": [FIRST], "country": ["DE"], "users": ["12"], "revenue": [0.1]})
    pulled(spark, table, Source(), FIRST, ask=lambda since, until: arrow)
    assert by_another_engine(spark, table) == {(FIRST, "DE", 12, Decimal("0.10"))}


def test_bad_arguments_and_tables(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for other, said in (
        ({"day": "d"}, "no column d"), ({"day": "users"}, "users of .* is int"),
        ({"key": ["city"]}, "no column city"), ({"key": ["event_date"]}, "leave it out"),
        ({"until": date(2026, 2, 1)}, "before first"), ({"first": datetime(2026, 1, 1)}, "first must be a date"),
        ({"settled_days": -1}, "settled_days must be"), ({"source": ""}, "source must be"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            pulls.run(spark, table, **(options(source, FIRST) | other))
    spark.sql(f"CREATE TABLE {namespace}.flat (event_date DATE, country STRING) USING iceberg")
    with pytest.raises(ValueError, match="PARTITIONED BY .event_date."):
        pulled(spark, f"{namespace}.flat", source, FIRST)
    assert source.asked == []
    source.put(FIRST, "DE", 1)
    pulled(spark, table, source, FIRST)
    with pytest.raises(ValueError, match="at least one column"):  # a source without days has no other key
        pulls.whole(spark, f"{namespace}.flat", source="shop", ask=list, key=[])
    with pytest.raises(pulls.AnotherWriter, match="pulled from shop, and other"):
        pulls.run(spark, table, **(options(source, FIRST) | {"source": "other"}))
    with pytest.raises(ValueError, match="is pulled by days from shop: go on with pulls.run"):
        pulls.whole(spark, table, source="shop", ask=list, key=["country"])


def test_an_audit_and_rows_that_change(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    source.put(FIRST, "DE", 1)

    def audit(rows):
        return Verdict(rows.where("users > 1").count() == 0, "users <= 1", reasons=("too many users",))

    pulled(spark, table, source, FIRST, audit=audit)
    source.put(FIRST, "DE", 2)
    with pytest.raises(pulls.PullRefused, match="too many users"):
        pulled(spark, table, source, FIRST, audit=audit)
    assert by_another_engine(spark, table) == {(FIRST, "DE", 1, Decimal("1.50"))}


def test_a_write_that_is_not_the_answer_is_refused(spark, namespace, monkeypatch):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    source.put(FIRST, "DE", 1)
    of = pulling._of

    def less(target, rows, days):
        return of(target, rows, days).where("users <> 1")

    monkeypatch.setattr(pulling, "_of", less)
    with pytest.raises(pulls.PullRefused, match="is not what shop answered"):
        pulled(spark, table, source, FIRST)
    assert refs(spark, table) == []


@pytest.mark.proof("14_pull_from_saas requires that the settled days suffice, told by the same function")
def test_lateness(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(5):
        source.put(night(number), "DE", number)
        if number >= 2:
            source.put(night(number - 2), "FR", number)  # two days late, one row
        pulled(spark, table, source, night(number))
    late = pulls.lateness(spark, table, "shop")
    assert late.ages == (pulls.Age(2, 3, 3, 0, 0),)
    assert (late.suffices, late.pulls) == (True, 5)
    source.put(night(2), "IT", 1)
    pulled(spark, table, source, night(5))
    late = pulls.lateness(spark, table, "shop")
    assert (late.suffices, late.ages[-1].days) == (False, 3)
    assert "may be too few" in late.sentence
    with pytest.raises(ValueError, match="pulled from shop"):
        pulls.lateness(spark, table, "other")


def whole(spark, table, rows, **other):
    return pulls.whole(spark, table, source="sheet", ask=lambda: rows, key=["country"], **other)


def test_whole(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (country STRING, segment STRING) USING iceberg")
    rows = [{"country": country, "segment": "A"} for country in COUNTRIES]
    assert whole(spark, table, rows).added == 4
    assert whole(spark, table, rows).snapshot_id is None
    with pytest.raises(pulls.PullRefused, match="4 of the 4 rows .* more than 20%"):
        whole(spark, table, [])
    with pytest.raises(pulls.PullRefused, match="1 of the 4 rows"):
        whole(spark, table, rows[:3])
    done = whole(spark, table, [*rows[:2], {"country": "IT", "segment": "B"}], most_removed=0.25)
    assert (done.changed, done.removed, done.added) == (1, 1, 0)
    assert {tuple(row) for row in spark.table(table).collect()} == {("DE", "A"), ("FR", "A"), ("IT", "B")}


@pytest.mark.proof(
    "15_pull_a_sheet requires the dead cells by their addresses, and that a second pull commits nothing"
)
def test_dead_letters_once(spark, namespace):
    table, dead = f"{namespace}.t", f"{namespace}.dead"
    spark.sql(f"CREATE TABLE {table} (country STRING, segment STRING) USING iceberg")
    answer = pulls.Answer(
        [{"country": "DE", "segment": "A"}], dead=[pulls.DeadCell("S!B3", "not a number", "#REF!")]
    )
    with pytest.raises(pulls.AnswerRefused, match="1 cells of sheet .* at S!B3: not a number"):
        whole(spark, table, answer)
    assert whole(spark, table, answer, dead_letters=dead).dead == 1
    assert whole(spark, table, answer, dead_letters=dead).dead == 0
    assert [tuple(row) for row in spark.table(dead).collect()] == [("sheet", "S!B3", "not a number", "#REF!")]
    with pytest.raises(ValueError, match="not a table of dead letters"):
        whole(spark, table, answer, dead_letters=table)


def test_the_days_asked_for(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(-3, 9):
        source.put(night(number), "DE", number + 5)
    pulled(spark, table, source, night(8))
    pulled(spark, table, source, night(8), settled_days=6)
    pulled(spark, table, source, night(8), first=night(-2))
    pulled(spark, table, source, night(8), first=night(1))
    assert source.asked == [
        (night(0), night(8)), (night(3), night(8)), (night(-2), night(8)), (night(6), night(8)),
    ]  # fmt: skip
    assert by_another_engine(spark, table) == {row for row in source.truth(night(8)) if row[0] >= night(-2)}
    assert pulled(spark, table, source, night(2)).since is None
