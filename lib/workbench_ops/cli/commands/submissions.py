"""`workbench submissions`: what was submitted, its states, logs, costs, and its end."""

from typing import Annotated

import typer

from workbench._base.errors import WorkbenchError
from workbench_ops.cli.printing import columns
from workbench_ops.saying import say

submissions = typer.Typer(help="What was submitted: states, logs, costs, and its end.", no_args_is_help=True)
Token = Annotated[str, typer.Argument(metavar="TOKEN", help="under which it was submitted")]
Place = Annotated[
    str | None,
    typer.Option("--claims", metavar="PLACE", help="folder or s3://bucket/prefix; else .workbench/claims"),
]
Folder = Annotated[
    str | None, typer.Option("--targets", metavar="FOLDER", help="files of targets; else params/targets")
]


@submissions.command("list")
def submissions_list(claims: Place = None, targets: Folder = None) -> None:
    """List what was submitted, by token."""
    from workbench_ops import submit

    place, named = submit.place(claims), submit.all_in(targets)
    lines: list[tuple[object, ...]] = [("TOKEN", "QUEUE", "GENERATION", "ATTEMPTS", "TARGET", "RUN", "STATE")]
    for claim in submit.all_of(place):
        target = run_id = ""
        state = "no id yet"
        try:
            run = submit.run_of(claim.token, claims=place, targets=named)
            target, run_id = run.target, run.run_id
            state = submit.state(run)
        except WorkbenchError as error:
            say(str(error))
            state = "cancelled" if claim.cancelled else state if not run_id else "unknown"
        lines.append(
            (claim.token, claim.queue or "", claim.generation, len(claim.attempts), target, run_id, state)
        )
    columns(lines)


@submissions.command("state")
def submissions_state(token: Token, claims: Place = None, targets: Folder = None) -> None:
    """Print the state of a run (exit 1 failed or unknown, 143 cancelled, 2 nothing was submitted, else 0)."""
    from workbench_ops import submit
    from workbench_ops.submit.services import EXIT_CODES

    state = submit.state(submit.run_of(token, claims=submit.place(claims), targets=submit.all_in(targets)))
    print(state)
    raise typer.Exit(EXIT_CODES[state])


@submissions.command("logs")
def submissions_logs(token: Token, claims: Place = None, targets: Folder = None) -> None:
    """Print what a run has printed so far."""
    from workbench_ops import submit

    print(submit.logs(submit.run_of(token, claims=submit.place(claims), targets=submit.all_in(targets))), end="")


@submissions.command("cost")
def submissions_cost(token: Token, claims: Place = None, targets: Folder = None) -> None:
    """Print what a run cost in US dollars (exit 1 where its service does not say)."""
    from workbench_ops import submit

    dollars = submit.cost(submit.run_of(token, claims=submit.place(claims), targets=submit.all_in(targets)))
    print("its service does not say" if dollars is None else f"{dollars} USD")
    raise typer.Exit(int(dollars is None))


@submissions.command("cancel")
def submissions_cancel(token: Token, claims: Place = None, targets: Folder = None) -> None:
    """End a run; its token starts nothing any more. One that passed stays so."""
    from workbench_ops import submit

    run = submit.run_of(token, claims=submit.place(claims), targets=submit.all_in(targets))
    submit.cancel(run)
    print(submit.state(run))
