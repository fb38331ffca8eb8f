"""A Trino server on this machine, over an Iceberg catalog, with the rules of a policy in force.

    rules = access.export.trino(policy, tables, catalog="lake")
    with trino.serve({"lake": trino.translated(session.catalog_properties("lake"))}, rules) as server:
        with closing(server.connect("user1", catalog="lake")) as connection:
            connection.cursor().execute("SELECT * FROM people.users").fetchall()

The server alone has the keys of the storage. Readers come by HTTPS with a token of 15 minutes, which names them,
and get what the rules show. It is a boundary as far as its readers cannot open the files: it is a process of the
same user of this machine. `workbench engines install trino` installs it. The parts:

    catalogs         a catalog in Trino's words
    certificate      the server's, signed by itself
    child            the process between us and the server, which ends it when we end
    node             the server's JVM: its files, and how it is known that it is ready
"""

import base64
import importlib.util
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from workbench._base import signing
from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins import folders, properties
from workbench_standins.ports import HOST, Port
from workbench_standins.trino import child, node
from workbench_standins.trino.catalogs import translated

__all__ = ["Server", "require", "serve", "translated"]

LIFETIME_SECONDS = 900
NAME = "abcdefghijklmnopqrstuvwxyz0123456789_"  # of what a catalog's name is made


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        port: TCP port of HTTPS on 127.0.0.1.
        folder: where its log and its files are; they hold keys.
    """

    port: int
    folder: Path

    @property
    def certificate(self) -> Path:
        """Return the file of the server's certificate, by which clients know it."""
        return self.folder / node.CERTIFICATE

    @checked
    def token(self, user: str, *, seconds: Annotated[int, Ge(1), Le(LIFETIME_SECONDS)] = LIFETIME_SECONDS) -> str:
        """Issue a token by which somebody is a user of the server; it is not for printing.

        Args:
            user: who, as the rules name it.
            seconds: how long it is valid, at most 15 minutes.

        Raises:
            ValueError: the folder is not one of a server, or cannot be read.
        """
        now = int(time.time())
        claims = {"sub": user, "aud": node.AUDIENCE, "iat": now, "exp": now + int(seconds)}
        try:
            key = base64.b64decode((self.folder / node.KEY).read_text(encoding="ascii"))
        except OSError as error:
            raise ArgumentError(f"{self.folder} is not the folder of a Trino server: {error.strerror}") from None
        return signing.token(key, claims)

    def connect(self, user: str, **options: Any) -> Any:
        """Return a connection of Trino's own client for Python, as a user, by a new token.

        Args:
            user: as of `token`.
            options: of trino.dbapi.connect, such as `catalog` and `schema`.

        Raises:
            ModuleNotFoundError: the client is not installed.
        """
        client = _client()
        import requests

        own = requests.Session()
        own.trust_env = False  # REQUESTS_CA_BUNDLE would take the place of the server's certificate
        own.verify = str(self.certificate)
        return client.dbapi.connect(
            host=HOST, port=self.port, http_scheme="https", user=user, http_session=own,
            auth=client.auth.JWTAuthentication(self.token(user)), **options,
        )  # fmt: skip

    def replace(self, rules: Mapping[str, Any]) -> None:
        """Put other rules in the place of those in force; the server reads them within a second or two."""
        path = self.folder / node.RULES
        new = path.with_suffix(".new")
        properties.private(new, json.dumps(rules))
        new.replace(path)


def _client() -> Any:
    try:
        import trino.auth
        import trino.dbapi
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "Trino's client is not installed: pip install 'iceberg-workbench[trino]'", name=error.name
        ) from error
    return trino


def require() -> None:
    """Require that what the server needs is installed.

    Raises:
        ValueError: the engine `trino` is not.
        ModuleNotFoundError: cryptography, which makes its certificate, is not.
    """
    node.programs(node.home())
    if importlib.util.find_spec("cryptography") is None:
        raise MissingPackageError(
            "cryptography is not installed: pip install 'iceberg-workbench[trino]'", name="cryptography"
        )


@checked
@contextmanager
def serve(
    catalogs: Mapping[str, Mapping[str, str]],
    rules: Mapping[str, Any],
    *,
    memory_mb: Annotated[int, Ge(512)] = 1024,
    folder: str | Path | None = None,
    port: Port = 0,
    within: str | Path | None = None,
) -> Iterator[Server]:
    """Serve Trino as long as the context is open; it ends with this process too, however that ends.

    Args:
        catalogs: name to properties, as `translated` returns them. A name has small letters, digits and `_`.
        rules: of who sees what, as `access.export.trino` returns them.
        memory_mb: greatest heap of the server, MB.
        folder: where its files and its log stay, made when missing, for one server at a time; None makes a
            temporary one. They are files that only this user can read.
        port: TCP port of HTTPS on 127.0.0.1; 0 takes a free one.
        within: folder in which the temporary one is made and left to that folder's owner; None removes it.

    Yields:
        Server.

    Raises:
        ValueError: an argument is invalid, the port or the folder cannot be had, or Trino is not installed.
        ModuleNotFoundError: a package is not installed.
        ChildProcessError: the server did not start; the message has its last words.
    """
    if not catalogs:
        raise ArgumentError("catalogs is empty, so that the server would have no table")
    for name in catalogs:
        if not name or set(name) - set(NAME):
            raise ArgumentError(f"a catalog's name has small letters, digits and _, found {name!r}")
    if not rules.get("tables") or not rules.get("catalogs"):
        raise ArgumentError("rules lack tables or catalogs; Trino shows everything where there are none")
    require()
    settings = {
        "catalogs": {name: dict(values) for name, values in catalogs.items()}, "rules": dict(rules),
        "memory_mb": int(memory_mb), "port": int(port), "home": str(node.home()),
    }  # fmt: skip
    with child.running(folders.choice(folder, within) | settings) as answer:
        yield Server(answer["port"], Path(answer["folder"]))
