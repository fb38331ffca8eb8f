"""The session of a benchmark: on a lake that is thrown away, in a JVM that has the time to compile fully."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

ENVIRONMENT = """
description: throw-away lake for a benchmark; the JVM compiles fully
catalog: {{type: embedded, folder: scratch}}
spark:
  master: local[2]
  shuffle_partitions: 2
  lifetime: long
  driver_memory: {memory}
  conf: {{spark.sql.adaptive.enabled: false}}
"""


def start(*, driver_memory="auto"):
    """Start the session, with the namespace `bench`; driver_memory is its heap."""
    from workbench import session

    with tempfile.TemporaryDirectory() as folder:
        (environment := Path(folder) / "bench.yml").write_text(ENVIRONMENT.format(memory=driver_memory))
        spark = session.start(str(environment))
    # the lake is the process's, in which sessions may follow each other
    spark.sql("CREATE NAMESPACE IF NOT EXISTS bench")
    return spark


@contextmanager
def opened(**settings):
    """The session of `start`, stopped with the context."""
    from workbench import session

    spark = start(**settings)
    try:
        yield spark
    finally:
        session.stop(spark)
