"""What grows with changes: tables of one size, of whose rows 1, 4 and 16 times as many change."""

from bench import history as histories
from bench.sizing import Capability
from bench.sizing_data import built, current, digest, last_commit, twin
from workbench import history
from workbench.tables import changes, upserts

ROWS, CHANGED = 100_000, 1_000  # defaults of notebook 21: a commit changes one row in a hundred
KINDS = ("v2 copy-on-write", "v3 merge-on-read")
UPSERTED = "id BIGINT, value BIGINT, note STRING, seq BIGINT"


def label(kind, what, times):
    return f"{what}_{kind.replace(' ', '_').replace('-', '_')}_{times}"


def make_changed(kind):
    """Make a table of a kind with one commit that changed rows."""

    def make(spark, times):
        name = label(kind, "changed", times)
        histories.made(spark, kind, ROWS, name=name, merges=0)
        histories.merge(spark, f"bench.{name}", 1, ROWS, CHANGED * times)

    return make


def between(spark, table):
    found = changes.between(spark, table, key="id", start=histories.first(spark, table))
    return dict(map(tuple, found.groupBy("change_type").count().collect()))


def planted(spark, times):
    """Return how many rows a merge inserted and updated."""
    inserted = CHANGED * times // 10
    return str([("insert", inserted), *((one, 9 * inserted) for one in ("update_after", "update_before"))])


def make_source(kind):
    """Make a table of a kind and its history."""

    def make(spark, times):
        name = label(kind, "source", times)
        histories.made(spark, kind, ROWS, name=name, merges=0)
        history.build(spark, f"bench.{name}", f"bench.{name}_history", key="id")

    return make


def changing(kind):
    def before(spark, times, number):
        table = f"bench.{label(kind, 'source', times)}"
        histories.merge(spark, table, number, ROWS, CHANGED * times)
        return table

    return before


def make_stock(mode):
    """Make a table that is merged into, and as another one what is merged: a tenth of it new."""

    def make(spark, times):
        name = label(mode, "stock", times)
        spark.sql(
            f"CREATE TABLE bench.{name} ({UPSERTED}) USING iceberg "
            f"TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = '{mode}')"
        )
        stock(spark, f"range({ROWS})", 1).writeTo(f"bench.{name}").append()

    return make


def stock(spark, ids, seq):
    return spark.sql(
        f"SELECT id, id * {seq} % 1000 AS value, concat('note ', id) AS note, {seq}L AS seq FROM {ids}"
    )


def given_ids(times):
    """Return the ids of the updates, in SQL: scattered over the table, a tenth of them new."""
    many, step = CHANGED * times * 9 // 10, ROWS // (CHANGED * times)
    return (
        f"(SELECT id * {step} AS id FROM range({many}) "
        f"UNION ALL SELECT {ROWS} + id AS id FROM range({CHANGED * times // 10}))"
    )


def merged(spark, given):
    table, updates = given
    return upserts.merge(spark, table, updates, key="id", sequence="seq")


def after_merge(spark, times):
    """Return the digest of what a merge must leave, made from the ids alone."""
    left = f"(SELECT id FROM range({ROWS}) WHERE id NOT IN (SELECT id FROM {given_ids(times)}))"
    return digest(stock(spark, left, 1).union(stock(spark, given_ids(times), 2)))


CAPABILITIES = [
    Capability(
        f"changes.between, {kind.partition(' ')[2]}",
        f"{CHANGED:,} of {ROWS:,} rows changed by one commit",
        make_changed(kind),
        lambda spark, n, _, kind=kind: f"bench.{label(kind, 'changed', n)}",
        between,
        lambda spark, n, table, counted: str(sorted(counted.items())),
        planted,
        last_commit,
        rounds=5,
        peak=kind.endswith("read"),
    )
    for kind in KINDS
] + [
    Capability(
        f"history.build, an increment, {kind.partition(' ')[2]}",
        f"{CHANGED:,} of {ROWS:,} rows changed by one commit",
        make_source(kind),
        changing(kind),
        built,
        current,
        lambda spark, n: str((True, CHANGED * n, CHANGED * n * 9 // 10)),
        lambda spark, n, table, _: {
            "history_rows": spark.table(f"{table}_history").count(),
            **{f"history_{key.removeprefix('source_')}": value for key, value in last_commit(spark, n, f"{table}_history", _).items() if key != "rows"},
        },
        peak=kind.endswith("write"),
    )
    for kind in KINDS
] + [
    Capability(
        f"upserts.merge, {mode}",
        f"{CHANGED:,} updates, a tenth of them new, into {ROWS:,} rows",
        make_stock(mode),
        lambda spark, n, number, mode=mode: (
            twin(spark, f"bench.{label(mode, 'stock', n)}", number), stock(spark, given_ids(n), 2),
        ),
        merged,
        lambda spark, n, given, _: digest(spark.table(given[0])),
        after_merge,
        lambda spark, n, given, _: last_commit(spark, n, given[0], _),
        peak=mode == "merge-on-read",
    )
    for mode in ("copy-on-write", "merge-on-read")
]  # fmt: skip
