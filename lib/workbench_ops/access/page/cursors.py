"""Where a page goes on: signed by the server, so that a reader reads on in the version that was begun alone."""

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from workbench._base import signing
from workbench._base.errors import ArgumentError

SECONDS = 15 * 60  # that a reader may take for a page; afterwards the table is read as it is then


@dataclass(frozen=True)
class Cursor:
    """The place of a page: the table, its version, the order, and the number of rows before it."""

    table: str
    snapshot_id: int | None
    order: tuple[tuple[str, bool], ...]
    complete: bool
    start: int


class Cursors:
    """Cursors as texts, by a key that lives as long as the server."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Take the clock that cursors end by, in seconds."""
        self._key, self._clock = secrets.token_bytes(32), clock

    def text(self, cursor: Cursor, user: str) -> str:
        """Return a cursor as a text for a user."""
        content = json.dumps([asdict(cursor), user, self._clock()]).encode()
        return signing.signed(self._key, signing.encoded(content))

    def read(self, text: str, user: str) -> Cursor:
        """Return the cursor of a text.

        Raises:
            ArgumentError: it is not one of this server for this user, or too old.
        """
        signed, _, signature = text.rpartition(".")
        try:
            ours = signing.fits(self._key, signed, signature)
        except ValueError:
            ours = False
        if not ours:
            raise ArgumentError("this place in a table is not one that this server has given; begin anew")
        fields, owner, issued = json.loads(signing.decoded(signed))
        if owner != user:
            raise ArgumentError("this place in a table was given to somebody else; begin anew")
        if self._clock() - issued > SECONDS:
            raise ArgumentError("this place in a table is too old; begin anew")
        order = tuple((name, descending) for name, descending in fields.pop("order"))
        return Cursor(**fields, order=order)
