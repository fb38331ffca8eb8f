"""The fence: the first act of a job, which lets one of all that were started under a token go on.

    from workbench_ops.submit import fence

    if not fence():
        raise SystemExit(0)

A service without tokens starts a job twice when its caller is killed between asking and writing down the answer.
The claim decides then: one conditional write says which attempt runs, and the others end.
"""

import base64
import json
import os
import re
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError
from workbench_ops.submit import claims as documents
from workbench_ops.submit.claims import Claim, Claims

VARIABLE = "WORKBENCH_SUBMISSION"  # claims, token, generation and attempt, as JSON
PASSED = "WORKBENCH_SUBMISSION_PASSED"  # the attempt that a process above this one brought through the fence
ARGUMENT = "--workbench-submission"  # the same for services that set no variables
PACKED = "base64:"
DRIVER = re.compile(r"driver-\d{14}-\d+")  # the folder in which Spark's worker starts a driver


def given(claims: Claims, claim: Claim, attempt: str) -> str:
    """Return what a job is given, by variable or argument, to find its claim; no secret is in it."""
    place = {"claims": claims.address(), "token": claim.token}
    return json.dumps(place | {"generation": claim.generation, "attempt": attempt}, sort_keys=True)


def packed(given: str) -> str:
    """Return what a job is given as one word, for services that split a text into words."""
    return PACKED + base64.urlsafe_b64encode(given.encode()).decode().rstrip("=")


def fence() -> bool:
    """Ask whether this job may go on; the first act of a job.

    Returns:
        True for one of all jobs that were started under the token, and for a job that nobody submitted this way.
        False for all others: a second start, one of an earlier generation, one that was cancelled.

    Raises:
        ArgumentError: what the job was given is not a submission, or its claim is gone.
        OSError, botocore's errors: the claims cannot be reached; the job must not go on.
    """
    text = _submission(os.environ, sys.argv)
    if text is None:
        return True
    try:
        submission: dict[str, Any] = json.loads(_unpacked(text))
        attempt, token, generation = submission["attempt"], submission["token"], submission["generation"]
        claims = documents.at(submission["claims"])
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ArgumentError(f"{VARIABLE} must hold a submission as JSON, found {text[:80]!r}") from None
    if os.environ.get(PASSED) == attempt:
        return True
    return passes(claims, token, generation, attempt, _own_id(sys.argv))


def passes(claims: Claims, token: str, generation: int, attempt: str, run_id: str | None) -> bool:
    """Bring one attempt through the fence; True for one call at most of all with this token and generation."""
    call = uuid.uuid4().hex

    def decide(claim: Claim) -> Claim | None:
        if claim.generation != generation or claim.cancelled or claim.fenced is not None:
            return None
        return claim.changed(fenced=attempt, fenced_id=run_id, fenced_by=call)

    # the call and not the attempt: a service may start the same attempt twice
    return documents.change(claims, token, decide).fenced_by == call


def _submission(variables: Mapping[str, str], words: Sequence[str]) -> str | None:
    if VARIABLE in variables:
        return variables[VARIABLE]
    for n, word in enumerate(words[:-1]):
        if word == ARGUMENT:
            return words[n + 1]
    return None


def _unpacked(text: str) -> str:
    if not text.startswith(PACKED):
        return text
    content = text.removeprefix(PACKED)
    return base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)).decode()


def _own_id(words: Sequence[str]) -> str | None:
    """Return the id by which the service knows this run, where it says so."""
    if DRIVER.fullmatch(Path.cwd().name):
        return Path.cwd().name
    return next((words[n + 1] for n, word in enumerate(words[:-1]) if word == "--JOB_RUN_ID"), None)
