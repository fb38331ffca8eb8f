"""The streams of a server, and whether an operation may use them now; the operations are in other modules."""

import secrets
from collections.abc import Callable, Collection

from workbench_standins.kinesis import request
from workbench_standins.kinesis.clock import Clock
from workbench_standins.kinesis.limits import Limits, Window
from workbench_standins.kinesis.refusal import Refused, invalid
from workbench_standins.kinesis.request import Asked
from workbench_standins.kinesis.stream import Shard, Stream

ACCOUNT = "000000000000"
WRITABLE = "ACTIVE", "UPDATING"  # states in which records come and go


class Store:
    """All streams of one account, by region and name. Not for two threads at once.

    Args:
        clock: the time; the machine's by default.
        limits: what throttles and refuses.
        transition_seconds: how long a stream is CREATING, UPDATING or DELETING; 0 ends these states at once.

    Attributes:
        key: secret bytes that seal the tokens of this server.
    """

    def __init__(
        self, clock: Clock | None = None, limits: Limits | None = None, *, transition_seconds: float = 0.0
    ) -> None:
        self.clock, self.limits = clock or Clock(), limits or Limits()
        self.key = secrets.token_bytes(16)
        self._transition_millis = round(transition_seconds * 1000)
        self._streams: dict[tuple[str, str], Stream] = {}
        self._incarnations: dict[int, Stream] = {}
        self._first_seconds: dict[tuple[str, str], int] = {}
        self._calls = {name: Window(most) for name, most in self.limits.calls_per_second.items()}
        self._created = 0

    def count_call(self, operation: str) -> None:
        """Take one call from the account's allowance for an operation.

        Raises:
            Refused: LimitExceededException.
        """
        window = self._calls.get(operation)
        if window is not None:
            if not window.open(self.clock.millis(), 1):
                raise Refused("LimitExceededException", f"Rate exceeded for {operation} under account {ACCOUNT}.")
            window.take()

    def stream(
        self,
        asked: Asked,
        region: str,
        *,
        states: Collection[str] = ("ACTIVE", "UPDATING", "CREATING", "DELETING"),
    ) -> Stream:
        """Return the stream that a request means, settled to the present.

        Raises:
            Refused: ResourceNotFoundException, also when it is in none of the states.
        """
        name = request.stream_name(asked, region)
        stream = self._streams.get((region, name))
        if stream is not None:
            stream.settle(self.clock.millis())
            stream = self._streams.get((region, name))
        if stream is None or stream.status not in states:
            raise Refused("ResourceNotFoundException", f"Stream {name} under account {ACCOUNT} not found.")
        return stream

    def incarnation(self, number: int) -> Stream | None:
        """Return the stream of an incarnation, settled; None when it is gone."""
        stream = self._incarnations.get(number)
        if stream is not None:
            stream.settle(self.clock.millis())
        return self._incarnations.get(number)

    def streams(self, region: str) -> dict[str, Stream]:
        """Return the streams of a region, settled, by name and in the order of names."""
        for (of_region, _), stream in list(self._streams.items()):
            if of_region == region:
                stream.settle(self.clock.millis())
        return {name: s for (of_region, name), s in sorted(self._streams.items()) if of_region == region}

    def idle(self, asked: Asked, region: str) -> Stream:
        """Return the stream that a request means, when it may be changed.

        Raises:
            Refused: there is none, or it is not ACTIVE.
        """
        stream = self.stream(asked, region)
        if stream.status != "ACTIVE":
            raise Refused(
                "ResourceInUseException",
                f"Stream {stream.name} under account {ACCOUNT} not ACTIVE, instead in state {stream.status}",
            )
        return stream

    def need_room(self, region: str, more: int) -> None:
        """Require that the account may have more open shards.

        Raises:
            Refused: LimitExceededException.
        """
        most = self.limits.account_shards
        current = sum(len(stream.route()[1]) for stream in self.streams(region).values())
        if most is not None and current + more > most:
            raise Refused(
                "LimitExceededException",
                f"This request would exceed the shard limit for the account {ACCOUNT} in {region}. Current shard "
                f"count for the account: {current}. Limit: {most}. Number of additional shards that would have "
                f"resulted from this request: {more}.",
            )

    def add(self, name: str, region: str, *, mode: str, shards: int) -> Stream:
        """Create a stream; it has its shards once it is active."""
        self._created += 1
        stream = Stream(
            name, region=region, account=ACCOUNT, incarnation=self._created, millis=self.clock.millis(),
            first_second=self._first_seconds.get((region, name), 0), limits=self.limits, mode=mode,
        )  # fmt: skip
        self._streams[region, name] = self._incarnations[self._created] = stream
        self.schedule(stream, "CREATING", lambda due: stream.populate(shards, due))
        return stream

    def remove(self, stream: Stream, region: str) -> None:
        """Delete a stream; it stays until the transition is over."""

        def removed(_due: int) -> None:
            # the sequence numbers of a stream made again must not look like those of this one
            seconds = [shard.created_second for shard in stream.shards.values()]
            self._first_seconds[region, stream.name] = 1 + max(seconds, default=stream.first_second)
            del self._streams[region, stream.name], self._incarnations[stream.incarnation]

        self.schedule(stream, "DELETING", removed)

    def schedule(self, stream: Stream, status: str, action: Callable[[int], None]) -> None:
        """Let a stream be in a state for the transition's time, then carry the action out."""
        millis = self.clock.millis()
        stream.schedule(status, action, millis=millis, delay_millis=self._transition_millis)


def shard_of(stream: Stream, shard_id: str) -> Shard:
    """Return a shard of a stream.

    Raises:
        Refused: ResourceNotFoundException.
    """
    if shard_id not in stream.shards:
        raise Refused(
            "ResourceNotFoundException",
            f"Shard {shard_id} in stream {stream.name} under account {ACCOUNT} does not exist",
        )
    return stream.shards[shard_id]


def open_shard_of(stream: Stream, shard_id: str) -> Shard:
    """Return a shard that may be split or merged.

    Raises:
        Refused: ResourceNotFoundException, or InvalidArgumentException for a closed one.
    """
    shard = shard_of(stream, shard_id)
    if shard.closed_millis is not None:
        raise invalid(
            f"Shard {shard_id} in stream {stream.name} under account {ACCOUNT} has already been merged or split, "
            "and thus is not eligible for merging or splitting."
        )
    return shard
