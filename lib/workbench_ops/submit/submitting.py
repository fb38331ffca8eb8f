"""Runs: a job submitted once a token, however often and by however many it is asked for.

The order is what makes it so. The claim is written before the submission, so a later caller knows that something
may run. The id is written after it. In between nobody knows whether the job was started, and a second attempt may
be made: the fence lets one of them go on. A new generation begins only after a run was seen to have failed.
"""

import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from workbench._base.bounds import Gt
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_ops.submit import claims as documents
from workbench_ops.submit import fencing, process, services, targets
from workbench_ops.submit.claims import Attempt, Claim, Claims
from workbench_ops.submit.errors import RunCancelled, TargetUnavailable, TokenReused
from workbench_ops.submit.jobs import Job
from workbench_ops.submit.services import State
from workbench_ops.submit.targets import Target

PATIENCE_SECONDS = 30.0  # for the id of a submission whose submitter is on another machine
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Run:
    """A run of a job.

    Attributes:
        token: of the caller.
        run_id: the service's id.
        target: name of the target.
        generation: from 1; above, earlier ones failed.
        adopted: whether somebody else, or an earlier call, had submitted it.
        claims: where the claim is.
        targets: name to target.
    """

    token: str
    run_id: str
    target: str
    generation: int
    adopted: bool
    claims: Claims
    targets: Mapping[str, Target]

    def service(self) -> services.Service:
        """Return the service of the run's target."""
        if self.target not in self.targets:
            raise TargetUnavailable(
                f"the run of {self.token} is on {self.target}, which is not among the targets given"
            )
        return self.targets[self.target].service()


@checked
def start(
    job: Job,
    targets: Mapping[str, Target],
    *,
    token: str,
    claims: Claims,
    queue: str | None = None,
    patience_seconds: Annotated[float, Gt(0)] = PATIENCE_SECONDS,
) -> Run:
    """Start a job, or adopt the run that there is under its token; the same call may be repeated after any kill.

    A run that is queued or running is adopted, one that passed is returned as it is, one that failed is followed
    by a new generation.

    Args:
        job: what to run.
        targets: name to target, as `targets.all_in` reads them.
        token: names the one run that is wanted, for good: the day's load, not the try.
        claims: Folder or Bucket, the same for all who may use the token.
        queue: queue of the target; left out, any target serves.
        patience_seconds: how long to wait for the id of a submission that another machine began.

    Raises:
        TokenReused: the token belongs to another job, or to another queue.
        RunCancelled: the token's run was cancelled.
        TargetUnavailable: no target of the queue answers, or the one that may have the run.
        ArgumentError: the token is not one, no target serves the queue, or the job does not ask the fence that its
            target needs.
    """
    loaded = documents.load(claims, token)
    if loaded is None:
        _chosen(job, targets, token, queue)  # a refusal leaves no claim
        claim = documents.opened(claims, Claim(token, job.digest, queue))
    else:
        claim = loaded[0]
    waited: dict[str, float] = {}
    while True:
        _refuse_other(claim, job, queue)
        if (run := _adopted(claim, claims, targets)) is not None:
            if state(run) != services.FAILED:
                return run
            claim = _raised(claims, claim)
        elif not _may_come(claim, waited, patience_seconds):
            submitted = _submitted(job, claim, claims, targets, queue)
            if submitted is not None:
                return submitted
            claim = documents.required(claims, token)[0]
        else:
            time.sleep(POLL_SECONDS)
            claim = documents.required(claims, token)[0]


@checked
def run_of(token: str, *, claims: Claims, targets: Mapping[str, Target]) -> Run:
    """Return the run of a token; nothing is submitted.

    Raises:
        ArgumentError: nothing was submitted under it, or nobody knows yet whether that arrived.
    """
    claim = documents.required(claims, token)[0]
    run = _adopted(claim, claims, targets)
    if run is None:
        raise ArgumentError(f"the submission of {token} has no id yet; submitted again, it is finished or adopted")
    return run


