"""Which stream is read, from where and by whom: the options, and calls that live through Kinesis' own faults."""

import functools
import importlib.util
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from workbench._base import releases
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench._base.typing import StructType
from workbench.records import aggregates
from workbench.streams.readers import shards

if TYPE_CHECKING:  # reading imports this module
    from workbench.streams.readers.reading import Progress, Records

POSITIONS = ("trim_horizon", "latest", "at_timestamp")
# What AWS tells consumers to expect; the fifth kind, an expired iterator, is the reader's, who asks for another
RETRIED = frozenset({
    "InternalFailure", "InternalFailureException", "InternalServerError",
    "ThrottlingException", "Throttling", "LimitExceededException",
    "ServiceUnavailable", "ServiceUnavailableException",
    "ProvisionedThroughputExceededException",
})  # fmt: skip
REFUSED = frozenset({  # what whoever asks has to mend
    "AccessDeniedException", "KMSAccessDeniedException", "ExpiredTokenException", "IncompleteSignatureException",
    "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationTokenException",
    "UnrecognizedClientException", "ValidationException",
})  # fmt: skip
EXPIRED = "ExpiredIteratorException"
PATIENCE_SECONDS = 300.0
LINEAGE = {  # what a row can take of its record, in Spark's words
    "stream": "STRING", "shard_id": "STRING", "sequence_number": "STRING", "partition_key": "STRING",
    "approximate_arrival_timestamp": "TIMESTAMP",
}  # fmt: skip


class Start(Protocol):
    """Where a reader begins, and how much a micro-batch takes: what a Source and a Topic both say."""

    @property
    def start(self) -> str: ...  # noqa: D102
    @property
    def at(self) -> datetime | None: ...  # noqa: D102
    @property
    def max_records_per_batch(self) -> int: ...  # noqa: D102


class RecordSource(Start, Protocol):
    """What records are read from: a Source, a Topic, or an object like them."""

    lineage: ClassVar[dict[str, str]]
    order: ClassVar[tuple[str, ...]]

    @property
    def stream(self) -> str: ...  # noqa: D102
    @property
    def fail_on_data_loss(self) -> bool: ...  # noqa: D102
    def describe(self) -> "Stream": ...  # noqa: D102
    def begin(self, stream: "Stream") -> dict[str, str]: ...  # noqa: D102
    def read(self, task: shards.Task, progress: "Progress") -> Iterator["Records"]: ...  # noqa: D102


def lineage_schema(source: RecordSource, names: Iterable[str]) -> StructType:
    """Return lineage columns of a Source or Topic as a StructType, in the order of their names."""
    from pyspark.sql.types import StructType

    ddl = ", ".join(f"{name} {source.lineage[name]}" for name in names)
    return releases.struct(ddl) if ddl else StructType()


class StreamNotFound(ArgumentError):
    """The stream does not exist; the message lists those that do."""


@dataclass(frozen=True)
class Source:
    """A Kinesis stream as a consumer sees it. Credentials come from the standard AWS chain, never from here.

    Attributes:
        stream: its name.
        region: AWS region; None takes the chain's.
        endpoint: address of another endpoint, of the local server say; None takes the region's.
        start: where a reader begins that has no position yet: `trim_horizon` (the oldest record there is),
            `latest` (what arrives from now on) or `at_timestamp`.
        at: the time for `at_timestamp`, aware of its zone.
        max_records_per_batch: records a micro-batch takes at most, over all shards; each shard gets its share,
            and one record at least. An aggregate is taken whole, so it may be more by the last one of each shard.
        fail_on_data_loss: stop where records may have been trimmed before they were read; else go on and say so.
    """

    stream: str
    region: str | None = None
    endpoint: str | None = None
    start: str = "trim_horizon"
    at: datetime | None = None
    max_records_per_batch: int = 100_000
    fail_on_data_loss: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.stream, str) and self.stream):
            raise ArgumentError(f"stream must be the name of a Kinesis stream, found {self.stream!r}")
        check(self)

    lineage: ClassVar[dict[str, str]] = LINEAGE | {aggregates.COLUMN: "BIGINT"}
    order: ClassVar[tuple[str, ...]] = ("approximate_arrival_timestamp", "sequence_number", aggregates.COLUMN)

    def describe(self) -> "Stream":
        """Return the Stream as it is now.

        Raises:
            StreamNotFound: no such stream.
        """
        return describe(self)

    def begin(self, stream: "Stream") -> dict[str, str]:
        """Return the positions of a reader that has none."""
        return shards.begin(self, stream, latest_millis(stream))

    def read(self, task: shards.Task, progress: "Progress") -> Iterator["Records"]:
        """Read a shard; yield reading.Records."""
        from workbench.streams.readers import reading

        return reading.read(self, task, progress)


