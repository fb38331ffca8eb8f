"""Tables of other formats: what they are, and how they become Iceberg tables without a data file written.

look = formats.look("/lake/orders")                        # kind, version, features, rows, obstacles; no Spark
formats.move(spark, "/lake/orders", "lake.sales.orders")   # one commit; the files stay where they are
formats.follow(spark, "lake.sales.orders")                 # what the source did since
formats.verify(spark, "lake.sales.orders").equal           # the source read by delta-rs, DuckDB or hudi-rs
formats.take_over(spark, "lake.sales.orders", files="copied")   # it is nobody else's from now on

moving      a table made of another one's files
following   the source's later versions, a commit each time
owning      the table made the owner of its files
live        files that a table has
verifying   table and source compared, row by row
comparing   rows as sums of hashes
positions   which version of its source a table is
iceberg     Iceberg's side of it
looking     what a folder holds
sources     the formats, told by the folder
inspection  what a move has to know of a source
columns     what Iceberg and Spark cannot have as columns
delta       Delta tables, read by PyArrow alone
hudi        Hudi tables, read by PyArrow and fastavro
partitions  values of partition columns
footers     what the Parquet files themselves say
stored      types of a Parquet file, as they lie in it
storage     the folder, on this machine or in S3
results     what the functions return
"""

from workbench.formats.following import follow
from workbench.formats.looking import look
from workbench.formats.moving import move
from workbench.formats.owning import take_over
from workbench.formats.results import Follow, Look, Move, TakeOver, Verification
from workbench.formats.verifying import verify

__all__ = ["Follow", "Look", "Move", "TakeOver", "Verification", "follow", "look", "move", "take_over", "verify"]
