"""`workbench submit`: a script started once under a token, however often the command is repeated."""

from collections.abc import Sequence
from typing import Annotated

import typer

from workbench._base.errors import ArgumentError
from workbench_ops.saying import say

TIMED_OUT = 3  # as of a run of a notebook


def submit(
    script: Annotated[str, typer.Argument(metavar="SCRIPT", help="Python file, or its address: s3://bucket/key")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT…", help="of its command line; behind -- if dashed")
    ] = None,
    token: Annotated[str, typer.Option(help="names the one run that is wanted: the day's load, not the try")] = "",
    queue: Annotated[str | None, typer.Option(help="queue of a target; without it any target serves")] = None,
    claims: Annotated[
        str | None, typer.Option(metavar="PLACE", help="folder or s3://bucket/prefix; else .workbench/claims")
    ] = None,
    targets: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="files of targets; else params/targets")
    ] = None,
    conf: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="setting of Spark")] = None,
    variable: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="variable of the job's environment")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="until it has ended; its log is printed then")] = False,
    timeout_seconds: Annotated[
        float | None, typer.Option(min=0.1, help="with --wait: how long at most; the run goes on")
    ] = None,
) -> None:
    """Start a script once: repeated, the same command adopts the run that there is.

    Exit codes: 0 started, or passed with --wait; 1 failed; 2 refused; 3 not ended in time; 143 cancelled.
    """
    from workbench_ops import submit as submitting
    from workbench_ops.submit.services import EXIT_CODES

    if not token:
        raise ArgumentError("--token is missing: it names the one run that is wanted, such as 'load 2026-01-31'")
    described = submitting.job(
        script, *(arguments or ()), conf=_named("--conf", conf), variables=_named("--variable", variable)
    )
    run = submitting.start(
        described,
        submitting.all_in(targets),
        token=token,
        claims=submitting.place(claims),
        queue=queue,
    )
    how = "adopted" if run.adopted else "started"
    say(f"{how} {run.run_id} on {run.target}, generation {run.generation}")
    if not wait:
        return
    try:
        state = submitting.wait(run, timeout_seconds=timeout_seconds)
    except TimeoutError as error:
        say(str(error))
        raise typer.Exit(TIMED_OUT) from None
    print(submitting.logs(run), end="")
    say(f"{run.run_id} {state}")
    raise typer.Exit(EXIT_CODES[state])


def _named(option: str, pairs: Sequence[str] | None) -> dict[str, str]:
    """Return NAME=VALUE as a dict.

    Raises:
        ArgumentError: one has no equals sign, or a name is given twice.
    """
    values: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ArgumentError(f"{option} must be NAME=VALUE, found {pair!r}")
        if name in values:
            raise ArgumentError(f"{option} {name} is given twice")
        values[name] = value
    return values
