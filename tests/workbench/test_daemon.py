"""Python tasks do not read Spark's archives: the packages that are installed are the same."""

from pathlib import Path

import pyspark

from workbench import daemon

SITE = str(Path(pyspark.__file__).parents[1])
OURS = ["/s/python/lib/pyspark.zip", "/s/python/lib/py4j-0.10.9.9-src.zip", "/s/jars/spark-core_2.13-4.1.4.jar"]


def test_only_sparks_own_archives_go():
    users = ["", "/mine/lib", "/mine/functions.zip", "/mine/pyspark-recipes", SITE]
    assert daemon.without_archives([*OURS, *users]) == users


def test_a_pyspark_that_is_only_in_the_archives_stays():
    assert daemon.without_archives([*OURS, "/mine/lib"]) == [*OURS, "/mine/lib"]


def test_a_task_imports_from_no_archive(spark):
    def look(batches):
        import sys
        import zipimport

        import pandas
        import pyspark

        for _ in batches:
            kept = [
                path for path, found in sys.path_importer_cache.items() if isinstance(found, zipimport.zipimporter)
            ]
            yield pandas.DataFrame({"archives": [len(kept)], "pyspark": [pyspark.__file__]})

    found = spark.range(1).mapInPandas(look, "archives long, pyspark string").collect()
    assert [(one.archives, one.pyspark) for one in found] == [(0, pyspark.__file__)]
