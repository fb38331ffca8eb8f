"""A distributed map: docs/maps.md."""

from decimal import Decimal
from typing import assert_type

from pyspark.sql import DataFrame, SparkSession

from workbench import costs, maps


def handler(event: dict[str, float], context: maps.Call) -> dict[str, float]:
    assert_type(context.key, str)
    if event["temperature"] > 100:
        raise maps.TaskFailed("TooHot", "a sensor that burns")
    return {"n": event["n"] + context.tries}


def nightly(spark: SparkSession, readings: DataFrame) -> DataFrame:
    definition = maps.read("machine.asl.json", names={"Partition": "aws"})
    assert_type(definition, maps.Definition)
    maps.read("machine.asl.json", names=["Partition"])  # wrong: arg-type
    unloaded = maps.unload(spark, readings, to="s3://lake/day", partition="deviceid")
    assert_type(unloaded.files, tuple[str, ...])
    maps.unload(spark, readings)  # wrong: call-arg
    resources = {"f": handler, "readings": maps.Delivery("n INT")}
    done = maps.run(spark, definition, "iot.analysed", run_id="2026-01-31", input={"a": 1}, resources=resources)
    assert_type(done, maps.MapRun)
    assert_type(done.failed, int)
    maps.run(spark, definition, "iot.analysed", input={})  # wrong: call-arg
    maps.run(spark, "machine.asl.json", "iot.analysed", run_id="r")  # wrong: arg-type
    maps.run(spark, definition, "iot.analysed", run_id="r", threads="2")  # wrong: arg-type
    maps.redrive(spark, definition, "iot.analysed", run_id="r", input={})  # wrong: call-arg
    print(done.succeeded)  # wrong: attr-defined
    try:
        maps.redrive(
            spark,
            definition,
            "iot.analysed",
            run_id="2026-01-31",
            on_wave=lambda run, left: print(run.items, left),
        )
    except maps.TooManyFailed as error:
        assert_type(error.run, maps.MapRun)
        assert_type(error.failures, tuple[maps.Failure, ...])
    assert_type(maps.failures(spark, "iot.analysed", run_id="r"), list[maps.Failure])
    return maps.results(spark, "iot.analysed", run_id="2026-01-31")


def price() -> Decimal:
    cost = costs.map_run(costs.prices("serverless"), items=1_000_000, execution="express")
    assert_type(cost, costs.MapCost)
    costs.map_run(costs.prices("serverless"), items=1, execution="fast")  # wrong: arg-type
    return cost.usd
