"""A Delta table moved, against CTAS and against Iceberg's own action; and a follow, against a move.

    python -m bench.formats [FILES [ROWS [ROUNDS]]]

The three ways are taken in turn on one source, and each result's rows are compared with the source's before a figure
is kept. CPU seconds are those of the process tree. Iceberg's action reads no deletion vectors and no column mapping,
so the source has none. It is of Iceberg 1.11.0, the last release that has it; the table is made by the library's own.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from bench import evidence
from bench.light import Spent
from workbench import formats, session
from workbench._base import jars
from workbench.tables import commits

JARS = {  # Iceberg's action, and what it reads the log by; coordinate to SHA-256
    "org.apache.iceberg:iceberg-delta-lake:1.11.0": "9c14361b21c0d3af33e9d37d24a3da03b5528ce46436fdc67c76c5e68227c141",
    "io.delta:delta-standalone_2.13:3.3.2": "c7256d2176c5b390027bcb00dc4e4f38876a54c9c05d5952f09d9c1915a44047",
    "com.chuusai:shapeless_2.13:2.3.4": "f964a956c56eb4f26dc1bc04deb6e82507aa6895973a988725e20385baac0d75",
}
ENVIRONMENT = Path(__file__).resolve().parents[2] / "params" / "environments" / "formats.yml"
SPACE = "bench_formats"
GOALS = {"wall": 10, "cpu": 6, "wall against the action": 1, "follow against move": 10}
CHANGED_FILES = 4


def main(files=500, rows=10_000_000, rounds=3):
    files, rows, rounds = int(files), int(rows), int(rounds)
    folder = Path(tempfile.mkdtemp(prefix="bench-formats-"))
    try:
        spark = session.start(str(environment(folder)))
        spark.sql(f"CREATE NAMESPACE {SPACE}")
        source = folder / "source"
        create(spark, source, files, rows)
        ways = {
            "move": lambda: formats.move(spark, source, f"{SPACE}.move"),
            "ctas": lambda: spark.sql(
                f"CREATE TABLE {SPACE}.ctas USING iceberg AS SELECT * FROM spark_catalog.delta.`{source}`"
            ),
            "action": lambda: action(spark, source, f"{SPACE}.action"),
        }
        move = measured(spark, ways, source, rounds)
        follow = followed(spark, source, rows, rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = {"move": move, "follow": follow, "ratios": ratios(move, follow), "goals": GOALS}
    what = f"{rows} rows of {files} files: median CPU and wall seconds of {rounds} rounds"
    evidence.write("formats", what=what, **figures)


def environment(folder):
    """Write the environment `formats` with the jars of Iceberg's action beside it; return the file."""
    paths = jars.fetch(JARS)
    described = yaml.safe_load(ENVIRONMENT.read_text(encoding="utf-8"))
    described["spark"]["conf"]["spark.jars"] = ",".join(path.as_uri() for path in paths)
    file = folder / "formats.yml"
    file.write_text(yaml.safe_dump(described), encoding="utf-8")
    return file


def create(spark, source, files, rows):
    """Make the source: a Delta table without deletion vectors, each task of one file."""
    columns = "id, id % 1000 AS customer, CAST(id % 9973 AS DECIMAL(9, 2)) AS euros, concat('note ', xxhash64(id)) AS note"
    spark.sql(f"CREATE TABLE {at(source)} USING delta AS SELECT {columns} FROM range(0, {rows}, 1, {files})")
    there = len(list(source.glob("*.parquet")))
    if there != files:
        raise SystemExit(f"the source has {there} files, expected {files}")


def at(source):
    return f"spark_catalog.delta.`{source}`"


def action(spark, source, table):
    """Make a table by Iceberg's own action."""
    java = spark._jvm.org.apache.iceberg
    identity = commits.identified(spark, table)
    name = java.spark.Spark3Util.identifierToTableIdentifier(identity.identifier())
    actions = java.delta.DeltaLakeToIcebergMigrationActionsProvider.defaultActions()
    made = getattr(actions.snapshotDeltaLakeTable(str(source)), "as")(name).icebergCatalog(
        identity.catalog().icebergCatalog()
    )
    made.deltaLakeConfiguration(spark._jsc.hadoopConfiguration()).execute()


def fingerprint(spark, table):
    row = spark.sql(f"SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38, 0))) FROM {table}").first()
    return row[0], str(row[1])


def measured(spark, ways, source, rounds):
    """Take the ways in turn; return {way: {cpu, wall}}, medians."""
    expected, spent = fingerprint(spark, at(source)), {way: [] for way in ways}
    for number in range(rounds):
        for way, make in ways.items():
            spark.sql(f"DROP TABLE IF EXISTS {SPACE}.{way}")
            with Spent() as block:
                make()
            found = fingerprint(spark, f"{SPACE}.{way}")
            if found != expected:
                raise SystemExit(f"{way} has {found}, the source {expected}")
            spent[way].append(block)
            print(
                f"round {number + 1} of {rounds}  {way:8} {block.cpu:7.2f} CPU s  {block.wall:7.2f} s", flush=True
            )
    return {way: medians(blocks) for way, blocks in spent.items()}


def followed(spark, source, rows, rounds):
    """Follow commits of few files, and move the same state anew beside each; return medians of both."""
    spent = {"follow": [], "move": []}
    for number in range(rounds):
        first = rows + number * CHANGED_FILES
        columns = "id, id % 1000 AS customer, CAST(1 AS DECIMAL(9, 2)) AS euros, 'followed' AS note"
        spark.sql(
            f"INSERT INTO {at(source)} SELECT {columns} FROM range({first}, {first + CHANGED_FILES}, 1, {CHANGED_FILES})"
        )
        spark.sql(f"DROP TABLE IF EXISTS {SPACE}.again")
        for name, make in (
            ("follow", lambda: formats.follow(spark, f"{SPACE}.move")),
            ("move", lambda: formats.move(spark, source, f"{SPACE}.again")),
        ):
            with Spent() as block:
                made = make()
            spent[name].append(block)
            print(
                f"round {number + 1} of {rounds}  {name:8} {block.cpu:7.2f} CPU s  {block.wall:7.2f} s", flush=True
            )
            if name == "follow" and made.added_files != CHANGED_FILES:
                raise SystemExit(f"follow took {made.added_files} files, expected {CHANGED_FILES}")
        answers = [fingerprint(spark, name) for name in (at(source), f"{SPACE}.move", f"{SPACE}.again")]
        if len(set(answers)) > 1:
            raise SystemExit(f"source, follow and move differ: {answers}")
    return {name: medians(blocks) for name, blocks in spent.items()}


def medians(blocks):
    return {kind: evidence.median([getattr(block, kind) for block in blocks]) for kind in ("cpu", "wall")}


def ratios(move, follow):
    """Return how many times what the other way takes."""
    return {
        "wall": round(move["ctas"]["wall"] / move["move"]["wall"], 1),
        "cpu": round(move["ctas"]["cpu"] / move["move"]["cpu"], 1),
        "wall against the action": round(move["action"]["wall"] / move["move"]["wall"], 2),
        "follow against move": round(follow["move"]["wall"] / follow["follow"]["wall"], 1),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
