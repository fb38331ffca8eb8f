"""One request from client to upstream and back, byte for byte.

Only what belongs to a connection is changed: the hop-by-hop headers of RFC 9110 section 7.6.1, the chunks of a
transfer, and `Expect`, which is answered here (signatures do not cover it). Host and Authorization pass as they
are. Every request has an upstream connection of its own and is sent once: the proxy never tries again by itself.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from xml.sax.saxutils import escape

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from workbench._base.errors import WorkbenchError
from workbench_standins.proxy.arrivals import Arrival, access_key, plain_path
from workbench_standins.proxy.gates import PASS
from workbench_standins.proxy.plan import Plan

HOP = {
    "connection", "expect", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
ADDED = "Content-Type", "Date", "Server"  # aiohttp adds them to an answer that has none
ABSENT = web.RequestKey("absent", list)  # those that the upstream's answer does not have
KEPT_BYTES = 8 * 1024 * 1024  # of a held request; the rest of a longer one waits in the client
HEADER_BYTES = 64 * 1024
CODES = {403: "AccessDenied", 404: "NoSuchKey", 409: "Conflict", 412: "PreconditionFailed", 429: "TooManyRequests"}
CODES |= {500: "InternalError", 503: "SlowDown", 504: "GatewayTimeout"}


class UpstreamBroken(WorkbenchError, Exception):
    """The upstream could not be reached, or broke off."""


class Body:
    """The body of a request, read once: first the chunks that were kept, then those that follow."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._content = request.content
        self._kept: list[bytes] = []
        self._whole, self.broken = False, False

    async def keep(self) -> None:
        """Read it in full, or as much as is kept of a long one.

        Raises:
            ConnectionError: the client broke off.
        """
        size = 0
        while size < KEPT_BYTES and (chunk := await self._next()):
            self._kept.append(chunk)
            size += len(chunk)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield it piece by piece."""
        while self._kept:
            yield self._kept.pop(0)
        while chunk := await self._next():
            yield chunk

    async def _next(self) -> bytes:
        """Return the next chunk; a body that has arrived in full stays whole although its client goes away."""
        self._whole = self._whole or self._content.at_eof()
        try:
            return b"" if self._whole else await self._content.readany()
        except Exception as error:
            self.broken = True
            raise ConnectionResetError("the client broke off") from error


async def handle(
    request: web.BaseRequest,
    *,
    session: aiohttp.ClientSession,
    upstream: str,
    arrival: Arrival,
    plan: Plan,
    answered: Callable[[Arrival], None],
) -> web.StreamResponse:
    """Carry one request through and note in `arrival` how it went.

    Args:
        request: aiohttp's.
        session: as `session` makes it.
        upstream: address without a path.
        arrival: of the request.
        plan: that decides what hits it.
        answered: called with the arrival when the upstream has answered, before anything else happens.

    Returns:
        The answer for aiohttp, which cannot send it on a broken connection.
    """
    fault, body = plan.decide(arrival), Body(request)
    try:
        if fault.waits:
            await body.keep()
        verdict = await fault.at("request", arrival)
        if verdict.what == "fail":
            return _refusal(request, arrival, verdict.status)
        if verdict.what == "lose_request":
            return _broken(request)
        answer = await _sent(request, body, session, upstream)
        async with answer:
            arrival.status = answer.status
            answered(arrival)
            if verdict == PASS:
                verdict = await fault.at("answer", arrival)
            if verdict.what in ("fail", "lose_answer"):
                await _drain(answer)
            if verdict.what == "fail":
                return _refusal(request, arrival, verdict.status)
            if verdict.what == "lose_answer":
                return _broken(request)
            return await _passed_back(request, answer, arrival)
    except ConnectionResetError:
        arrival.action += ", client broke off"
        return _broken(request)
    except UpstreamBroken as error:
        arrival.action += ", upstream broke off"
        return _refusal(request, arrival, 502, str(error))


def meant(
    request: web.BaseRequest, clients: Mapping[str, str | None], by_port: Mapping[int, str | None]
) -> tuple[str | None, str]:
    """Return (client, plain path) of a request: by the port it came to, else by the access key that signed it."""
    client = by_port.get(request.get_extra_info("sockname")[1])
    key = access_key(request.headers.get("Authorization", ""), request.raw_path)
    by_key = {signing: name for name, signing in clients.items() if signing}
    return client or by_key.get(key or ""), plain_path(request.raw_path)


def session() -> aiohttp.ClientSession:
    """Return the aiohttp session for the upstream; it adds nothing and keeps nothing."""

    async def once(request: Any, send: Any) -> aiohttp.ClientResponse:
        # aiohttp sends GET, PUT and DELETE again when the connection broke, unless it sees another error
        try:
            response: aiohttp.ClientResponse = await send(request)
            return response
        except (aiohttp.ClientError, OSError) as error:
            raise UpstreamBroken(f"{type(error).__name__}: {error}") from error

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, force_close=True),
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        auto_decompress=False,
        max_line_size=HEADER_BYTES,
        max_field_size=HEADER_BYTES,
        middlewares=(once,),
    )


async def only_own_headers(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Remove the headers that aiohttp added to an upstream's answer."""
    for name in request.get(ABSENT, ()):
        response.headers.pop(name, None)


