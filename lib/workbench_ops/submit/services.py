"""What a service that runs jobs does for us, and the states of a run."""

import hashlib
from typing import Literal, Protocol

from workbench_ops.submit.jobs import Job

State = Literal["queued", "running", "passed", "failed", "cancelled", "unknown"]
QUEUED: State = "queued"
RUNNING: State = "running"
PASSED: State = "passed"
FAILED: State = "failed"
CANCELLED: State = "cancelled"
UNKNOWN: State = "unknown"
ENDED = (PASSED, FAILED, CANCELLED)
EXIT_CODES = {QUEUED: 0, RUNNING: 0, PASSED: 0, FAILED: 1, UNKNOWN: 1, CANCELLED: 143}  # of commands


class Service(Protocol):
    """What a target does for `submitting`; each method may raise TargetUnavailable."""

    once: bool  # whether the service starts one at most of a token, whether the job asks the fence or not

    def healthy(self) -> None:
        """Raise TargetUnavailable where the service does not answer."""

    def submit(self, job: Job, *, token: str, given: str) -> str:
        """Submit a job; return the service's id.

        Args:
            job: it.
            token: of the claim's generation, for services that know tokens.
            given: what the job is told, for the fence.
        """

    def state(self, run_id: str) -> State:
        """Return the state of a run; unknown where the service has no such run any more."""

    def logs(self, run_id: str) -> str:
        """Return what the run has printed so far."""

    def cancel(self, run_id: str) -> None:
        """End a run; nothing happens where it has ended."""

    def cost_usd(self, run_id: str) -> str | None:
        """Return what a run cost in US dollars, as a text; None where the service does not say."""


def token_of(token: str, generation: int) -> str:
    """Return the token that a service is given for a generation: 64 characters, as AWS takes them at most."""
    return hashlib.sha256(f"{generation} {token}".encode()).hexdigest()
