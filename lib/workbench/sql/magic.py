"""The cell magic `%%sql`, where a kernel is IPython's."""

import keyword
import sys
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.sql import completing, running, values

USAGE = "%%sql [NAME] [--limit N]"


@checked
def cells(spark: SparkSession, **given: Any) -> None:
    """Make SQL cells of this notebook run in a session, and declare the values that they read.

        %%sql [NAME] [--limit N]

    shows the first rows of a statement and gives NAME its lazy frame. Called again, it sets values anew and adds
    others. Outside of IPython it only declares.

    Args:
        spark: session.
        given: values by their names, as `declare` takes them; a statement reads `session.NAME`.

    Raises:
        ValueError: as `declare`.
    """
    values.declare(spark, given)
    if (shell := _shell()) is None:
        return

    def sql(line: str, cell: str) -> None:
        """Run one statement of Spark SQL and show its first rows: %%sql [NAME] [--limit N]."""
        try:
            name, limit = _read(line)
            frame = running.run(spark, cell, limit=limit)
        except ArgumentError as error:
            shown = [f"{type(error).__name__}: {error}"]
            vars(error)["_render_traceback_"] = lambda: shown  # what IPython shows in place of our own lines
            raise
        if name:
            shell.user_ns[name] = frame

    shell.register_magic_function(sql, magic_kind="cell", magic_name="sql")
    completing.register(shell, spark)


def _shell() -> Any:
    """Return IPython's shell of this process, None where there is none."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def _read(line: str) -> tuple[str | None, int]:
    """Return the name and the limit behind `%%sql`."""
    words, limit = line.split(), running.LIMIT
    if "--limit" in words:
        place = words.index("--limit")
        number = words[place + 1] if place + 1 < len(words) else ""
        if not (number.isascii() and number.isdigit() and int(number)):
            raise ArgumentError(f"--limit must be an integer of at least 1, found {number!r}; {USAGE}")
        limit = int(number)
        words[place : place + 2] = []
    if len(words) > 1 or (words and (not words[0].isidentifier() or keyword.iskeyword(words[0]))):
        raise ArgumentError(f"{' '.join(words)!r} behind %%sql is not a name of Python; {USAGE}")
    return (words[0] if words else None), limit
