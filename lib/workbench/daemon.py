"""Spark's Python daemon without Spark's own zip files on its path: `spark.python.daemon.module`.

Spark puts pyspark.zip, py4j's and its core jar (5,000 entries) before all other folders, and has every task
forget what imports remember. Before Python 3.12 that reads each of the archives anew, once for every package
imported from it (python/cpython #103200, SPARK-54744): most of what a small task costs. The packages that are
installed are the same.

Importing this changes nothing; run as a module it is the daemon.
"""

import sys
from pathlib import Path

PREFIXES, SUFFIXES = ("pyspark", "py4j-", "spark-core_"), (".zip", ".jar")


def without_archives(path: list[str]) -> list[str]:
    """Return a path's entries without Spark's own archives, if PySpark can be found in one of the others.

    Args:
        path: list of str, as sys.path.

    Returns:
        list of str; all of them where PySpark is only in the archives.
    """
    ours = [entry for entry in path if not (Path(entry).name.startswith(PREFIXES) and entry.endswith(SUFFIXES))]
    return ours if any((Path(entry) / "pyspark" / "daemon.py").is_file() for entry in ours) else list(path)


if __name__ == "__main__":
    sys.path[:] = without_archives(sys.path)
    sys.path_importer_cache.clear()
    from pyspark import daemon

    daemon.manager()  # type: ignore[no-untyped-call]
