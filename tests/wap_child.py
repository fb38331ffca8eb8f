"""A process of its own that runs the gate: an auditor that is told what to do line by line, or one that is killed.

python wap_child.py auditor TABLE NAME FOLDER      one line in: a round's number; one line out: its outcome
python wap_child.py killed TABLE ID STEP VERDICT   kills itself with signal 9 after the named step
python wap_child.py auditor_alone TABLE ID         runs the gate when a line comes in; killed from outside
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from workbench import checks, wap

RULES = 'Rules = [ ColumnValues "id" < 1000000 ]'
STEPS = {  # every place between two steps, in order
    "passed": ("branched", "written", "audited", "attested", "published", "dropped"),
    "failed": ("branched", "written", "audited", "quarantined", "dropped"),
}


def count_and_insert(spark, new_id):
    """A write that is right only on the newest base: it counts itself in row 0 and inserts a row."""

    def write(stage):
        spark.sql(
            f"MERGE INTO {stage.table} t USING (SELECT explode(array(0L, {new_id}L)) AS id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET n = t.n + 1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 0)"
        )

    return write


def verdict(df, passed=True):
    bad = df.where("id > 0").selectExpr("id", "n", "array('id < 1000000') AS failed")
    rows = None if passed else bad
    return checks.Verdict(passed, RULES, {"rows": df.count()}, () if passed else ("planted",), rows)


def audited_round(spark, table, *, name, number, folder, new_id):
    """Run the gate once, its first audit waiting until the other auditor has staged too; returns the Outcome."""
    tries = 0

    def audit(df):
        nonlocal tries
        tries += 1
        if tries == 1:
            Path(folder, f"{number}_{name}").touch()
            end = time.monotonic() + 600
            while len(list(Path(folder).glob(f"{number}_*"))) < 2:
                assert time.monotonic() < end, "the other auditor did not come"
                time.sleep(0.01)
        return verdict(df)

    return wap.run(
        spark, table, write=count_and_insert(spark, new_id), audit=audit, id=f"{name}-{number}", rebases=5
    )


def auditor(spark, table, name, folder):
    print("ready", flush=True)
    for line in sys.stdin:
        number = int(line)
        done = audited_round(spark, table, name=name, number=number, folder=folder, new_id=1000 + number)
        print(json.dumps({"attempts": done.attempts, "published": done.published}), flush=True)


def killed(spark, table, run_id, step, kind):
    def die(name, stage):
        if name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    wap.run(
        spark,
        table,
        write=count_and_insert(spark, 5),
        audit=lambda df: verdict(df, kind == "passed"),
        id=run_id,
        quarantine=f"{table}_refused",
        on_step=die,
    )


def auditor_alone(spark, table, run_id):
    print("ready", flush=True)
    sys.stdin.readline()
    wap.run(
        spark,
        table,
        write=count_and_insert(spark, 5),
        audit=verdict,
        id=run_id,
        on_step=lambda name, stage: print(name, flush=True),
    )
    time.sleep(60)


if __name__ == "__main__":
    from workbench import session

    task = {"auditor": auditor, "killed": killed, "auditor_alone": auditor_alone}[sys.argv[1]]
    spark = session.start(os.environ.get("WORKBENCH_TEST_ENVIRONMENT", "local"))
    task(spark, *sys.argv[2:])
    session.stop(spark)
