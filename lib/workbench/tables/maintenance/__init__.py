"""Keep tables healthy: plan what would be done, what it costs and breaks, and do it beside writers.

    policy = maintenance.read_policy("sales_orders.yml")
    planned = maintenance.plan(spark, "sales.orders", policy=policy, marks=[position_of_the_slowest_reader])
    show.rows(maintenance.told(planned))
    done = maintenance.run(spark, planned, max_minutes=30)

A plan reads metadata only and changes nothing. A run does what was planned and no more: within limits, beside
writers, and again after a kill.

The parts:

    policy       what may be done to a table, from a file
    planning     what would be done, and what it costs
    running      what was planned, done within limits
    results      what was planned and done, as values that a program decides by
    wording      their sentences, for who prints them
    limits       what bounds a run, and which arguments say nothing
    groups       which data files are worth rewriting
    compaction   their rewrite by Iceberg's action on Spark
    arrow        their rewrite without Spark, for small plain files
    deletes      delete files: written together, or dropped where they apply to nothing
    manifests    manifests written together
    expiry       which snapshots may go, and who holds the others
    orphans      files that no snapshot knows: listed, looked at twice, removed
    statistics   distinct values of columns
    metadata     metadata tables of exactly the state that was loaded
    inventory    what lies in the storage, compared with what the metadata knows
    readers      where a stream stands, by its checkpoint, and where that may lie

For a table's owner: docs/maintenance.md.
"""

from workbench.tables.maintenance.inventory import Inventory, inventory
from workbench.tables.maintenance.planning import only, plan, usd
from workbench.tables.maintenance.policy import ACTIONS, Limits, Policy, read_policy
from workbench.tables.maintenance.readers import stream_checkpoint, stream_marks
from workbench.tables.maintenance.results import Action, Done, Hindrance, Obstacle, Planned, Reason, Remark
from workbench.tables.maintenance.running import done_before, run
from workbench.tables.maintenance.wording import sentences, told

__all__ = [
    "ACTIONS", "Action", "Done", "Hindrance", "Inventory", "Limits", "Obstacle", "Planned", "Policy", "Reason",
    "Remark", "done_before", "inventory", "only", "plan", "read_policy", "run", "sentences", "stream_checkpoint",
    "stream_marks", "told", "usd",
]  # fmt: skip
