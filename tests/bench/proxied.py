"""A session whose catalog, or the store behind it, is asked through a proxy that counts and holds requests."""

from contextlib import contextmanager

from workbench import session
from workbench_standins import proxy


@contextmanager
def behind(environment, setting):
    """Give a session of an environment with a proxy before an address of its catalog, and the proxy.

    Args:
        environment: its name.
        setting: the catalog's property that has the address: `uri`, `s3.endpoint`.
    """
    spark = session.start(environment)
    try:
        key = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}"
        settings = {name: value for name, value in spark.conf.getAll.items() if name.startswith(key)}
        with proxy.between(settings[f"{key}.{setting}"]) as between:
            through = spark.newSession()
            for name, value in (settings | {f"{key}.{setting}": between.endpoint}).items():
                through.conf.set(name, value)
            through.sql("CREATE NAMESPACE IF NOT EXISTS bench")
            yield through, between
    finally:
        session.stop(spark)
