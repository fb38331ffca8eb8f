"""A notebook run so that its calls are recorded, the policy they need, and the same runs under that policy."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from workbench._base import secrets
from workbench._base.settings import Environment
from workbench_ops import account
from workbench_ops.policies import calls, iam, recording
from workbench_ops.policies.calls import Call
from workbench_ops.policies.iam import Policy
from workbench_ops.run import record as records
from workbench_ops.run import runner
from workbench_ops.run.preparing import Job
from workbench_ops.run.record import Record
from workbench_standins.account.enforced import Judgement

Say = Callable[[str], object]


@dataclass(frozen=True)
class Recording:
    """What was seen of a notebook's runs.

    Attributes:
        record: of the last run.
        calls: of all of them, to AWS and to anything that speaks like it.
    """

    record: Record
    calls: frozenset[Call]

    def to_aws(self) -> set[Call]:
        """Return the calls that went to AWS."""
        return _to_aws(self.calls)


@dataclass(frozen=True)
class Rehearsal:
    """What came of runs under a policy.

    Attributes:
        passed: whether all of them passed.
        document: the policy, with the number of the account that judged.
        judgements: of that account, in their order.
    """

    passed: bool
    document: Mapping[str, Any]
    judgements: list[Judgement] = field(repr=False)


def record(job: Job, runs: int, run: Callable[[Job], Record] = runner.run) -> Recording:
    """Run a notebook and record its calls; one that did not pass, or called nothing of AWS, is not run again.

    Args:
        job: which notebook, and how.
        runs: how often; from the second time on it finds its own tables.
        run: runs it once.
    """
    seen: set[Call] = set()
    for _ in range(runs):
        with recording.recorded() as of_run:
            ended = run(job)
        seen |= of_run
        if ended.status != "passed" or not _to_aws(of_run):
            break
    return Recording(ended, frozenset(seen))


def policy_of(seen: Recording, env: Environment | None, *, say: Say) -> tuple[Policy | None, dict[str, str]]:
    """Return the policy of recorded calls and what is known of their account; None where nothing is to be allowed.

    Args:
        seen: of `record`, of runs that passed.
        env: the environment of the runs.
        say: called with sentences of what was left out, or why there is no policy.
    """
    ours = seen.to_aws()
    if others := sorted({call.host for call in seen.calls - ours}):
        say(f"left out are calls that did not go to AWS: {', '.join(others)}")
    if not ours:
        say("nothing was called in AWS, so there is nothing to allow; is it --environment aws-glue?")
        return None, {}
    known = {}
    if env and (address := getattr(env.catalog, "warehouse", None)):  # an embedded catalog has none
        known["warehouse"] = secrets.resolve(address)
    if region := next((call.region for call in sorted(ours, key=str) if call.region), None):
        known["region"] = region
    if env and (number := account.number(env)):
        known["account"] = number
    policy = iam.policy(ours, candidates=_candidates(seen.record), **known)
    if wrong := iam.faults(policy.document):
        say(f"the policy is not printed, for it is too wide: {'; '.join(wrong)}")
        return None, known
    return policy, known


def rehearse(document: Mapping[str, Any], known: Mapping[str, str], job: Job, runs: int) -> Rehearsal:
    """Run a notebook under a policy, on an empty account of this machine that enforces it.

    Args:
        document: of the policy.
        known: of `policy_of`.
        job: as of `record`.
        runs: as of `record`.
    """
    from workbench_ops.policies import proving

    number, region = known.get("account", iam.ACCOUNT), known.get("region", iam.REGION)
    quiet = replace(job, tell=lambda **event: None)
    with proving.under(document, account=number, region=region, warehouse=known["warehouse"]) as closed:
        passed = all(runner.run(quiet).status == "passed" for _ in range(runs))
        judgements = closed.judgements()
    return Rehearsal(passed, proving.on_stand_in(document, number), judgements)


def _to_aws(seen: frozenset[Call] | set[Call]) -> set[Call]:
    places = recording.endpoints()
    return {call for call in seen if calls.to_aws(call, places)}


def _candidates(ended: Record) -> set[str]:
    """Return the words of a run that may be names: its notebook with outputs, its parameters."""
    executed = records.folder(ended) / "notebook.ipynb"
    return calls.words(executed.read_text(encoding="utf-8"), json.dumps(ended.parameters))
