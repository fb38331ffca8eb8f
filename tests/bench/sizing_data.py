"""What grows with data: the same calls on 1, 4 and 16 times the rows, and on 256 times where that is still quick."""

from bench import history as histories
from bench.sizing import TIMES, Capability
from workbench import checks, history, quality, wap
from workbench.data import rooms
from workbench.tables import maintenance, reads

# defaults of the notebooks 20 and 21, and twice the files of the second values of 40
READINGS, ROWS, FILES = 10_000, 100_000, 420
MORE = (*TIMES, 256)
SCAN = 'Rules = [ IsComplete "room_type", ColumnValues "current_temperature" between -10 and 50 ]'
KEYS = 'Rules = [ IsPrimaryKey "room_type" "current_time" ]'
GROUPED = "SELECT room_type, count(*), max(current_temperature) FROM {} GROUP BY room_type ORDER BY room_type"


def generated(spark, times):
    """Return the readings of the rooms, base and new, and which of them are wrong."""
    return rooms.rooms(spark, readings=READINGS * times)


def whole(spark, times):
    made = generated(spark, times)
    return made.base.union(made.new)


def digest(df):
    """Number of rows and a sum of hashes that no order changes, as text."""
    columns = ", ".join(df.columns)
    return str(
        tuple(map(str, df.selectExpr("count(*)", f"sum(CAST(xxhash64({columns}) AS DECIMAL(38)))").first()))
    )


def replaced(spark, name, df):
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    df.writeTo(name).using("iceberg").create()
    return name


def stored(spark, name):
    """Return what a table has: data files, their bytes, rows."""
    told = "count(*) AS files, sum(file_size_in_bytes) AS bytes, sum(record_count) AS rows"
    one = spark.sql(f"SELECT {told} FROM {name}.files").first()
    return {"rows": one.rows, "data_files": one.files, "data_bytes": one.bytes}


def source(spark, times):
    """Make the readings as tables that are read: whoever writes them elsewhere does not pay for making them."""
    made = generated(spark, times)
    for name, df in {"": whole(spark, times), "_base": made.base, "_new": made.new}.items():
        if not spark.catalog.tableExists(f"bench.readings{name}_{times}"):
            replaced(spark, f"bench.readings{name}_{times}", df)


def empty(spark, times, _):
    """Return a new table, and the rows to append."""
    rows = spark.table(f"bench.readings_{times}")
    return replaced(spark, f"bench.append_{times}", rows.limit(0)), rows


def half(spark, times, _):
    """Return a new table with the rows of the base, and the new rows."""
    base, new = (spark.table(f"bench.readings_{which}_{times}") for which in ("base", "new"))
    return replaced(spark, f"bench.gate_{times}", base), new


def scanned(spark, table):
    return reads.counted(spark, GROUPED.format(table))


def evaluated(rules):
    return lambda spark, table: quality.evaluate(spark, spark.table(table), rules)


def gate(spark, given):
    table, new = given
    return wap.run(
        spark, table, write=lambda s: new.writeTo(s.table).append(),
        audit=lambda df: passing(quality.evaluate(spark, df, SCAN).verdict()),
    )  # fmt: skip


def passing(verdict):
    """Let the overheated rows pass: what is measured is a publication, not a refusal."""
    return checks.Verdict(True, verdict.rules, verdict.figures)


def small_files(spark, times):
    """Make a table of as many files at every size."""
    name, rows = f"bench.small_{times}", ROWS * times
    spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    frame = spark.range(0, rows, 1, FILES).selectExpr("id", "concat('note ', id) AS note", "hash(id) AS n")
    frame.writeTo(name).using("iceberg").create()


def twin(spark, of, number):
    """Return a new table with another one's files, whose commits do not touch the other."""
    name = f"{of}_twin_{number}"
    file = spark.sql(
        f"SELECT file FROM {of}.metadata_log_entries ORDER BY timestamp DESC, file DESC LIMIT 1"
    ).first()
    spark.sql(f"CALL system.register_table(table => '{name}', metadata_file => '{file.file}')").collect()
    return name


def compacted(spark, table):
    policy = maintenance.Policy(actions=("compact_data",))
    return maintenance.run(spark, maintenance.plan(spark, table, policy=policy))


