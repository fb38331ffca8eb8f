"""Read, change and maintain Iceberg tables.

snapshots    the snapshots of a table, read safely
reads        which files a query opens, and what it reads of them
joins        which joins of a query need no shuffle, or why they do, and whether the answer is right
commits      retries, and commits whose outcome is unknown
publication  rows written to a branch, and main moved to them in one commit
upserts      updates by key: the newest wins
changes      what changed between two snapshots
maintenance  plan what keeps a table healthy, and do it
doctor       what hurts a table, and what a cure would bring
"""