@checked
def state(run: Run) -> State:
    """Return the state of a run: queued, running, passed, failed, cancelled or unknown."""
    while True:
        claim = documents.required(run.claims, run.token)[0]
        if claim.generation != run.generation:
            return services.FAILED  # only what was seen to have failed has a successor
        counting = _counting(claim, run)
        if counting is None:
            return services.UNKNOWN
        seen = counting.service().state(counting.run_id)
        # the double of a run ends well, having declined: what it says counts only if the fence was not passed
        if claim.fenced is None and seen in services.ENDED:
            if documents.required(run.claims, run.token)[0] != claim:
                continue
            return services.CANCELLED if claim.cancelled else seen
        return services.CANCELLED if claim.cancelled and seen == services.UNKNOWN else seen


@checked
def wait(
    run: Run,
    *,
    timeout_seconds: Annotated[float, Gt(0)] | None = None,
    poll_seconds: Annotated[float, Gt(0)] = 1.0,
    on_state: Callable[[str], object] | None = None,
) -> State:
    """Wait until a run has ended, or its state cannot be known; return its state.

    Args:
        run: of `start`.
        timeout_seconds: how long at most; left out, for as long as it takes, as a streaming job is waited for.
        poll_seconds: time between two looks.
        on_state: called with each new state.

    Raises:
        TimeoutError: it has not ended in time; it goes on.
    """
    until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    before: State | None = None
    while True:
        now = state(run)
        if now != before and on_state is not None:
            on_state(now)
        if now in services.ENDED or now == services.UNKNOWN:
            return now
        if until is not None and time.monotonic() >= until:
            raise TimeoutError(f"the run {run.run_id} of {run.token} is {now} after {timeout_seconds:g} seconds")
        before = now
        time.sleep(poll_seconds)


@checked
def logs(run: Run) -> str:
    """Return what a run has printed so far."""
    counting = _now(run)
    return counting.service().logs(counting.run_id)


@checked
def cost(run: Run) -> str | None:
    """Return what a run cost in US dollars, as a text; None where its service does not say."""
    counting = _now(run)
    return counting.service().cost_usd(counting.run_id)


@checked
def cancel(run: Run) -> None:
    """Cancel a run: its token starts nothing any more. One that passed stays so."""
    passed = state(run) == services.PASSED
    claim = documents.change(
        run.claims, run.token, lambda claim: None if claim.cancelled or passed else claim.changed(cancelled=True)
    )
    for attempt in claim.attempts:  # doubles too: one that waits would hold its place
        run_id = claim.fenced_id if attempt.name == claim.fenced and claim.fenced_id else attempt.run_id
        if run_id is not None and not passed:
            Run(
                run.token, run_id, attempt.target, claim.generation, True, run.claims, run.targets
            ).service().cancel(run_id)


def _refuse_other(claim: Claim, job: Job, queue: str | None) -> None:
    """Refuse a claim of another content, and one that was cancelled."""
    if claim.digest != job.digest:
        raise TokenReused(
            f"the token {claim.token} belongs to another job: script, its text, arguments, settings or variables "
            "differ; a token names one content for good"
        )
    if claim.queue != queue:
        raise TokenReused(f"the token {claim.token} belongs to the queue {claim.queue!r}, found {queue!r}")
    if claim.cancelled:
        raise RunCancelled(f"the run of {claim.token} was cancelled; to run its job after all, use another token")


def _adopted(claim: Claim, claims: Claims, targets: Mapping[str, Target]) -> Run | None:
    """Return the run that counts: the one that passed the fence, else the last whose id is known."""
    attempt = claim.attempt(claim.fenced)
    run_id = claim.fenced_id or (attempt.run_id if attempt else None)
    if claim.fenced is None:
        attempt = next((attempt for attempt in reversed(claim.attempts) if attempt.run_id), None)
        run_id = attempt.run_id if attempt else None
    if attempt is None or run_id is None:
        return None
    return Run(claim.token, run_id, attempt.target, claim.generation, True, claims, targets)


