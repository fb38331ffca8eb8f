"""What the store keeps beside moto's objects: its clock, what was retrieved and asked, what goes wrong.

moto holds buckets and bytes. A retrieval hangs on moto's own object (a version of a key), so that it goes with it.
"""

import itertools
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

from workbench_standins.archive import retrieval, rules

NEVER = datetime(9000, 1, 1, tzinfo=UTC)


class State:
    """The state of one server; its methods are called from the threads of requests.

    Attributes:
        latency_s: seconds that every request to S3 is held back.
        expedited: whether there is capacity for expedited retrievals.
        restore_status: whether listings tell the state of restores, as S3 does and other stores do not.
    """

    def __init__(self, start, *, restore_status=True):
        self.lock = threading.RLock()
        self.moment = start or datetime.now(UTC).replace(microsecond=0)
        self.latency_s, self.expedited, self.restore_status = 0.0, True, restore_status
        self.ticks = itertools.count()
        self.requests = Counter()
        self.restores = []

    def now(self):
        """Return the store's time, UTC."""
        return self.moment

    def naive_now(self):
        """Return the store's time as moto has times: UTC without saying so.

        Two calls never get the same: moto tells the newest version of a key by its time, and this clock stands.
        """
        return self.moment.replace(tzinfo=None) + timedelta(microseconds=next(self.ticks))

    def header(self, key):
        """Return what x-amz-restore says of an object, or None."""
        held = getattr(key, "retrieval", None)
        return held.header(self.moment) if held else None

    def access_tier(self, key):
        """Return the archive tier that an object of Intelligent-Tiering is in, or None."""
        tier, held = getattr(key, "access_tier", None), getattr(key, "retrieval", None)
        return tier if held is None or held.ongoing(self.moment) else None

    def readable(self, key):
        """Say whether an object's bytes can be had now."""
        if self.access_tier(key):
            return False
        if key.storage_class not in retrieval.ARCHIVED:
            return True
        held = getattr(key, "retrieval", None)
        return held is not None and not held.ongoing(self.moment) and not held.gone(self.moment)

    def restore_status_of(self, key):
        """Return what a listing says of an object: RestoreStatus, or None."""
        held = getattr(key, "retrieval", None)
        if not self.restore_status or held is None or held.gone(self.moment):
            return None
        if held.ongoing(self.moment):
            return {"IsRestoreInProgress": True}
        found = {"IsRestoreInProgress": False}
        return found | ({"RestoreExpiryDate": held.expiry()} if held.days is not None else {})

    def restore(self, bucket, key, *, tier, days):
        """Take a RestoreObject request and note its answer; returns its status.

        Raises:
            Refused: it is not taken.
        """
        with self.lock:
            told = {"bucket": bucket, "key": key.name, "version_id": key.version_id, "tier": tier or "Standard"}
            try:
                held, status = retrieval.ask(
                    getattr(key, "retrieval", None), storage_class=key.storage_class,
                    access_tier=getattr(key, "access_tier", None), tier=tier, days=days, now=self.moment,
                    expedited=self.expedited,
                )  # fmt: skip
                if getattr(key, "stuck", False) and status == 202:
                    held = retrieval.Retrieval(held.tier, held.days, NEVER)
            except retrieval.Refused as refused:
                self.restores.append(told | {"status": refused.status})
                raise
            key.retrieval = held
            self.restores.append(told | {"status": status})
            return status

    def advance(self, seconds, backend):
        """Move the clock forward and let the rules of all buckets act; returns the new time."""
        with self.lock:
            self.moment += timedelta(seconds=seconds)
            self.ticks = itertools.count()
            for bucket in list(backend.buckets.values()):
                self.apply_rules(bucket, backend)
            return self.moment

    def apply_rules(self, bucket, backend):
        """Let a bucket's lifecycle rules act on its current objects."""
        found = getattr(bucket, "lifecycle", [])
        for name, key in list(bucket.keys.items()) if found else []:
            if not hasattr(key, "storage_class"):  # a delete marker
                continue
            wanted = rules.becomes(
                found, key=name, size=key.size, created=key.last_modified.replace(tzinfo=UTC),
                storage_class=key.storage_class, tags=backend.tagger.get_tag_dict_for_resource(key.arn),
                now=self.moment,
            )  # fmt: skip
            if wanted == rules.EXPIRED:
                backend.delete_object(bucket.name, name)
            elif wanted != key.storage_class:
                key.set_storage_class(wanted)
                key.retrieval = None
