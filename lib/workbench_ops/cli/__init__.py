"""The command `workbench`: run notebooks, list runs, refresh notebooks, diagnose the set-up.

A subcommand is a module in `commands`, loaded when it is called: another beside it changes nothing for it.
"""

import importlib
import pkgutil
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from workbench._base.errors import ArgumentError, MissingPackageError, WorkbenchError
from workbench_ops.cli import commands
from workbench_ops.saying import say, silence


class Commands(TyperGroup):
    """The subcommands, by the names of the modules in `commands`; each is loaded when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: dict[str, Any] = {module.name: None for module in pkgutil.iter_modules(commands.__path__)}
        self.commands = names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a subcommand, None where there is none of that name."""
        return _loaded(cmd_name) if cmd_name in self.commands else None


app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)


@app.callback(no_args_is_help=True)
def workbench() -> None:
    """Run parameterised Iceberg notebooks headless, with a verdict that can fail."""


def main() -> None:
    """Run the command. A refusal prints one sentence and exits with 2; a defect of ours shows its traceback."""
    try:
        app(standalone_mode=True)
    except UnicodeError as error:
        say(f"a text could not be written or read: {error}")
        sys.exit(1)
    except WorkbenchError as error:
        say(str(error))
        sys.exit(2 if isinstance(error, ArgumentError | MissingPackageError) else 1)
    except ModuleNotFoundError as error:
        needed = "pip install 'iceberg-workbench[notebooks,catalog,streams,s3,kafka]'"
        say(f"{error.name} is not installed, this command needs it: {needed}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of what is printed, such as `head`, has ended
        silence(sys.stdout)
        sys.exit(1)
    except OSError as error:
        say(f"{error.strerror}: {error.filename}")
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        say("this is a defect of the workbench, not of what you asked for: please report it with the lines above")
        sys.exit(1)


def _loaded(name: str) -> Any:
    """Return the subcommand that a module holds under its own name: a function, or a Typer of several."""
    held = getattr(importlib.import_module(f"{commands.__name__}.{name}"), name)
    group = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    group.callback()(workbench)
    if isinstance(held, typer.Typer):
        group.add_typer(held, name=name)
    else:
        group.command(name)(held)
    return typer.main.get_group(group).commands[name]
