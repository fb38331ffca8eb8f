"""Tables shared by a policy with readers of Trino: its rules follow the policy and the tables."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from workbench import access, session
from workbench._base import repeating
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_ops.access import current
from workbench_standins import trino
from workbench_standins.ports import Port
from workbench_standins.trino import Server

Rules = Mapping[str, Any]


@checked
@contextmanager
def share(
    policy: str | Path,
    *,
    environment: str | Path = "lake",
    folder: str | Path | None = None,
    port: Port = 0,
    every_seconds: Annotated[float, Ge(0.1)] = 5.0,
) -> Iterator[Server]:
    """Share the tables of an environment by a policy file with readers of Trino as long as the context is open.

    Every few seconds the policy and the tables are looked at, and other rules are put into force where they
    changed; where they cannot be had, nobody is shown anything, and why is in the log. A column that is added is
    visible until the next look.

    Args:
        policy: the policy file; its principals are let in.
        environment: where the tables are, as of `session.catalog`.
        folder: as of `trino.serve`; whoever reads it can issue tokens.
        port: as of `trino.serve`.
        every_seconds: between two looks.

    Yields:
        Server.

    Raises:
        ValueError: the policy or the environment is wrong, Trino is not installed, or as `trino.serve`.
        ModuleNotFoundError: a package is missing.
        ChildProcessError: the server did not start.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    path = Path(policy).resolve()
    access.read(path)
    trino.require()
    properties = session.catalog_properties(environment)
    catalog = session.catalog(environment)

    def exported() -> Rules:
        judged = current.policy(path)
        tables = {}
        for parts, declared in judged.tables.items():
            try:
                tables[declared.name] = catalog.load_table(parts)
            except (NoSuchTableError, NoSuchNamespaceError):
                raise ArgumentError(f"there is no table {declared.name}, which is in {path.name}") from None
        return access.export.trino(judged, tables, catalog=catalog.name)

    rules, values = exported(), {catalog.name: trino.translated(properties)}
    with (
        trino.serve(values, rules, folder=folder, port=port) as server,
        renewing(server.replace, rules, exported, every_seconds=every_seconds),
    ):
        yield server


@contextmanager
def renewing(
    replace: Callable[[Rules], object], rules: Rules, exported: Callable[[], Rules], *, every_seconds: float
) -> Iterator[None]:
    """Replace rules by those of now, every few seconds, as long as the context is open.

    Args:
        replace: puts rules into force.
        rules: those in force.
        exported: returns those of now, or raises: then nothing is shown to anybody.
        every_seconds: between two looks.
    """
    in_force = rules

    def renew() -> None:
        nonlocal in_force
        try:
            now = exported()
        except Exception as error:  # whatever went wrong, rules of another moment are not kept in force
            now = access.export.CLOSED
            if in_force != now:
                logging.getLogger(__name__).error("nothing is shown: %s", _told(error))
        if now != in_force:
            replace(now)
            in_force = now

    with repeating.every(every_seconds, renew, name="rules of Trino"):
        yield


def _told(error: Exception) -> str:
    """Return what the log says of an error: ours by its sentence, others by their class."""
    return str(error) if isinstance(error, ValueError | OSError) else type(error).__name__
