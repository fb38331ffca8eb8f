"""What submitting once costs: a claim and its record, a driver by REST against spark-submit, rights enforced.

    python -m bench.submit

Each pair is measured in turn, three rounds, with the same answer: a driver that the master has accepted, and a job
that read the rows it wrote.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import evidence
from workbench._base import java
from workbench_ops.submit import Folder, job
from workbench_ops.submit.claims import Attempt, Claim, change, opened, required
from workbench_ops.submit.standalone import Drivers
from workbench_standins import account
from workbench_standins.account import enforced
from workbench_standins.cluster import submissions

ROUNDS, CLAIMS, ROWS = 3, 200, 1000
GOALS = {"claim_and_record_ms": 100, "rest_times_faster": 10, "enforced_times": 1.2}
ACCEPTED = re.compile(r"Driver successfully submitted as (driver-\S+)")
RIGHTS = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:*", "glue:*"], "Resource": "*"}],
}
LOAD = """
import sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake", type="glue", warehouse="s3://lake/w")
catalog.create_namespace_if_not_exists("sales")
rows = pa.table({"id": range(int(sys.argv[1]))})
table = catalog.create_table("sales.staging", rows.schema)
for _ in range(5):
    table.append(rows)
print(table.scan().to_arrow().num_rows)
catalog.purge_table("sales.staging")
"""


def main():
    """Measure, print and keep the figures."""
    with tempfile.TemporaryDirectory() as folder:
        claims = claim_and_record(Path(folder))
        drivers = accepted_drivers(Path(folder))
        runs = enforced_runs(Path(folder))
    evidence.write("submit", what=__doc__.splitlines()[0], goals=GOALS, claims=claims, drivers=drivers, runs=runs)


def claim_and_record(folder):
    """Return the milliseconds that the three writes of a token take: the claim, an attempt, its id."""
    place, spent = Folder(folder / "claims"), []
    for n in range(CLAIMS):
        begin = time.perf_counter()
        opened(place, Claim(f"load {n}", "digest", None))
        change(place, f"load {n}", lambda claim: claim.changed(attempts=(Attempt("a", "here", "by"),)))
        change(place, f"load {n}", lambda claim: claim.changed(attempts=(Attempt("a", "here", "by", "id"),)))
        spent.append((time.perf_counter() - begin) * 1000)
    written = sum(required(place, f"load {n}")[0].attempts[0].run_id == "id" for n in range(CLAIMS))
    slowest = round(sorted(spent)[int(CLAIMS * 0.95)], 1)
    return {"tokens": CLAIMS, "whole": written, "median_ms": round(statistics.median(spent), 1), "p95_ms": slowest}


def accepted_drivers(folder):
    """Return seconds until a standalone master has accepted a driver, by our REST target and by spark-submit."""
    script = folder / "job.py"
    script.write_text("from workbench_ops.submit import fence\nfence()\n")
    with submissions.serve(memory="600m", applications=8) as cluster:
        ours = Drivers(
            cluster.rest, cluster.master, cluster.page, cluster.key,
            version="4.1.4", memory="500m", python=sys.executable, conf={"spark.authenticate": "true"},
        )  # fmt: skip
        secret = secret_of(cluster)

        def rest():
            begin = time.perf_counter()
            run_id = ours.submit(job(script), token="bench", given="")
            spent = time.perf_counter() - begin
            ours.cancel(run_id)
            return spent, run_id.startswith("driver-")

        seconds, answers = evidence.in_turn(
            {"REST": rest, "spark-submit": lambda: by_spark_submit(cluster, secret, script)}, rounds=ROUNDS
        )
    fast, slow = (evidence.median(seconds[name]) for name in ("REST", "spark-submit"))
    return {"seconds": seconds, "accepted": answers, "times_faster": round(slow / max(fast, 0.01), 1)}


def by_spark_submit(cluster, secret, script):
    """Submit the same driver by Spark's own command; return (seconds until it is accepted, whether it was)."""
    home = java.spark_home()
    [core] = home.glob("jars/spark-core_*.jar")
    words = [
        str(home / "bin" / "spark-submit"), "--master", cluster.master, "--deploy-mode", "cluster",
        "--driver-memory", "500m", "--conf", "spark.authenticate=true", "--conf", "spark.network.crypto.enabled=true",
        "--conf", "spark.master.rest.enabled=false", "--class", "org.apache.spark.deploy.SparkSubmit", f"local:{core}",
        "--master", cluster.master, str(script),
    ]  # fmt: skip
    env = os.environ | {"_SPARK_AUTH_SECRET": secret, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    begin = time.perf_counter()
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "env": env}
    with subprocess.Popen(words, **options) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if ACCEPTED.search(line):
                spent = time.perf_counter() - begin
                process.kill()
                return spent, True
    raise SystemExit(f"spark-submit was not accepted: {''.join(said)[-1500:]}")


def secret_of(cluster):
    """Return the secret of a cluster of ours, which its own processes have in their environment."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(cluster.folder) in (process / "cmdline").read_text():
                variables = (process / "environ").read_text().split("\0")
                return next(text.split("=", 1)[1] for text in variables if text.startswith("_SPARK_AUTH_SECRET="))
        except (OSError, StopIteration):
            continue
    raise SystemExit("the cluster's processes are not to be found under /proc")


def enforced_runs(folder):
    """Return seconds of a job on an account that enforces its rights, and on one that does not."""
    script = folder / "load.py"
    script.write_text(LOAD)
    with enforced.serve() as closed, account.serve() as open_to_all:
        for place in (closed.root("s3"), open_to_all.client("s3")):
            place.create_bucket(Bucket="lake")
        ways = {"plain": open_to_all.variables(), "enforced": closed.allow(RIGHTS)}
        seconds, answers = evidence.in_turn(
            {name: lambda given=given: loaded(script, given) for name, given in ways.items()}, rounds=ROUNDS
        )
    ratio = evidence.median(seconds["enforced"]) / evidence.median(seconds["plain"])
    return {"seconds": seconds, "rows": answers, "times": round(ratio, 2)}


def loaded(script, variables):
    """Run the job; return (seconds, rows that it read)."""
    begin = time.perf_counter()
    words = [sys.executable, str(script), str(ROWS)]
    done = subprocess.run(words, env=os.environ | variables, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, int(done.stdout)


if __name__ == "__main__":
    main()
