"""Tests of a dbt project by evidence against dbt-duckdb and dbt-spark: CPU seconds beside wall, outcomes equal.

    python -m bench.dbt [TABLES [ROWS [ROUNDS]]]

ROWS are of each table. Each round makes the tables anew and runs, in turn: dbt-duckdb and dbt-spark, as `dbt test` of
the engine `dbt`, the first run of `workbench dbt test`, and one where nothing changed; then dbt and ours again after 3
tables grew by 2 per cent. Every run is a process of its own whose start counts. `dbt compile`, which each of them needs
where the project's text changed, does not.
"""

import statistics
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import dbt_projects
import lakes
import pyarrow as pa

from bench import evidence
from bench.spent import Clock, measured
from workbench import dbt

GROWN = 3
GOALS = {
    "first": {"dbt_spark": 8, "dbt_duckdb": 1.3},
    "unchanged": {"dbt_spark": 200, "dbt_duckdb": 40},
    "grown": {"dbt_spark": 100, "dbt_duckdb": 12},
}
NUMBERS = [f"n{i}" for i in range(8)]
SCHEMA = pa.schema(
    [("id", pa.int64()), ("token", pa.string()), ("area", pa.string()), ("day", pa.date32()), ("parent", pa.int64())]
    + [(name, pa.int64()) for name in NUMBERS]
)  # fmt: skip
AREAS = ["north", "south", "east", "west"]
MACROS = """
{% test between(model, column_name, least, most) %}
select * from {{ model }} where {{ column_name }} < {{ least }} or {{ column_name }} > {{ most }}
{% endtest %}
{% test matches(model, column_name, pattern, holds, above) %}
select * from {{ model }} where {{ 'not ' if holds }}
{%- if target.type == 'spark' %} {{ column_name }} rlike '{{ pattern }}'
{%- else %} regexp_matches({{ column_name }}, '{{ pattern }}')
{%- endif %} and id > {{ above }}
{% endtest %}
{% test as_long(model, column_name, least, above) %}
select * from {{ model }} where length({{ column_name }}) < {{ least }} and id > {{ above }}
{% endtest %}
"""
# one fault a table: column, and what its first value becomes
FAULTS = [("id", 1), ("token", "anna@example.org"), ("area", "up"), ("parent", 10**7), ("n3", -1), ("n5", None)]


def rows(first, count, fault=None):
    """Return rows whose ids begin at a number, with a fault in the first of them where one is named."""
    ids = range(first, first + count)
    columns = {name: [*ids] for name in ("id", *NUMBERS)} | {
        "token": [sha256(str(n).encode()).hexdigest() for n in ids],
        "area": [AREAS[n % 4] for n in ids],
        "day": pa.array([18262 + n % 300 for n in ids], pa.int32()).cast(pa.date32()),
        "parent": [n % 1000 for n in ids],
    }
    if fault is not None:
        columns[fault[0]][0] = fault[1]
    return pa.table(columns, schema=SCHEMA)


def tests(table):
    """Return 65 tests of a table by column: 47 that metrics can tell, 9 texts of a scan, 4 keys, 5 references."""
    named = {column: ["not_null"] for column in SCHEMA.names}
    for column in NUMBERS:
        named[column] += [_test("between", least=0, most=10**9 + k) for k in range(4)]
    named["day"].append(_test("between", least="date '2020-01-01'", most="date '2030-01-01'"))
    named["area"].append(_test("accepted_values", values=AREAS))
    for above in (-1, -2, -3):
        named["token"] += [
            _test("matches", pattern="^[0-9a-f]{64}$", holds=True, above=above),
            _test("matches", pattern="@", holds=False, above=above),
            _test("as_long", least=64, above=above),
        ]
    for column in ("id", "token", "n0", "n1"):
        named[column].append("unique")
    for k in range(5):
        reference = _test("relationships", to="source('main', 't0')", field="id")
        reference["relationships"] |= {"name": f"{table}_parent_{k}", "config": {"where": f"parent >= {k}"}}
        named["parent"].append(reference)
    return named


def _test(name, **arguments):
    return {name: {"arguments": arguments}}


