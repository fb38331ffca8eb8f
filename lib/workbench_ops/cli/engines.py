"""`workbench engines`: which engines a benchmark can compare or notebooks run on, and what one of them needs."""

import sys
from typing import Annotated

import typer

from workbench_ops.cli.printing import columns

engines = typer.Typer(
    help="Engines of the TPC-DS derived benchmark, and for notebooks.", invoke_without_command=True
)


@engines.callback()
def listed(context: typer.Context):
    """List the profiles and say of each whether it can run here."""
    if context.invoked_subcommand:
        return
    from workbench.engines import profiles

    lines = [("ENGINE", "DESCRIPTION", "CAN RUN")]
    for name in profiles.names():
        try:
            found = profiles.engine(name)
            lines.append((name, found.description, profiles.lacks(found) or "yes"))
        except ValueError as error:  # one's own that is wrong is no reason to hide the others
            lines.append((name, "", f"no: {error}"))
    columns(lines)


@engines.command("install")
def install(name: Annotated[str, typer.Argument(help="of a profile in params/engines")]):
    """Fetch what an engine needs: an environment of its own from a lock file with hashes, and its jars."""
    from workbench.engines import installing, profiles

    engine = profiles.engine(name)
    installing.install(engine)
    where = f" in {profiles.folder(engine)}" if engine.own_environment else ""
    print(f"{name} can run: {engine.description}{where}")


def kernel_of(notebook, engine=None):
    """Return what a Job says of its notebook's kernel: the engine asked for, or its own; nothing where it is ours.

    Raises:
        ValueError: as versions_in.
    """
    name = engine or engine_of(notebook)
    return {"kernel": name, "versions": versions_in(name)} if name else {}


def engine_of(notebook):
    """Return the engine whose kernel a notebook names itself, as one does that was saved in it; None for ours."""
    from workbench_ops.run import kernel
    from workbench_ops.run import notebook as notebooks

    try:
        own = kernel.named(notebooks.read(notebooks.find(notebook)))
    except notebooks.Refused:  # the runner says what is wrong
        return None
    if own in (None, "python3"):
        return None
    from workbench.engines import profiles

    return own if own in profiles.names() and profiles.engine(own).kernel else None


def versions_in(name):
    """Return the versions in an engine's own environment, in whose kernel notebooks are to run.

    Raises:
        ValueError: there is none of that name, it has no kernel, or it lacks something.
    """
    from workbench.engines import profiles

    found = profiles.engine(name) if name in profiles.names() else None
    if found is None or not found.kernel:
        having = [one for one in profiles.names() if profiles.engine(one).kernel]
        why = "which has no kernel" if found else "which there is not"
        raise ValueError(f"no notebook runs in engine {name}, {why}; with a kernel there are: {', '.join(having)}")
    if wrong := profiles.lacks_kernel(found):
        raise ValueError(f"engine {name} cannot run: {wrong}")
    return profiles.versions(found)


def with_spark(version):
    """Return the interpreter whose environment has a Spark, and the versions there; none where it is ours.

    Args:
        version: of Spark; the first two numbers count.

    Raises:
        ValueError: neither this environment nor an engine with a kernel has it, or that engine lacks something.
    """
    from workbench._base import java
    from workbench.engines import profiles

    line = ".".join(version.split(".")[:2])
    if line == java.pair()["spark"]:
        return sys.executable, {}
    having = [one for one in map(profiles.engine, profiles.names()) if one.kernel]
    found = next((one for one in having if one.packages["pyspark"].startswith(f"{line}.")), None)
    if found is None:
        raise ValueError(f"no engine here has Spark {line}, in whose kernel it would run")
    if wrong := profiles.lacks(found):
        raise ValueError(f"Spark {line} is the engine {found.name} here, and it cannot run: {wrong}")
    return profiles.python(found), profiles.versions(found)
