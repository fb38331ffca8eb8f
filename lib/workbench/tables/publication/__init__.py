"""Publish rows to a table: written to a branch, looked at there, and main moved to them in one commit.

    stage       put a branch to main's snapshot: one look, and one commit where the branch is not there yet
    begun       look at what was written, in a transaction
    append      commit a snapshot with a summary, files that are written or none, and tags: one look, one commit
    drop        drop a branch
    positions   where a publisher stands, by what its snapshots say in main's history

Between `stage` and `begun` a caller writes to the branch; `commits.fast_forward` moves main at the end. Each of
these commits is bound to the metadata that was looked at, and takes over what the call before has just looked at.
The gate (`wap`), the ingest (`streams`) and the histories (`history`) publish by these functions, and say for
themselves what their branches, tags and summaries are called.
"""

from workbench.tables.publication import positions
from workbench.tables.publication.publishing import (
    Append,
    Staged,
    append,
    begun,
    drop,
    refuse_session_branch,
    stage,
)

__all__ = ["Append", "Staged", "append", "begun", "drop", "positions", "refuse_session_branch", "stage"]
