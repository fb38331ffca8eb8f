"""Changes and SCD type 2 against create_changelog_view and the published recipe, by kind of table; and growth.

Answers are compared by a digest over all rows: `equal` says whether all of a group were the same. Give a number of
rows to try it small: `python -m bench.history 100000`.
"""

import sys
import time

from bench import evidence, sessions

KINDS = {
    "v2 copy-on-write": (2, "copy-on-write"),
    "v3 copy-on-write": (3, "copy-on-write"),
    "v2 merge-on-read": (2, "merge-on-read"),
    "v3 merge-on-read": (3, "merge-on-read"),
}
COLUMNS = ["id", "name", "price", "qty", "region", "a", "b", "note", "flag", "updated_at"]
MERGES = 5


def main(rows=2_000_000, rounds=3):
    """Measure, print, and keep the figures."""
    from workbench import session

    spark = sessions.start()
    tables = {kind: made(spark, kind, rows) for kind in KINDS}
    parts = {
        "changes": lambda: changes_figures(spark, tables, rounds),
        "scd2": lambda: scd2_figures(spark, tables, rows, rounds),
        "growth": lambda: growth_figures(spark, rows, rounds),
    }
    what = f"{rows} rows of {len(COLUMNS)} columns, {MERGES} merges of 1 %: seconds, measured in turn"
    figures = {}
    for name, measure in parts.items():  # a part that fails does not take the ones before it along
        figures[name] = measure()
        evidence.write("history", what=what, **figures)
    session.stop(spark)


