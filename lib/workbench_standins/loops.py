"""A server on a thread of this process, with an event loop of its own."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@contextmanager
def on_thread(
    serve: Callable[[], AbstractAsyncContextManager[T]], *, name: str
) -> Iterator[tuple[T, Callable[..., Any]]]:
    """Serve from a thread as long as the context is open.

    Args:
        serve: called on the loop; returns the context in which the server runs.
        name: of the thread.

    Yields:
        (value of the context of `serve`, function that calls another one on the loop and returns its answer).
        After the server's end that function calls the other one directly, so that counts and logs can be read.

    Raises:
        BaseException: what `serve`, or entering its context, raises.
    """
    begun: Future[tuple[T, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        async with serve() as served:
            begun.set_result((served, asyncio.get_running_loop(), stop))
            await stop.wait()

    def work() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)

    async def called(function: Callable[..., Any], arguments: Any, options: Any) -> Any:
        return function(*arguments, **options)

    def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
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
