"""Items per CPU second of a distributed map: against the same rule as Spark SQL, and against two other engines.

    python -m bench.maps [DEVICES [HOURS [ROUNDS [ITEMS]]]]

The map and the rule write the same readings' answers into a table, in turn; so do the map and the engines with a file of
small items and one Pass state, of which the engines get ITEMS and the map 500 times as many. The median of the
rounds counts, and the answers are compared before a figure is kept. CPU is that of this process and all that it started.
The workers' memory is looked at behind a tenth of the readings and behind all of them.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import aws_stand_in
from workers import resident_mib

from bench import evidence
from bench.spent import Clock
from workbench import maps, session
from workbench.data import sensors
from workbench_standins import account

AT_MOST = 5  # times the CPU of the SQL rule
AT_LEAST = {"moto": 25, "ministack": 4}  # times the items per CPU second of another engine
MEMORY = 1.2  # at most so many times that of a tenth of the readings
MANY = 500  # times as many items for the map as for an engine: a run has a begin, which is not what is compared
FILE = Path(__file__).resolve().parents[2] / "params" / "34_map_items" / "machine.asl.json"
ANALYSE = "arn:aws:lambda:eu-central-1:123456789012:function:analyse"
ROW = "deviceid STRING, timestamp STRING, temperature DOUBLE, humidity DOUBLE, anomalycount INT"
COLUMNS = ["deviceid", "timestamp", "temperature", "humidity", "anomalycount"]
RULE = (
    "int(temperature > 35 OR temperature < -10) + int(humidity > 95 OR humidity < 5) + int(batterylevel < 20) "
    "AS anomalycount"
)
ROLE = "arn:aws:iam::123456789012:role/map"


def analyse(reading, call):
    warm, wet, battery = reading["temperature"], reading["humidity"], reading["batterylevel"]
    count = (warm > 35 or warm < -10) + (wet > 95 or wet < 5) + (battery < 20)
    kept = {name: reading[name] for name in ("deviceid", "timestamp", "temperature", "humidity")}
    return kept | {"anomalycount": int(count)}


def main(devices=8, hours=12_500, rounds=3, items=1_000):
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench_maps")
    tenth, _ = by_rule(spark, devices, max(1, hours // 10), 1, "tenth")
    whole, figures = by_rule(spark, devices, hours, rounds, "whole")
    evidence.write(
        "maps", rounds=rounds, **figures, engines=by_engine(spark, items, rounds),
        worker_mib={"a tenth of the readings": tenth, "all": whole},
        memory={"ratio": round(whole / tenth, 2), "at_most": MEMORY, "met": whole <= MEMORY * tenth},
    )  # fmt: skip


def by_rule(spark, devices, hours, rounds, name):
    """Return the workers' memory in MiB and the figures of the map against the rule in SQL."""
    made = sensors.made(spark, devices=devices, hours=hours)
    with tempfile.TemporaryDirectory() as folder:
        buckets = {"lake": folder}
        maps.unload(spark, made.frame, to="s3://lake/day", partition="deviceid", buckets=buckets)
        definition = maps.read(FILE, names={"Partition": "aws", "AnalyseArn": ANALYSE, "StreamName": "readings"})
        given = {"bucket": "lake", "manifest": "day-manifest.csv", "tolerated": 0}
        bound = {ANALYSE: analyse, "readings": maps.Delivery(ROW)}
        clock, spent, memory = Clock(), {"map": [], "sql": []}, []
        mapped, ruled = f"bench_maps.map_{name}", f"bench_maps.sql_{name}"
        for turn in range(rounds + 1):  # the first warms up
            begin = clock()
            maps.run(spark, definition, mapped, run_id=str(turn), input=given, resources=bound, buckets=buckets)
            between = clock()
            memory.append(resident_mib())
            source = spark.read.parquet(f"{folder}/day")
            rule = source.selectExpr("deviceid", "timestamp", "temperature", "humidity", RULE)
            rule.writeTo(ruled).using("iceberg").createOrReplace()
            if turn:
                spent["map"].append(between - begin)
                spent["sql"].append(clock() - between)
        answers = maps.results(spark, mapped, run_id=str(rounds)).select(*COLUMNS)
        expected = spark.table(ruled).select(*COLUMNS)
        if answers.exceptAll(expected).count() or not answers.count() == expected.count() == made.rows:
            raise SystemExit("the answers differ")
    cpu = {way: statistics.median(seconds) for way, seconds in spent.items()}
    ratio = cpu["map"] / cpu["sql"]
    return round(statistics.median(memory)), {
        "items": made.rows, "equal": True, "ratio": round(ratio, 2), "at_most": AT_MOST, "met": ratio <= AT_MOST,
        "items_per_cpu_second": {way: round(made.rows / seconds) for way, seconds in cpu.items()},
    }  # fmt: skip


