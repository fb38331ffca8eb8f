"""Tables of other formats: what they are, and how they become Iceberg tables without a data file written.

look = formats.look("/lake/orders")                        # kind, version, features, rows, obstacles; no Spark
formats.move(spark, "/lake/orders", "lake.sales.orders")   # one commit; the files stay where they are

looking     what a folder holds
delta       Delta tables, read by PyArrow alone
footers     what the Parquet files themselves say
storage     the folder, on this machine or in S3
results     what the functions return
"""

from workbench.formats.looking import look
from workbench.formats.results import Follow, Look, Move, TakeOver, Verification

__all__ = ["Follow", "Look", "Move", "TakeOver", "Verification", "look"]
