"""Tables of other formats: what they are, and how they become Iceberg tables without a data file written.

look = formats.look("/lake/orders")                        # kind, version, features, rows, obstacles; no Spark
formats.move(spark, "/lake/orders", "lake.sales.orders")   # one commit; the files stay where they are

moving      a table made of another one's files
verifying   table and source compared, row by row
comparing   rows as sums of hashes
positions   which version of its source a table is
iceberg     Iceberg's side of it
looking     what a folder holds
delta       Delta tables, read by PyArrow alone
footers     what the Parquet files themselves say
storage     the folder, on this machine or in S3
results     what the functions return
"""

from workbench.formats.looking import look
from workbench.formats.moving import move
from workbench.formats.results import Follow, Look, Move, TakeOver, Verification
from workbench.formats.verifying import verify

__all__ = ["Follow", "Look", "Move", "TakeOver", "Verification", "look", "move", "verify"]
