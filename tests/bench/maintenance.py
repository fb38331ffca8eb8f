"""What maintenance brings: compaction against Iceberg's own call, counting many files, a bad layout mended; in turn.

    python -m bench.maintenance [PART [SHRINK [ROUNDS [SF [QUERIES]]]]]

The goals: 1,000 small files at five times the rate of rewrite_data_files as it stands, with equal rows and statistics,
and no commit of a writer lost; count(*) on 10,000 files fifteen times faster after it; the published TPC-DS layout
mended in a fifth of the time that loading it took, and its cold queries then at most 1.1 times those of flat tables.

PART is all, compaction, counting or layout: the others stay as they were measured. SHRINK divides files and rows; a
shrunken trial is printed and not kept.
"""

import hashlib
import sys
import threading
import time

from bench import evidence, maintenance_layout, sessions
from workbench import session
from workbench._base import identifiers
from workbench.tables import commits, maintenance

COLUMNS = "id BIGINT, name STRING, qty INT, a DOUBLE, note STRING, flag BOOLEAN, updated_at TIMESTAMP"
STATISTICS = "value_count, null_value_count, nan_value_count, lower_bound, upper_bound"  # sizes are the writer's
FILES, ROWS_A_FILE = 1_000, 4_000
MANY, ROWS_OF_MANY, APPENDS = 10_000, 100, 10
COUNTS = 5  # in a measurement of what is fast: one alone is too short to be compared