def made(spark, kind, rows, *, name=None, partitions=0, merges=MERGES):
    """Make a table of a kind: one insert, then merges of 1 % of the keys, scattered, a tenth of them new."""
    version, mode = KINDS[kind]
    table = "bench." + (name or kind.replace(" ", "_").replace("-", "_"))
    modes = ", ".join(f"'write.{op}.mode' = '{mode}'" for op in ("merge", "update", "delete"))
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, name STRING, price DECIMAL(10, 2), qty INT, region INT, a DOUBLE, "
        "b DOUBLE, note STRING, flag BOOLEAN, updated_at TIMESTAMP) USING iceberg "
        + ("PARTITIONED BY (region) " if partitions else "")
        + f"TBLPROPERTIES ('format-version' = '{version}', {modes})"
    )
    spark.sql(f"INSERT INTO {table} SELECT {drawn(0, partitions or 16, rows)} FROM range({rows})")
    for number in range(1, merges + 1):
        merge(spark, table, number, rows, rows // 100)
    return table


def drawn(number, regions, rows):
    """Columns of row `id` as commit `number` writes them; region is a run of ids."""
    return (
        f"id, concat('name ', id % 5000) AS name, CAST(id % 1000 + {number} AS DECIMAL(10, 2)) AS price, "
        f"CAST(id % 77 AS INT) AS qty, CAST(id * {regions} DIV {rows} AS INT) AS region, (xxhash64(id) % 1000003) / 7 AS a, "
        f"(xxhash64(id, 1) % 1000003) / 7 AS b, concat('note ', id) AS note, id % 3 = 0 AS flag, "
        f"TIMESTAMP'2026-01-01' + make_interval(0, 0, 0, {number}) AS updated_at"
    )


def merge(spark, table, number, rows, changed, *, within=None):
    """Update `changed` keys and insert a tenth as many: scattered over all rows, or among the first `within`."""
    step = max((within or rows) // changed, 1)
    regions = spark.sql(f"SELECT max(region) + 1 FROM {table}").collect()[0][0] if within else 16
    update = f"SELECT id * {step} + {number % step} AS id FROM range({changed * 9 // 10})"
    insert = f"SELECT {rows} + id * 100 + {number} AS id FROM range({changed // 10})" if not within else update
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT {drawn(number, regions, rows)} FROM ({update} UNION {insert})) s "
        "ON t.id = s.id" + (" AND t.region = 0" if within else "") + " WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )


def digest(frame, *more):
    """Number of rows and a sum of hashes that no order changes."""
    from pyspark.sql import functions as F

    total = F.sum(F.xxhash64(*COLUMNS, *more).cast("decimal(38,0)"))
    return tuple(map(str, frame.agg(F.count("*"), total).collect()[0]))


def timed(work):
    def measure():
        begin = time.perf_counter()
        answer = work()
        return time.perf_counter() - begin, answer

    return measure


def changes_figures(spark, tables, rounds):
    """Full changes with before-images and ordinals, and net changes: the view's own call against ours."""
    from pyspark.sql import functions as F

    from workbench.tables import changes

    sign = F.when(F.col("change_type").isin("insert", "update_after"), "INSERT").otherwise("DELETE")
    # with before-images and ordinals; the two ends with before-images; and without, rows that were written
    groups = {
        "full": {},
        "net": {"net": True},
        "net, new rows": {"net": True, "before_images": False, "compared": False},
    }

    def view(group):
        table = tables["v2 copy-on-write"]
        how = "net_changes => true" if groups[group] else "identifier_columns => array('id')"
        spark.sql(
            f"CALL system.create_changelog_view(table => '{table}', changelog_view => 'v', "
            f"options => map('start-snapshot-id', '{first(spark, table)}'), {how})"
        )
        if group == "full":
            return digest(spark.table("v"), F.lower("_change_type"), "_change_ordinal")
        found = spark.table("v") if group == "net" else spark.table("v").where("_change_type = 'INSERT'")
        return digest(found, "_change_type")

    def ours(table, back_end, group):
        start = first(spark, table)
        found = changes.between(spark, table, key="id", start=start, back_end=back_end, **groups[group])
        return digest(found, sign) if groups[group] else digest(found, "change_type", "change_ordinal")

    result = {}
    for group in groups:
        things = {"create_changelog_view": timed(lambda g=group: view(g))}
        for kind, table in tables.items():
            for back_end in changes.back_ends(spark, table, start=first(spark, table)):
                if back_end != "changelog view":
                    work = timed(lambda t=table, b=back_end, g=group: ours(t, b, g))
                    things[f"{kind}, {back_end}"] = work
        result[group] = ratios(*evidence.in_turn(things, rounds=rounds), "create_changelog_view")
    result["goals"] = {"net, new rows, by row lineage": 15, "net by snapshot diff": 5, "full": 4}
    return result


def ratios(seconds, answers, base):
    medians = {name: evidence.median(values) for name, values in seconds.items()}
    return {
        "seconds": seconds,
        "median_seconds": medians,
        "times_faster": {name: round(medians[base] / value, 1) for name, value in medians.items()},
        "equal": len({answer for found in answers.values() for answer in found}) == 1,
    }


def first(spark, table):
    """Snapshot id of a table's first commit."""
    return spark.sql(f"SELECT snapshot_id FROM {table}.snapshots WHERE parent_id IS NULL").collect()[0][0]


RECIPE = """
CREATE OR REPLACE TABLE bench.published USING iceberg AS
SELECT *, CASE WHEN effective_end IS NULL AND _change_type <> 'DELETE' THEN true ELSE false END AS is_current FROM (
  SELECT *, CASE WHEN effective_start = last_start THEN NULL ELSE last_start END AS effective_end FROM (
    SELECT v.*, s.committed_at AS effective_start,
           max(s.committed_at) OVER (PARTITION BY v.id, v.updated_at) AS last_start
    FROM v JOIN {table}.snapshots s ON v._commit_snapshot_id = s.snapshot_id)
  WHERE _change_type <> 'UPDATE_BEFORE')
"""


def scd2_figures(spark, tables, rows, rounds):
    """First build and increment against the published recipe, which always starts anew; the bare write as floor."""
    from workbench import history

    plain = tables["v2 copy-on-write"]

    def recipe():
        spark.sql(
            f"CALL system.create_changelog_view(table => '{plain}', changelog_view => 'v', "
            "identifier_columns => array('id'))"
        )
        spark.sql(RECIPE.format(table=plain))
        return "-"

    def build(table):
        spark.sql(f"DROP TABLE IF EXISTS {table}_history PURGE")
        history.build(spark, table, f"{table}_history", key="id")
        return digest(history.current(spark, f"{table}_history"))

    def bare():
        spark.sql(f"CREATE OR REPLACE TABLE bench.bare USING iceberg AS SELECT * FROM {plain}_history")
        return "-"

    things = {"published recipe": timed(recipe)} | {
        kind: timed(lambda t=t: build(t)) for kind, t in tables.items()
    }
    things["bare write of the history"] = timed(bare)
    spent, answers = evidence.in_turn(things, rounds=rounds)
    result = {"first": ratios(spent, {k: v for k, v in answers.items() if v[0] != "-"}, "published recipe")}

    state = {"number": MERGES}

    def increment(table):
        return timed(lambda: history.build(spark, table, f"{table}_history", key="id").commits)

    spent, answers = {"published recipe": [], **{kind: [] for kind in tables}}, {kind: [] for kind in tables}
    for _ in range(rounds):
        state["number"] += 1
        for table in tables.values():
            merge(spark, table, state["number"], rows, rows // 100)
        things = {"published recipe": timed(recipe)} | {kind: increment(t) for kind, t in tables.items()}
        for name, measure in things.items():
            seconds, answer = measure()
            spent[name].append(round(seconds, 2))
            print(f"increment {state['number'] - MERGES}  {name:28} {seconds:6.2f} s  {answer}", flush=True)
        for kind, table in tables.items():
            answers[kind].append(
                digest(history.current(spark, f"{table}_history")) == digest(spark.table(table))
                and digest(history.current(spark, f"{table}_history")) == digest(spark.table(plain))
            )
    result["increment"] = ratios(spent, {kind: found for kind, found in answers.items()}, "published recipe")
    result["increment"]["equal"] = all(all(found) for found in answers.values())
    result["goals"] = {"increment": 10}
    return result


def growth_figures(spark, rows, rounds):
    """The same number of changes on a table and on one of ten times its rows."""
    from workbench import history

    result, changed = {"goal": 1.3, "changes": rows // 1000}, rows // 1000
    cases = {f"{kind}, scattered": (kind, False) for kind in KINDS}
    cases |= {f"{kind}, in one partition": (kind, True) for kind in KINDS if "copy" in kind}
    for case, (kind, confined) in cases.items():
        spent = {"rows": [], "ten times the rows": []}
        tables = {}
        for name, size in (("rows", rows // 10), ("ten times the rows", rows)):
            label = f"growth_{len(result)}_{size}"
            # ten times the partitions, not partitions of ten times the rows
            parts = (4 if size < rows else 40) if confined else 0
            tables[name] = (made(spark, kind, size, name=label, partitions=parts, merges=0), size)
            history.build(spark, tables[name][0], f"{tables[name][0]}_history", key="id")
        for number in range(1, rounds + 2):
            for name, (table, size) in tables.items():
                within = rows // 40 if confined else None
                merge(spark, table, number, size, changed, within=within)
                begin = time.perf_counter()
                history.build(spark, table, f"{table}_history", key="id")
                seconds = time.perf_counter() - begin
                if number > 1:  # the first round compiles
                    spent[name].append(round(seconds, 2))
                    print(f"{case:36} {name:20} {seconds:6.2f} s", flush=True)
        same = [
            digest(history.current(spark, f"{table}_history")) == digest(spark.table(table))
            for table, _ in tables.values()
        ]
        medians = {name: evidence.median(values) for name, values in spent.items()}
        result[case] = {
            "seconds": spent,
            "median_seconds": medians,
            "times_slower": round(medians["ten times the rows"] / medians["rows"], 2),
            "equal": all(same),
        }
        for table, _ in tables.values():
            for name in (table, f"{table}_history"):
                spark.sql(f"DROP TABLE {name} PURGE")
    return result


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