def _counting(claim: Claim, run: Run) -> Run | None:
    """Return the run that counts of a claim; None where one passed the fence that nobody knows the id of."""
    counting = _adopted(claim, run.claims, run.targets)
    return run if counting is None and claim.fenced is None else counting


def _now(run: Run) -> Run:
    """Return the run that counts now, of the generation of the one given."""
    claim = documents.required(run.claims, run.token)[0]
    return (_counting(claim, run) if claim.generation == run.generation else None) or run


def _may_come(claim: Claim, waited: dict[str, float], patience_seconds: float) -> bool:
    """Tell whether the id of an attempt may still be written by whoever made it."""
    if not claim.attempts:
        return False
    attempt = claim.attempts[-1]
    boot, pid, began = attempt.by.split(" ")
    if boot == process.host():
        return process.began(int(pid)) == began and int(pid) != os.getpid()
    since = waited.setdefault(attempt.name, time.monotonic())
    return time.monotonic() - since < patience_seconds


def _chosen(job: Job, targets: Mapping[str, Target], token: str, queue: str | None) -> Target:
    """Return the target for a token; refuse a job that does not ask the fence which the target needs."""
    target = _routed(targets, token, queue)
    if not target.service().once and job.asks_fence is False:
        raise ArgumentError(
            f"{job.script} never calls fence(), and {target.name} may start it twice; expected as its first act: "
            "from workbench_ops.submit import fence, and to end where fence() is False"
        )
    return target


def _routed(named: Mapping[str, Target], token: str, queue: str | None) -> Target:
    return targets.route(named, token, queue)


def _raised(claims: Claims, failed: Claim) -> Claim:
    """Begin the generation after one that was seen to have failed, unless somebody has."""

    def decide(claim: Claim) -> Claim | None:
        if claim.generation != failed.generation or claim.cancelled:
            return None
        return claim.changed(
            generation=claim.generation + 1, attempts=(), fenced=None, fenced_id=None, fenced_by=None
        )

    return documents.change(claims, failed.token, decide)


def _submitted(
    job: Job, seen: Claim, claims: Claims, named: Mapping[str, Target], queue: str | None
) -> Run | None:
    """Write an attempt, submit it and write its id; None where the claim was changed by others meanwhile."""
    token = seen.token
    before = seen.attempts[-1] if seen.attempts else None
    # one that may have arrived is asked for again where it went: there a token of the service's own finds it
    target = named[before.target] if before and before.target in named else _chosen(job, named, token, queue)
    service = target.service()
    service.healthy()
    by = f"{process.host()} {os.getpid()} {process.began(os.getpid())}"
    attempt = Attempt(uuid.uuid4().hex, target.name, by)

    def decide(claim: Claim) -> Claim | None:
        unchanged = (claim.generation, claim.attempts, claim.fenced, claim.cancelled)
        if unchanged != (seen.generation, seen.attempts, seen.fenced, seen.cancelled):
            return None
        return claim.changed(attempts=(*claim.attempts, attempt))

    claim = documents.change(claims, token, decide)
    if claim.attempt(attempt.name) is None:
        return None
    given = fencing.given(claims, claim, attempt.name)
    run_id = service.submit(job, token=services.token_of(token, claim.generation), given=given)
    documents.change(claims, token, lambda claim: _with_id(claim, attempt.name, run_id))
    return Run(token, run_id, target.name, claim.generation, False, claims, named)


def _with_id(claim: Claim, name: str, run_id: str) -> Claim | None:
    if claim.attempt(name) is None:  # the generation has changed
        return None
    attempts = (
        Attempt(attempt.name, attempt.target, attempt.by, run_id) if attempt.name == name else attempt
        for attempt in claim.attempts
    )
    return claim.changed(attempts=tuple(attempts))
