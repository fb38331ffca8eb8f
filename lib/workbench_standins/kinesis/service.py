"""Requests in, answers out: the protocol (AWS JSON 1.1) around the store, without HTTP."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from workbench._base.errors import ArgumentError
from workbench_standins.kinesis import faults, operations, writing
from workbench_standins.kinesis.faults import Hits, Script
from workbench_standins.kinesis.refusal import Refused
from workbench_standins.kinesis.store import Store

MEDIA_TYPE = "application/x-amz-json-1.1"
TARGET = "Kinesis_20131202."
SIGNED_FOR = re.compile(r"Credential=[^/]+/\d{8}/([a-z0-9-]+)/kinesis/")


@dataclass(frozen=True)
class Answer:
    """An answer; a lost one is not sent, a slow one is delayed by some seconds."""

    status: int
    body: bytes
    seconds: float = 0.0
    lost: bool = False


class Service:
    """A store behind the protocol, with a fault script and a count of calls.

    Args:
        store: the streams.
        region: of calls that are not signed for one.
    """

    def __init__(self, store: Store, *, region: str = "us-east-1") -> None:
        self.store, self.region = store, region
        self.script = Script(millis=store.clock.millis())
        self._calls: Counter[str] = Counter()

    def answer(self, target: str, media_type: str, authorization: str, body: bytes) -> Answer:
        """Answer a request; any signature is accepted, and its region is that of the streams.

        Args:
            target: the header X-Amz-Target.
            media_type: the header Content-Type; a web page cannot send the one that is expected.
            authorization: the header Authorization.
            body: of the request.
        """
        operation, hits = target.removeprefix(TARGET), Hits()
        try:
            asked = _parsed(target, media_type, body)
            self._calls[operation] += 1
            region = self._region(authorization)
            hits = self.script.decide(
                operation,
                self.store.clock.millis(),
                lambda: writing.shards_of(self.store, operation, asked, region),
            )
            if hits.error is not None:
                raise hits.error
            if hits.lost_request:
                return Answer(0, b"", lost=True)
            answer = operations.call(self.store, operation, asked, region, **hits.options)
            status = 200
        except Refused as refused:
            status, answer = refused.status, {"__type": refused.code, "message": refused.message}
        sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return Answer(status, sent, hits.seconds, hits.lost_answer)

    def control(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Carry out a control, which is no part of the protocol; values in and out can be JSON.

        Args:
            name: now, advance, stop, set_faults, injected or calls.
            arguments: of the control, by name.

        Raises:
            ValueError: there is no such control, or an argument is invalid.
        """
        if name in ("now", "advance", "stop"):
            return getattr(self.store.clock, name)(**arguments)
        if name == "set_faults":
            script = faults.of_plain(arguments["faults"])
            self.script = Script(script, seed=arguments["seed"], millis=self.store.clock.millis())
            return None
        if name == "injected":
            return [asdict(counts) for counts in self.script.injected()]
        if name == "calls":
            return dict(sorted(self._calls.items()))
        raise ArgumentError(f"the server has no control {name}")

    def _region(self, authorization: str) -> str:
        signed = SIGNED_FOR.search(authorization)
        return signed[1] if signed else self.region


def _parsed(target: str, media_type: str, body: bytes) -> Any:
    if media_type != MEDIA_TYPE:
        raise Refused("SerializationException", f"Content-Type must be {MEDIA_TYPE}; got {media_type!r}", 415)
    if not target.startswith(TARGET):
        raise Refused("UnknownOperationException", f"X-Amz-Target must be {TARGET}<operation>; got {target!r}")
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused("SerializationException", f"the request is not JSON: {error}") from None


def _no_number(text: str) -> NoReturn:
    raise ArgumentError(f"{text} is not a number")
