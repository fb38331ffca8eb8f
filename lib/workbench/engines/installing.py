"""What a profile needs, fetched: an environment of its own from a lock file, its jars, its server, its kernel."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import workbench
from workbench._base import files, jars, java
from workbench._base.errors import ArgumentError
from workbench.engines import archives, profiles

PLUGIN = {"trino": "plugin/iceberg"}  # family to the folder of its server that has the profile's jars, too


def install(engine: profiles.Engine, *, say: Callable[[str], object] = print) -> None:
    """Install what a profile needs to run; what is there and right stays.

    Args:
        engine: Engine.
        say: called with each line of progress; large archives have some.

    Raises:
        ValueError: a package, a build, a jar or an archive cannot be had, the disk has too little room, or the
            packages belong into our own environment.
    """
    if engine.own_environment and not profiles.installed(engine):
        _make(engine)
    jars.fetch(jars.named(*profiles.jars_of(engine)))
    if engine.archives:
        place, plugin = profiles.folder(engine), PLUGIN[engine.family]
        archives.install(place, engine.archives, engine.jars, plugin=plugin, say=say)
    if engine.kernel:
        _kernel(engine)
    if wrong := profiles.lacks(engine):
        raise ArgumentError(f"engine {engine.name} still cannot run: {wrong}")


def _make(engine: profiles.Engine) -> None:
    """Make the environment; the note that it is whole comes last, so that a killed installation is done again."""
    folder = profiles.folder(engine)
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], engine)
    pip = [str(profiles.python(engine)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "-r", str(profiles.lock("build"))], engine)
    # PySpark comes as a source, built by what was just installed: nothing unpinned is fetched for it
    # (--no-deps: the lock has all, and pip takes a pin for none where a package asks for an extra of it)
    locked = ["--require-hashes", "--no-deps", "--no-build-isolation", "-r", str(profiles.lock(engine.name))]
    _run([*pip, *locked], engine)
    (folder / "lock.sha256").write_text(profiles.stamp(engine))


def _kernel(engine: profiles.Engine) -> None:
    """Link the library into the environment, and register the kernel in our environment, not at home."""
    for package in Path(workbench.__file__).resolve().parents[1].glob("workbench*/__init__.py"):
        link = profiles.packages_folder(engine) / package.parent.name
        link.unlink(missing_ok=True)
        link.symlink_to(package.parent)
    variables = {"JAVA_HOME": str(java.find().parent.parent)}  # by pip it is in our environment only
    spec = {
        "argv": [str(profiles.python(engine)), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": engine.description.partition(", a kernel")[0],
        "language": "python",
        "env": variables,
    }
    with files.replacing(profiles.kernel_file(engine)) as new:
        new.write_text(json.dumps(spec, indent=1), encoding="utf-8")
    # made when it is missing: here, and not in the first cell of the first notebook
    archive = "from workbench import session; session.class_data_options(('iceberg', 'sqlite'))"
    _run([str(profiles.python(engine)), "-c", archive], engine, os.environ | variables)


def _run(command: list[str], engine: profiles.Engine, env: Mapping[str, str] | None = None) -> None:
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, env=env)
    if run.returncode:
        last = [line for line in run.stderr.splitlines() if line.strip()][-3:]
        raise ArgumentError(f"the environment of {engine.name} could not be made: {' '.join(last)[:600]}")
