"""Rows of a client's own, as Arrow has them, written anew before the server reads them.

Spark reads a text from where its offsets point to, behind the end of the rows too: memory in which there may be
rows of others, and keys. Rows that are compressed are not read: 12 kB of them may fill 300 MB of memory.
"""

import struct
from typing import Any

from workbench_ops.front.refusals import Refused

# places of fields in the tables of Arrow's Message.fbs: the header of a message, the rows of a dictionary, and how
# rows are compressed
HEADER, OF_DICTIONARY, COMPRESSION = 2, 1, 3


def anew(data: bytes) -> bytes:
    """Return a stream of Arrow, each value of it looked at and written again.

    Raises:
        Refused: it is no such stream, its parts do not fit each other, or they are compressed.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    try:
        _refuse_compressed(data)
        with pa.ipc.open_stream(data) as stream, pa.ipc.new_stream(sink, stream.schema) as writer:
            for batch in stream:
                batch.validate(full=True)
                writer.write_batch(batch)
    except Refused:
        raise
    except (pa.ArrowException, ValueError, OSError, struct.error):
        raise Refused("the rows of a frame of the client's own are not a stream of Arrow") from None
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _refuse_compressed(data: bytes) -> None:
    """Refuse a stream of which a message is compressed; nothing is unpacked for that."""
    import pyarrow as pa

    for message in pa.ipc.MessageReader.open_stream(data):
        if message.type not in ("record batch", "dictionary"):
            continue
        flat = message.metadata.to_pybytes()
        rows = _within(flat, 0, None)
        for field in (HEADER, *([OF_DICTIONARY] if message.type == "dictionary" else [])):
            rows = _within(flat, rows, field)
        if _place(flat, rows, COMPRESSION) is not None:
            raise Refused("the rows of a frame of the client's own are compressed; send them as they are")


def _within(flat: bytes, table: int, field: int | None) -> int:
    """Return where the table in a field of a table of FlatBuffers begins; without a field the first one."""
    place: Any = table if field is None else _place(flat, table, field)
    if place is None:
        raise ValueError("a message without rows")
    return int(place) + int(struct.unpack_from("<I", flat, place)[0])


def _place(flat: bytes, table: int, field: int) -> int | None:
    """Return where a field of a table of FlatBuffers is, None where the table does not have it."""
    fields = table - struct.unpack_from("<i", flat, table)[0]
    (size,) = struct.unpack_from("<H", flat, fields)
    entry = 4 + 2 * field
    (offset,) = struct.unpack_from("<H", flat, fields + entry) if entry < size else (0,)
    return table + offset if offset else None
