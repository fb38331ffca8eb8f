"""Check whether a table is anonymous, also in what it keeps of the past.

report = anonymity.checks(spark, "health.visits", source="raw.visits", identifiers=["mail", "insurance_number"],
                          quasi=["age", "area"], token="person", k=5)            # rows of today
found = anonymity.leaks(spark, "health.visits", values=spark.table("raw.people").select("mail"))   # all it keeps

checking    patterns, raw values, digests, tokens, nothing lost, k, l, top-coding
leaking     rows, older snapshots, deleted rows, branches, bounds, paths, properties, statistics, orphans
values      what is looked for, and finding it in texts
patterns    mail addresses, phone numbers, check digits
bounds      of columns in manifests
statistics  sketches in Puffin files
results     what both return: counts and places, never a value
"""

from workbench.anonymity.checking import checks
from workbench.anonymity.leaking import leaks
from workbench.anonymity.results import Finding, Leak, Leaks, Report, told

__all__ = ["Finding", "Leak", "Leaks", "Report", "checks", "leaks", "told"]
