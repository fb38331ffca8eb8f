"""Work without Spark against Spark: cold and warm answers, growth, upserts and appends, in CPU seconds.

    python -m bench.light [ROWS [ROUNDS]]

CPU seconds are those of the process tree, wall seconds stand beside them; things are measured in turn and the least
of the rounds counts, since a shared machine only ever adds. Answers are compared before a figure is kept.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from bench import evidence
from bench.spent import Clock

SQL = (
    "SELECT pulocationid, count(*) AS trips, sum(total_amount) AS amount FROM {} GROUP BY pulocationid ORDER BY 1"
)
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
COLD = {
    "duckdb": "from workbench import light; rows = light.query({catalog}, {sql!r}).to_pylist()",
    "pyiceberg": (
        "from workbench.light import catalogs; import pyarrow.compute as pc; "
        "t = catalogs.load({catalog}).load_table({table!r}).scan(selected_fields=('pulocationid', 'total_amount')).to_arrow(); "
        "g = t.group_by('pulocationid').aggregate([('total_amount', 'count'), ('total_amount', 'sum')]).sort_by('pulocationid'); "
        "rows = [dict(zip(('pulocationid', 'trips', 'amount'), row.values())) for row in g.to_pylist()]"
    ),
    "spark": (
        "from workbench import session; spark = session.start('lake'); "
        "rows = [row.asDict() for row in spark.sql({sql!r}).collect()]"
    ),
}  # fmt: skip
PRINT = "; print(json.dumps([[row['pulocationid'], row['trips'], round(row['amount'], 2)] for row in rows]))"


class Spent:
    """CPU and wall seconds of a block, its children included while they live."""

    def __enter__(self):
        self._clock, self._over, self._begin = Clock(), threading.Event(), time.perf_counter()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._looking.start()
        return self

    def _look(self):
        while not self._over.wait(0.1):
            self._clock()

    def __exit__(self, *_):
        self.wall = round(time.perf_counter() - self._begin, 2)
        self._over.set()
        self._looking.join()
        self.cpu = round(self._clock(), 2)


def main(rows=1_000_000, rounds=3):
    """Measure, print and keep the figures."""
    rows, rounds = int(rows), int(rounds)
    os.environ["WORKBENCH_HOME"] = folder = tempfile.mkdtemp(prefix="bench-light-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # behind all that the session registers
    from workbench import session

    tables = {size: made(size) for size in SIZES if size <= 10 * rows}
    figures = {"cold": cold(tables[rows], rounds)}
    spark = session.start("lake")
    figures |= {"curve": curve(spark, tables, rounds), "raw": raw(tables[max(tables)], rounds)}
    session.stop(spark)
    figures["append"] = append(rows, rounds)
    figures["upsert"] = elsewhere(rows, rounds)
    figures["rates"] = rates(figures)
    figures["goals"] = goals(figures)
    evidence.write(
        "light", what=f"{rows} trips of 19 columns: least CPU and wall seconds of {rounds} rounds", **figures
    )


def lake():
    from workbench import session

    return session.catalog_properties("lake")


def made(size):
    """Make a table of trips, one file."""
    from workbench import light
    from workbench.data import taxi

    catalog = light.catalogs.load(lake())
    catalog.create_namespace_if_not_exists("bench")
    trips, _ = taxi.trips(size, seed=1)
    catalog.create_table(f"bench.t{size}", trips.schema)
    light.append(catalog, f"bench.t{size}", trips)
    return f"bench.t{size}"


def least(things, rounds):
    """Measure things in turn; name to {cpu, wall} of the least, after their answers were found equal.

    A thing whose answer is a function is asked for it afterwards, which is not measured.
    """
    spent, answers = {name: [] for name in things}, {}
    for number in range(rounds):
        for name, do in things.items():
            with Spent() as measured:
                answer = do()
            spent[name].append((measured.cpu, measured.wall))
            print(f"round {number + 1}  {name:24} {measured.cpu:7.2f} s CPU  {measured.wall:7.2f} s", flush=True)
            answers.setdefault(number, {})[name] = answer() if callable(answer) else answer
    if wrong := [
        number for number, given in answers.items() if len({json.dumps(answer) for answer in given.values()}) > 1
    ]:
        raise AssertionError(f"the answers of round {wrong[0] + 1} differ: {str(answers[wrong[0]])[:500]}")
    return {
        name: {"cpu": min(cpu for cpu, _ in found), "wall": min(wall for _, wall in found)}
        for name, found in spent.items()
    }


def cold(table, rounds):
    """First answers of processes that are started for them."""
    values = {"catalog": repr(lake()), "sql": SQL.format(table), "table": table}

    def started(name):
        code = "import json; " + COLD[name].format(**values) + PRINT
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    return least({name: lambda name=name: started(name) for name in COLD}, rounds)


def grouped(rows):
    return [[row["pulocationid"], row["trips"], round(row["amount"], 2)] for row in rows]


def curve(spark, tables, rounds):
    """Answers over growing tables, warm."""
    from workbench import light

    found = {}
    for size, table in tables.items():
        sql = SQL.format(table)
        things = {
            "duckdb": lambda sql=sql: grouped(light.query(lake(), sql).to_pylist()),
            "spark": lambda sql=sql: grouped(row.asDict() for row in spark.sql(sql).collect()),
        }
        found[str(size)] = least(things, rounds) | {"bytes": light.choose(lake(), table, sql).bytes}
    return found


def raw(table, rounds):
    """Ten answers of DuckDB over the largest table, and over its files as they lie there."""
    import duckdb

    from workbench import light

    paths = light.catalogs.load(lake()).load_table(table).inspect.files()["file_path"].to_pylist()
    own, sql = duckdb.connect(), SQL.format(f"read_parquet({[path.removeprefix('file://') for path in paths]})")
    things = {
        "light.query": lambda: [grouped(light.query(lake(), SQL.format(table)).to_pylist()) for _ in range(10)],
        "raw files": lambda: [grouped(own.execute(sql).to_arrow_table().to_pylist()) for _ in range(10)],
    }
    return least(things, rounds)


def append(rows, rounds):
    """Rows of a month into its days and vendors, 62 partitions."""
    from pyiceberg.transforms import DayTransform, IdentityTransform

    from workbench import light
    from workbench.data import taxi

    catalog, (trips, _) = light.catalogs.load(lake()), taxi.trips(rows, seed=2)

    def into(name, write):
        if catalog.table_exists(name):
            catalog.drop_table(name)
        table = catalog.create_table(name, trips.schema)
        with table.update_spec() as update:
            update.add_field("vendorid", IdentityTransform(), "vendor")
            update.add_field("tpep_pickup_datetime", DayTransform(), "day")
        write(table)
        table.refresh()
        return [
            table.current_snapshot().summary["total-records"],
            table.current_snapshot().summary["total-data-files"],
        ]

    things = {
        "pyiceberg": lambda: into("bench.plain", lambda table: table.append(trips)),
        "light.append": lambda: into(
            "bench.ours", lambda table: light.append(catalog, "bench.ours", trips, ids="a")
        ),
    }
    return least(things, rounds)


def elsewhere(rows, rounds):
    """Measure upserts in a process of their own: their session has other jars."""
    words = [sys.executable, "-c", f"from bench import light; light.upsert({rows}, {rounds})"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout)
    return json.loads(done.stdout.splitlines()[-1])


def upsert(rows, rounds):
    """A hundredth of the rows replaced by key, in a REST catalog: by DuckDB, and by Spark with delete files."""
    import pyarrow as pa

    from workbench import light, session

    spark, properties = session.start("rest"), session.catalog_properties("rest")
    spark.sql("CREATE NAMESPACE bench")
    mode = "'format-version' = '2', 'write.merge.mode' = 'merge-on-read'"
    for name in ("duckdb", "spark"):
        spark.sql(
            f"CREATE TABLE bench.{name} (id BIGINT, a DOUBLE, note STRING) USING iceberg TBLPROPERTIES ({mode})"
        )
        spark.sql(f"INSERT INTO bench.{name} SELECT id, id / 7, concat('note ', id) FROM range({rows})")
    step, state = 100, {"duckdb": 0, "spark": 0}

    def given(name):
        state[name] += 1
        return [state[name], state[name] + 0.5]

    def by_duckdb():
        first, value = given("duckdb")
        ids = range(first, rows, step)
        new = pa.table({"id": list(ids), "a": [value] * len(ids), "note": ["new"] * len(ids)})
        light.merge(properties, "bench.duckdb", new, key=["id"])
        return lambda: total("bench.duckdb")

    def by_spark():
        first, value = given("spark")
        new = f"SELECT id, {value}D AS a, 'new' AS note FROM range({first}, {rows}, {step})"
        spark.sql(
            f"MERGE INTO bench.spark t USING ({new}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT *"
        )
        return lambda: total("bench.spark")

    def total(table):
        sql = f"SELECT count(*) AS n, count(DISTINCT id) AS ids, sum(CASE WHEN note = 'new' THEN 1 ELSE 0 END) AS new FROM {table}"
        return list(light.query(properties, sql).to_pylist()[0].values())

    found = least({"duckdb": by_duckdb, "spark": by_spark}, rounds)
    session.stop(spark)
    print(json.dumps(found))


def rates(figures):
    """What `light.choose` goes by: CPU seconds until the first answer, and for a GB more."""
    (small, *_, large), found = list(figures["curve"].values()), {}
    for name in ("duckdb", "spark"):
        grown = (large[name]["cpu"] - small[name]["cpu"]) / (large["bytes"] - small["bytes"]) * 1e9
        found[name] = {"start_seconds": figures["cold"][name]["cpu"], "seconds_per_gb": round(grown, 1)}
    return found


def goals(figures):
    """Each goal as its ratio, what was asked, and whether it is met."""

    def ratio(block, name, of):
        return figures[block][of]["cpu"] / max(figures[block][name]["cpu"], 0.01)

    found = {
        "cold: Spark's first answer over DuckDB's": (ratio("cold", "duckdb", "spark"), 10, True),
        "warm: over the table, of that over its raw files": (ratio("raw", "raw files", "light.query"), 1.5, False),
        "upsert: Spark's over DuckDB's": (ratio("upsert", "duckdb", "spark"), 5, True),
        "append: PyIceberg's over ours": (ratio("append", "light.append", "pyiceberg"), 2.5, True),
    }
    return {
        name: {"ratio": round(value, 2), "asked": asked, "met": value >= asked if least else value <= asked}
        for name, (value, asked, least) in found.items()
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
