"""Reading a backlog whole with a streaming query, and stopping then.

`Trigger.AvailableNow` does not do it with a Python source: Spark 4.1 asks such a source once for its latest
offset, so a capped source gives one capped batch and the query reports success.
"""

import threading


def drain(writer, *, timeout_seconds=None):
    """Run a streaming query until its source has nothing left; then stop it.

    Args:
        writer: DataStreamWriter, not started and without a trigger: `df.writeStream.option(…).foreachBatch(…)`.
        timeout_seconds: stop after so long whatever is left: a stream that is always written to has no end.

    Returns:
        The stopped StreamingQuery; its `recentProgress` tells what was read. Whether the end was reached is
        `query.drained`.

    Raises:
        pyspark.errors.StreamingQueryException: the query failed.
    """
    query = writer.trigger(processingTime="0 seconds").start()
    over = threading.Event()

    def end():
        over.set()
        query.stop()

    timer = threading.Timer(timeout_seconds, end) if timeout_seconds is not None else None
    try:
        if timer:
            timer.daemon = True
            timer.start()
        query.processAllAvailable()
    finally:
        if timer:
            timer.cancel()
        query.stop()
    query.drained = not over.is_set()
    return query
