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

    retrieval, rules     pure: the life of a retrieval, lifecycle rules
    store, controls      what there is besides buckets and bytes, and what it can be asked
    patches, child       moto corrected, the process
"""

import importlib.util
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_standins.archive import child

__all__ = ["START", "Clock", "Store", "serve"]

START = datetime(2026, 1, 5, 10, tzinfo=UTC)
REGION = "us-east-1"
ACCESS_KEY = SECRET_KEY = "anybody"


@dataclass(frozen=True)
class Clock:
    """The store's clock: it stands still until it is moved."""

    endpoint: str

    def now(self):
        """Return the store's time, a datetime in UTC."""
        return datetime.fromisoformat(child.ask(self.endpoint, "now"))

    def advance(self, seconds=0, *, hours=0, days=0):
        """Move the clock forward; retrievals end, copies expire, lifecycle rules act. Returns the new time."""
        if any(isinstance(n, bool) or not isinstance(n, int | float) for n in (seconds, hours, days)):
            raise ArgumentError(f"the clock goes forward by numbers, not {seconds!r}, {hours!r}, {days!r}")
        moved = seconds + 3600 * hours + 86_400 * days
        return datetime.fromisoformat(child.ask(self.endpoint, "advance", seconds=moved))


@dataclass(frozen=True)
class Store:
    """A running store; any process of this machine can make one from its endpoint.

    Attributes:
        endpoint: its address, for `endpoint_url` and `s3.endpoint`.
    """

    endpoint: str

    @property
    def clock(self):
        """The store's clock: now(), advance(seconds, hours=, days=)."""
        return Clock(self.endpoint)

    def client(self, **config):
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

    def properties(self):
        """Return the catalog properties with which Iceberg's S3FileIO and PyIceberg reach it."""
        return {
            "s3.endpoint": self.endpoint,
            "s3.path-style-access": "true",
            "s3.access-key-id": ACCESS_KEY,
            "s3.secret-access-key": SECRET_KEY,
            "s3.region": REGION,
            "client.region": REGION,
        }

    def set(self, *, latency_s=None, expedited=None, restore_status=None):
        """Set what goes wrong; what is None stays.

        Args:
            latency_s: seconds that every request is held back.
            expedited: False: an expedited retrieval is refused for want of capacity (503).
            restore_status: False: listings tell nothing of restores, as those of other stores.
        """
        child.ask(self.endpoint, "set", latency_s=latency_s, expedited=expedited, restore_status=restore_status)

    def requests(self):
        """Return how many requests came, by operation (HeadObject, ListObjectsV2 …), refused ones included."""
        return child.ask(self.endpoint, "requests")

    def restores(self):
        """Return every RestoreObject request in order: dicts of bucket, key, version_id, tier, status.

        Statuses 202 and 200 are those S3 charges for.
        """
        return child.ask(self.endpoint, "restores")

    def stuck(self, bucket, key):
        """Let an object's next retrieval never end."""
        child.ask(self.endpoint, "stuck", bucket=bucket, key=key)

    def archive_tier(self, bucket, key, tier):
        """Put an object of Intelligent-Tiering in ARCHIVE_ACCESS or DEEP_ARCHIVE_ACCESS, as a long rest does."""
        child.ask(self.endpoint, "access_tier", bucket=bucket, key=key, tier=tier)

    def move(self, bucket, key, storage_class):
        """Give an object another class in place, as a lifecycle rule does; it keeps its time and bytes."""
        child.ask(self.endpoint, "storage_class", bucket=bucket, key=key, storage_class=storage_class)

    def plant(self, bucket, prefix, count, *, size=16, storage_class="GLACIER", restored=0):
        """Put many objects at once (`prefix` and a number of six digits), the first with a restored copy."""
        child.ask(
            self.endpoint, "plant", bucket=bucket, prefix=prefix, count=count, size=size,
            storage_class=storage_class, restored=restored,
        )  # fmt: skip


@contextmanager
def serve(*, port=0, start=START, restore_status=True):
    """Run a store as long as the context is open; it ends with this process too.

    Args:
        port: TCP port on 127.0.0.1; 0 takes a free one.
        start: datetime at which its clock stands; UTC when naive.
        restore_status: whether listings tell the state of restores.

    Yields:
        Store.

    Raises:
        ValueError: an argument does not go, or the port cannot be had.
        ModuleNotFoundError: moto or boto3 is not installed.
    """
    for package in ("moto", "boto3", "flask"):
        if importlib.util.find_spec(package) is None:
            raise MissingPackageError(
                f"{package} is not installed: pip install 'iceberg-workbench[archive]'", name=package
            )
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ArgumentError(f"port must be a whole number from 0 to 65535; got {port!r}")
    if not isinstance(start, datetime):
        raise ArgumentError(f"start must be a datetime; got {start!r}")
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    settings = {"port": port, "start": child.utc(start), "restore_status": restore_status}
    with child.running(settings) as taken:
        yield Store(f"http://{child.HOST}:{taken}")