async def _sent(
    request: web.BaseRequest, body: Body, session: aiohttp.ClientSession, upstream: str
) -> aiohttp.ClientResponse:
    """Send a request on and return the upstream's answer as soon as its headers have arrived."""
    if not request.raw_path.startswith("/"):
        raise UpstreamBroken("the target of a request starts with /")
    try:
        return await session.request(
            request.method,
            URL(upstream + request.raw_path, encoded=True),
            headers=_passed_on(request.raw_headers),
            data=body.chunks() if request.body_exists else None,  # goes out in chunks when it has no length
            allow_redirects=False,
        )
    except (UpstreamBroken, aiohttp.ClientError) as error:
        if body.broken:
            raise ConnectionResetError("the client broke off") from error
        raise UpstreamBroken(str(error)) from error


async def _passed_back(
    request: web.BaseRequest, answer: aiohttp.ClientResponse, arrival: Arrival
) -> web.StreamResponse:
    """Pass an answer back chunk by chunk; where the upstream breaks off, so does the answer."""
    response = web.StreamResponse(
        status=answer.status, reason=answer.reason, headers=_passed_on(answer.raw_headers)
    )
    request[ABSENT] = [name for name in ADDED if name not in answer.headers]
    arrival.told = answer.status
    try:
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
        await response.write_eof()
        return response
    except (aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
        arrival.told = None
        arrival.action += ", upstream broke off"
    except ConnectionError:
        arrival.told = None
        arrival.action += ", client broke off"
    return _broken(request)


def _passed_on(raw_headers: Sequence[tuple[bytes, bytes]]) -> CIMultiDict[str]:
    """Return the headers but those of the connection: the hop-by-hop ones, and those that Connection names."""
    headers = [(name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))
               for name, value in raw_headers]  # fmt: skip
    lists = [value.split(",") for name, value in headers if name.lower() == "connection"]
    dropped = HOP | {name.strip().lower() for names in lists for name in names}
    return CIMultiDict((name, value) for name, value in headers if name.lower() not in dropped)


async def _drain(answer: aiohttp.ClientResponse) -> None:
    with suppress(aiohttp.ClientError):
        async for _ in answer.content.iter_any():
            pass


def _broken(request: web.BaseRequest) -> web.Response:
    """Break the client's connection and return an answer, which aiohttp cannot send any more."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _refusal(
    request: web.BaseRequest, arrival: Arrival, status: int, why: str = "by the script of the ordering proxy"
) -> web.Response:
    """Return an answer in the place of the upstream's: JSON to a request of JSON, else XML as of S3."""
    arrival.told = status
    code, message = CODES.get(status, "Failed"), f"{status} {why}"
    if request.content_type == "application/json":
        kind, text = "json", json.dumps({"error": {"message": message, "type": code, "code": status}})
    else:
        error = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
        kind, text = "xml", f'<?xml version="1.0" encoding="UTF-8"?>{error}'
    return web.Response(status=status, body=text.encode(), content_type=f"application/{kind}")
