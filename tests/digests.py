"""What a table holds, as two numbers that tests compare."""


def digest(spark, table, at=""):
    """Count and checksum of the whole rows: duplicates count, order does not.

    `at` is a version's clause, as "VERSION AS OF 1".
    """
    spark.sql(f"REFRESH TABLE {table}")
    return tuple(spark.sql(f"SELECT count(*), sum(CAST(xxhash64(*) AS DECIMAL(38))) FROM {table} {at}").first())
