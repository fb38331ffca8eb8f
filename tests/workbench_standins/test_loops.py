"""Servers on a thread: begun or refused as a whole, called on their own loop, ended with their context."""

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest

from workbench_standins import loops


@asynccontextmanager
async def serving(steps):
    steps.append("begun")
    try:
        yield "address"
    finally:
        await asyncio.sleep(0)
        steps.append("ended")


def test_a_server_is_called_on_its_loop_and_ends_with_its_context():
    steps = []
    with loops.on_thread(lambda: serving(steps), name="sums") as (address, call):
        assert (address, steps) == ("address", ["begun"])
        assert call(lambda: (threading.current_thread().name, asyncio.get_running_loop().is_running())) == (
            "sums", True,
        )  # fmt: skip
        assert call(divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):  # of the function, and the server lives on
            call(divmod, 7, 0)
        assert call(int, "11", base=2) == 3
    assert steps == ["begun", "ended"]
    assert call(lambda: threading.current_thread()) is threading.current_thread()
    assert "sums" not in {thread.name for thread in threading.enumerate()}


def test_a_server_that_cannot_begin_says_why():
    @asynccontextmanager
    async def refusing():
        raise ValueError("port 1 cannot be had")
        yield

    def missing():
        raise ModuleNotFoundError("aiohttp")

    for serve, kind in ((refusing, ValueError), (missing, ModuleNotFoundError)):
        with pytest.raises(kind), loops.on_thread(serve, name="sums"):
            pass
    assert "sums" not in {thread.name for thread in threading.enumerate()}
