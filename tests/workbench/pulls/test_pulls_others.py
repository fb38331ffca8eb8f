"""A table that others change, days that are not over, and how much may vanish: a pull still ends at the truth."""

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from restated import Source, by_another_engine, make, night, options

from workbench import pulls
from workbench.pulls import comparing, judging, positions, pulling

BY_OTHERS = {
    "rows deleted": ("DELETE FROM {table} WHERE country = 'DE'",),
    "rows updated": ("UPDATE {table} SET users = 99 WHERE country = 'DE'",),
    "rows added": ("INSERT INTO {table} SELECT event_date, 'PL', 3, revenue FROM {table} WHERE country = 'DE'",),
    "a column made again": ("ALTER TABLE {table} DROP COLUMN users", "ALTER TABLE {table} ADD COLUMN users INT"),
    "a day deleted": (f"DELETE FROM {{table}} WHERE event_date = DATE '{night(1)}'",),
}


def filled(spark, table):
    """Return a source of three open days, each with two rows, that is pulled."""
    source = Source()
    make(spark, table)
    for number in range(3):
        source.put(night(number), "DE", 5)
        source.put(night(number), "FR", 7)
    assert pulls.run(spark, table, **options(source, night(2), settled_days=3)).rows == 6
    return source


def after(spark, table, source, **other):
    """Return whether the table is the truth after one more pull."""
    pulls.run(spark, table, **options(source, night(2), settled_days=3, **other))
    rows = {tuple(row) for row in spark.table(table).select("event_date", "country", "users", "revenue").collect()}
    return rows == source.truth(night(2))


@pytest.mark.parametrize("what", BY_OTHERS)
def test_what_others_change_is_put_right(spark, namespace, what):
    table = f"{namespace}.t"
    source = filled(spark, table)
    for statement in BY_OTHERS[what]:
        spark.sql(statement.format(table=table))
    assert after(spark, table, source)


@pytest.mark.parametrize("step", ["ask", "stage", "write", "publish", "published"])
def test_what_others_change_during_a_pull_is_put_right_by_the_next(spark, namespace, step):
    """The days that this pull leaves alone were compared before the others came."""
    table = f"{namespace}.t"
    source = filled(spark, table)
    source.put(night(2), "DE", 6)

    steps = []

    def on_step(now):
        steps.append(now)
        if steps.count(step) == 1 and now == step:
            spark.sql(f"DELETE FROM {table} WHERE event_date = DATE '{night(1)}' AND country = 'DE'")

    pulls.run(spark, table, **options(source, night(2), settled_days=3, on_step=on_step))
    assert after(spark, table, source)


def test_digests_taken_on_trust_would_keep_what_others_wrote(spark, namespace, monkeypatch):
    table = f"{namespace}.t"
    source = filled(spark, table)
    spark.sql(f"DELETE FROM {table} WHERE country = 'DE'")
    monkeypatch.setattr(positions, "digests", lambda spark, loaded, position, snapshot: position.digests)
    assert not after(spark, table, source)


def test_files_written_anew_and_properties_leave_the_digests(spark, namespace):
    """Nothing is compared where nobody wrote rows: the answer's digests suffice."""
    table = f"{namespace}.t"
    source = filled(spark, table)
    catalog = spark.conf.get("spark.sql.defaultCatalog")
    spark.sql(
        f"CALL {catalog}.system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))"
    )
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'web')")
    loaded = pulling.commits.load(spark, table)
    position, snapshot = positions.find(spark, loaded, table, "shop")
    assert len(position.digests) == 3 and positions.digests(spark, loaded, position, snapshot) == position.digests
    assert after(spark, table, source)


def test_days_that_are_not_over_are_not_settled(spark, namespace):
    """A pull that asks for next year must not settle this year's days; lateness knows no age below zero."""
    table, source, today = f"{namespace}.t", Source(), datetime.now(UTC).date()
    make(spark, table)
    days = {"first": today - timedelta(6), "until": today + timedelta(400)}
    source.put(today - timedelta(1), "DE", 5)
    source.put(today + timedelta(30), "DE", 1)
    done = pulls.run(spark, table, **options(source, **days))
    assert today - timedelta(5) <= done.settled <= today - timedelta(4)  # over in each time zone, and three days
    source.put(today - timedelta(1), "DE", 6)
    source.put(today + timedelta(30), "DE", 2)
    done = pulls.run(spark, table, **options(source, **days | {"until": today}))
    assert (done.changed, [day.day for day in done.days]) == (1, [today - timedelta(1)])
    pulls.run(spark, table, **options(source, **days))
    assert by_another_engine(spark, table) == source.truth(date.max)
    assert pulls.lateness(spark, table, "shop").ages == (pulls.Age(1, 1, 0, 1, 0),)


def test_a_table_that_an_older_version_settled_for_years_goes_on(spark, namespace, monkeypatch):
    table, source, today = f"{namespace}.t", Source(), datetime.now(UTC).date()
    make(spark, table)
    first = today - timedelta(5)
    source.put(today, "DE", 5)
    with monkeypatch.context() as patched:
        patched.setattr(
            pulling._Target, "settled", lambda target, last, settled_days: last - timedelta(settled_days)
        )
        pulls.run(spark, table, **options(source, today + timedelta(4000), first=first))
    source.put(today, "DE", 6)
    assert pulls.run(spark, table, **options(source, today, first=first)).changed == 1