def dimension(spark, times):
    """Make a dimension that is loaded by one commit."""
    name = f"dimension_{times}"
    if not spark.catalog.tableExists(f"bench.{name}"):
        histories.made(spark, "v2 copy-on-write", ROWS * times, name=name, merges=0)


def without_history(spark, times, _):
    table = f"bench.dimension_{times}"
    spark.sql(f"DROP TABLE IF EXISTS {table}_history PURGE")
    return table


def built(spark, table):
    return history.build(spark, table, f"{table}_history", key="id")


def current(spark, times, table, _):
    """Say whether the history's open rows are the source's, and how many its last commit began and ended."""
    open_rows = history.current(spark, f"{table}_history")
    equal = histories.digest(open_rows) == histories.digest(spark.table(table))
    last = f"(SELECT max(valid_from) FROM {table}_history)"
    told = f"SELECT count_if(valid_from = {last}), count_if(valid_to = {last}) FROM {table}_history"
    return str((equal, *spark.sql(told).first()))


def last_commit(spark, times, table, _):
    """Return what the last change of the source wrote and replaced."""
    latest = f"SELECT summary AS s FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1"
    one = spark.sql(latest).first().s
    return {
        "rows": int(one["total-records"]),
        "source_bytes_replaced": int(one.get("removed-files-size", 0)),
        "source_bytes_written": int(one["added-files-size"]),
    }


READ = {
    "one": f"{READINGS:,} readings in a table",
    "make": source,
    "before": lambda spark, n, _: f"bench.readings_{n}",
    "counts": lambda spark, n, table, _: stored(spark, table),
    "times": MORE,
}
CAPABILITIES = [
    Capability(
        "append",
        f"{READINGS:,} readings appended",
        source,
        empty,
        lambda spark, given: given[1].writeTo(given[0]).append(),
        lambda spark, n, given, _: digest(spark.table(given[0])),
        lambda spark, n: digest(whole(spark, n)),
        lambda spark, n, given, _: stored(spark, given[0]),
        times=MORE,
    ),
    Capability(
        "a query that reads every row",
        work=scanned,
        found=lambda spark, n, table, read: str([tuple(row) for row in read.answer]),
        expected=lambda spark, n: str([tuple(row) for row in spark.sql(GROUPED.format("{df}"), df=whole(spark, n)).collect()]),
        **READ,
    ),
    Capability(
        "quality.evaluate, rules of a scan",
        work=evaluated(SCAN),
        found=lambda spark, n, table, result: result.quarantined.count(),
        expected=lambda spark, n: generated(spark, n).planted.count(),
        **READ,
    ),
    Capability(
        "quality.evaluate, a key of two columns",
        work=evaluated(KEYS),
        found=lambda spark, n, table, result: result.passed,
        expected=lambda spark, n: whole(spark, n).select("room_type", "current_time").distinct().count() == READINGS * n,
        peak=True,
        **READ,
    ),
    Capability(
        "wap.run with quality.evaluate",
        f"{READINGS:,} readings, base and new",
        source,
        half,
        gate,
        lambda spark, n, given, _: digest(spark.table(given[0])),
        lambda spark, n: digest(whole(spark, n)),
        lambda spark, n, given, _: stored(spark, given[0]),
        times=MORE,
        peak=True,
    ),
    Capability(
        "maintenance.run, compaction of 420 files",
        f"{ROWS:,} rows in {FILES} files",
        small_files,
        lambda spark, n, number: twin(spark, f"bench.small_{n}", number),
        compacted,
        lambda spark, n, table, _: digest(spark.table(table)),
        lambda spark, n: digest(spark.table(f"bench.small_{n}")),
        lambda spark, n, table, done: {"bytes_read": done[0].bytes_read, "files": done[0].files, "fast": done[0].fast},
        peak=True,
    ),
]  # fmt: skip
HISTORY = [
    Capability(
        "history.build, the first",
        f"{ROWS:,} rows in the source",
        dimension,
        without_history,
        built,
        current,
        lambda spark, n: str((True, ROWS * n, 0)),
        lambda spark, n, table, _: stored(spark, f"{table}_history"),
        peak=True,
    )
]
