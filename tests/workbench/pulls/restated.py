"""A source in plain Python that changes its mind, and what a table of it must hold."""

import random
from datetime import date, timedelta
from decimal import Decimal

from pyiceberg.table import StaticTable

from workbench import pulls
from workbench.tables import commits

FIRST = date(2026, 3, 1)
COUNTRIES = ("DE", "FR", "IT", "PL")
COLUMNS = "event_date DATE, country STRING, users INT, revenue DECIMAL(18,2)"


def make(spark, table):
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING iceberg PARTITIONED BY (event_date)")


class Source:
    """Rows by day and country; `ask` is what pulls.run calls."""

    def __init__(self):
        self.rows = {}
        self.asked = []

    def put(self, day, country, users, revenue="1.50"):
        self.rows[day, country] = (users, Decimal(revenue))

    def ask(self, since, until):
        self.asked.append((since, until))
        return [
            {"event_date": day, "country": country, "users": users, "revenue": revenue}
            for (day, country), (users, revenue) in self.rows.items()
            if since <= day <= until
        ]

    def truth(self, until):
        return {(*at, *values) for at, values in self.rows.items() if at[0] <= until}


def night(number):
    return FIRST + timedelta(number)


def options(source, until, **other):
    return {
        "source": "shop", "ask": source.ask, "day": "event_date", "key": ["country"], "first": FIRST, "until": until,
        "settled_days": 3,
    } | other  # fmt: skip


def by_another_engine(spark, table, snapshot_id=None):
    """The rows of a table by PyIceberg; the same row twice is not hidden."""
    where = commits.load(spark, table).operations().current().metadataFileLocation()
    rows = StaticTable.from_metadata(where).scan(snapshot_id=snapshot_id).to_arrow().to_pylist()
    values = [(row["event_date"], row["country"], row["users"], row["revenue"]) for row in rows]
    assert len(values) == len(set(values))
    return set(values)


def restate(source, draw: random.Random, until, lag):
    """Change days that are at most `lag` old, as services do: more rows, fewer, others, or none at all."""
    for age in range(lag + 1):
        day = until - timedelta(age)
        if day < FIRST or (age and draw.random() < 0.5):
            continue
        for country in COUNTRIES:
            what = draw.choice(("put", "put", "leave", "remove") if age else ("put", "put", "put", "leave"))
            if what == "put":
                source.put(day, country, draw.randint(1, 99), f"{draw.randint(0, 9999) / 100:.2f}")
            elif what == "remove":
                source.rows.pop((day, country), None)


def nights(spark, table, seed, *, lag=3, count=6):
    """Pull a random history night by night; return how often the table was not the truth."""
    draw, source, wrong, believed = random.Random(seed), Source(), 0, {}
    for number in range(count):
        until = night(number)
        restate(source, draw, until, lag)
        if draw.random() < 0.2:
            continue  # a night is missed
        done = pulls.run(spark, table, **options(source, until))
        wrong += by_another_engine(spark, table) != source.truth(until)
        if done.snapshot_id:
            believed[done.snapshot_id] = source.truth(until)
            assert done.rows <= sum(day in {one.day for one in done.days} for day, _ in source.rows)
    if not lag > 3:
        for snapshot_id, rows in believed.items():
            assert by_another_engine(spark, table, snapshot_id) == rows
    return wrong
