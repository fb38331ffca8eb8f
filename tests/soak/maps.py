"""Kills of a distributed map at random moments: every item once, in the end, whatever was cut off.

    python -m soak.maps [KILLS [EACH]]

Each of 40 files has EACH items, 25 by default. A child runs a map of many small waves and says each one; it is killed,
with its JVM, a random time behind a random one of the next waves. Runs that are over are looked at whole: each item once, with its own answer, and no branch or tag left.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench import maps, session

FILES = 40
CHILD = """
import sys
from workbench import maps, session

file, table, lake, run_id = sys.argv[1:]
spark = session.start("local")
maps.run(spark, maps.read(file), table, run_id=run_id, buckets={"lake": lake}, wave_rows=1,
         on_wave=lambda run, left: print("wave", flush=True))
print("over", flush=True)
"""
MACHINE = {
    "QueryLanguage": "JSONata",
    "StartAt": "Each",
    "States": {
        "Each": {
            "Type": "Map",
            "ItemReader": {
                "Resource": "arn:aws:states:::s3:getObject",
                "ReaderConfig": {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"},
                "Arguments": {"Bucket": "lake", "Key": "m.csv"},
            },
            "ItemProcessor": {
                "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                "StartAt": "Square",
                "States": {
                    "Square": {"Type": "Pass", "Output": "{% $states.input.n * $states.input.n %}", "End": True}
                },
            },
            "End": True,
        }
    },
}


def written(folder, each):
    """Write the definition, the files and their list; return the definition's path."""
    for part in range(FILES):
        lines = "".join(f'{{"n": {n}}}\n' for n in range(part * each, part * each + each))
        (folder / f"p{part}.jsonl").write_text(lines)
    (folder / "m.csv").write_text("".join(f"s3://lake/p{part}.jsonl\n" for part in range(FILES)))
    path = folder / "flow.asl.json"
    path.write_text(json.dumps(MACHINE))
    return path


def killed(file, table, folder, run_id, drawn):
    """Run a child and kill it behind a wave; return whether it was killed before it was over."""
    command = [sys.executable, "-c", CHILD, str(file), table, str(folder), run_id]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with child:
        for _ in range(drawn.randint(1, 5)):
            if child.stdout.readline().strip() != "wave":
                break
        time.sleep(drawn.uniform(0, 1.5))
        over = child.poll() is not None
        if not over:
            os.killpg(child.pid, signal.SIGKILL)
    if over and child.returncode:
        raise SystemExit(f"a child ended by itself with {child.returncode}")
    return not over


def lost_and_doubled(spark, table, run_id, items):
    """Return how many items of a run have no row, and how many have more than one; wrong answers end it."""
    rows = spark.table(table).where(f"_run = '{run_id}'")
    if wrong := rows.where("CAST(_output AS BIGINT) IS DISTINCT FROM _index * _index").head(3):
        raise SystemExit(f"wrong answers: {wrong}")
    count, distinct = rows.selectExpr("count(*)", "count(DISTINCT _index)").first()
    return items - distinct, count - distinct


def main(kills=100, each=25, seed=1):
    drawn, spark = random.Random(seed), session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak_maps")
    table, items, done, runs = "soak_maps.t", FILES * each, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = written(folder, each)
        definition = maps.read(file)
        while done < kills:
            runs += 1
            while done < kills and killed(file, table, folder, f"run {runs}", drawn):
                done += 1
            maps.run(spark, definition, table, run_id=f"run {runs}", buckets={"lake": name}, wave_rows=1)
            spark.catalog.refreshTable(table)
            lost, doubled = lost_and_doubled(spark, table, f"run {runs}", items)
            refs = [row.name for row in spark.sql(f"SELECT name FROM {table}.refs").collect()]
            print(f"run {runs}: {done} kills, {lost} lost, {doubled} doubled", flush=True)
            if lost or doubled or refs != ["main"]:
                raise SystemExit(f"run {runs}: {lost} items lost, {doubled} doubled, refs {', '.join(refs)}")
    print(f"{done} kills in {runs} runs of {items:,} items: 0 lost, 0 doubled")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
