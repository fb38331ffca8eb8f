"""What cloud services cost: dated list prices with their sources, and the sums made of them. Money is Decimal.

listing    price files, checked
storage    S3: keeping, asking for, getting back
compute    EC2 and EMR, Glue, Athena; how many queries pay for a compaction or a layout
maps       Step Functions: a distributed map, by how its items are run
"""

from workbench.costs.compute import (
    COMPONENTS,
    EXACT,
    SUM,
    Cluster,
    athena_usd,
    break_even,
    cluster,
    glue_usd,
    hours,
)
from workbench.costs.listing import Prices, prices
from workbench.costs.maps import MapCost, map_on_spark, map_run
from workbench.costs.storage import Retrieval, minimum_days, prolonging, retrieval, storage_usd, tiers

__all__ = [
    "COMPONENTS", "EXACT", "SUM", "Cluster", "MapCost", "Prices", "Retrieval", "athena_usd", "break_even",
    "cluster", "glue_usd", "hours", "map_on_spark", "map_run", "minimum_days", "prices", "prolonging",
    "retrieval", "storage_usd", "tiers",
]  # fmt: skip
