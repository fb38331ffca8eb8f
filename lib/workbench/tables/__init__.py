"""What an Iceberg table is and did.

snapshots    looking at it is safe
reads        what a query opens and reads of it
joins        which joins of a query need no shuffle, or why they do, and whether the answer is right
commits      retries, unknown outcomes
publication  rows written to a branch, and main moved to them in one commit
upserts      updates by key, the newest wins
changes      what changed between two snapshots
maintenance  what would be done to keep it healthy, and doing it
doctor       what hurts it, and what a cure would bring
"""