def main(part="all", shrink=1, rounds=3, scale="1", queries=""):
    """Measure, print, and keep the figures."""
    shrink, rounds = int(shrink), int(rounds)
    parts = {
        "compaction": lambda: in_a_session(compaction, FILES // shrink, rounds),
        "counting": lambda: in_a_session(counting, MANY // shrink, rounds),
        "layout": lambda: maintenance_layout.measured(scale, rounds, queries),
    }
    if part not in ("all", *parts):
        raise SystemExit(f"no part {part!r}; there are all, {', '.join(parts)}")
    sizes = {"files": FILES, "many_files": MANY, "scale": scale}
    whole = shrink == 1 and not queries
    there = whole and part != "all" and (evidence.FOLDER / "maintenance.json").is_file()
    figures = evidence.kept("maintenance", parts, **sizes) if there else {}
    for name in parts if part == "all" else [part]:
        figures[name] = parts[name]()
        print(name, figures[name], flush=True)
        if whole:
            ordered = {one: figures[one] for one in parts if one in figures}
            what = "tables before and after maintenance, and its rate against Iceberg's own; seconds, in turn"
            evidence.write("maintenance", show=False, what=what, **sizes, **ordered)


def in_a_session(measure, *arguments):
    """Measure a part in a session of its own, on a lake that is thrown away."""
    spark = sessions.start()
    try:
        return measure(spark, *arguments)
    finally:
        session.stop(spark)


def compaction(spark, files, rounds):
    """Small files compacted by `maintenance.run`, by `CALL rewrite_data_files`, and by the first beside a writer."""
    rows = files * ROWS_A_FILE
    made(spark, "bench.small", files=files, rows=rows, appends=1)
    size = spark.sql("SELECT sum(file_size_in_bytes) FROM bench.small.files").first()[0]
    before, names = digest(spark, "bench.small", rows), iter(range(1_000))
    things = {
        "maintenance": lambda: once(spark, twin(spark, names), rows, ours),
        "rewrite_data_files": lambda: once(spark, twin(spark, names), rows, theirs),
        "maintenance, a writer beside": lambda: once(spark, twin(spark, names), rows, ours, beside=True),
    }
    evidence.in_turn(things, rounds=1)  # what a JVM does for the first time is not what is compared
    seconds, answers = evidence.in_turn(things, rounds=rounds)
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    alone = [one for name in list(things)[:2] for one in answers[name]]
    beside = answers["maintenance, a writer beside"]
    return {
        "files": files,
        "rows": rows,
        "megabytes": round(size / 2**20, 1),
        "seconds": seconds,
        "median_seconds": medians,
        "megabytes_a_second": {name: round(size / 2**20 / value, 1) for name, value in medians.items()},
        "times_the_rate": round(medians["rewrite_data_files"] / medians["maintenance"], 1),
        "goal_times": 5,
        "rows_equal": all(one["digest"] == before for one in alone + beside),
        "statistics_equal": len({one["statistics"] for one in alone}) == 1,
        "files_after": sorted({one["files"] for one in alone}),
        "writer": {
            "commits_acknowledged": sum(one["acknowledged"] for one in beside),
            "commits_before_the_compaction_landed": sum(one["overtook"] for one in beside),
            "commits_lost": sum(one["lost"] for one in beside),
            "commits_refused": sum(one["refused"] for one in beside),
        },
    }


def made(spark, table, *, files, rows, appends):
    """Make a table of so many files, each with a run of the rows, in so many commits."""
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    for number in range(appends):
        begin, end = (rows * n // appends for n in (number, number + 1))
        drawn(spark.range(begin, end, 1, files // appends)).writeTo(table).append()
    found = spark.sql(f"SELECT count(*), sum(record_count) FROM {table}.files").first()
    assert tuple(found) == (files, rows), f"{table} has {found}, wanted {files} files of {rows} rows"


def drawn(numbers):
    """Return the columns of rows that have a number."""
    return numbers.selectExpr(
        "id", "concat('name ', id % 5000) AS name", "CAST(id % 77 AS INT) AS qty",
        "(xxhash64(id) % 1000003) / 7 AS a", "concat('note ', id) AS note", "id % 3 = 0 AS flag",
        "TIMESTAMP'2026-01-01' + make_interval(0, 0, 0, 0, 0, 0, id DIV 4000) AS updated_at",
    )  # fmt: skip


def twin(spark, names, of="bench.small"):
    """Return a new table with another one's files: an equal copy whose commits do not touch the other."""
    name = f"bench.twin_{next(names)}"
    latest = f"SELECT file FROM {of}.metadata_log_entries ORDER BY timestamp DESC, file DESC LIMIT 1"
    file = spark.sql(latest).first().file
    spark.sql(f"CALL system.register_table(table => '{name}', metadata_file => '{file}')").collect()
    return name


def ours(spark, table):
    """Plan and run; the planning is part of the time."""
    policy = maintenance.Policy(actions=("compact_data",))
    (done,) = maintenance.run(spark, maintenance.plan(spark, table, policy=policy))
    assert done.fast == done.files and not maintenance.sentences(done), maintenance.sentences(done)


def theirs(spark, table):
    spark.sql(f"CALL system.rewrite_data_files(table => '{table}')").collect()


def once(spark, table, rows, work, *, beside=False):
    """Compact a table one way; (seconds, what it is then)."""
    with Writer(spark, table, rows) if beside else NoWriter() as writer:
        begin = time.perf_counter()
        work(spark, table)
        seconds = time.perf_counter() - begin
    spark.sql(f"REFRESH TABLE {table}")
    found = {"digest": digest(spark, table, rows), "files": spark.table(f"{table}.data_files").count()}
    found["statistics"] = None if beside else statistics(spark, table)
    found |= writer.told()
    spark.sql(f"DROP TABLE {table}")  # and not its files, which are also the other twins'
    return seconds, found


def digest(spark, table, rows):
    """Number and checksum of the first rows, whole ones: doubles count, order does not."""
    first = f"SELECT * FROM {table} WHERE id < {rows}"
    found = spark.sql(f"SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38))) FROM ({first})").first()
    return tuple(map(str, found))


def statistics(spark, table):
    """Digest of what the table knows of its files, but for the sizes of columns, which are the writer's own."""
    columns = [part.split()[0] for part in COLUMNS.split(", ")]
    told = [f"readable_metrics.{one}.{what}" for one in columns for what in STATISTICS.split(", ")]
    wanted = ", ".join(f"{one} AS m{n}" for n, one in enumerate(told))
    found = spark.sql(f"SELECT record_count, {wanted} FROM {table}.data_files").collect()
    return hashlib.sha256("\n".join(sorted(map(repr, found))).encode()).hexdigest()[:16]


class NoWriter:
    """Nobody writes."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def told(self):
        """Return nothing to tell."""
        return {}


class Writer:
    """Appends to a table, a commit after the other, in a session of its own, as long as the context is open."""

    def __init__(self, spark, table, rows):
        self.spark, self.table, self.rows = spark, table, rows
        self.acknowledged, self.refused, self.done = [], [], threading.Event()
        self.thread = threading.Thread(target=self.write, daemon=True)

    def __enter__(self):
        self.thread.start()
        while not self.acknowledged and self.thread.is_alive():  # it is under way before anything is measured
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def write(self):
        own = self.spark.newSession()
        while not self.done.is_set():
            number = self.rows + 10 * (len(self.acknowledged) + len(self.refused))
            try:
                drawn(own.range(number, number + 10, 1, 1)).writeTo(self.table).append()
                self.acknowledged.append(number)
            except Exception as error:
                if commits.kind(error) != commits.CONFLICT:
                    raise
                self.refused.append(number)

    def told(self):
        """Return what became of the commits; lost is one whose ten rows are not all there, once."""
        late = self.spark.sql(
            f"SELECT id - id % 10 AS n, count(*) AS rows FROM {self.table} WHERE id >= {self.rows} GROUP BY 1"
        )
        there = {row.n: row.rows for row in late.collect()}
        history = self.spark.sql(
            f"SELECT operation FROM {self.table}.snapshots ORDER BY committed_at, snapshot_id"
        )
        operations = [row.operation for row in history.collect()]
        return {
            "acknowledged": len(self.acknowledged),
            "lost": sum(there.pop(number, 0) != 10 for number in self.acknowledged) + len(there),
            "refused": len(self.refused),
            "overtook": operations.index("replace") - 1,
        }


def counting(spark, files, rounds):
    """count(*) before and after compaction, each answer by the same statement, in three states of the table.

    Iceberg counts rows in manifests where it can. So it is asked of a table that was loaded by a few large commits,
    of one whose manifests have a file each, as a stream leaves them, and of the first when all files are read, as a
    single row-level delete makes every count do.
    """
    rows = files * ROWS_OF_MANY
    made(spark, "bench.many", files=files, rows=rows, appends=APPENDS)
    names = iter(range(2))
    loaded, after = "bench.many", twin(spark, names, "bench.many")
    begin = time.perf_counter()
    ours(spark, after)
    spent = time.perf_counter() - begin
    streamed = twin(spark, names, "bench.many")
    spread(spark, streamed)
    tables = {"before": loaded, "before, a manifest a file": streamed, "after": after}
    things = {
        "before": lambda: counted(spark, loaded, times=COUNTS),
        "before, a manifest a file": lambda: counted(spark, streamed),
        "after": lambda: counted(spark, after, times=COUNTS),
        "before, all files read": lambda: counted(spark, loaded, read=True),
        "after, all files read": lambda: counted(spark, after, read=True, times=COUNTS),
    }
    evidence.in_turn(things, rounds=1)
    seconds, answers = evidence.in_turn(things, rounds=max(rounds, 5))
    median = {name: evidence.median(values) for name, values in seconds.items()}
    return {
        "files": {name: spark.table(f"{identifiers.quoted(at)}.data_files").count() for name, at in tables.items()},
        "manifests": {name: spark.table(f"{identifiers.quoted(at)}.manifests").count() for name, at in tables.items()},
        "rows": rows,
        "compaction_seconds": round(spent, 1),
        "seconds": seconds,
        "median_seconds": median,
        "times_faster": {
            "counted in manifests": round(median["before"] / median["after"], 1),
            "counted in manifests of a file each": round(median["before, a manifest a file"] / median["after"], 1),
            "counted in all files": round(median["before, all files read"] / median["after, all files read"], 1),
        },
        "goal_times": 15,
        "answers_equal": {answer for found in answers.values() for answer in found} == {rows},
    }  # fmt: skip


def spread(spark, table):
    """Give each data file a manifest of its own, as streams do, which append without merging manifests."""
    loaded, iceberg = commits.load(spark, table), spark._jvm.org.apache.iceberg
    now, spec, io = loaded.currentSnapshot(), loaded.spec(), loaded.io()
    at, seq, write = f"{loaded.location()}/metadata/one-", now.sequenceNumber(), iceberg.ManifestFiles.write
    commit = loaded.rewriteManifests()
    for manifest in now.allManifests(io):
        commit.deleteManifest(manifest)
    tasks = loaded.newScan().includeColumnStats().planFiles()
    tasks = iceberg.relocated.com.google.common.collect.Lists.newArrayList(tasks)
    for number in range(tasks.size()):
        one = write(2, spec, io.newOutputFile(f"{at}{number}.avro"), None)
        one.existing(tasks.get(number).file(), now.snapshotId(), seq, seq)
        one.close()
        commit.addManifest(one.toManifestFile())
    commit.commit()


def counted(spark, table, *, read=False, times=1):
    """Count a table so many times, each time as somebody who opens it anew; (seconds of one, rows)."""
    spark.conf.set("spark.sql.iceberg.aggregate-push-down.enabled", str(not read).lower())
    spent, found = 0.0, set()
    for _ in range(times):
        spark.sql(f"REFRESH TABLE {table}")
        begin = time.perf_counter()
        found.add(spark.sql(f"SELECT count(*) FROM {table}").first()[0])
        spent += time.perf_counter() - begin
    assert len(found) == 1, f"{table} was counted as {found}"
    return spent / times, found.pop()


if __name__ == "__main__":
    main(*sys.argv[1:])
