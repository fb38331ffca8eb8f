"""Without Spark: docs/light.md."""

import json
from datetime import date
from typing import Any, assert_type

from workbench import light
from workbench.light import functions

lake = {"name": "lake", "type": "sql", "uri": "sqlite:////srv/lake/catalog.db", "warehouse": "file:///srv/lake"}


def asked(rows: list[dict[str, Any]], sql: str) -> str:
    light.query(lake, "SELECT count(*) AS n FROM sales.orders WHERE day >= $day", day=date(2026, 1, 1))
    light.query(lake, "SELECT * FROM sales.orders", at="end-of-year")
    appended = light.append(lake, "sales.orders", rows, ids="message-17")
    assert_type(appended.tries, int)
    light.merge(lake, "sales.orders", rows, key=["order_id"])
    assert_type(light.able(lake, "sales.orders", sql), dict[str, tuple[str, ...]])
    light.query(lake)  # wrong: call-arg
    light.append(lake, "sales.orders", rows, id="message-17")  # wrong: call-arg
    light.append(lake, "sales.orders", rows, ids=17)  # wrong: arg-type
    light.merge(lake, "sales.orders", rows)  # wrong: call-arg
    light.choose(lake, "sales.orders", sql, spark_cores="32")  # wrong: arg-type
    print(appended.snapshot)  # wrong: attr-defined
    return light.choose(lake, "sales.orders", sql, spark_cores=32).engine


handler = functions.handler(
    json.loads,
    catalog={"name": "lake", "type": "glue", "warehouse": "env:WAREHOUSE"},
    table="sales.orders",
    identify=lambda record: str(json.loads(record["body"])["event_id"]),
)
assert_type(handler({"Records": []}, None), dict[str, Any])
functions.handler(catalog=lake, table="sales.orders")  # wrong: call-arg
functions.handler("json", catalog=lake, table="sales.orders")  # wrong: arg-type
