"""Jobs submitted once: a claim before the submission, an id after it, and a fence in the job.

    from workbench_ops.submit import Folder, all_in, job, start, wait

    run = start(job("load.py", "2026-01-31"), all_in(), token="load 2026-01-31", claims=Folder("/shared/claims"))
    wait(run)

The same call after a kill at any moment adopts the run that there is. In the job: `fence`. The parts:

    claims      one document a token, in a folder or a bucket, by conditional writes
    jobs        what is submitted, and the digest of its content
    targets     where jobs run, by files, and which of them a token goes to
    submitting  start, state, wait, logs, cancel, cost
    fencing     one of all jobs of a token goes on
    services    what each target does: process (this machine), standalone (Spark's REST), aws (both EMRs, Glue)
"""

from workbench_ops.submit.claims import Bucket, Claim, Claims, Folder, all_of, place
from workbench_ops.submit.errors import ClaimBusy, RunCancelled, TargetUnavailable, TokenReused
from workbench_ops.submit.fencing import fence
from workbench_ops.submit.jobs import Job, job
from workbench_ops.submit.services import State
from workbench_ops.submit.submitting import Run, cancel, cost, logs, run_of, start, state, wait
from workbench_ops.submit.targets import Process, Target, all_in, read, route

__all__ = [
    "Bucket", "Claim", "ClaimBusy", "Claims", "Folder", "Job", "Process", "Run", "RunCancelled", "State", "Target",
    "TargetUnavailable", "TokenReused", "all_in", "all_of", "cancel", "cost", "fence", "job", "logs", "place",
    "read", "route", "run_of", "start", "state", "wait",
]  # fmt: skip
