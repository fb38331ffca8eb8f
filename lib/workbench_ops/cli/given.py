"""What a user gives a command: pairs of a name and a value, functions in a Python file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench._base.errors import ArgumentError


def pairs(
    option: str, values: Sequence[str] | None, *, form: str = "NAME=VALUE", filled: bool = False
) -> dict[str, str]:
    """Return texts of a name, an equals sign and a value as a dict.

    Args:
        option: of which they are.
        values: the texts; None for none.
        form: what one must look like, for the message.
        filled: whether a value may not be empty.

    Raises:
        ValueError: one has no equals sign, no name or, where it must have one, no value; a name is given twice.
    """
    given: dict[str, str] = {}
    for text in values or ():
        name, equals, value = text.partition("=")
        if not equals or not name or (filled and not value):
            raise ArgumentError(f"{option} must be {form}, found {text!r}")
        if name in given:
            raise ArgumentError(f"{option} has {name} twice")
        given[name] = value
    return given


def functions(file: str, names: Sequence[str], *, option: str | None = None) -> dict[str, Any]:
    """Execute a Python file; return functions of it.

    Args:
        file: its path. Spark's workers get its functions as they are.
        names: of the functions.
        option: by which the file was named; None where it is an argument.

    Raises:
        ValueError: the file cannot be read, fails, or has not all of the functions.
    """
    where = file if option is None else f"{option}: {file}"
    try:
        source = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{where} cannot be read: {error}") from None
    # no module has this name, so that functions go to workers by their code, and a script's own part does not run
    content: dict[str, Any] = {"__name__": "given", "__file__": file}
    try:
        exec(compile(source, file, "exec"), content)
    except (Exception, SystemExit) as error:
        raise ArgumentError(f"{where} failed: {type(error).__name__}: {error}") from error
    if missing := sorted(name for name in names if not callable(content.get(name))):
        raise ArgumentError(f"{where} has no function {missing[0]}")
    return {name: content[name] for name in names}
