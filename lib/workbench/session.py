"""The one SparkSession of an environment: silent, UTC, the same order and the same files on every machine."""

import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from workbench import java, lake, scratch, secrets, settings
from workbench.local.archive import shared

_started = {}

# The JVM lives for seconds, not hours: the first compiler alone, no counters in a shared file.
SHORT_LIFE = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
ARCHIVE_SECONDS = 300
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def start(environment="local"):
    """Start the session of an environment, or return the one that is already there.

    Where a home brings its own session (Glue, a cluster's notebook) that one is returned, with its time zone set
    to UTC. Spark and the process run in UTC; nothing is printed.

    Args:
        environment: name of a file in params/environments, or its path.

    Returns:
        SparkSession whose default catalog is the environment's.

    Raises:
        ValueError: the environment, Java, PySpark or a jar is not right, or this process already runs a session
            of another environment.
    """
    spark_class = _session_class()
    env = settings.environment(environment)
    if running := spark_class.getActiveSession():
        if _started and _started["environment"] != env:
            raise ValueError(
                f"this process runs a session of environment {_started['environment'].name}; "
                f"restart the kernel to use {env.name}"
            )
        running.conf.set("spark.sql.session.timeZone", "UTC")
        return running
    names = tuple(env.jars)
    java.require_jars(names, environment=env.name)
    # PySpark prints each failed statement as JSON on stderr, those that are caught and shown on purpose too
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    options = class_data_options(names)
    _utc()
    resolved, secret = _split(spark_conf(env))
    builder = spark_class.builder.appName("workbench")
    for key, value in resolved.items():
        builder = builder.config(key, value)
    with _launch_environment():
        spark = builder.config("spark.driver.extraJavaOptions", " ".join(_options(env) + options)).getOrCreate()
    for key, value in secret.items():  # from inside: everybody on the machine can read a command line
        spark.conf.set(key, secrets.resolve(value))
        if key.startswith("spark.hadoop."):
            spark.sparkContext._jsc.hadoopConfiguration().set(key[13:], secrets.resolve(value))
    _started["environment"] = env
    return spark


def stop(spark):
    """Stop a session and wait until its JVM has ended."""
    gateway = spark.sparkContext._gateway
    spark.stop()
    process = getattr(gateway, "proc", None)
    gateway.shutdown()
    if process is not None:
        process.stdin.close()
        process.wait(timeout=120)
    _session_class()._instantiatedSession = None
    type(spark.sparkContext)._gateway = type(spark.sparkContext)._jvm = None
    _started.clear()


def catalog(environment="local"):
    """Load the environment's catalog with PyIceberg: the same name, the same tables as in Spark.

    Returns:
        pyiceberg.catalog.Catalog.

    Raises:
        ValueError: the environment is wrong, or a reference in it cannot be resolved.
    """
    from pyiceberg.catalog import load_catalog

    env = settings.environment(environment)
    cat = env.catalog
    if cat.type == "embedded":
        properties = lake.pyiceberg_properties(lake_folder(env))
    else:
        kind = "sql" if cat.type == "jdbc" else cat.type
        uri = cat.uri.removeprefix("jdbc:") if cat.uri else None
        properties = {"type": kind, "uri": uri, "warehouse": cat.warehouse}
    properties |= shared.properties_of(env)
    properties |= {key: secrets.resolve(value) for key, value in cat.properties.items()}
    return load_catalog(cat.name, **{key: value for key, value in properties.items() if value is not None})


def stand_in(environment="local"):
    """Return the running stand-in that an environment names, started when it is not there.

    Returns:
        workbench.local.archive.Store, which lives as long as this process and serves those it starts too; None
        where the environment names no stand-in: there the service is the real one, and so is its clock.
    """
    return shared.of(settings.environment(environment))


