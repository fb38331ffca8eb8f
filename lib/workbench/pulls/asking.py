"""Requests to Google's services: tried again where that may help, and refusals in words."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from workbench.pulls.errors import AnswerRefused

T = TypeVar("T")
TRIES = 5
FOR_A_WHILE = (429, 500, 502, 503, 504)
SECONDS = 60.0


def get(
    session: Any, at: str, parameters: Mapping[str, str], *, what: str, tries: int, first_wait_s: float = 0.5
) -> tuple[Any, int]:
    """Return the JSON of an address, and how many requests it took.

    Raises:
        AnswerRefused: the service refused for good, or more often than is tried.
    """
    from google.auth.exceptions import GoogleAuthError
    from requests.exceptions import RequestException

    reason = ""
    for attempt in range(1, tries + 1):
        try:
            response = session.get(at, params=dict(parameters), timeout=SECONDS)
        except (RequestException, GoogleAuthError) as error:
            reason = type(error).__name__
        else:
            if response.status_code == 200:
                return response.json(), attempt
            reason = _reason_of(response)
            if response.status_code not in FOR_A_WHILE:
                break
        if attempt < tries:
            wait(attempt, first_wait_s)
    raise AnswerRefused(f"{what} cannot be read: {reason}; nothing was committed")


def _reason_of(response: Any) -> str:
    try:
        error = response.json()["error"]
        return f"{response.status_code} {error['status']}, {error['message']}"
    except (ValueError, KeyError, TypeError):
        return str(response.status_code)


def wait(attempt: int, first_wait_s: float, sleep: Callable[[float], None] = time.sleep) -> None:
    """Wait before a next try: twice as long each time, with some chance."""
    sleep(min(first_wait_s * 2 ** (attempt - 1), 30.0) * random.uniform(1, 1.25))
