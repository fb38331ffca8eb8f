"""A first load of a report by pulls.run, against dlt's append and its upsert into Iceberg; and what a re-pull costs.

    python -m bench.pulls [EVENTS [UPSERTED [ROUNDS]]]

Events are visits with seven dimensions, so that a report has nearly as many rows. All ask the stand-in of Google by
gRPC, with Google's own client and the same page of 250,000 rows; dlt's verified source asks for 1,000 unless told
otherwise. What asking and reading the messages takes is measured by itself, too, and is in each of the others. CPU
seconds are those of the process tree: JVM, dlt's process and the stand-in. The ways are taken in turn, each into an
empty table, and no figure is kept before the rows are those that were planted, read by PyIceberg. dlt is used in an
environment of its own (locks/dlt.lock).
"""

import shutil
import sys
import tempfile
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path

from pyiceberg.table import StaticTable

from bench import evidence, pulls_dlt
from bench.light import Spent
from workbench import pulls, session
from workbench._base import children
from workbench.data import visits as planted
from workbench.pulls import analytics
from workbench.tables import commits
from workbench_standins import google

PYTHON = Path(__file__).resolve().parents[2] / ".workbench" / "dlt" / "venv" / "bin" / "python"
SPACE, FIRST, DAYS, LATEST_DAYS = "bench_pulls", date(2026, 1, 1), 12, 6
UNTIL = FIRST + timedelta(DAYS - 1)
DIMENSIONS = {
    "day": "date", "region": "region", "country": "country", "city": "city", "device": "deviceCategory",
    "model": "deviceModel", "browser": "browser",
}  # fmt: skip
METRICS = {"users": "activeUsers", "new_users": "newUsers", "revenue": "totalRevenue"}
COLUMNS = ", ".join(
    ["day DATE", *(f"{name} STRING" for name in DIMENSIONS if name != "day"), "users INT", "new_users INT"]
)
LARGE, SMALL = "1", "2"  # properties
GOALS = {"append wall": 3, "upsert wall": 50, "requests of a re-pull": 1, "files of a re-pull": 0}
DLT_PAGE_ROWS = 1000  # rows_per_page of dlt's verified source, where nothing is said


def main(events=130_000, upserted=25_000, rounds=3):
    """Measure, print and keep the figures."""
    events, upserted, rounds = int(events), int(upserted), int(rounds)
    folder = Path(tempfile.mkdtemp(prefix="bench-pulls-"))
    visits = {number: made(count) for number, count in ((LARGE, events), (SMALL, upserted))}
    spark = session.start("local")
    try:
        spark.sql(f"CREATE NAMESPACE {SPACE}")
        with google.serve(start=planted.night(UNTIL), grpc=True) as server:
            for number, rows in visits.items():
                add(server, number, rows)
            add(server, "warm", made(100))
            with children.started(pulls_dlt.__name__, python=PYTHON) as dlt:
                children.ask(dlt, settings(server, folder), name="dlt")
                figures = measured(spark, server, dlt, visits, rounds)
            figures["re-pull"] = repulled(spark, server, visits[LARGE])
    finally:
        session.stop(spark)
        shutil.rmtree(folder, ignore_errors=True)
    figures |= {"ratios": ratios(figures), "goals": GOALS}
    what = f"a first load of a report into an empty table: median CPU and wall seconds of {rounds} rounds, in turn"
    evidence.write("pulls", what=what, events=events, upserted=upserted, **figures)


def made(events):
    """Make visits of seven dimensions."""
    rows = planted.made(events=events, days=DAYS, latest_days=LATEST_DAYS, first=FIRST)
    for row in rows:
        user = row["user"]
        row["dims"] |= {
            "region": f"region {user % 7}", "city": f"city {user % 199}", "deviceModel": f"model {user % 31}",
            "browser": f"browser {user % 5}",
        }  # fmt: skip
    return rows


