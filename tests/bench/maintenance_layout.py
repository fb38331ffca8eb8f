"""The published layout of TPC-DS, partitioned by raw date keys, mended in place; against tables loaded flat.

Everything goes on where it was stopped: loads and the mending are kept under .workbench/maintenance, units of queries
too. The tables are namespaces of their own in the lake, none of the TPC-DS benchmark's.
"""

import json
import os
import time

from digests import digest

from workbench import session
from workbench._base import files, identifiers, settings
from workbench.tables import commits, maintenance
from workbench_proofs import tpcds
from workbench_proofs.tpcds import figures, layouts, measuring

ENVIRONMENT, ENGINE = "lake", "spark41"
POLICY = maintenance.Policy(
    actions=("compact_data", "rewrite_manifests"),
    target_file_bytes=64 * 1024**2,  # of hundreds of megabytes in all: so that each table keeps several tasks busy
)


def measured(scale="1", rounds=3, queries=""):
    """Load, mend, and ask; returns the figures.

    Args:
        scale: scale factor.
        rounds: of the queries, each in a process of its own.
        queries: names with commas between; all by default.
    """
    data = tpcds.generate(scale)
    folder = settings.home() / ".workbench" / "maintenance" / f"sf{data.scale}"
    folder.mkdir(parents=True, exist_ok=True)
    label = data.scale.replace(".", "_")
    spaces = {"flat": f"maintenance_sf{label}_flat", "published": f"maintenance_sf{label}_mended"}
    steps = taken(data, spaces, folder / "steps.json")
    asked = queries.split(",") if queries else list(tpcds.names())
    engine = tpcds.engine(ENGINE)
    # the mended tables still say that they were loaded as published
    todo = [measuring.Unit(ENGINE, layout, n) for n in range(1, int(rounds) + 1) for layout in in_turn(n)]
    about = session.catalog(ENVIRONMENT), data, spaces
    more = {"queries": asked, "phases": (measuring.COLD,), "cores": os.cpu_count(), "file": folder / "rounds.json"}
    results = []
    for unit, found in measuring.run(todo, *about, profiles={ENGINE: engine}, **more):
        print(f"{unit.layout:10} round {unit.round}  {sum(one.seconds for one in found):7.1f} s", flush=True)
        results += found
    return told(data, steps, results, int(rounds))


def in_turn(number):
    """Return the layouts, each round beginning with the other."""
    return ("flat", "published") if number % 2 else ("published", "flat")


def taken(data, spaces, file):
    """Do the steps that were not done: load flat, load as published, mend each fact; returns what each took."""
    steps = json.loads(file.read_text()) if file.is_file() else {}
    if steps.get("data") != data.digest:
        steps = {"data": data.digest}
    todo = {layout: lambda spark, n=layout: load(spark, data, spaces[n], n) for layout in spaces}
    todo |= {table: lambda spark, t=table: mend(spark, data, spaces["published"], t) for table in layouts.FACTS}
    spark = None
    for name, work in todo.items():
        if name in steps:
            continue
        spark = spark or session.start(ENVIRONMENT)
        steps[name] = work(spark)
        with files.replacing(file) as new:
            new.write_text(json.dumps(steps))
        print(f"{name}: {steps[name]}", flush=True)
    if spark is not None:
        session.stop(spark)  # the engines have the machine to themselves
    return steps


def load(spark, data, space, layout):
    """Load all tables in a layout."""
    found = tpcds.load(spark, data, space, layout=layout)
    return {"seconds": round(sum(one.seconds for one in found), 1), "files": sum(one.files for one in found)}


def mend(spark, data, space, table):
    """Evolve the partitioning of a fact away and rewrite it; it must keep its rows."""
    name, key = f"{space}.{table}", layouts.FACTS[table]
    if partitioned_by(spark, name) != [key]:  # an earlier run was stopped here: half a mending is no measurement
        tpcds.load(spark, data, space, layout="published", tables=(table,))
    quoted = identifiers.quoted(name)
    before = digest(spark, quoted)
    begin = time.perf_counter()
    spark.sql(f"ALTER TABLE {quoted} DROP PARTITION FIELD {key}")
    done = maintenance.run(spark, maintenance.plan(spark, name, policy=POLICY))
    seconds = time.perf_counter() - begin
    spark.sql(f"REFRESH TABLE {quoted}")
    return {
        "seconds": round(seconds, 2),
        "files_before": next(one.files for one in done if one.name == "compact_data"),
        "files": spark.table(f"{name}.data_files").count(),
        "rows_equal": digest(spark, quoted) == before,
        "said": sorted({sentence for one in done for sentence in maintenance.sentences(one)}),
    }


def partitioned_by(spark, name):
    """Return the names of the fields by which a table's new files are partitioned."""
    spec = commits.load(spark, name).spec()
    return [field.name() for field in spec.fields()]


def told(data, steps, results, rounds):
    """Return the figures: what each step took, and the cold queries of the mended tables against the flat ones."""
    seconds = {
        layout: figures.medians(results, phase=measuring.COLD, layout=layout).get(ENGINE, {})
        for layout in ("flat", "published")
    }
    one = figures.ratio(seconds["published"], seconds["flat"])
    facts = {table: steps[table] for table in layouts.FACTS}
    mended = round(sum(one["seconds"] for one in facts.values()), 1)
    return {
        "scale": data.scale,
        "data": data.digest,
        "rounds": rounds,
        "engine": ENGINE,
        "loaded_flat": steps["flat"],
        "loaded_as_published": steps["published"],
        "mended": {
            "seconds": mended,
            "files_before": sum(one["files_before"] for one in facts.values()),
            "files": sum(one["files"] for one in facts.values()),
            "rows_equal": all(one["rows_equal"] for one in facts.values()),
            "facts": facts,
        },
        "mending_share_of_loading": round(mended / steps["published"]["seconds"], 2),
        "goal_share": 0.2,
        "verdicts": tpcds.counts(results),
        "queries_compared": one.queries,
        "cold_seconds": {
            "flat": round(sum(seconds["flat"].values()), 1),
            "mended": round(sum(seconds["published"].values()), 1),
        },
        "cold_times_flat": round(1 / one.total, 2),
        "goal_times_flat": 1.1,
    }
