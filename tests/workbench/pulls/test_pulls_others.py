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
    days = {"first": today - timedelta(5), "until": today + timedelta(400)}
    source.put(today - timedelta(1), "DE", 5)
    source.put(today + timedelta(30), "DE", 1)
    done = pulls.run(spark, table, **options(source, **days))
    assert done.settled == today - timedelta(3)
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
        patched.setattr(pulling, "_settled", lambda last, settled_days: last - timedelta(settled_days))
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
