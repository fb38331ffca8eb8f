"""`workbench engines`: what a benchmark compares, notebooks run on or readers ask, and its installation."""

from typing import Annotated

import typer

from workbench_ops.cli.printing import columns
from workbench_ops.saying import say

engines = typer.Typer(
    help="Engines for the TPC-DS derived benchmark, for notebooks and for readers.", invoke_without_command=True
)


@engines.callback()
def listed(context: typer.Context) -> None:
    """List the profiles, and whether each can run here."""
    if context.invoked_subcommand:
        return
    from workbench.engines import profiles

    lines = [("ENGINE", "DESCRIPTION", "CAN RUN")]
    for name in profiles.names():
        try:
            engine = profiles.engine(name)
            lines.append((name, engine.description, profiles.lacks(engine) or "yes"))
        except ValueError as error:  # a profile of one's own that is wrong does not hide the others
            lines.append((name, "", f"no: {error}"))
    columns(lines)


@engines.command("install")
def install(name: Annotated[str, typer.Argument(help="name of a profile in params/engines")]) -> None:
    """Install an engine: its own Python environment from a lock file with hashes, its jars and its server."""
    from workbench.engines import installing, profiles

    engine = profiles.engine(name)
    installing.install(engine, say=say)
    where = f" in {profiles.folder(engine)}" if engine.own_environment else ""
    print(f"{name} can run: {engine.description}{where}")
