"""A lane of runs in one process: python -m soak.incident_lanes LANE FOLDER NAME:SEED …

Each run leaves FOLDER/results/NAME-SEED.json: what was planted, what was found, and by the log alone. Logs of runs
that were not told as they were planted stay in FOLDER/logs, the others go.
"""

import json
import os
import re
import shutil
import sys
import time
import traceback
from contextlib import ExitStack
from pathlib import Path

from soak import incident_runs
from soak.incident_runs import KINDS, until
from workbench import session
from workbench._base import jars
from workbench.metrics import collectors, events, incidents, reports, watch
from workbench.session import launch

HEAPS = {"tight": "512m", "thrash": "512m"}
BALLAST, ROOM = 500_000, 4  # boxed longs, of 20 bytes each in a list; room for how many such lists is left
EXECUTOR = "CoarseGrainedExecutorBackend"
KEEP_LOGS = "WORKBENCH_KEEP_LOGS"


class Lane:
    """A session and what stands around it, as long as the lane runs."""

    def __init__(self, name, folder, living):
        self.name, self.folder, self.files = name, folder, folder / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        self.gc_log, self.ballast = None, None
        self.disk = Path(os.environ.get("SOAK_SMALL_DISK", folder / "disk"))
        self.spark = getattr(self, f"_{name}", self._plain)(living)
        self.spark.sparkContext.setLogLevel("OFF")
        self.catalog = self.spark.conf.get("spark.sql.defaultCatalog")
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.catalog}.m")

    def _plain(self, living, **more):
        """Return a session of its own, whose JVM keeps its collector's log."""
        from pyspark.sql import SparkSession

        self.gc_log = self.folder / "gc.log"
        flags = collectors.options("Serial", self.gc_log, java=17)
        conf = {
            "spark.master": "local[2]", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4",
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.showConsoleProgress": "false", "spark.driver.memory": HEAPS.get(self.name, "1g"),
            "spark.driver.extraClassPath": str(jars.path("iceberg")), "spark.sql.adaptive.coalescePartitions.enabled": "false",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.defaultCatalog": "lake", "spark.local.dir": str(self.folder / "local"),
            "spark.sql.warehouse.dir": str(self.folder / "spark-warehouse"), "spark.sql.session.timeZone": "UTC",
            "spark.driver.extraJavaOptions": " ".join(flags), "spark.network.timeout": "900s",
            "spark.executor.heartbeatInterval": "60s",
        } | self._hadoop_catalog("lake", self.folder / "lake") | more  # fmt: skip
        if self.name == "tight":
            conf["spark.driver.maxResultSize"] = "8m"
        builder = SparkSession.builder.appName("soak")
        for key, value in conf.items():
            builder = builder.config(key, value)
        with launch.environment():
            return builder.getOrCreate()

    def _hadoop_catalog(self, name, folder):
        key = f"spark.sql.catalog.{name}"
        spark_catalog = "org.apache.iceberg.spark.SparkCatalog"
        return {key: spark_catalog, f"{key}.type": "hadoop", f"{key}.warehouse": str(folder)}

    def _small_disk(self, living):
        more = self._hadoop_catalog("small", self.disk / "tables")
        spark = self._plain(living, **{"spark.local.dir": str(self.disk / "shuffles")}, **more)
        spark.sql("CREATE NAMESPACE small.m")
        return spark

    def _s3(self, living):
        """Return a session on S3, with a catalog behind a proxy that delays, and one with another key."""
        from workbench_standins import proxy

        spark = session.start("s3")
        default = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}"
        settings = {name: value for name, value in spark.conf.getAll.items() if name.startswith(default)}
        between = living.enter_context(proxy.between(settings[f"{default}.s3.endpoint"]))
        parquet = proxy.Match(method="GET", path="/**.parquet")
        self.delay = lambda seconds: between.play(
            [proxy.Rule("delay", parquet, seconds=seconds)] if seconds else []
        )
        self.slow = self._through(spark, settings, {f"{default}.s3.endpoint": between.endpoint})
        self.denied = self._through(spark, settings, {f"{default}.s3.secret-access-key": "another"})
        return spark

    def _through(self, spark, settings, changed):
        """Return a session beside another, whose catalog of the same name has other settings."""
        through = spark.newSession()
        for name, value in (settings | changed).items():
            through.conf.set(name, value)
        return through

    def _cluster(self, living):
        """Return a session on a cluster of this machine, whose executors have the least heap that Spark takes."""
        from workbench_standins import cluster

        running = living.enter_context(cluster.serve(workers=2, cores=1, memory="500m", applications=1))
        os.environ |= running.variables()
        self.cluster_folder = running.folder
        known = Path("params/environments/cluster.yml").read_text()
        file = self.folder / "soak_cluster.yml"
        file.write_text(known.replace("  conf:\n", "  conf:\n    spark.task.maxFailures: 2\n", 1))
        return session.start(file)

    def fill(self):
        """Fill the old generation with what lives, but for a little room, so that the job still ends."""
        jvm = self.spark._jvm
        jvm.java.lang.System.gc()
        pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        old = next(pool for pool in pools if pool.getName() == "Tenured Gen").getUsage()
        self.ballast = jvm.java.util.ArrayList()
        for _ in range((old.getMax() - old.getUsed()) // (BALLAST * 20) - ROOM):
            self.ballast.add(jvm.java.util.stream.LongStream.range(0, BALLAST).boxed().toList())

    def executors(self):
        """Return the processes of the session's executors, in the order of their ids."""
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit():
                try:
                    words = (path / "cmdline").read_bytes().decode().split("\0")
                except OSError:
                    continue
                if any(EXECUTOR in word for word in words) and self.spark.sparkContext.applicationId in words:
                    found.append(int(path.name))
        return sorted(found)

    def shuffled(self, pid):
        """Return the files that an executor shuffled."""
        words = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
        folders = next(word for word in words if word.startswith("SPARK_EXECUTOR_DIRS=")).partition("=")[2]
        return {path for folder in folders.split(os.pathsep) for path in Path(folder).rglob("shuffle_*")}

    def whole(self):
        """Wait until the cluster has given executors for those that ended."""
        tracker = self.spark.sparkContext._jsc.sc().statusTracker()
        until(lambda: len(self.executors()) == 2 and len(tracker.getExecutorInfos()) == 3)


def collection(lane, first, last, target):
    """Return what the collector did between two places of its log, with the head of the log."""
    text = lane.gc_log.read_text()
    head = text[: min(first, 4_000)].splitlines() if first else []
    began = max((float(time) for time in re.findall(r"^\[([\d.]+)s\]", text[:first], re.M)), default=0.0)
    part = text[first:last].splitlines()
    moved = [re.sub(r"^\[([\d.]+)s\]", lambda m: f"[{max(0.0, float(m[1]) - began):.3f}s]", line) for line in part]
    kept = [re.sub(r"^\[[\d.]+s\]", "[0.000s]", line) for line in head if "Using" in line]
    target.write_text("\n".join([*kept, *moved]) + "\n")
    return collectors.read(target)


def one(lane, name, seed):
    """Run a job, watched, and return what was planted and found."""
    kind, table = KINDS[name], f"{lane.catalog}.m.{name}_{seed}"
    watched = lane.folder / "logs" / f"{name}-{seed}"
    shutil.rmtree(watched, ignore_errors=True)
    lane.spark.sql(f"DROP TABLE IF EXISTS {table}")
    incident_runs.prepare(lane, name, table, seed)
    error, begin = None, time.monotonic()
    first = lane.gc_log.stat().st_size if lane.gc_log else 0
    with watch(lane.spark, watched) as watching:
        try:
            incident_runs.run(lane, name, table, seed)
        except Exception as raised:
            error = raised
    for query in lane.spark.streams.active:
        query.stop()
    if watching.failure:
        raise RuntimeError(watching.failure)
    if error is not None and kind.cause is None:
        raise error
    gc = collection(lane, first, lane.gc_log.stat().st_size, watched / "gc.json") if lane.gc_log else None
    return scored(kind, watched, error, gc) | {"seconds": round(time.monotonic() - begin, 1)}


def scored(kind, watched, error, gc):
    """Return what is found in a watched folder, with the caller's error and without; the log goes where it is right."""
    run, kept = events.read(watched), reports.read(watched)
    text = None if error is None else f"{type(error).__name__}: {error}"
    found = incidents.find(run, kept, error=text, collection=gc)
    by_log = {incident.cause for incident in incidents.find(run, kept, collection=gc)}
    causes = {incident.cause for incident in found}
    wrong = causes - {kind.cause} - kind.besides
    missed = kind.cause is not None and kind.cause not in causes
    if not (wrong or missed or KEEP_LOGS in os.environ):
        shutil.rmtree(watched)
    elif text:
        (watched / "error.txt").write_text(text)
    return {
        "planted": kind.cause,
        "besides": sorted(kind.besides),
        "found": sorted(causes),
        "by_log": sorted(by_log),
        "whole": run.whole,
        "tasks": len(run.tasks),
        "wrong": [f"{i.cause} of {i.where}: {i.evidence}" for i in found if i.cause in wrong],
        "missed": (text or "no error")[:300] if missed else "",
    }


def notebook(folder, name):
    """Execute a notebook of the product with a watch from behind its setup to its end; return as `one`."""
    import nbclient
    import nbformat

    watched, begin = folder / "logs" / name, time.monotonic()
    shutil.rmtree(watched, ignore_errors=True)
    book = nbformat.read(f"notebooks/{name}.ipynb", as_version=4)
    codes = [index for index, cell in enumerate(book.cells) if cell.cell_type == "code"]
    setup = next(index for index in codes if "session.start(" in book.cells[index].source)
    begun = f"from workbench import metrics as _metrics\n_watching = _metrics.watch(spark, {str(watched)!r})"
    book.cells.insert(setup + 1, nbformat.v4.new_code_cell(begun))
    book.cells.append(nbformat.v4.new_code_cell("_watching.stop()\nassert _watching.failure is None"))
    place = folder / "files" / name
    place.mkdir(parents=True, exist_ok=True)
    resources = {"metadata": {"path": str(place)}}
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=resources).execute()
    return scored(KINDS[name], watched, None, None) | {"seconds": round(time.monotonic() - begin, 1)}


def main(name, folder, *runs):
    """Do the runs of a lane and keep what each was."""
    folder, results = Path(folder).resolve() / name, Path(folder).resolve() / "results"
    results.mkdir(parents=True, exist_ok=True)
    with ExitStack() as living:
        lane = None if name.startswith("notebooks") else Lane(name.split(".")[0], folder, living)
        for run in runs:
            kind, _, seed = run.partition(":")
            try:
                result = one(lane, kind, int(seed)) if lane else notebook(folder, kind)
            except Exception:
                print(f"{run} was not made: {traceback.format_exc()[-1500:]}", flush=True)
                if lane and lane.spark.sparkContext._jsc.sc().isStopped():
                    raise
                continue
            (results / f"{kind}-{seed}.json").write_text(json.dumps(result))
            told = result["missed"] and "MISSED " + result["missed"], *result["wrong"]
            print(f"{run}: {', '.join(result['found']) or 'none'} in {result['seconds']} s {told}", flush=True)
        if lane:
            lane.spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
