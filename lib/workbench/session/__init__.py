"""The one SparkSession of an environment: silent, UTC, the same order and the same files on every machine.

The parts: configuration (Spark's settings), classes (class-data archives), launch (the JVM and its end).
"""

import logging
from pathlib import Path
from typing import Any

from workbench._base import jars, lake, secrets, settings
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.hardware import memory_bytes as machine_memory_bytes
from workbench._base.scratch import enter as scratch_folder
from workbench._base.sessions import configured
from workbench._base.typing import Catalog, SparkSession
from workbench.session import configuration, launch
from workbench.session import services as stand_ins
from workbench.session.classes import build_archive, class_data_options
from workbench.session.configuration import driver_memory, lake_folder, spark_conf
from workbench.session.launch import stop

__all__ = [
    "broker", "build_archive", "catalog", "catalog_properties", "class_data_options", "configured",
    "driver_memory", "lake_folder", "machine_memory_bytes", "s3_client", "scratch_folder", "spark_conf",
    "stand_in", "start", "stop",
]  # fmt: skip


@checked
def start(environment: str | Path = "local") -> SparkSession:
    """Start the session of an environment, or return the one that is already there.

    Where a home brings its own session (Glue, a cluster's notebook) that one is returned, with its time zone set
    to UTC. Spark and the process run in UTC; nothing is printed.

    Args:
        environment: name of a file in params/environments, or its path.

    Returns:
        SparkSession whose default catalog is the environment's.

    Raises:
        ValueError: the environment, Java, PySpark or a jar is wrong or missing, or this process already runs a
            session of another environment.
    """
    spark_class = launch.session_class()
    env = settings.environment(environment)
    if running := spark_class.getActiveSession():
        if launch.started and launch.started["environment"] != env:
            raise ArgumentError(
                f"this process runs a session of environment {launch.started['environment'].name}; "
                f"restart the kernel to use {env.name}"
            )
        running.conf.set("spark.sql.session.timeZone", "UTC")
        return running
    names = tuple(env.jars)
    jars.for_environment(names, env.name)
    # PySpark prints each failed statement as JSON on stderr, those that are caught and shown on purpose too
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    options = class_data_options(names) if names else []  # no jars of ours: another machine's Spark
    launch.utc()
    resolved, secret = configuration.split(spark_conf(env))
    resolved["spark.driver.extraJavaOptions"] = launch.line(launch.options(env) + options)
    builder = spark_class.builder.appName("workbench")
    for key, value in resolved.items():
        builder = builder.config(key, value)
    early = {key: secret.pop(key) for key in [*secret] if key.startswith("spark.authenticate")}
    loopback = resolved.get("spark.driver.host") == launch.LOOPBACK
    with launch.environment(loopback=loopback, python=loopback or resolved["spark.master"].startswith("local")):
        launch.require_master(resolved["spark.master"])
        if early:
            launch.hand_over(resolved, {key: secrets.resolve(value) for key, value in early.items()})
        spark = builder.getOrCreate()
    for key, value in secret.items():  # from inside: everybody on the machine can read a command line
        spark.sparkContext._jsc.sc().conf().set(key, secrets.resolve(value))  # for sessions made from this one
        spark.conf.set(key, secrets.resolve(value))
        if key.startswith("spark.hadoop."):
            spark.sparkContext._jsc.hadoopConfiguration().set(key[13:], secrets.resolve(value))
    launch.started["environment"] = env
    return spark


@checked
def catalog(environment: str | Path = "local") -> Catalog:
    """Load the environment's catalog with PyIceberg: the same name, the same tables as in Spark.

    Returns:
        pyiceberg.catalog.Catalog.

    Raises:
        ValueError: the environment is wrong, or a reference in it cannot be resolved.
    """
    from pyiceberg.catalog import load_catalog

    return load_catalog(**catalog_properties(environment))


@checked
def catalog_properties(environment: str | Path = "local") -> dict[str, str]:
    """Return the properties of the environment's catalog as PyIceberg has them, without importing PyIceberg.

    Returns:
        dict of texts: `name` and what `load_catalog` takes beside it; references are resolved, so that it may
        hold secrets.

    Raises:
        ValueError: the environment is wrong, or a reference in it cannot be resolved.
    """
    env = settings.environment(environment)
    cat = env.catalog
    properties: dict[str, str | None]
    if cat.type == "embedded":
        properties = {**lake.pyiceberg_properties(lake_folder(env))}
    else:
        kind = "sql" if cat.type == "jdbc" else cat.type
        uri = lake.pyiceberg_uri(cat.uri) if cat.uri else None
        properties = {"type": kind, "uri": uri, "warehouse": cat.warehouse}
    properties |= stand_ins.properties_of(env) | cat.properties
    known = {key: secrets.resolve(value) for key, value in properties.items() if value is not None}
    return {"name": cat.name} | known


@checked
def stand_in(environment: str | Path = "local") -> Any:
    """Return the running stand-in that an environment names, started when it is not there.

    Returns:
        workbench_standins.archive.Store or workbench_standins.s3.Server, which lives as long as this process and
        serves those it starts too; None where the environment names none: there the service is the real one, and
        so is its clock.
    """
    return stand_ins.of(settings.environment(environment))


@checked
def broker(environment: str | Path = "local") -> Any:
    """Return the Kafka broker of an environment: one on this machine, or the cluster it names.

    Returns:
        workbench_standins.kafka.Broker: one on this machine is started when it is not there, lives as long as this
        process and serves those it starts too.

    Raises:
        ValueError: the environment names none, or a jar is missing.
        ModuleNotFoundError: confluent-kafka is not installed.
    """
    return stand_ins.broker(settings.environment(environment))


@checked
def s3_client(environment: str | Path = "local") -> Any:
    """Return a boto3 client for the S3 of an environment: its stand-in, or what the catalog's properties say."""
    import boto3

    env = settings.environment(environment)
    if store := stand_ins.of(env):
        return store.client()
    properties = {key: secrets.resolve(value) for key, value in env.catalog.properties.items()}
    names = {"endpoint_url": "s3.endpoint", "region_name": "client.region"}
    names |= {"aws_session_token": "s3.session-token"}
    names |= {"aws_access_key_id": "s3.access-key-id", "aws_secret_access_key": "s3.secret-access-key"}
    return boto3.client("s3", **{name: properties[key] for name, key in names.items() if key in properties})
