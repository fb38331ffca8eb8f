"""Sensors' readings with planted anomalies, as files, and the published rule as a handler."""

import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import cloudpickle

DDL = (
    "deviceid STRING NOT NULL, analysisdate STRING, readingtimestamp STRING, readingscount INT, "
    "metrics STRUCT<temperature: DOUBLE, humidity: DOUBLE, batterylevel: DOUBLE, latitude: DOUBLE, longitude: DOUBLE>, "
    "anomalies ARRAY<STRUCT<type: STRING, value: DOUBLE, threshold: STRING>>, anomalycount INT, healthstatus STRING"
)


def readings(device, hours, seed=1):
    """The readings of a device, a dict each: as the walkthrough makes them, by a seed."""
    drawn = random.Random(f"{seed} {device}")
    latitude, longitude = 37.7749 + drawn.uniform(-0.05, 0.05), -122.4194 + drawn.uniform(-0.05, 0.05)
    temperature, humidity, battery = drawn.uniform(20, 30), drawn.uniform(40, 70), drawn.uniform(60, 100)
    rows = []
    for hour in range(hours):
        warm, wet = temperature + drawn.uniform(-2, 2), humidity + drawn.uniform(-5, 5)
        if drawn.random() < 0.05:
            warm = drawn.uniform(40, 50) if drawn.random() < 0.5 else drawn.uniform(-15, -10)
        if drawn.random() < 0.03:
            wet = drawn.uniform(98, 100) if drawn.random() < 0.5 else drawn.uniform(2, 5)
        rows.append(
            {
                "timestamp": f"2026-01-{1 + hour // 24:02}T{hour % 24:02}:00:00Z",
                "temperature": round(warm, 2),
                "humidity": round(wet, 2),
                "batterylevel": round(battery - 1.5 * (hour % 24), 2),
                "latitude": latitude + drawn.uniform(-0.001, 0.001),
                "longitude": longitude + drawn.uniform(-0.001, 0.001),
                "deviceid": f"sensor-{device:03}",
            }
        )
    return rows


def written(folder, devices=3, hours=24, seed=1, bucket="lake", prefix="daily", per_group=None):
    """Write one Parquet file a device and the manifest of them; return the rows by file and the manifest's URI."""
    names, every = [], {}
    for device in range(1, devices + 1):
        key = f"{prefix}/deviceid_partition=sensor-{device:03}/part {device}.parquet"
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = readings(device, hours, seed)
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=per_group)
        names.append(f"s3://{bucket}/{key}")
        every[names[-1]] = rows
    (folder / f"{prefix}-manifest.csv").write_text("\n".join(names) + "\n")
    return every, f"s3://{bucket}/{prefix}"


def anomalies(reading):
    """The published rule: what is odd about a reading."""
    temperature, humidity, battery = reading["temperature"], reading["humidity"], reading["batterylevel"]
    odd = []
    if temperature > 35 or temperature < -10:
        odd.append(("temperature_spike", temperature, ">35°C" if temperature > 35 else "<-10°C"))
    if humidity > 95 or humidity < 5:
        odd.append(("humidity_anomaly", humidity, ">95%" if humidity > 95 else "<5%"))
    if battery < 20:
        odd.append(("low_battery", battery, "<20%"))
    return [dict(zip(("type", "value", "threshold"), each, strict=True)) for each in odd]


def handler(event, context):
    """The published function, as Lambda calls it; without its clock."""
    odd = anomalies(event)
    names = ("temperature", "humidity", "batterylevel", "latitude", "longitude")
    return {
        "deviceid": event["deviceid"],
        "analysisdate": event["timestamp"].split("T")[0],
        "readingtimestamp": event["timestamp"],
        "readingscount": 1,
        "metrics": {name: event[name] for name in names},
        "anomalies": odd,
        "anomalycount": len(odd),
        "healthstatus": "anomalies_detected" if odd else "healthy",
    }


# Spark's workers do not have the tests' folder: what is of it goes to them as it is
cloudpickle.register_pickle_by_value(sys.modules[__name__])
