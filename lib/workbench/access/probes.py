"""Questions by which a reader could learn what is hidden; each is one statement over one table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Probe:
    """A question of a reader.

    Attributes:
        name: what it tries.
        statement: SQL, `{table}` where the table's name stands.
        select: expressions that a DataFrame is asked for instead, with `where` and `order`; none where only a
            statement asks it.
        where: a condition.
        order: an expression.
    """

    name: str
    statement: str
    select: tuple[str, ...] = ()
    where: str = ""
    order: str = ""


def _asked(name: str, *select: str, where: str = "", order: str = "", limit: str = "") -> Probe:
    clauses = [f" WHERE {where}" if where else "", f" ORDER BY {order}" if order else "", limit]
    return Probe(name, f"SELECT {', '.join(select)} FROM {{table}}{''.join(clauses)}", select, where, order)


def _stated(name: str, statement: str) -> Probe:
    return Probe(name, statement)


_COLUMNS = (
    _asked("all rows", "id", "name", "state", "amount", order="id"),
    _asked("count of rows", "count(*) AS n"),
    _asked("list of hidden names", "id", "_hidden", order="id"),
    _asked("hidden text equals", "id", where="name = 'Zed'", order="id"),
    _asked("hidden text differs", "id", where="name <> 'Zed'", order="id"),
    _asked("hidden text begins", "id", where="name LIKE 'Z%'", order="id"),
    _asked("hidden text is null", "id", where="name IS NULL", order="id"),
    _asked("hidden text is not null", "count(*) AS n", where="name IS NOT NULL"),
    _asked("length of hidden text", "id", "length(name) AS n", order="id"),
    _asked("digest of hidden text", "id", "md5(name) AS n", order="id"),
    _asked("hidden number above", "id", where="amount > 899", order="id"),
    _asked("hidden number between", "id", where="amount BETWEEN 900 AND 900", order="id"),
    _asked("hidden number among", "id", where="amount IN (900, 7)", order="id"),
    _asked("case of hidden number", "id", "CASE WHEN amount > 900 THEN 1 ELSE 0 END AS n", order="id"),
    _asked("order by hidden text", "id", order="name, id"),
    _asked("order by hidden number", "id", order="amount DESC, id"),
    _asked("error by division", "id", where="1 / (amount - 900) > 5", order="id"),
    _asked("error by cast", "id", where="CAST(name AS INT) = 1", order="id"),
    _asked("error on a row of NULLs", "id", where="1 / coalesce(id, 0) > -1", order="id"),
    _asked("error by a text as a number", "id", where="state = 'FR' AND name > 5", order="id"),
    _asked("greatest hidden number", "max(amount) AS n"),
    _asked("least hidden text", "min(name) AS n"),
    _asked("sum of hidden numbers", "sum(amount) AS n"),
    _asked("mean of hidden numbers", "avg(amount) AS n"),
    _asked("distinct hidden texts", "count(DISTINCT name) AS n"),
    _asked("a hidden column", "id", "address", order="id"),
    _asked("a hidden column equals", "id", where="address = 'North 10'", order="id"),
    _asked("a hidden column begins", "id", where="address LIKE 'North%'", order="id"),
    _asked("order by a hidden column", "id", order="address, id"),
    _asked("coalesce with a hidden column", "coalesce(name, address) AS n", order="id"),
    _asked("greatest of a hidden column", "max(address) AS n"),
    _asked("the file of a row", "id", "_file"),
    _asked("the place of a row", "id", "_pos", order="id"),
    _asked("the partition of a row", "id", "_partition", order="id"),
    _asked("the file by a function", "id", "input_file_name() AS n", order="id"),
    _asked("the number of a row", "id", "monotonically_increasing_id() AS n", order="id"),
)
_STATEMENTS = tuple(
    _stated(name, statement)
    for name, statement in {
        "groups by hidden text": "SELECT name, count(*) AS n FROM {table} GROUP BY name ORDER BY name",
        "groups by a hidden column": "SELECT count(*) AS n FROM {table} GROUP BY address ORDER BY n",
        "groups with a hidden number": "SELECT state FROM {table} GROUP BY state HAVING max(amount) > 900",
        "rank by hidden number": "SELECT id, rank() OVER (ORDER BY amount) AS n FROM {table} ORDER BY id",
        "rank by a hidden column": "SELECT id, rank() OVER (ORDER BY address) AS n FROM {table} ORDER BY id",
        "join on hidden text": "SELECT a.id, b.id FROM {table} a JOIN {table} b ON a.name = b.name ORDER BY 1, 2",
        "join on a guess": "SELECT id FROM {table} JOIN (SELECT 'Zed' AS guess) g ON name = guess ORDER BY id",
        "exists": "SELECT 1 AS n WHERE EXISTS (SELECT 1 FROM {table} x WHERE x.address = 'North 10')",
        "in a subquery": "SELECT 'Zed' IN (SELECT name FROM {table} WHERE name IS NOT NULL) AS n",
        "a scalar subquery": "SELECT (SELECT max(amount) FROM {table}) AS n",
        "intersect": "SELECT name FROM {table} INTERSECT SELECT 'Zed'",
        "except": "SELECT 'Zed' AS n EXCEPT SELECT name FROM {table}",
        "union": "SELECT name FROM {table} UNION SELECT 'Zed' ORDER BY name",
        "a hidden column by an alias": "SELECT t.address FROM {table} t ORDER BY t.id",
        "a whole row": "SELECT struct(t.*) AS n FROM {table} t ORDER BY t.id",
        "a whole row of DuckDB": "SELECT t AS n FROM {table} t ORDER BY t.id",
        "first row by chance": "SELECT id FROM {table} LIMIT 1",
        "a row behind others": "SELECT id FROM {table} LIMIT 5 OFFSET 1",
        "sample": "SELECT id FROM {table} TABLESAMPLE (50 PERCENT) REPEATABLE (5)",
        "sample of DuckDB": "SELECT id FROM {table} USING SAMPLE 50% (bernoulli, 5)",
        "bounds of files": "SELECT record_count, lower_bounds, upper_bounds FROM {table}.files",
        "metrics of files": "SELECT readable_metrics FROM {table}.files",
        "bounds of files, quoted as Trino has it": 'SELECT record_count, lower_bounds FROM "{table}$files"',
        "entries": "SELECT readable_metrics FROM {table}.entries",
        "all data files": "SELECT record_count, value_counts, upper_bounds FROM {table}.all_data_files",
        "summary of snapshots": "SELECT summary['total-records'] AS n FROM {table}.snapshots",
        "partitions": "SELECT record_count FROM {table}.partitions",
        "manifests": "SELECT added_data_files_count, partition_summaries FROM {table}.manifests",
        "an earlier version": "SELECT max(amount) AS n FROM {table} TIMESTAMP AS OF now()",
        "a branch": "SELECT max(amount) AS n FROM {table}.branch_main",
        "changes": "SELECT max(amount) AS n FROM {table}.changes",
        "columns": "DESCRIBE TABLE {table}",
        "a column's statistics": "DESCRIBE TABLE EXTENDED {table} address",
        "statistics": "SHOW STATS FOR {table}",
        "summary of DuckDB": "SUMMARIZE {table}",
        "names of columns": "SHOW COLUMNS IN {table}",
        "partitions shown": "SHOW PARTITIONS {table}",
        "plan": "EXPLAIN SELECT id FROM {table} WHERE name = 'Zed' AND amount > 899",
        "plan with costs": "EXPLAIN COST SELECT id FROM {table} WHERE amount > 899",
        "plan with what it read": "EXPLAIN ANALYZE SELECT count(*) FROM {table}",
    }.items()
)
PROBES = (*_COLUMNS, *_STATEMENTS)
