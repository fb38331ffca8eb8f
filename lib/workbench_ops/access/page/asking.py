"""Ask the page's GraphQL from a program, by the name and the password of a user."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from typing import Any, TypeAlias
from urllib.parse import urlencode

from workbench._base.door import checked
from workbench._base.errors import ArgumentError

Ask: TypeAlias = Callable[[str], dict[str, Any]]
FIELD = re.compile(r'name="csrf" value="([^"]+)"')
TIMEOUT_SECONDS = 120


@checked
def log_in(address: str, name: str, password: str) -> Ask:
    """Log in to a page.

    Args:
        address: of the page, http://…
        name: of a user.
        password: the user's.

    Returns:
        Function of a question in GraphQL; it returns the answer's `data` and `errors`. The session ends after 15
        minutes without a question.

    Raises:
        ArgumentError: nobody answers at the address, or the name or the password is wrong.
    """
    cookies = urllib.request.HTTPCookieProcessor(CookieJar())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)

    def sent(path: str, data: bytes | None = None, **headers: str) -> str:
        request = urllib.request.Request(f"{address}{path}", data, headers)
        with opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            text: str = answer.read().decode()
        return text

    try:
        form = {"name": name, "password": password, "csrf": _field(sent("/"))}
        field = _field(sent("/log-in", urlencode(form).encode()))
    except urllib.error.HTTPError as error:
        raise ArgumentError(f"{address} does not let {name} in: status {error.code}") from None
    except urllib.error.URLError as error:
        raise ArgumentError(f"{address} does not answer: {error.reason}") from None

    def ask(question: str) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "X-CSRF": field}
        try:
            answer: dict[str, Any] = json.loads(
                sent("/graphql", json.dumps({"query": question}).encode(), **headers)
            )
        except urllib.error.HTTPError as error:
            raise ArgumentError(f"{address} refuses the question: status {error.code}") from None
        return answer

    return ask


def _field(text: str) -> str:
    field = FIELD.search(text)
    if field is None:
        raise ArgumentError("this is not the page of `workbench access serve`")
    return field[1]
