"""The error that a call is answered with."""

from workbench._base.errors import WorkbenchError
from workbench_standins.kinesis.stream import Shard, Stream


class Refused(WorkbenchError, Exception):
    """A call that the service refuses: error code, message, and the HTTP status it travels with."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


def invalid(message: str) -> Refused:
    """Return an InvalidArgumentException."""
    return Refused("InvalidArgumentException", message)


def constraint(member: str, value: object, text: str) -> Refused:
    """Return the ValidationException of a member that breaks a constraint; the value is cut to 100 characters."""
    shown = f"Value '{str(value)[:100]}'" if value is not None else "Value"
    return Refused(
        "ValidationException",
        f"1 validation error detected: {shown} at '{member}' failed to satisfy constraint: {text}",
    )


def too_fast(shard: Shard, stream: Stream) -> Refused:
    """Return the ProvisionedThroughputExceededException of a shard."""
    return Refused("ProvisionedThroughputExceededException", rate_exceeded(shard, stream))


def rate_exceeded(shard: Shard, stream: Stream) -> str:
    """Return the message with which a shard says that it is over its rate."""
    return f"Rate exceeded for shard {shard.id} in stream {stream.name} under account {stream.account}."