@dataclass(frozen=True)
class Stream:
    """A stream as it is now.

    Attributes:
        arn: its resource name.
        created: when it was made, in milliseconds since 1970, or a topic's id; one that was deleted and made again
            under the same name has another.
        retention_hours: how long it keeps records; infinite where reading itself tells what was trimmed.
        shards: shard id to ids of its parents that were named by the service, oldest shard first.
        opened: ids of the shards that take records.
        told_millis: the service's time when it said so, in whole seconds; None when it did not say.
    """

    arn: str
    created: int | str
    retention_hours: float
    shards: dict[str, tuple[str, ...]]
    opened: frozenset[str]
    told_millis: int | None = None


@functools.lru_cache(maxsize=8)
def client(region: str | None, endpoint: str | None) -> Any:
    """Return this process's boto3 client; it tries each call once, because `call` does the rest.

    Raises:
        ModuleNotFoundError: a package of the extra `streams` is not installed.
        ValueError: no region is known.
    """
    for package in ("boto3", "orjson"):
        if importlib.util.find_spec(package) is None:
            install = "pip install 'iceberg-workbench[streams]'"
            raise MissingPackageError(f"{package} is not installed: {install}", name=package)
    import boto3
    import botocore.exceptions
    from botocore.config import Config

    # 64 connections: several tasks of one process may share the client
    config = Config(retries={"total_max_attempts": 1, "mode": "standard"}, max_pool_connections=64)
    try:
        kinesis = boto3.session.Session().client(
            "kinesis", region_name=region, endpoint_url=endpoint, config=config
        )
    except botocore.exceptions.NoRegionError:
        raise ArgumentError("no AWS region is known: give region, or set AWS_DEFAULT_REGION") from None
    except (botocore.exceptions.InvalidRegionError, ValueError) as error:  # no address raises ValueError
        raise ArgumentError(
            f"Kinesis cannot be reached with region {region!r}, endpoint {endpoint!r}: {error}"
        ) from None
    kinesis.meta.events.register("before-parse.kinesis.GetRecords", _keep_body)
    return kinesis


def _keep_body(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: Any) -> None:
    """Keep the answer's own text: botocore's parser takes 30 µs a record, which is most of what reading costs."""
    if response_dict["status_code"] == 200:
        customized_response_dict["Body"], response_dict["body"] = response_dict["body"], b"{}"


def call(
    source: Source,
    operation: str,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    sleep: Callable[[float], Any] = time.sleep,
    **asked: Any,
) -> Any:
    """Call Kinesis; wait and try again after the faults AWS announces and after lost connections.

    Args:
        source: Source.
        operation: method of boto3's client; only such as may be done twice.
        patience_seconds: how long the same call is tried before its error is raised.
        sleep: function that waits; for tests.
        asked: the call's parameters.

    Raises:
        StreamNotFound: no such stream.
        ValueError: there are no credentials, or they may not do this; the name is invalid; the endpoint cannot be
            reached.
        botocore.exceptions.ClientError: any other refusal, or one that outlasted the patience.
    """
    import botocore.exceptions as failures
    import tenacity

    kinesis = client(source.region, source.endpoint)
    lost = (failures.ConnectionError, failures.HTTPClientError)

    def again(error: BaseException) -> bool:
        if isinstance(error, failures.ClientError):
            return error.response["Error"]["Code"] in RETRIED
        return isinstance(error, lost) and not isinstance(error, failures.EndpointConnectionError)

    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(again),
        wait=lambda state: min(0.02 * 2 ** min(state.attempt_number, 9), 5.0) * random.uniform(0.5, 1),
        stop=tenacity.stop_after_delay(patience_seconds),
        sleep=sleep,
        reraise=True,
    )
    try:
        return retrying(getattr(kinesis, operation), **asked)
    except failures.ClientError as error:
        if error.response["Error"]["Code"] == "ResourceNotFoundException":
            raise StreamNotFound(_missing(kinesis, source, error)) from error
        if error.response["Error"]["Code"] in REFUSED:
            raise ArgumentError(f"stream {source.stream} cannot be read: {error}") from error
        raise
    except (failures.NoCredentialsError, failures.PartialCredentialsError) as error:
        raise ArgumentError(f"no AWS credentials to read stream {source.stream} with: {error}") from error
    except failures.EndpointConnectionError as error:
        raise ArgumentError(f"stream {source.stream} cannot be read: {error}") from error


