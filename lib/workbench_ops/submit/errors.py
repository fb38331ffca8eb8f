"""What somebody who submits may want to catch."""

from workbench._base.errors import ArgumentError, WorkbenchError


class TokenReused(ArgumentError):
    """The token belongs to a submission of other content; nothing was submitted."""


class RunCancelled(ArgumentError):
    """The run of the token was cancelled; nothing was submitted."""


class TargetUnavailable(WorkbenchError):
    """The target does not answer, or refuses who asks; what was asked may have happened or not."""


class ClaimBusy(WorkbenchError):
    """Others kept replacing the claim for too long; nothing was submitted."""
