"""Requests in, answers out: the protocol (AWS JSON 1.1) around the store, without HTTP."""

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass

from workbench._base.errors import ArgumentError
from workbench_standins.kinesis import faults, operations, writing
from workbench_standins.kinesis.faults import Hits, Script
from workbench_standins.kinesis.refusal import Refused

MEDIA_TYPE = "application/x-amz-json-1.1"
TARGET = "Kinesis_20131202."
SIGNED_FOR = re.compile(r"Credential=[^/]+/\d{8}/([a-z0-9-]+)/kinesis/")


@dataclass(frozen=True)
class Answer:
    """An answer; a lost one is not sent, a slow one is held back for some seconds."""

    status: int
    body: bytes
    seconds: float = 0.0
    lost: bool = False


class Service:
    """A store behind the protocol, with a fault script and a count of calls.

    Args:
        store: the streams.
        region: where calls belong that are not signed for a region.
    """

    def __init__(self, store, *, region="us-east-1"):
        self.store, self.region = store, region
        self.script = Script(millis=store.clock.millis())
        self._calls = Counter()

    def answer(self, target, media_type, authorization, body):
        """Answer a request; any signature is accepted, its region is where streams are looked for.

        Args:
            target: the header X-Amz-Target.
            media_type: the header Content-Type; a web page cannot send the one that is asked for.
            authorization: the header Authorization.
            body: bytes.
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
            found = operations.call(self.store, operation, asked, region, **hits.options)
            status, sent = 200, found if isinstance(found, bytes) else json.dumps(found).encode()
        except Refused as refused:
            status, sent = (
                refused.status,
                json.dumps({"__type": refused.code, "message": refused.message}).encode(),
            )
        return Answer(status, sent, hits.seconds, hits.lost_answer)

    def control(self, name, arguments):
        """Do what the holder of the server asks beside the protocol; values in and out go through JSON.

        Args:
            name: now, advance, stop, set_faults, injected or calls.
            arguments: dict.
        """
        if name in ("now", "advance", "stop"):
            return getattr(self.store.clock, name)(**arguments)
        if name == "set_faults":
            script = faults.of_plain(arguments["faults"])
            self.script = Script(script, seed=arguments["seed"], millis=self.store.clock.millis())
            return None
        if name == "injected":
            return [asdict(one) for one in self.script.injected()]
        if name == "calls":
            return dict(sorted(self._calls.items()))
        raise ArgumentError(f"no control {name}")

    def _region(self, authorization):
        found = SIGNED_FOR.search(authorization)
        return found.group(1) if found else self.region


def _parsed(target, media_type, body):
    if media_type != MEDIA_TYPE:
        raise Refused("SerializationException", f"Content-Type must be {MEDIA_TYPE}; got {media_type!r}", 415)
    if not target.startswith(TARGET):
        raise Refused("UnknownOperationException", f"X-Amz-Target must be {TARGET}<operation>; got {target!r}")
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused("SerializationException", f"the request is not JSON: {error}") from None


def _no_number(text):
    raise ArgumentError(f"{text} is no number")
