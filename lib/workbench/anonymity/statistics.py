"""Statistics in Puffin files: a sketch of distinct values keeps hashes of them, without a salt."""

import struct
from collections.abc import Iterator

from workbench._base.typing import Java, SparkSession, jvm
from workbench.anonymity import bounds
from workbench.anonymity.values import Sought

_SKETCH = "apache-datasketches-theta-v1"
_MOST = 5_000  # values that are asked for: each is a call to the JVM


def known(spark: SparkSession, loaded: Java, sought: Sought) -> Iterator[tuple[str, list[int], str]]:
    """Yield (column, numbers of values, file) of the sketches that know values.

    Of many values some thousand are asked for, evenly chosen. A sketch of a column with millions of values keeps a
    sample of them, so that it may know a value and not say so.
    """
    names = bounds.columns(loaded)
    step = max(1, len(sought.texts) // _MOST)
    asked = range(0, len(sought.texts), step)
    for file in loaded.statisticsFiles():
        for column, kind, sketch in _sketches(spark, loaded, file.path(), names):
            numbers = [number for number in asked if _has(spark, sketch, _bytes(sought.given[number], kind))]
            if numbers:
                yield column, numbers, file.path()


def _sketches(
    spark: SparkSession, loaded: Java, path: str, names: dict[int, tuple[str, str]]
) -> Iterator[tuple[str, str, Java]]:
    iceberg = jvm(spark).org.apache.iceberg
    reader = iceberg.puffin.Puffin.read(loaded.io().newInputFile(path)).build()
    try:
        blobs = [blob for blob in reader.fileMetadata().blobs() if blob.type() == _SKETCH]
        pairs = reader.readAll(blobs).iterator()
        while pairs.hasNext():
            pair = pairs.next()
            for number in pair.first().inputFields():
                column, kind = names.get(int(number), (f"field {number}", "STRING"))
                yield column, kind, _read(spark, pair.second())
    finally:
        reader.close()


def _read(spark: SparkSession, content: Java) -> Java:
    iceberg = jvm(spark).org.apache.iceberg
    content = iceberg.util.ByteBuffers.toByteArray(content)
    memory = iceberg.shaded.org.apache.datasketches.memory.Memory.wrap(content)
    return iceberg.shaded.org.apache.datasketches.theta.Sketches.wrapSketch(memory)


def _has(spark: SparkSession, sketch: Java, value: bytes | None) -> bool:
    if value is None:
        return False
    theta = jvm(spark).org.apache.iceberg.shaded.org.apache.datasketches.theta
    single = theta.UpdateSketch.builder().build()
    single.update(bytearray(value))
    return bool(theta.SetOperation.builder().buildIntersection().intersect(sketch, single).getEstimate() > 0)


def _bytes(text: str, kind: str) -> bytes | None:
    """Return a value as Iceberg gives it to a sketch; None where the column cannot have it."""
    if kind == "STRING":
        return text.encode()
    if kind in ("INTEGER", "LONG"):
        try:
            return struct.pack("<i" if kind == "INTEGER" else "<q", int(text))
        except (ValueError, struct.error):
            return None
    return None
