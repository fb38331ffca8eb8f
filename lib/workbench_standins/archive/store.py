"""The state of the store beside moto's objects: its clock, requests and retrievals, what goes wrong.

moto holds buckets and bytes. A retrieval hangs on moto's own object (a version of a key), so that it goes with it.
"""

import itertools
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from workbench_standins.archive import retrieval, rules

NEVER = datetime(9000, 1, 1, tzinfo=UTC)


class State:
    """The state of one server; its methods are called from the threads of requests.

    Attributes:
        latency_s: seconds by which every request to S3 is delayed.
        expedited: whether there is capacity for expedited retrievals.
        restore_status: whether listings say in which state restores are, as S3 does and other stores do not.
    """

    def __init__(self, start: datetime | None, *, restore_status: bool = True) -> None:
        self.lock = threading.RLock()
        self.moment = start or datetime.now(UTC).replace(microsecond=0)
        self.latency_s, self.expedited, self.restore_status = 0.0, True, restore_status
        self.ticks = itertools.count()
        self.requests: Counter[str] = Counter()
        self.restores: list[dict[str, Any]] = []

    def now(self) -> datetime:
        """Return the store's time, UTC."""
        return self.moment

    def naive_now(self) -> datetime:
        """Return the store's time as moto has times: in UTC, without a time zone.

        Two calls never return the same: moto finds the newest version of a key by its time, and this clock stands.
        """
        return self.moment.replace(tzinfo=None) + timedelta(microseconds=next(self.ticks))

    def header(self, key: Any) -> str | None:
        """Return an object's header x-amz-restore, or None."""
        retrieved = _retrieval_of(key)
        return retrieved.header(self.moment) if retrieved else None

    def access_tier(self, key: Any) -> str | None:
        """Return the archive tier that an object of Intelligent-Tiering is in, or None."""
        retrieved = _retrieval_of(key)
        return getattr(key, "access_tier", None) if retrieved is None or retrieved.ongoing(self.moment) else None

    def readable(self, key: Any) -> bool:
        """Return whether an object's bytes can be read now."""
        if self.access_tier(key):
            return False
        if key.storage_class not in retrieval.ARCHIVED:
            return True
        retrieved = _retrieval_of(key)
        return retrieved is not None and not retrieved.ongoing(self.moment) and not retrieved.gone(self.moment)

    def restore_status_of(self, key: Any) -> dict[str, Any] | None:
        """Return an object's RestoreStatus in a listing, or None."""
        retrieved = _retrieval_of(key)
        if not self.restore_status or retrieved is None or retrieved.gone(self.moment):
            return None
        if retrieved.ongoing(self.moment):
            return {"IsRestoreInProgress": True}
        expires = retrieved.expiry()
        return {"IsRestoreInProgress": False} | ({"RestoreExpiryDate": expires} if expires else {})

    def restore(self, bucket: str, key: Any, *, tier: str | None, days: int | None) -> int:
        """Carry out a RestoreObject request, note its answer and return its status.

        Raises:
            Refused: S3 refuses it.
        """
        with self.lock:
            request = {"bucket": bucket, "key": key.name, "version_id": key.version_id, "tier": tier or "Standard"}
            try:
                retrieved, status = retrieval.ask(
                    _retrieval_of(key), storage_class=key.storage_class,
                    access_tier=getattr(key, "access_tier", None), tier=tier, days=days, now=self.moment,
                    expedited=self.expedited,
                )  # fmt: skip
                if getattr(key, "stuck", False) and status == 202:
                    retrieved = retrieval.Retrieval(retrieved.tier, retrieved.days, NEVER)
            except retrieval.Refused as refused:
                self.restores.append(request | {"status": refused.status})
                raise
            key.retrieval = retrieved
            self.restores.append(request | {"status": status})
            return status

    def advance(self, seconds: float, backend: Any) -> datetime:
        """Move the clock forward, let the rules of all buckets act and return the new time."""
        with self.lock:
            self.moment += timedelta(seconds=seconds)
            self.ticks = itertools.count()
            for bucket in list(backend.buckets.values()):
                self.apply_rules(bucket, backend)
            return self.moment

    def apply_rules(self, bucket: Any, backend: Any) -> None:
        """Let a bucket's lifecycle rules act on its current objects."""
        lifecycle = getattr(bucket, "lifecycle", [])
        for name, key in list(bucket.keys.items()) if lifecycle else []:
            if not hasattr(key, "storage_class"):  # a delete marker
                continue
            storage_class = rules.becomes(
                lifecycle, key=name, size=key.size, created=key.last_modified.replace(tzinfo=UTC),
                storage_class=key.storage_class, tags=backend.tagger.get_tag_dict_for_resource(key.arn),
                now=self.moment,
            )  # fmt: skip
            if storage_class == rules.EXPIRED:
                backend.delete_object(bucket.name, name)
            elif storage_class != key.storage_class:
                key.set_storage_class(storage_class)
                key.retrieval = None


def _retrieval_of(key: Any) -> retrieval.Retrieval | None:
    return getattr(key, "retrieval", None)
