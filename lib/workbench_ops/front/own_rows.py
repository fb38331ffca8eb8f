"""Rows of a client's own, as Arrow has them, written anew before the server reads them.

Spark reads a text from where its offsets point to, behind the end of the rows too: memory in which there may be
rows of others, and keys.
"""

from workbench_ops.front.refusals import Refused


def anew(data: bytes) -> bytes:
    """Return a stream of Arrow, each value of it looked at and written again.

    Raises:
        Refused: it is no such stream, or its parts do not fit each other.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    try:
        with pa.ipc.open_stream(data) as stream, pa.ipc.new_stream(sink, stream.schema) as writer:
            for batch in stream:
                batch.validate(full=True)
                writer.write_batch(batch)
    except (pa.ArrowException, ValueError, OSError):
        raise Refused("the rows of a frame of the client's own are not a stream of Arrow") from None
    written: bytes = sink.getvalue().to_pybytes()
    return written