def test_days_before_the_first_one_are_not_late(spark, namespace):
    table, source = f"{namespace}.t", Source()
    make(spark, table)
    for number in range(6):
        source.put(night(number), "DE", 5)
    pulls.run(spark, table, **options(source, night(5), first=night(4)))
    pulls.run(spark, table, **options(source, night(5), first=night(0)))  # four days more
    late = pulls.lateness(spark, table, "shop")
    assert (late.pulls, late.ages, late.suffices) == (2, (), None)


def test_most_removed_counts_rows_not_keys(spark, namespace):
    """A table whose keys were not unique before it was pulled: ten rows of each of two keys, one key stays."""
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (country STRING, segment STRING) USING iceberg")
    spark.sql(f"INSERT INTO {table} SELECT IF(id < 10, 'DE', 'FR'), 'A' FROM range(20)")
    ask = {"source": "sheet", "ask": lambda: [{"country": "DE", "segment": "A"}], "key": ["country"]}
    with pytest.raises(pulls.PullRefused, match="19 of the 20 rows of .* would be deleted, more than 90%"):
        pulls.whole(spark, table, most_removed=0.9, **ask)
    done = pulls.whole(spark, table, most_removed=0.95, **ask)
    assert (done.removed, done.changed, done.added, spark.table(table).count()) == (19, 1, 0, 1)


def test_a_share_is_a_share_to_the_last_row():
    """All shares of hundredths: exactly so many rows may vanish, and not another one."""
    for hundredths in range(100):
        share = hundredths / 100
        judging.refuse_emptied("t", comparing.Difference(removed=hundredths * 7, before=700), share)
        with pytest.raises(pulls.PullRefused, match=f"more than {hundredths}%"):
            judging.refuse_emptied("t", comparing.Difference(removed=hundredths * 7 + 1, before=700), share)
    assert Fraction(str(0.29)) * 100 == 29 and 0.29 * 100 < 29


def test_a_day_that_is_running_is_not_settled(spark, namespace, monkeypatch):
    """With settled_days=0 until today, what comes later today still comes; midnight during a run changes nothing."""
    table, source, today = f"{namespace}.t", Source(), datetime.now(UTC).date()
    make(spark, table)
    source.put(today, "DE", 5)
    only = {"first": today, "settled_days": 0}
    pulls.run(spark, table, **options(source, today, **only))
    source.put(today, "FR", 7)
    assert pulls.run(spark, table, **options(source, today, **only)).added == 1
    moments = [
        (datetime(2026, 3, 11, hour, tzinfo=UTC), date(2026, 3, day)) for hour, day in ((0, 9), (11, 9), (12, 10))
    ]
    assert [positions.last_over(moment) for moment, _ in moments] == [day for _, day in moments]


def test_a_commit_without_counts_is_not_trusted(spark, namespace, monkeypatch):
    """The format asks a summary for its operation alone, and some writers give no more."""
    table = f"{namespace}.t"
    source = filled(spark, table)
    loaded = pulling.commits.load(spark, table)
    position, snapshot = positions.find(spark, loaded, table, "shop")

    class Bare:
        def snapshotId(self):
            return 1

        def parentId(self):
            return snapshot.snapshotId()

        def operation(self):
            return "append"

        def summary(self):
            return {}

    line = positions.publication.positions.line
    monkeypatch.setattr(positions.publication.positions, "line", lambda *given: iter([Bare(), *line(*given)]))
    assert positions.digests(spark, loaded, position, snapshot) == {} and source.rows


def test_repairs_are_not_late_figures(spark, namespace):
    table = f"{namespace}.t"
    source = filled(spark, table)
    spark.sql(f"DELETE FROM {table} WHERE country = 'DE'")
    assert after(spark, table, source)
    late = pulls.lateness(spark, table, "shop")
    assert (late.ages, late.suffices) == ((), None)


def test_a_report_of_one_row_a_day_needs_no_key(spark, namespace):
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (day DATE, users INT) USING iceberg PARTITIONED BY (day)")
    rows = [{"day": night(0), "users": 1}, {"day": night(1), "users": 2}]
    ask = {
        "source": "s",
        "ask": lambda since, until: rows,
        "day": "day",
        "key": [],
        "first": night(0),
        "until": night(1),
    }
    assert pulls.run(spark, table, settled_days=5, **ask).added == 2
    rows[1]["users"] = 3
    assert pulls.run(spark, table, settled_days=5, **ask).changed == 1
    rows.append({"day": night(1), "users": 4})
    with pytest.raises(pulls.AnswerRefused, match="2 rows of 2026-03-02 have one key"):
        pulls.run(spark, table, settled_days=5, **ask)


def test_a_branch_of_the_session_a_wrong_function_and_a_short_answer_are_refused(spark, namespace):
    table = f"{namespace}.t"
    source = filled(spark, table)
    spark.conf.set("spark.wap.branch", "audit")
    try:
        with pytest.raises(
            ValueError, match=r"the session has spark.wap.branch = audit; unset it first, a pull makes main"
        ):
            pulls.run(spark, table, **options(source, night(2)))
    finally:
        spark.conf.unset("spark.wap.branch")
    with pytest.raises(ValueError, match="ask must be a function of the first and the last day: "):
        pulls.run(spark, table, **options(source, night(2), ask=lambda: []))
    with pytest.raises(ValueError, match="ask must be a function of no argument: "):
        pulls.whole(spark, table, source="s", ask=lambda since, until: [], key=["country"])
    early = pulls.Answer([], through=night(1))
    with pytest.raises(
        pulls.AnswerRefused, match="complete through 2026-03-02 of 2026-03-03 and does not say why"
    ):
        pulls.run(spark, table, **options(source, night(2), ask=lambda since, until: early))
