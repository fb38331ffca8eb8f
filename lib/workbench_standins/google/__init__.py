"""Google for this machine: GA4's Data API by REST and gRPC, the Sheets API and OAuth, for Google's own clients.

    with google.serve(grpc=True) as server:
        server.add_visits("123", visits)
        server.set_book("segments", {"Sheet1": {"rows": [["nation", "segment"], ["FRANCE", "BUILDING"]]}})
        server.credentials()        # a service account's key, whose token_uri is the server's
        server.endpoint             # of the clients by REST
        server.grpc_target          # of a channel of gRPC, with grpc.local_channel_credentials()

It listens on 127.0.0.1 only and keeps everything in memory. Assertions of accounts are verified; a report has the
visits that are known at the time of the clock. What Google does and this does not: filters, comparisons, several
date ranges, writing to sheets. Over gRPC a lost answer is the status that a client gives a broken connection.

    store      what it holds, its clock, its faults
    reports    runReport and metadata
    grids      spreadsheets.get with field masks
    service    who calls, what hits a call, what it is answered with
    server     HTTP
    rpc        gRPC
    child      a process of its own
"""

import importlib.util
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from workbench._base import children
from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench_standins.google import child
from workbench_standins.ports import HOST, Port

__all__ = ["ACCOUNT", "Server", "serve"]

ACCOUNT = "reader@stand-in.iam.gserviceaccount.com"


@dataclass(frozen=True)
class Server:
    """A running server.

    Attributes:
        endpoint: its address, `http://127.0.0.1:port`.
        grpc_target: where it serves gRPC, `127.0.0.1:port`; "" where it does not.
    """

    endpoint: str
    grpc_target: str
    ask: Callable[..., Any] = field(repr=False)
    key: str = field(repr=False)

    def credentials(self, account: str = ACCOUNT) -> dict[str, str]:
        """Return the key of a service account, as its JSON file has it."""
        return {
            "type": "service_account", "project_id": "stand-in", "private_key_id": "1", "private_key": self.key,
            "client_email": account, "client_id": "1", "token_uri": f"{self.endpoint}/token",
        }  # fmt: skip

    def set_property(self, number: str, **settings: Any) -> None:
        """Make a property or change it: readers, tokens_per_day, threshold, most_rows, sampling, types, visits."""
        self.ask("set_property", number=number, **settings)

    def add_visits(self, number: str, visits: Sequence[Mapping[str, Any]]) -> None:
        """Add visits: day, user, new, cents, dims, known and gone; see store.Property."""
        self.ask("add_visits", number=number, visits=list(visits))

    def set_book(
        self, book: str, tabs: Mapping[str, Mapping[str, Any]], readers: Sequence[str] | None = None
    ) -> None:
        """Make a book or edit it: tabs by title, each with rows of cells and merges; see grids."""
        self.ask("set_book", book=book, tabs=tabs, readers=readers)

    def set_faults(self, *faults: Mapping[str, Any]) -> None:
        """Replace the faults: dicts of kind, operation, after_calls, most, seconds; see store.Fault."""
        self.ask("set_faults", script=list(faults))

    def advance(self, seconds: float) -> float:
        """Push the clock forward; return its time in seconds since 1970."""
        return float(self.ask("advance", seconds=seconds))

    def revoke(self) -> None:
        """Make all tokens void."""
        self.ask("revoke")

    def calls(self) -> dict[str, int]:
        """Return how many calls there were by operation: token, metadata, runReport, spreadsheet."""
        counts: dict[str, int] = self.ask("calls")
        return counts


@checked
@contextmanager
def serve(*, port: Port = 0, start: Annotated[float, Ge(0)] | None = None, grpc: bool = False) -> Iterator[Server]:
    """Serve as long as the context is open, from a child process that ends with this one.

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        start: seconds since 1970 at which the clock stands until it is pushed; None follows the machine's.
        grpc: whether to serve the Data API by gRPC, too, on a free port.

    Yields:
        Server.

    Raises:
        ValueError: the port cannot be had.
        ModuleNotFoundError: what comes with the extra saas is not installed.
    """
    private, public = _keys()
    if grpc:
        _require("google.analytics.data_v1beta", "google-analytics-data")
    settings = {"port": int(port), "start": None if start is None else float(start), "key": public, "grpc": grpc}
    with children.started(child.__name__) as process:
        turn = threading.Lock()

        def ask(control: str, **arguments: Any) -> Any:
            with turn:
                message = {"control": control, "arguments": arguments}
                return children.ask(process, message, name="stand-in of Google")["value"]

        served = children.ask(process, settings, name="stand-in of Google")["value"]
        target = f"{HOST}:{served['grpc']}" if grpc else ""
        yield Server(f"http://{HOST}:{served['port']}", target, ask, private)


def _require(module: str, package: str) -> None:
    """Refuse to serve without a package; a package of which the module is a part may be missing, too."""
    try:
        there = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        raise MissingPackageError(
            f"{package} is not installed: pip install 'iceberg-workbench[saas]'", name=package
        )


def _keys() -> tuple[str, str]:
    """Return a new private key and its public one, PEM."""
    _require("cryptography", "cryptography")
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()
