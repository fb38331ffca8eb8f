"""A running Spark session, and the settings that it has for a block."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession


@checked
@contextmanager
def configured(spark: SparkSession, conf: Mapping[str, str | int | float | bool]) -> Iterator[None]:
    """Make settings for a block; at its end each is again what it was.

    Args:
        spark: session, also of Spark Connect.
        conf: key to value; those that a running session cannot change must be set already.

    Raises:
        ValueError: a setting is another one, and a running session cannot change it.
    """
    before: dict[str, str | None] = {}
    try:
        for key, value in conf.items():
            setting = str(value).lower() if isinstance(value, bool) else str(value)
            now = spark.conf.get(key, None)
            if now == setting:
                continue
            try:  # isModifiable is False of each key that Spark does not know, as are Iceberg's
                spark.conf.set(key, setting)
            except Exception as error:
                raise ArgumentError(
                    f"{key} is {now}, expected {setting}: it needs a process of its own"
                ) from error
            before[key] = now
        yield
    finally:
        for key, earlier in before.items():
            spark.conf.unset(key) if earlier is None else spark.conf.set(key, earlier)