def add(server, number, rows):
    """Make a property of visits, in parts that fit a line to the stand-in."""
    server.set_property(number)
    for start in range(0, len(rows), 20_000):
        server.add_visits(number, rows[start : start + 20_000])


def settings(server, folder):
    return {
        "key": server.credentials(), "scope": analytics.SCOPE, "target": server.grpc_target, "folder": str(folder),
        "dimensions": [*DIMENSIONS.values()], "metrics": [*METRICS.values()], "page_rows": analytics.MOST_ROWS,
        "first": FIRST.isoformat(), "until": UNTIL.isoformat(),
    }  # fmt: skip


def measured(spark, server, dlt, visits, rounds):
    """Take the ways in turn; return rows, and {cpu, wall} of each way, medians."""
    truths = {number: truth(rows, UNTIL, planted.night(UNTIL)) for number, rows in visits.items()}
    client = pulls_dlt.client_of(settings(server, ""))
    ways = {
        ("asking", LARGE): lambda name: asked(client, LARGE),
        ("pulls", LARGE): lambda name: pulled(spark, client, LARGE, name),
        ("append", LARGE): lambda name: loaded(dlt, "append", LARGE, name),
        ("append of Arrow", LARGE): lambda name: loaded(dlt, "append of Arrow", LARGE, name),
        ("pulls", SMALL): lambda name: pulled(spark, client, SMALL, name),
        ("upsert", SMALL): lambda name: loaded(dlt, "upsert", SMALL, name),
    }
    pulled(spark, client, "warm", "warm")  # what a process does for the first time is not what is compared
    for way in pulls_dlt.DISPOSITIONS:
        loaded(dlt, way, "warm", f"warm_{way.split()[-1].lower()}")()
    spent = defaultdict(list)
    for turn in range(rounds):
        for (way, number), do in ways.items():
            with Spent() as block:
                read = do(f"{way.replace(' ', '_').lower()}_{number}_{turn}")
            if read() != truths[number]:
                raise SystemExit(f"{way} has other rows than were planted")
            spent[way, number].append(block)
            print(
                f"round {turn + 1} of {rounds}  {way:16} {number}  {block.cpu:7.2f} CPU s  {block.wall:7.2f} s",
                flush=True,
            )
    figures = {"first_load": {}, "small_load": {}}
    for (way, number), blocks in spent.items():
        figures["first_load" if number == LARGE else "small_load"][way] = {
            kind: evidence.median([getattr(block, kind) for block in blocks]) for kind in ("cpu", "wall")
        }
    return {"rows": {number: len(rows) for number, rows in truths.items()}, **figures}


def ask(client, number):
    return analytics.report(client, number, dimensions=DIMENSIONS, metrics=METRICS)


def asked(client, number):
    """Ask for a report and read its messages; return a function that returns the rows."""
    answer = ask(client, number)(FIRST, UNTIL)
    return lambda: rows_of(answer.rows.to_pylist(), DIMENSIONS, METRICS)


def options(client, number):
    return {
        "source": number, "ask": ask(client, number), "day": "day", "key": [name for name in DIMENSIONS if name != "day"],
        "first": FIRST, "settled_days": LATEST_DAYS + 1,
    }  # fmt: skip


def pulled(spark, client, number, name):
    """Pull a property into a table of its own; return a function that returns the table's rows."""
    table = f"{SPACE}.{name}"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}, revenue DECIMAL(18,2)) USING iceberg PARTITIONED BY (day)")
    pulls.run(spark, table, **options(client, number), until=UNTIL)
    return lambda: of_table(spark, table)


def of_table(spark, table):
    """Return the rows of a table of ours by PyIceberg."""
    where = commits.load(spark, table).operations().current().metadataFileLocation()
    return rows_of(StaticTable.from_metadata(where).scan().to_arrow().to_pylist(), DIMENSIONS, METRICS)


