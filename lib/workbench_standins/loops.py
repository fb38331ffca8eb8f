"""A server on a thread of this process, with an event loop of its own."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager


@contextmanager
def on_thread(
    serve: Callable[[], AbstractAsyncContextManager], *, name: str
) -> Iterator[tuple[object, Callable[..., object]]]:
    """Serve from a thread as long as the context is open.

    Args:
        serve: called on the loop; returns the context in which is served.
        name: of the thread.

    Yields:
        (what the context of `serve` gives, function that calls another one on the loop, and returns its answer).
        Once the server has ended it calls it here: what is left can still be looked at.

    Raises:
        BaseException: what `serve`, or the beginning of its context, raises.
    """
    begun = Future()

    async def run():
        stop = asyncio.Event()
        async with serve() as served:
            begun.set_result((served, asyncio.get_running_loop(), stop))
            await stop.wait()

    def work():
        try:
            asyncio.run(run())
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)

    async def called(function, arguments, options):
        return function(*arguments, **options)

    def call(function, *arguments, **options):
        if loop.is_closed():
            return function(*arguments, **options)
        return asyncio.run_coroutine_threadsafe(called(function, arguments, options), loop).result()

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    served, loop, stop = begun.result()
    try:
        yield served, call
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
