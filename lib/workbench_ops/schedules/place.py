"""Where a schedule runs: the project's folder, the command, the variables a scheduler does not have by itself."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from workbench._base import java, settings

# They decide what is found, and in whose account; none holds a secret
PATHS = (
    "WORKBENCH_HOME",
    "WORKBENCH_PARAMS",
    "JAVA_HOME",
    "XDG_CACHE_HOME",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
)
NAMES = ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION")


@dataclass(frozen=True)
class Place:
    """The project's folder, the absolute path of the command `workbench`, and variables to set: name to value."""

    home: str
    command: str
    variables: dict[str, str]


def here():
    """Return the Place of this project and this Python environment.

    Raises:
        ValueError: the command is not installed beside this Python.
    """
    command = Path(sys.executable).parent / "workbench"
    if not command.is_file():
        raise ValueError(f"the command workbench is not installed beside {sys.executable}; `make setup` does it")
    home = settings.home().resolve()
    variables = {name: os.environ[name] for name in (*PATHS, *NAMES) if os.environ.get(name)}
    if found := java.on_path():  # a scheduler's PATH is another one
        variables["JAVA_HOME"] = found
    return Place(str(home), str(command), variables)


def enter():
    """Go to the project's folder, as a scheduler does; paths in variables stay those they were from here."""
    home = settings.home()
    os.environ |= {name: str(Path(os.environ[name]).absolute()) for name in PATHS if os.environ.get(name)}
    os.chdir(home)


def needed(environment):
    """Return the names of variables that an environment refers to, sorted; the scheduler must set them."""
    return [one.removeprefix("env:") for one in settings.references(environment) if one.startswith("env:")]
