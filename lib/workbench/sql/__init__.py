"""SQL cells with values: a statement reads them as `session.NAME`, nothing is pasted into its text.

    sql.cells(spark, DAY=date(2026, 1, 31), TABLE="sales.orders")

    %%sql late --limit 5
    SELECT * FROM IDENTIFIER(session.TABLE) WHERE day = session.DAY ORDER BY order_id

It takes the caller's own session. Where there is no IPython, as in a job, only the values are declared.

text        the parts of a statement, and what is read off them
values      Python's values as Spark's session variables
running     one statement run and shown
magic       the cell magic
completing  the names that a cell can go on with
plans       what a query does, step by step
"""

from workbench.sql.magic import cells
from workbench.sql.plans import Plan, plan
from workbench.sql.running import StatementError, run
from workbench.sql.values import declare

__all__ = ["Plan", "StatementError", "cells", "declare", "plan", "run"]