def _missing(kinesis: Any, source: Source, error: Any) -> str:
    where = f"in region {kinesis.meta.region_name} of {kinesis.meta.endpoint_url}"
    try:
        names = kinesis.list_streams(Limit=100)["StreamNames"]
    except Exception:  # what went wrong first is what the caller has to know
        return f"no stream {source.stream} {where}: {error}"
    if source.stream in names:  # the stream is there, a shard of it is not
        return f"stream {source.stream} {where}: {error.response['Error']['Message']}"
    return f"no stream {source.stream} {where}; there {'are' if names else 'is'} {', '.join(names) or 'none'}"


def describe(source: Source) -> Stream:
    """Return the Stream as it is now: two calls or more.

    Raises:
        StreamNotFound: no such stream, or it is being deleted.
    """
    answer = call(source, "describe_stream_summary", StreamName=source.stream)
    about, date = answer["StreamDescriptionSummary"], answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if about["StreamStatus"] == "DELETING":
        raise StreamNotFound(f"stream {source.stream} is being deleted")
    listed: list[dict[str, Any]] = []
    asked: dict[str, Any] = {"StreamName": source.stream}
    while True:
        page = call(source, "list_shards", **asked)
        listed += page["Shards"]
        if not page.get("NextToken"):
            break
        asked = {"NextToken": page["NextToken"]}
    parents = {
        shard["ShardId"]: tuple(shard[key] for key in ("ParentShardId", "AdjacentParentShardId") if shard.get(key))
        for shard in listed
    }
    opened = {shard["ShardId"] for shard in listed if "EndingSequenceNumber" not in shard["SequenceNumberRange"]}
    created = about["StreamCreationTimestamp"]
    return Stream(
        arn=about["StreamARN"],
        created=round(created.timestamp() * 1000),
        retention_hours=about["RetentionPeriodHours"],
        shards=dict(sorted(parents.items())),
        opened=frozenset(opened),
        told_millis=round(parsedate_to_datetime(date).timestamp() * 1000) if date else None,
    )


def latest_millis(stream: Stream) -> int:
    """Return when a reader of `latest` begins: now, by the service's clock where this machine's is ahead of it.

    The service knows only times that have come; what arrived before its clock has come to ours would be skipped.
    """
    now = now_millis()
    if stream.told_millis is not None and now - stream.told_millis > 2_000:  # the service says whole seconds
        return stream.told_millis
    return now


def check(source: Start) -> None:
    """Refuse a source whose beginning or size of a batch is invalid.

    Raises:
        ValueError: what is wrong and what was expected.
    """
    if source.start not in POSITIONS:
        raise ArgumentError(f"start must be one of {', '.join(POSITIONS)}, found {source.start!r}")
    if (source.start == "at_timestamp") != (source.at is not None):
        raise ArgumentError("start at_timestamp and the time `at` go together; one of them is missing")
    if source.at is not None and source.at.tzinfo is None:
        raise ArgumentError(f"at must have a time zone, datetime.UTC for example, found {source.at}")
    most = source.max_records_per_batch
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"max_records_per_batch must be an integer of at least 1, found {most!r}")


def now_millis() -> int:
    """Return this machine's time in milliseconds since 1970."""
    return round(datetime.now(UTC).timestamp() * 1000)
