"""Something done again and again beside other work, as long as a block lasts."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def every(seconds: float, do: Callable[[], object], *, name: str | None = None) -> Iterator[None]:
    """Call a function every few seconds, on a thread of its own, until the block ends; it ends with the block.

    Args:
        seconds: before the first call and between two.
        do: the function; an error ends its thread.
        name: of the thread.
    """
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            do()

    thread = threading.Thread(target=repeat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
