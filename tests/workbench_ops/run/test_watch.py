"""Signals interrupt one run and are told to several; what nohup ignores stays ignored. Pipes come line by line."""

import os
import selectors
import signal
import time

import pytest

from workbench_ops.run import watch


@pytest.fixture
def usual_handlers():
    before = {number: signal.signal(number, signal.SIG_DFL) for number in watch.STOPS}
    yield
    for number, handler in before.items():
        assert signal.signal(number, handler) == signal.SIG_DFL  # as it was before the block


def test_a_signal_interrupts_once(usual_handlers):
    with pytest.raises(watch.Interrupted) as stop, watch.signals():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        finally:
            os.kill(os.getpid(), signal.SIGINT)  # a second one does not cut the cleaning up short
    assert stop.value.args == (signal.SIGTERM,)


def test_signals_are_told_a_line_each(usual_handlers):
    with watch.stop_requests() as pipe:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert sorted(os.read(pipe, 100).split()) == [b"15", b"2"]


def test_what_is_ignored_stays_ignored(usual_handlers):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with watch.signals():
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.signal(signal.SIGHUP, signal.SIG_DFL) == signal.SIG_IGN


def test_lines_of_several_pipes_come_whole_and_an_end_is_told():
    a, to_a = os.pipe()
    b, to_b = os.pipe()
    with selectors.DefaultSelector() as selector:
        selector.register(a, selectors.EVENT_READ, "a")
        selector.register(b, selectors.EVENT_READ, "b")
        os.write(to_a, b"one\ntw")
        lines = watch.lines(selector)
        assert next(lines) == ("a", b"one")
        os.write(to_b, b"other\n")
        assert next(lines) == ("b", b"other")
        os.write(to_a, b"o\n\nthree")
        os.close(to_a)
        assert [next(lines) for _ in range(3)] == [("a", b"two"), ("a", b""), ("a", None)]
        os.close(to_b)
        assert list(lines) == [("b", None)]
        selector.register(c := os.pipe()[0], selectors.EVENT_READ, "c")
        with pytest.raises(TimeoutError):
            next(watch.lines(selector, deadline=time.monotonic() + 0.05))
    for pipe in (a, b, c):
        os.close(pipe)
