"""A token endpoint for the secured broker: a client brings its id and its secret, and gets a token that expires.

    with secured.serve(users=("reader",)) as closed, issuer.serve(closed, seconds=60) as tokens:
        broker = tokens.broker("reader")
        source = streams.Topic("sales", broker.bootstrap, config=broker.config)
        ...
        tokens.ended("reader")

It answers OAuth's grant `client_credentials`, by which librdkafka renews tokens without code of its user's
(`sasl.oauthbearer.method: oidc`). It listens on 127.0.0.1 by plain HTTP and gives nothing without a client's
secret.

librdkafka renews a token at 80 % of its life, and a broker refuses who logs in again within a second. So where a
token is valid for less than about 6 seconds, a client that connects shortly before a renewal is refused at times.
"""

import base64
import hmac
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import parse_qs, unquote

from workbench._base.bounds import Ge
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench_standins import http
from workbench_standins.kafka import Broker
from workbench_standins.kafka.secured import Secured
from workbench_standins.ports import HOST

GRANT = "client_credentials"


@dataclass(frozen=True)
class Issuer:
    """A running token endpoint.

    Attributes:
        url: of the endpoint.
        seconds: how long a token is valid.
        secrets: user to the secret of its client; they are in the variables of this process, too, by which
            `broker` names them.
    """

    url: str
    seconds: float
    secrets: dict[str, str] = field(repr=False)
    closed: Secured = field(repr=False)
    log: list[tuple[str, float]] = field(repr=False)

    @checked
    def broker(self, user: str) -> Broker:
        """Return the broker as a user has it, by tokens that are renewed; address and secret are references.

        Raises:
            ArgumentError: there is no such user.
        """
        self._require(user)
        config = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": user,
            "sasl.oauthbearer.client.secret": f"env:{_variable(self.url, user)}",
            "sasl.oauthbearer.token.endpoint.url": f"env:{_variable(self.url)}",
        }
        return Broker(self.closed.addresses["oauth"], self.closed.folder, config)

    @checked
    def issued(self, user: str) -> int:
        """Return how many tokens of a user were issued.

        Raises:
            ArgumentError: there is no such user.
        """
        self._require(user)
        return sum(name == user for name, _ in self.log)

    @checked
    def ended(self, user: str) -> int:
        """Return how many of a user's tokens are valid no longer.

        Raises:
            ArgumentError: there is no such user.
        """
        self._require(user)
        now = time.monotonic()
        return sum(name == user and at + self.seconds < now for name, at in self.log)

    def answer(self, authorization: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Return the status and the content of the answer to a request for a token."""
        user = _client(authorization, self.secrets)
        if user is None:
            return 401, {"error": "invalid_client"}
        if parse_qs(body.decode("ascii", "replace")).get("grant_type") != [GRANT]:
            return 400, {"error": "unsupported_grant_type"}
        token = self.closed.token(user, seconds=self.seconds)
        self.log.append(
            (user, time.monotonic())
        )  # after the token was made, so that `ended` counts none too early
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.seconds}

    def _require(self, user: str) -> None:
        if user not in self.secrets:
            raise ArgumentError(f"there is no user {user!r}; there are {', '.join(self.secrets)}")


@checked
@contextmanager
def serve(closed: Secured, *, seconds: Annotated[float, Ge(1)] = 300.0) -> Iterator[Issuer]:
    """Serve tokens for the users of a secured broker as long as the context is open.

    Args:
        closed: of `secured.serve`.
        seconds: how long a token is valid.

    Yields:
        Issuer.
    """

    def answered(request: http.Request) -> tuple[int, dict[str, Any]]:
        if request.method != "POST":
            return 405, {"error": "invalid_request"}
        return issuer.answer(request.headers.get("authorization", ""), request.body)

    with http.serving(answered, name="tokens") as port:
        url = f"http://{HOST}:{port}/token"
        words = {user: secrets.token_urlsafe(18) for user in closed.passwords}
        issuer = Issuer(url, float(seconds), words, closed, [])
        variables = {_variable(url): url} | {_variable(url, user): word for user, word in words.items()}
        os.environ.update(variables)
        try:
            yield issuer
        finally:
            for name in variables:
                os.environ.pop(name, None)


def _client(authorization: str, known: dict[str, str]) -> str | None:
    """Return the user whose id and secret stand in a header of the form `Basic …`; None where there is none."""
    kind, _, text = authorization.partition(" ")
    try:
        name, _, word = base64.b64decode(text, validate=True).decode().partition(":")
    except ValueError:  # it is not Base64, or not of UTF-8
        return None
    user = unquote(name)
    right = hmac.compare_digest(unquote(word).encode(), known.get(user, "").encode())
    return user if kind.lower() == "basic" and user in known and right else None


def _variable(url: str, user: str = "") -> str:
    """Return the name of the variable of an endpoint's address, or of a client's secret."""
    port = url.rpartition(":")[2].partition("/")[0]
    return f"WORKBENCH_TOKENS_{port}" + (f"_{user.replace('-', '_').upper()}" if user else "")
