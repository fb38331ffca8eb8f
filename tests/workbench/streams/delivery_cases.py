"""What the tests of deliveries share: two tables, one appended to and one by a key, and records for them.

Not a conftest: a second module of that name would be found where others import from the first.
"""

import pytest

from workbench import streams

RECORD = streams.Json("kind STRING, id BIGINT, version BIGINT, op STRING, text STRING")
ROUTE = "CASE kind WHEN 'event' THEN '{0}.events' WHEN 'item' THEN '{0}.items' WHEN 'odd' THEN 'no.where' END"


@pytest.fixture
def lake(spark, namespace):
    make_tables(spark, namespace)
    return namespace


def make_tables(spark, namespace):
    spark.sql(
        f"CREATE TABLE {namespace}.events (id BIGINT, text STRING, offset BIGINT, note STRING) USING iceberg"
    )
    spark.sql(
        f"CREATE TABLE {namespace}.items (id BIGINT NOT NULL, version BIGINT, text STRING, gone BOOLEAN) USING iceberg"
    )


def targets(lake):
    item = streams.Target(key=("id",), sequence=("version",), operation="op", deleted="gone")
    return {f"{lake}.events": streams.Target(lineage=("offset",)), f"{lake}.items": item}


def deliver(spark, lake, topic, *, source=None, **options):
    given = {
        "parse": RECORD, "tables": targets(lake), "errors": f"{lake}.errors", "route": ROUTE.format(lake),
    } | options  # fmt: skip
    return streams.deliver(spark, source=topic.source(**(source or {})), **given)


def event(n):
    return {"kind": "event", "id": n, "text": f"t{n}"}


def item(n, version, op="U", text="x"):
    return {"kind": "item", "id": n, "version": version, "op": op, "text": text}


def send(topic, *records):
    topic.send(range(len(records)), record=lambda n: records[n])


def rows(spark, table, *columns):
    spark.catalog.refreshTable(table)
    return sorted(tuple(row) for row in spark.table(table).select(*columns).collect())
