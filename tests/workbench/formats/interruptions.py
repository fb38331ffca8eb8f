"""What comes between the steps of a move, a follow or a take-over: an error, or another one at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Stopped(Exception):
    pass


def stop_at(step):
    """Return an `on_step` that raises Stopped at a step."""

    def look(at):
        if at == step:
            raise Stopped

    return look


def race(*calls):
    """Run calls in threads that meet before their first commit.

    Args:
        calls: functions that take an `on_step`.

    Returns:
        What each returned, or the exception that it raised, in the order of the calls.
    """
    meeting, first = threading.Barrier(len(calls)), threading.local()

    def meet(step):
        if step == "commit" and not hasattr(first, "met"):  # who begins anew waits for nobody
            first.met = True
            meeting.wait(60)

    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call, meet) for call in calls]
    return [future.exception() or future.result() for future in futures]