def machine(reader, **fields):
    """Return a definition of one Pass state over the items of a file."""
    child = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Give"}
    child["States"] = {"Give": {"Type": "Pass", "End": True}}
    reader = {"Resource": "arn:aws:states:::s3:getObject", **reader}
    return fields | {
        "StartAt": "Each",
        "States": {"Each": {"Type": "Map", "ItemReader": reader, "ItemProcessor": child, "End": True}},
    }


LINES = machine(
    {"ReaderConfig": {"InputType": "JSONL"}, "Arguments": {"Bucket": "lake", "Key": "items"}},
    QueryLanguage="JSONata",
)
ARRAY = machine({"ReaderConfig": {"InputType": "JSON"}, "Parameters": {"Bucket": "lake", "Key": "items"}})


def by_engine(spark, count, rounds):
    """Return the figures of the map against moto and ministack, which get the files that they read."""
    from moto import mock_aws

    clock, spent = Clock(), {"map": [], "moto": [], "ministack": []}
    with tempfile.TemporaryDirectory() as folder, account.serve(aws_stand_in.PYTHON) as served:
        (path := Path(folder, "machine.json")).write_text(json.dumps(LINES))
        definition = maps.read(path)
        for turn in range(rounds + 1):
            items = [{"n": turn * count + n, "name": f"device-{n}"} for n in range(count)]
            many = [items[n % count] | {"again": n // count} for n in range(count * MANY)]
            Path(folder, "items").write_text("".join(json.dumps(item) + "\n" for item in many))
            begin = clock()
            maps.run(spark, definition, "bench_maps.passed", run_id=str(turn), buckets={"lake": folder})
            answers, seconds = {}, {"map": clock() - begin}
            rows = maps.results(spark, "bench_maps.passed", run_id=str(turn)).orderBy("_index").collect()
            if [json.loads(row._output) for row in rows] != many:
                raise SystemExit("the answers of the map differ")
            with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
                clients = [_client(name) for name in ("s3", "stepfunctions")]
                seconds["moto"], answers["moto"] = _executed(clock, *clients, ARRAY, json.dumps(items))
            clients = [served.client(name) for name in ("s3", "stepfunctions")]
            lines = "\n".join(map(json.dumps, items))
            seconds["ministack"], answers["ministack"] = _executed(clock, *clients, LINES, lines)
            if wrong := [name for name, answer in answers.items() if answer != items]:
                raise SystemExit(f"the answers of {', '.join(wrong)} differ")
            for name in spent if turn else ():
                spent[name].append(seconds[name])
    per_second = {name: count * (MANY if name == "map" else 1) / statistics.median(spent[name]) for name in spent}
    ratios = {name: per_second["map"] / per_second[name] for name in AT_LEAST}
    return {
        "items": count, "items_of_the_map": count * MANY, "equal": True,
        "items_per_cpu_second": {name: round(figure) for name, figure in per_second.items()},
        "goals": {
            name: {"ratio": round(ratios[name], 1), "at_least": goal, "met": ratios[name] >= goal}
            for name, goal in AT_LEAST.items()
        },
    }  # fmt: skip


def _client(service):
    import boto3

    return boto3.client(service, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x")


def _executed(clock, s3, steps, definition, body):
    """Return the CPU seconds of an execution of another engine over a file, and its output."""
    with closing(s3), closing(steps):
        if not any(bucket["Name"] == "lake" for bucket in s3.list_buckets()["Buckets"]):
            s3.create_bucket(Bucket="lake")
        s3.put_object(Bucket="lake", Key="items", Body=body.encode())
        name = f"m{time.time_ns()}"
        made = steps.create_state_machine(name=name, definition=json.dumps(definition), roleArn=ROLE)
        begin = clock()
        begun = steps.start_execution(stateMachineArn=made["stateMachineArn"], input="{}")["executionArn"]
        while (ended := steps.describe_execution(executionArn=begun))["status"] == "RUNNING":
            time.sleep(0.2)
        seconds = clock() - begin
    if ended["status"] != "SUCCEEDED":
        raise SystemExit(f"an execution ended as {ended['status']}: {ended.get('cause')}")
    return seconds, json.loads(ended["output"])


if __name__ == "__main__":
    os.environ.pop("AWS_ENDPOINT_URL", None)
    main(*map(int, sys.argv[1:]))
