"""Iceberg tables without Spark: small questions in a second, small writes exactly once, and when Spark pays.

All of it takes the user's own catalog: PyIceberg's, or its properties as a dict with `name`, as

    lake = {"name": "lake", "type": "sql", "uri": "sqlite:////srv/lake/catalog.db"}
    light.query(lake, "SELECT count(*) AS orders FROM sales.orders WHERE day >= $day", day=date(2026, 1, 1))

    catalogs     where a catalog says that a table is (rest: how a REST catalog is asked; keys: of AWS)
    engine       DuckDB and its extensions
    statements   what a statement reads
    metadata     versions of a table, and its files
    querying     an answer by DuckDB
    limits       what each engine would answer otherwise than Spark
    abilities    which engines answer a question
    appending    rows once an id (conversions: from Python values; columns: of the table's types; slices: as files;
                 writing: one commit, tried again)
    merging      rows by key
    choosing     when Spark pays
    functions/   Lambdas that write each message once
"""

from workbench.light.abilities import able
from workbench.light.appending import Append, IdsExpired, append
from workbench.light.choosing import Choice, choose
from workbench.light.merging import Merge, merge
from workbench.light.querying import query

__all__ = ["Append", "Choice", "IdsExpired", "Merge", "able", "append", "choose", "merge", "query"]
