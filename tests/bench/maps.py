"""Items per CPU second of a distributed map, against the same rule as Spark SQL; and the workers' memory by items.

    python -m bench.maps [DEVICES [HOURS [ROUNDS]]]

Both write the same readings' answers into a table, in turn; the median of the rounds counts, and the answers are
compared before a figure is kept. CPU is that of this process and all that it started.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from workers import resident_mib

from bench import evidence
from bench.spent import Clock
from workbench import maps, session
from workbench.data import sensors

GOAL = 5  # at most so many times the CPU of the SQL rule
FILE = Path(__file__).resolve().parents[2] / "params" / "34_map_items" / "machine.asl.json"
ANALYSE = "arn:aws:lambda:eu-central-1:123456789012:function:analyse"
ROW = "deviceid STRING, timestamp STRING, temperature DOUBLE, humidity DOUBLE, anomalycount INT"
RULE = (
    "int(temperature > 35 OR temperature < -10) + int(humidity > 95 OR humidity < 5) + int(batterylevel < 20) "
    "AS anomalycount"
)


def analyse(reading, call):
    warm, wet, battery = reading["temperature"], reading["humidity"], reading["batterylevel"]
    count = (warm > 35 or warm < -10) + (wet > 95 or wet < 5) + (battery < 20)
    kept = {name: reading[name] for name in ("deviceid", "timestamp", "temperature", "humidity")}
    return kept | {"anomalycount": int(count)}


def main(devices=8, hours=12_500, rounds=3):
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench_maps")
    made = sensors.made(spark, devices=devices, hours=hours)
    with tempfile.TemporaryDirectory() as name:
        buckets = {"lake": name}
        maps.unload(spark, made.frame, to="s3://lake/day", partition="deviceid", buckets=buckets)
        definition = maps.read(FILE, names={"Partition": "aws", "AnalyseArn": ANALYSE, "StreamName": "readings"})
        given = {"bucket": "lake", "manifest": "day-manifest.csv", "tolerated": 0}
        bound = {ANALYSE: analyse, "readings": maps.Delivery(ROW)}
        clock, spent, memory = Clock(), {"map": [], "sql": []}, []
        for turn in range(rounds + 1):  # the first warms up
            before = clock()
            maps.run(
                spark,
                definition,
                "bench_maps.map",
                run_id=str(turn),
                input=given,
                resources=bound,
                buckets=buckets,
            )
            between = clock()
            memory.append(resident_mib())
            source = spark.read.parquet(f"{name}/day")
            rule = source.selectExpr("deviceid", "timestamp", "temperature", "humidity", RULE)
            rule.writeTo("bench_maps.sql").using("iceberg").createOrReplace()
            after = clock()
            if turn:
                spent["map"].append(between - before)
                spent["sql"].append(after - between)
        columns = ["deviceid", "timestamp", "temperature", "humidity", "anomalycount"]
        mapped = maps.results(spark, "bench_maps.map", run_id=str(rounds)).select(*columns)
        ruled = spark.table("bench_maps.sql").select(*columns)
        equal = not mapped.exceptAll(ruled).count() and mapped.count() == ruled.count() == made.rows
        if not equal:
            raise SystemExit("the answers differ")
    cpu = {way: statistics.median(seconds) for way, seconds in spent.items()}
    evidence.write(
        "maps", items=made.rows, rounds=rounds, equal=equal, goal=GOAL, ratio=round(cpu["map"] / cpu["sql"], 2),
        items_per_cpu_second={way: round(made.rows / seconds) for way, seconds in cpu.items()},
        worker_mib=round(statistics.median(memory)),
    )  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