def loaded(dlt, way, number, name):
    """Let dlt load a property into a table of its own; return a function that returns the table's rows."""
    folder = Path(children.ask(dlt, {"way": way, "number": number, "name": name}, name="dlt")["value"])

    def read():
        newest = max((folder / "metadata").glob("*.metadata.json"), key=lambda path: path.name)
        scanned = StaticTable.from_metadata(str(newest)).scan().to_arrow().to_pylist()
        columns = {snake(name): name for name in (*DIMENSIONS.values(), *METRICS.values())}
        named = [{columns[key]: value for key, value in row.items() if key in columns} for row in scanned]
        return rows_of(
            named, {name: name for name in DIMENSIONS.values()}, {name: name for name in METRICS.values()}
        )

    return read


def snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def rows_of(rows, dimensions, metrics):
    """Return rows as {dimensions: users, new users, cents}; the same row twice is not hidden."""
    found = {}
    for row in rows:
        *names, users, new_users, revenue = (row[name] for name in (*dimensions, *metrics))
        day = names[0].date() if hasattr(names[0], "date") else names[0]
        at = (day, *names[1:])
        found[at] = None if at in found else (int(users), int(new_users), round(float(revenue) * 100))
    return found


def truth(rows, until, at):
    """Return what a report must have, from the visits themselves."""
    groups = defaultdict(list)
    for row in rows:
        day = date.fromisoformat(row["day"])
        if day <= until and row["known"] <= at and (row["gone"] is None or at < row["gone"]):
            dims = row["dims"]
            groups[day, *(dims[name] for name in DIMENSIONS.values() if name != "date")].append(row)
    return {
        key: (len({row["user"] for row in group}), sum(row["new"] for row in group), sum(row["cents"] for row in group))
        for key, group in groups.items()
    }  # fmt: skip


def repulled(spark, server, rows):
    """Pull the first table again, unchanged, and a night later; return what that took and wrote."""
    client, table = pulls_dlt.client_of(settings(server, "")), f"{SPACE}.pulls_{LARGE}_0"
    reports = "runReport"
    given, before, files = options(client, LARGE), server.calls()[reports], files_of(spark, table)
    with Spent() as block:
        again = pulls.run(spark, table, **given, until=UNTIL)
    unchanged = {
        "requests": server.calls()[reports] - before, "files": len(files_of(spark, table) - files),
        "commits": int(again.snapshot_id is not None), "cpu": block.cpu, "wall": block.wall,
        "requests_of_dlt_by_default": -(-len(truth(rows, UNTIL, planted.night(UNTIL))) // DLT_PAGE_ROWS),
    }  # fmt: skip
    server.advance(planted.DAY_SECONDS)
    given = options(pulls_dlt.client_of(settings(server, "")), LARGE)  # the first one's token is over
    night = pulls.run(spark, table, **given, until=UNTIL)
    expected = truth(rows, UNTIL, planted.night(UNTIL) + planted.DAY_SECONDS)
    if of_table(spark, table) != expected:
        raise SystemExit("the table has other rows than were planted, a night later")
    changed = {day.day for day in night.days}
    return {
        "unchanged": unchanged,
        "a night later": {
            "days_asked_for": (UNTIL - night.since).days + 1, "days_changed": len(changed), "rows_written": night.rows,
            "rows_of_changed_days": sum(key[0] in changed for key in expected),
            "rows_changed": night.added + night.changed + night.removed,
        },
    }  # fmt: skip


def files_of(spark, table):
    """Return the names of all files that there are of a table, its metadata included."""
    where = Path(commits.load(spark, table).location().removeprefix("file:"))
    return {str(path) for path in where.rglob("*") if path.is_file()}


def ratios(figures):
    """Return how many times what pulls.run takes the other ways take."""
    first, small = figures["first_load"], figures["small_load"]
    return {
        f"{way} {kind}": round(of[way][kind] / of["pulls"][kind], 1)
        for of, way in ((first, "append"), (first, "append of Arrow"), (small, "upsert"))
        for kind in ("wall", "cpu")
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
