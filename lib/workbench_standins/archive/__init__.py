"""An archive store for this machine: S3 with storage classes, restores that take hours, and a clock moved by hand.

It is moto's S3 server in a process of its own, corrected where an archive needs it; it listens on 127.0.0.1 only,
accepts any signature and keeps everything in memory. boto3, PyIceberg and Spark (by Iceberg's S3FileIO) read it.

    with archive.serve() as store:
        s3 = store.client()
        s3.create_bucket(Bucket="attic")
        s3.put_object(Bucket="attic", Key="a", Body=b"...", StorageClass="GLACIER")
        s3.restore_object(Bucket="attic", Key="a", RestoreRequest={"Days": 2})
        store.clock.advance(hours=5)
        s3.get_object(Bucket="attic", Key="a")

What it does and where moto alone differs: docs/archive.md. The parts:

    retrieval, rules     pure functions: the life of a retrieval, lifecycle rules
    store, controls      the state beside buckets and bytes, and the requests that read and change it
    patches, child       moto corrected, and the process that serves it
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import MissingPackageError
from workbench_standins.archive import child
from workbench_standins.ports import HOST, Port

__all__ = ["START", "Clock", "Store", "serve"]

START = datetime(2026, 1, 5, 10, tzinfo=UTC)
REGION = "us-east-1"
ACCESS_KEY = SECRET_KEY = "anybody"


@dataclass(frozen=True)
class Clock:
    """The store's clock: it stands still until it is moved."""

    endpoint: str

    def now(self) -> datetime:
        """Return the store's time, in UTC."""
        return datetime.fromisoformat(child.ask(self.endpoint, "now"))

    @checked
    def advance(self, seconds: float = 0, *, hours: float = 0, days: float = 0) -> datetime:
        """Move the clock forward and return the new time; retrievals end, copies expire, lifecycle rules act.

        Raises:
            ValueError: the sum of the arguments is negative, or the clock would pass its last year.
        """
        seconds = float(seconds + 3600 * hours + 86_400 * days)
        return datetime.fromisoformat(child.ask(self.endpoint, "advance", seconds=seconds))


@dataclass(frozen=True)
class Store:
    """A running store; any process of this machine can make one from its endpoint.

    Attributes:
        endpoint: its address, for `endpoint_url` and `s3.endpoint`.
    """

    endpoint: str

    @property
    def clock(self) -> Clock:
        """The store's clock: now(), advance(seconds, hours=, days=)."""
        return Clock(self.endpoint)

    def client(self, **config: Any) -> Any:
        """Return a boto3 S3 client for it; `config` goes to botocore's Config."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(proxies={}, s3={"addressing_style": "path"}, **config),
        )

    def properties(self) -> dict[str, str]:
        """Return the catalog properties with which Iceberg's S3FileIO and PyIceberg reach it."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.path-style-access": "true",
            "s3.access-key-id": ACCESS_KEY,
            "s3.secret-access-key": SECRET_KEY,
            "s3.region": REGION,
            "client.region": REGION,
        }

    @checked
    def set(
        self, *, latency_s: float | None = None, expedited: bool | None = None, restore_status: bool | None = None
    ) -> None:
        """Set what goes wrong; a setting that is None stays as it is.

        Args:
            latency_s: seconds by which every request is delayed, from 0.
            expedited: False: an expedited retrieval is refused for want of capacity (503).
            restore_status: False: listings say nothing about restores, as those of other stores.
        """
        child.ask(self.endpoint, "set", latency_s=latency_s, expedited=expedited, restore_status=restore_status)

    def requests(self) -> dict[str, int]:
        """Return the number of requests by operation (HeadObject, ListObjectsV2 …), refused ones included."""
        counts: dict[str, int] = child.ask(self.endpoint, "requests")
        return counts

    def restores(self) -> list[dict[str, Any]]:
        """Return every RestoreObject request in order: dicts of bucket, key, version_id, tier, status.

        Statuses 202 and 200 are those S3 charges for.
        """
        restores: list[dict[str, Any]] = child.ask(self.endpoint, "restores")
        return restores

    @checked
    def stuck(self, bucket: str, key: str) -> None:
        """Let an object's next retrieval never end."""
        child.ask(self.endpoint, "stuck", bucket=bucket, key=key)

    @checked
    def archive_tier(self, bucket: str, key: str, tier: str) -> None:
        """Put an object of Intelligent-Tiering in ARCHIVE_ACCESS or DEEP_ARCHIVE_ACCESS, as a long rest does."""
        child.ask(self.endpoint, "access_tier", bucket=bucket, key=key, tier=tier)

    @checked
    def move(self, bucket: str, key: str, storage_class: str) -> None:
        """Give an object another class in place, as a lifecycle rule does; it keeps its time and bytes."""
        child.ask(self.endpoint, "storage_class", bucket=bucket, key=key, storage_class=storage_class)

    @checked
    def plant(
        self,
        bucket: str,
        prefix: str,
        count: int,
        *,
        size: int = 16,
        storage_class: str = "GLACIER",
        restored: int = 0,
    ) -> None:
        """Put many objects at once, past HTTP.

        Args:
            bucket: that they are put in.
            prefix: of each key; a number of six digits follows.
            count: how many objects.
            size: bytes of each.
            storage_class: of each.
            restored: how many of them, the first ones, have a restored copy.
        """
        child.ask(
            self.endpoint, "plant", bucket=bucket, prefix=prefix, count=count, size=size,
            storage_class=storage_class, restored=restored,
        )  # fmt: skip


@checked
@contextmanager
def serve(*, port: Port = 0, start: datetime = START, restore_status: bool = True) -> Iterator[Store]:
    """Serve a store as long as the context is open; it ends with this process too.

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        start: time at which its clock stands; UTC when naive.
        restore_status: whether listings say in which state restores are.

    Yields:
        Store.

    Raises:
        ValueError: an argument is invalid, or the port cannot be had.
        ModuleNotFoundError: moto or boto3 is not installed.
    """
    for package in ("moto", "boto3", "flask"):
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError(
                f"{package} is not installed: pip install 'iceberg-workbench[archive]'", name=package
            )
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    settings = {"port": int(port), "start": child.utc(start), "restore_status": restore_status}
    with child.running(settings) as served:
        yield Store(f"http://{HOST}:{served}")
