"""Commits to Iceberg tables: what an error says, when a commit is repeated, how an unknown outcome is settled.

An error leaves one of three things: nothing was committed and the caller may try again, nothing was committed and
trying again is useless, or nobody knows. The third is settled by looking at the table, never by a blind repeat.

    commits.set_profile(spark, "sales.orders")
    commits.retrying(spark, "sales.orders", lambda: new.writeTo("sales.orders").append(), id="load-2026-01-31")

The parts:

    errors       what an error leaves
    attempts     a function that commits, begun again where that is safe
    loading      Iceberg's own table object
    marks        a commit's own name in the table's history
    places       which tables a thread's commits went to
    writes       a user's own write, found again by its mark
    moves        branches and tags changed in one commit, main moved to a branch's head among them
    profiles     table properties for many small writers

What was measured, and what each error means: docs/commits.md.
"""

from workbench.tables.commits import marks
from workbench.tables.commits.attempts import REPEATABLE, Attempt, attempt
from workbench.tables.commits.errors import (
    CONFLICT,
    CONNECTION,
    OTHER,
    UNKNOWN,
    VALIDATION,
    BranchMoved,
    MainMoved,
    OutcomeUnknown,
    PartlyCommitted,
    WrongTable,
    causes,
    kind,
    missing_file,
)
from workbench.tables.commits.loading import (
    classic,
    columns_of,
    descends,
    forget,
    head,
    identified,
    load,
    snapshots_of,
    tip,
)
from workbench.tables.commits.marks import with_properties
from workbench.tables.commits.moves import FOR_EVER, Refs, change, fast_forward
from workbench.tables.commits.profiles import PROFILE, set_profile
from workbench.tables.commits.writes import retrying

__all__ = [
    "CONFLICT",
    "CONNECTION",
    "FOR_EVER",
    "OTHER",
    "PROFILE",
    "REPEATABLE",
    "UNKNOWN",
    "VALIDATION",
    "Attempt",
    "BranchMoved",
    "MainMoved",
    "OutcomeUnknown",
    "PartlyCommitted",
    "Refs",
    "WrongTable",
    "attempt",
    "causes",
    "change",
    "classic",
    "columns_of",
    "descends",
    "fast_forward",
    "forget",
    "head",
    "identified",
    "kind",
    "load",
    "marks",
    "missing_file",
    "retrying",
    "set_profile",
    "snapshots_of",
    "tip",
    "with_properties",
]  # fmt: skip