class Project:
    """A project of dbt on tables of a lake of its own, and the ways to test them."""

    def __init__(self, folder, count, size):
        self.folder, self.size, self.environment = folder, size, lakes.environment(folder)
        catalog = lakes.catalog(folder)
        catalog.create_namespace("main")
        self.tables = {f"t{n}": catalog.create_table(f"main.t{n}", SCHEMA) for n in range(count)}
        faults = {n % count: fault for n, fault in enumerate(FAULTS)}
        for n, table in enumerate(self.tables.values()):
            for part in range(4):
                table.append(rows(part * size // 4, size // 4, faults.get(n) if part == 2 else None))
        dbt_projects.write(folder, {name: tests(name) for name in self.tables}, macros={"tests": MACROS})
        self.show()
        dbt_projects.run(folder, "compile", "--target", "duckdb", "--target-path", "target_duckdb")
        for target in ("duckdb", "spark"):  # so that no run parses the project
            dbt_projects.run(folder, "parse", "--target", target, "--target-path", f"target_{target}/replay")

    def show(self):
        dbt_projects.show(self.folder, {name: table.metadata_location for name, table in self.tables.items()})

    def grow(self):
        for table in list(self.tables.values())[1 : 1 + GROWN]:
            table.append(rows(self.size, max(1, self.size // 50)))
        self.show()

    def by_dbt(self, target):
        """Run dbt itself, nothing emptied; returns its outcomes."""
        environment = str(self.environment) if target == "spark" else None
        replayed = dbt.replay(
            [], self.folder / f"target_{target}", python=dbt_projects.python(), environment=environment,
            arguments=["--target", target],
        )  # fmt: skip
        return dbt_projects.results(replayed.path)

    def by_evidence(self):
        """Run our command on the manifest of dbt-duckdb; returns its outcomes."""
        target = self.folder / "target_duckdb"
        command = [sys.executable, "-m", "workbench_ops.cli", "dbt", "test", "--target", str(target)]
        ended = subprocess.run([*command, "--environment", str(self.environment)], capture_output=True, text=True)
        if ended.returncode not in (0, 1):
            raise SystemExit(ended.stdout + ended.stderr)
        return dbt_projects.results(target / "run_results.json")


def round_of(clock, folder, count, size):
    """Return (CPU, wall) seconds of each way, and the outcomes by state of the tables."""
    project, seconds, outcomes = Project(Path(folder), count, size), {}, {"first": [], "grown": []}
    for state, ours in (("first", ["first", "unchanged"]), ("grown", ["grown"])):
        if state == "grown":
            project.grow()
        ways = {
            f"dbt_{target}_{state}": lambda target=target: project.by_dbt(target) for target in ("duckdb", "spark")
        }
        ways |= dict.fromkeys(ours, project.by_evidence)
        answers = outcomes[state]
        for name, way in ways.items():
            seconds[name] = measured(clock, lambda way=way, answers=answers: answers.append(way()))
            print(f"{name:20} CPU {seconds[name][0]:8.2f} s, wall {seconds[name][1]:8.2f} s", flush=True)
    return seconds, outcomes


def judged(outcomes, tables):
    """Return how many tests failed; refuse a run whose ways differ, or in which nothing failed or all did."""
    for state, answers in outcomes.items():
        if any(answer != answers[0] for answer in answers):
            raise SystemExit(f"the outcomes differ: {state}")
        if len(answers[0]) != 65 * tables:
            raise SystemExit(f"expected {65 * tables} tests, found {len(answers[0])}")
    failed = sum(status == "fail" for status, _ in outcomes["first"][0].values())
    if failed < min(tables, len(FAULTS)):
        raise SystemExit(f"{failed} tests failed, and {min(tables, len(FAULTS))} tables have a fault")
    return failed


def main(tables=20, size=100_000, rounds=3):
    clock, all_seconds, failed = Clock(), [], 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            seconds, outcomes = round_of(clock, folder, tables, size)
        failed = judged(outcomes, tables)
        all_seconds.append(seconds)
    cpu, wall = (
        {way: round(statistics.median(each[way][kind] for each in all_seconds), 2) for way in all_seconds[0]}
        for kind in (0, 1)
    )
    ratios = {
        step: {way: round(cpu[f"{way}_{'grown' if step == 'grown' else 'first'}"] / cpu[step], 1) for way in goals}
        for step, goals in GOALS.items()
    }
    evidence.write(
        "dbt", tests=65 * tables, tables=tables, rows=tables * size, rounds=rounds, outcomes_equal=True, failed=failed,
        cpu_seconds=cpu, wall_seconds=wall, ratios_of_cpu=ratios, goals=GOALS,
    )  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