def s3_client(environment="local"):
    """Return a boto3 client for the S3 of an environment: its stand-in, or what the catalog's properties say."""
    import boto3

    env = settings.environment(environment)
    if store := shared.of(env):
        return store.client()
    found = {key: secrets.resolve(value) for key, value in env.catalog.properties.items()}
    names = {"endpoint_url": "s3.endpoint", "region_name": "client.region"}
    names |= {"aws_session_token": "s3.session-token"}
    names |= {"aws_access_key_id": "s3.access-key-id", "aws_secret_access_key": "s3.secret-access-key"}
    return boto3.client("s3", **{name: found[key] for name, key in names.items() if key in found})


def lake_folder(env):
    """Return the folder of an embedded lake, made when missing: the run's own, or the named one."""
    named = env.catalog.folder
    folder = scratch.enter() / "lake" if named == "scratch" else settings.home() / named
    lake.make(folder)
    return folder


def spark_conf(env):
    """Return the Spark settings of an environment, references not yet resolved: key to text."""
    cat, temporary = env.catalog, scratch.enter()
    key = f"spark.sql.catalog.{cat.name}"
    conf = {
        "spark.master": env.spark.master,
        "spark.driver.memory": driver_memory(env.spark.driver_memory),
        "spark.driver.extraClassPath": os.pathsep.join(str(java.jar_path(name)) for name in env.jars),
        "spark.sql.shuffle.partitions": env.spark.shuffle_partitions,
        "spark.default.parallelism": env.spark.shuffle_partitions,
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.defaultCatalog": cat.name,
        key: "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Iceberg 1.11's parser drops parameter markers on Spark 4.1 (apache/iceberg #16625); this binds them later
        "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
        # a plan that depends on sizes would let file counts differ between machines
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.warehouse.dir": f"file://{temporary}/spark-warehouse",
        "spark.local.dir": str(temporary),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if env.spark.master.startswith("local"):
        conf |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if cat.type == "embedded":
        conf |= {f"{key}.{name}": value for name, value in lake.spark_properties(lake_folder(env)).items()}
    else:
        conf |= {f"{key}.type": cat.type}
        conf |= {f"{key}.uri": cat.uri} if cat.uri else {}
        conf |= {f"{key}.warehouse": cat.warehouse} if cat.warehouse else {}
    conf |= {f"{key}.{name}": value for name, value in (shared.properties_of(env) | cat.properties).items()}
    return {name: _text(value) for name, value in (conf | env.spark.conf).items()}


def driver_memory(wanted):
    """Return the driver's heap: as wanted, or a quarter of the machine between 1 and 4 GiB (`2048m`)."""
    if wanted != "auto":
        return wanted
    return f"{min(max(machine_memory_bytes() // 4, 1 << 30), 4 << 30) >> 20}m"


def machine_memory_bytes():
    """Return the memory of the machine, or the share of it that a container has."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and (text := limit.read_text().strip()).isdigit():
        machine = min(machine, int(text))
    return machine


def class_data_options(names):
    """Return the JVM options that use the class-data archive of a jar set, built when missing.

    Without one (not to be built, too slow, a read-only folder) a session starts slower and is the same otherwise.
    """
    try:
        archive = java.archive_path(names)
        if not archive.is_file():
            build_archive(names)
    except (OSError, subprocess.TimeoutExpired):
        return []
    quiet = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xshare:auto"]
    usable = archive.is_file() and archive.stat().st_size  # an empty file says: tried, cannot be had
    return [f"-XX:SharedArchiveFile={archive}", *quiet] if usable else []


def build_archive(names):
    """Build the class-data archive of a jar set: a child process runs the usual statements and dumps at exit.

    Returns:
        Path of the archive; an empty file says that the JVM wrote none. Two processes that build it do no harm:
        the file is put in place in one step. On a machine too busy, subprocess.TimeoutExpired: nothing is left.
    """
    archive = java.archive_path(names)
    java.dump_base_archive()
    with java.replacing(archive) as new:
        new.unlink()
        code = "import sys; from workbench import session; session._train(sys.argv[1], sys.argv[2:])"
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) | {"start_new_session": True}
        with subprocess.Popen([sys.executable, "-c", code, str(new), *names], **quiet) as child:
            try:
                child.wait(timeout=ARCHIVE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)  # its JVM too, which would write the file at its end
                raise
        new.touch()
    return archive


def _train(archive, names):
    """Run the statements that notebooks use, in a JVM that dumps its loaded classes when it ends."""
    os.environ.pop(scratch.VARIABLE, None)
    env = settings.parse(
        {"name": "training", "description": "", "catalog": {"type": "embedded"}, "jars": names}, "training"
    )
    _utc()
    builder = _session_class().builder
    for key, value in spark_conf(env).items():
        builder = builder.config(key, value)
    options = [*_options(env), f"-XX:ArchiveClassesAtExit={archive}"]
    with _launch_environment():
        spark = builder.config("spark.driver.extraJavaOptions", " ".join(options)).getOrCreate()
    try:
        for statement in _STATEMENTS:
            spark.sql(statement).toPandas()
        spark.createDataFrame([(1, "a")], "id long, name string").groupBy("name").count().collect()
    finally:
        stop(spark)


_STATEMENTS = (
    "CREATE NAMESPACE IF NOT EXISTS n",
    "CREATE TABLE n.t (id BIGINT, day DATE, name STRING, price DECIMAL(10, 2)) USING iceberg "
    "PARTITIONED BY (months(day)) TBLPROPERTIES ('format-version' = '2')",
    "INSERT INTO n.t SELECT id, DATE'2026-01-01' + CAST(id % 90 AS INT), CAST(id AS STRING), 1.5 FROM range(1000)",
    "MERGE INTO n.t USING (SELECT 1L AS id) s ON n.t.id = s.id WHEN MATCHED THEN UPDATE SET name = 'x'",
    "DELETE FROM n.t WHERE id = 2",
    "ALTER TABLE n.t CREATE BRANCH b",
    "INSERT INTO n.t.branch_b VALUES (5000, DATE'2026-02-01', 'b', 2.5)",
    "CALL system.fast_forward('n.t', 'main', 'b')",
    "ALTER TABLE n.t ADD COLUMN note STRING",
    "CALL system.rewrite_data_files('n.t')",
    "SELECT day, count(*) c, sum(price) s, row_number() OVER (ORDER BY day) r FROM n.t "
    "WHERE day < DATE'2026-03-01' GROUP BY day ORDER BY day",
    "SELECT a.id FROM n.t a JOIN n.t b ON a.id = b.id WHERE b.name LIKE '1%' ORDER BY 1 LIMIT 5",
    "SELECT * FROM n.t.snapshots ORDER BY committed_at",
    "SELECT file_path, record_count FROM n.t.files",
    "DROP TABLE n.t PURGE",
)


def _options(env):
    log = Path(os.environ.get("WORKBENCH_RUN_DIR") or scratch.enter()) / "spark.log"
    config = Path(__file__).parent / "log4j2.properties"
    found = [f"-Dlog4j2.configurationFile=file:{config}", f"-Dworkbench.log={log}"]
    return found + list(SHORT_LIFE if env.spark.lifetime == "short" else ())


@contextmanager
def _launch_environment():
    """Set what spark-submit reads from the process for the time of the launch, and put it back."""
    ours = {
        "JAVA_HOME": str(java.launcher()),
        "SPARK_HOME": str(java.spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    unset = ("PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
    before = {key: os.environ.get(key) for key in (*ours, *unset)}
    os.environ.update(ours)
    for key in unset:  # each of them would print a line, change the class path or both
        os.environ.pop(key, None)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)


def _split(conf):
    secret = {key: value for key, value in conf.items() if secrets.REFERENCE.fullmatch(value)}
    return {key: value for key, value in conf.items() if key not in secret}, secret


def _session_class():
    java.spark_home()
    from pyspark.sql import SparkSession

    return SparkSession


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def _utc():
    os.environ["TZ"] = "UTC"
    time.tzset()
