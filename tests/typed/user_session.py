"""A session, and what a notebook says: docs/environments.md, docs/library.md."""

from decimal import Decimal
from pathlib import Path
from typing import assert_type

from pandas import DataFrame as Frame
from pyiceberg.catalog import Catalog
from pyspark.sql import SparkSession

from workbench import checks, costs, plots, results, session, show

spark = session.start("prod")
assert_type(spark, SparkSession)
assert_type(session.start(Path("mine.yml")), SparkSession)
assert_type(session.catalog("prod"), Catalog)
assert_type(session.catalog_properties("rest"), dict[str, str])
session.start(environment=3)  # wrong: arg-type
session.start(enviroment="prod")  # wrong: call-arg
session.start("prod").tabel("sales.orders")  # wrong: attr-defined

orders = spark.table("sales.orders")
show.rows(orders, by="id", limit=5)
show.rows(orders, by=["day", "id"], digits=0)
show.rows(orders, limit="5")  # wrong: arg-type
show.rows(orders, "id")  # wrong: call-arg
show.error(lambda: orders.count(), raises=ValueError, contains="orders")
show.error(orders.count(), raises=ValueError)  # wrong: arg-type

checks.require("orders", orders.count(), 1_204_117)
checks.require("share", Decimal("0.5"), 0.5, tolerance=Decimal("0.01"))
checks.require("orders", orders.count())  # wrong: call-arg
checks.require("share", 0.5, 0.5, tolerance="a little")  # wrong: arg-type
results.record(orders=1_204_117)
results.record(1_204_117)  # wrong: call-arg
with results.timing("write_seconds"):
    results.table(spark, "sales.orders")
results.table("sales.orders")  # wrong: call-arg, arg-type


def drawn(frame: Frame) -> None:
    plots.lines(frame, x="day", y=["sold", "sent"], title="Orders", xlabel="day", ylabel="orders")
    plots.bars(frame, x="day", y="sold", title="Orders", xlabel="", ylabel="", digits="2")  # wrong: arg-type
    plots.bars(frame, x="day", y="sold", title="Orders")  # wrong: call-arg


listed = costs.prices("compute")
machines = costs.cluster(listed, "r5d.4xlarge", machines=9, hours=costs.hours("1535.62"))
assert_type(machines.usd("sum"), Decimal)
assert_type(costs.break_even(once="12.50", before="0.40", after="0.25"), int | None)
costs.break_even("12.50", "0.40", "0.25")  # wrong: call-arg
