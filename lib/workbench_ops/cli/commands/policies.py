"""`workbench policies`: what a notebook may do in AWS, found out by running it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.cli import options
from workbench_ops.saying import say

if TYPE_CHECKING:
    from workbench._base.settings import Environment
    from workbench_ops.policies import Policy
    from workbench_ops.run.preparing import Job
    from workbench_ops.run.record import Record


def policies(
    notebook: options.AnyNotebook,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="of `lint FILE`: a policy to read; nothing is run")
    ] = None,
    environment: Annotated[str | None, typer.Option(help="value for ENVIRONMENT, such as aws-glue")] = None,
    params: options.Params = None,
    overrides: options.Overrides = None,
    runs: Annotated[
        int,
        typer.Option(min=1, max=9, help="number of runs; from the second on the notebook finds its own tables"),
    ] = 2,
    timeout: options.Timeout = None,
    output: Annotated[
        str | None, typer.Option(metavar="FILE", help="file for the policy; by default standard output")
    ] = None,
    prove: Annotated[
        bool,
        typer.Option("--prove", help="then run it under the policy on a stand-in, and leave each right out once"),
    ] = False,
    session_policy: Annotated[
        bool, typer.Option("--session-policy", help="print it as the one line that a run of EMR or Glue takes")
    ] = False,
) -> None:
    """Run a notebook and print the least-privilege IAM policy for the AWS calls that it made.

    The notebook really runs, with your rights, and writes its tables. The policy allows the calls that were seen,
    by name, without a wildcard action. Without --prove it is not enforced here, and AWS has not judged it: attach
    it and try the notebook under it yourself. --prove runs it under the policy on an account of this machine.

    Exit 0: the policy was printed, and holds where it was proved. 1: a call has no known action (it is named, and
    the policy lacks it), nothing was called, the run failed, or was refused something under the policy, or a right
    is not needed. 2: refused. 3 and 4: as `workbench run`.

    `workbench policies lint FILE` reads a policy and prints its faults (exit 0 none, 1 some, 2 it is no policy).
    """
    if file is not None:
        raise typer.Exit(_linted(notebook, file))
    from workbench_ops.policies import rehearsing
    from workbench_ops.run import notebook as notebooks
    from workbench_ops.run import record as records
    from workbench_ops.run.preparing import Job, kernel_of

    path = notebooks.find(notebook)
    given = str(path), params, tuple(overrides or ()), environment, timeout
    job = Job(*given, **kernel_of(path))
    env = _recordable(job)
    if prove:
        _provable(env)
    if output and not (Path(output).resolve().parent.is_dir() and not Path(output).is_dir()):
        raise ArgumentError(
            f"{output} cannot be written: its folder does not exist, or it is a folder"
        )  # before the runs
    seen = rehearsing.record(job, runs, _shown)
    if seen.record.status != "passed":
        say("the run did not pass, so its calls are not all of them: there is no policy")
        raise typer.Exit(records.exit_code(seen.record))
    policy, known = rehearsing.policy_of(seen, env, say=say)
    code = _written(policy, output, as_session=session_policy)
    if prove and policy and not code:
        code = _proved(policy, known, job, runs)
    raise typer.Exit(code)


def _shown(job: "Job") -> "Record":
    """Run a notebook once and show how far it is."""
    from workbench_ops.cli import progress
    from workbench_ops.run import runner

    with progress.shown() as tell:
        return runner.run(replace(job, tell=progress.named(Path(job.notebook).stem, tell)))


def _linted(what: str, file: str) -> int:
    """Print the faults of a policy; return the exit code."""
    if what != "lint":
        raise ArgumentError(f"a policy is recorded for one notebook, found {what} and {file}; or read: lint FILE")
    from workbench_ops.policies import linting

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    faults = linting.lint(text)
    for fault in faults:
        print(f"{fault.statement}: {fault.sentence}")
    return int(bool(faults))


def _recordable(job: "Job") -> "Environment | None":
    """Return the environment of a job whose calls can all be recorded, or None where it names none."""
    from workbench._base import secrets
    from workbench_ops.run import preparing

    planned = preparing.planned(job)
    if planned.refusal:
        raise ArgumentError(planned.refusal)
    env = planned.environment
    if env and not str(secrets.resolve(env.spark.master)).startswith("local"):
        raise ArgumentError(f"{env.name} has Spark on other machines, whose calls to AWS are not seen from here")
    return env


def _written(policy: "Policy | None", output: str | None, *, as_session: bool = False) -> int:
    """Print or write the policy and say what it lacks; returns the exit code."""
    if policy is None:
        return 1
    if as_session:
        from workbench_ops.policies import proving

        text = proving.session_policy(policy.document)
    else:
        text = json.dumps(policy.document, indent=2, ensure_ascii=False)
    if policy.document["Statement"]:
        Path(output).write_text(f"{text}\n", encoding="utf-8") if output else print(text)
    for note in policy.notes:
        say(f"note: {note}")
    for lacking in policy.missing:
        say(f"the policy lacks {lacking}")
    return 1 if policy.missing or not policy.document["Statement"] else 0


def _provable(env: "Environment | None") -> None:
    """Refuse a proof that could not be made, before the runs that are recorded."""
    from workbench._base import secrets
    from workbench_standins.account import enforced

    enforced.require()
    address = secrets.resolve(getattr(env.catalog, "warehouse", None) or "") if env else ""
    if not address.startswith("s3://"):
        raise ArgumentError("--prove needs an environment whose warehouse is in S3, such as aws-glue")


def _proved(policy: "Policy", known: dict[str, str], job: "Job", runs: int) -> int:
    """Run the notebook under the policy, leave each right out once, say what was seen; returns the exit code."""
    from workbench_ops.policies import proving, rehearsing

    say("now the same runs under the policy, on an empty account of this machine that enforces it")
    rehearsal = rehearsing.rehearse(policy.document, known, job, runs)
    proof = proving.prove(rehearsal.document, rehearsal.judgements)
    for sentence in proof.sentences():
        say(sentence)
    if not rehearsal.passed:
        say("under the policy the run did not pass")
    return 0 if rehearsal.passed and proof.holds else 1
