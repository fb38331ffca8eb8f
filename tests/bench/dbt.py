"""Tests of a dbt project by evidence, against each test's own statement in DuckDB: CPU seconds, outcomes equal.

    python -m bench.dbt [TABLES [ROWS [ROUNDS]]]

Each round makes the tables anew and runs, in turn: the statements alone, the first run, a run where nothing changed,
then both again after 3 tables grew by 2 per cent. dbt itself is not started: its own share (20 ms a test, measured
apart) would only add to the statements' side, so that ratios here are lower than against dbt.
"""

import statistics
import sys
import tempfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from bench import evidence
from bench.spent import Clock
from workbench import dbt

GROWN = 3
ROWWISE = {
    "range": "{c} < 0 or {c} > 1000000", "null": "{c} is null", "day": "day < date '2020-01-01'",
    "hex": "not regexp_matches(token, '^[0-9a-f]{{64}}$')", "mail": "regexp_matches(token, '@')", "short": "length(token) < 64",
}  # fmt: skip
NUMBERS = [f"n{i}" for i in range(8)]
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("token", pa.string()),
        ("area", pa.string()),
        ("day", pa.date32()),
        ("parent", pa.int64()),
    ]
    + [(name, pa.int64()) for name in NUMBERS]
)


def rows(first, count):
    numbers = pa.array(range(first, first + count), pa.int64())
    tokens = pa.array([sha256(str(n).encode()).hexdigest() for n in range(first, first + count)])
    areas = pa.array([["north", "south", "east", "west"][n % 4] for n in range(first, first + count)])
    days = pa.array([18262 + n % 300 for n in range(first, first + count)], pa.int32()).cast(pa.date32())
    parents = pa.array([n % 1000 for n in range(first, first + count)], pa.int64())
    return pa.table([numbers, tokens, areas, days, parents, *[numbers] * len(NUMBERS)], schema=SCHEMA)


def tests(names):
    """65 tests a table: 46 that metrics can tell, 10 that need a scan, 4 keys, 5 joins."""
    for name in names:
        texts = [f"select * from {name} where {ROWWISE['null'].format(c=column)}" for column in SCHEMA.names]
        texts += [
            f"select * from {name} where {ROWWISE['range'].format(c=c)} or {c} = -{k}"
            for c in NUMBERS
            for k in (1, 2, 3, 4)
        ]
        texts += [f"select * from {name} where {ROWWISE['day']}"]
        texts += [
            f"select * from {name} where {ROWWISE[kind].format()} and id > {k}"
            for kind in ("hex", "mail", "short")
            for k in (-1, -2, -3)
        ]
        texts += [
            f"with v as (select area as f, count(*) as n from {name} group by area) select * from v where f not in ('north', 'south', 'east', 'west')"
        ]
        texts += [
            f"select {c} as unique_field, count(*) as n_records from {name} where {c} is not null group by {c} having count(*) > 1"
            for c in ("id", "token", "n0", "n1")
        ]
        texts += [
            f"with child as (select parent as f from {name} where parent >= {k}), parent as (select id as t from {names[0]}) "
            "select f from child left join parent on child.f = parent.t where parent.t is null"
            for k in range(5)
        ]  # fmt: skip
        for n, text in enumerate(texts):
            yield dbt.Test(f"test.bench.{name.split('.')[-1].strip(chr(34))}_{n}", text)


def spent(clock, plan, tables, **options):
    locations = {name: table.metadata_location for name, table in tables.items()}
    before = clock()
    outcomes = dbt.prove(plan, locations, **options)
    return clock() - before, outcomes


def round_of(clock, folder, count, size):
    """Return the CPU seconds of each way, and whether all outcomes are those of the statements."""
    catalog = SqlCatalog("bench", uri=f"sqlite:///{folder}/lake.db", warehouse=f"file://{folder}")
    catalog.create_namespace("main")
    tables = {}
    for n in range(count):
        name = f'"bench"."main"."t{n}"'
        tables[name] = catalog.create_table(f"main.t{n}", SCHEMA)
        for part in range(4):
            tables[name].append(rows(part * size // 4, size // 4))
    planned = dbt.plan([*tests(list(tables))])
    own = [replace(entry, kind="own", fails=None, unique=None, steady=False) for entry in planned]
    seconds, told = {}, {}
    seconds["statements"], plain = spent(clock, own, tables)
    equal = True
    for step in ("first", "unchanged", "grown"):
        if step == "grown":
            for table in list(tables.values())[1 : 1 + GROWN]:
                table.append(rows(size, max(1, size // 50)))
            seconds["statements_grown"], plain = spent(clock, own, tables)
        seconds[step], outcomes = spent(clock, planned, tables, ledger=Path(folder, "ledger.db"))
        equal &= [(o.status, o.failures) for o in outcomes] == [(o.status, o.failures) for o in plain]
        told[step] = {by: sum(o.told_by == by for o in outcomes) for by in sorted({o.told_by for o in outcomes})}
    return seconds, told, equal


def main(tables=20, size=100_000, rounds=3):
    clock, all_seconds = Clock(), []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            seconds, told, equal = round_of(clock, folder, tables, size)
        if not equal:
            raise SystemExit("the outcomes differ")
        all_seconds.append(seconds)
    cpu = {way: round(statistics.median(each[way] for each in all_seconds), 2) for way in all_seconds[0]}
    ratios = {
        step: round(cpu["statements_grown" if step == "grown" else "statements"] / cpu[step], 1)
        for step in ("first", "unchanged", "grown")
    }
    evidence.write(
        "dbt", tests=65 * tables, tables=tables, rows=tables * size, rounds=rounds, equal=True, cpu_seconds=cpu,
        ratios=ratios, told_by=told,
    )  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
