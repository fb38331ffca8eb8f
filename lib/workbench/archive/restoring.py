"""Asking S3 for a plan's objects and waiting for them: resumable, bounded, tolerant of what S3 answers."""

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from workbench.archive import listing, planning, requests
from workbench.archive.objects import RESTORING, split
from workbench.archive.requests import ASKED, ASKING, FAILED, OPEN, PLANNED, READY, moment, text

TRIED_AGAIN = (
    "GlacierExpeditedRetrievalNotAvailable",
    "SlowDown",
    "ServiceUnavailable",
    "InternalError",
    "Throttling",
)
ALREADY_THERE = ("InvalidObjectState", "ObjectAlreadyInActiveTierError")
UNKNOWN_HOURS = 48  # somebody else's restore: the slowest tier there is
BATCH = 4  # requests noted at once, times the workers
LOST = -1  # no answer came: the request may have arrived


@dataclass(frozen=True)
class Outcome:
    """What became of a restore.

    Attributes:
        requested: requests of this run that S3 took as new or faster restores (202).
        prolonged: copies that live longer by requests of this run (200).
        resumed: objects of the plan that an earlier run with this state table had asked for, or may have.
        already: objects that were under way by somebody else's request.
        ready: objects of the plan that can be read now.
        waiting: addresses of those that are not there yet.
        failed: (address, why) of those that S3 refuses.
        expiring: (address, time) of copies that go within a day of the end of this run.
        seconds: how long this run took, by its clock.
    """

    requested: int
    prolonged: int
    resumed: int
    already: int
    ready: int
    waiting: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    expiring: tuple[tuple[str, datetime], ...]
    seconds: float

    @property
    def complete(self):
        """Whether every object of the plan can be read."""
        return not self.waiting and not self.failed


def restore(
    plan,
    *,
    s3,
    state,
    wait_hours=None,
    poll_s=300.0,
    longest_poll_s=3600.0,
    tries=5,
    workers=listing.WORKERS,
    now=None,
    sleep=time.sleep,
    progress=None,
):
    """Ask for what a plan restores, wait until it is there, and say what became of it.

    Run again after a kill, with the same state table and a new plan or the old one, it asks for nothing twice.

    Args:
        plan: Plan.
        s3: boto3 client of S3.
        state: path of the state table, a file that is made when missing; keep it until all is restored.
        wait_hours: how long to wait at most; by default twice what the slowest takes, 0 asks and returns.
        poll_s: seconds before the first look at what is under way, doubled after each look. A look is at as many
            objects as there are workers, and at all as soon as one of them is there.
        longest_poll_s: seconds between two looks at most.
        tries: how often an object is asked for when S3 has no capacity; the looks in between are its waits.
        workers: requests at a time.
        now: function that returns the time, a datetime in UTC; for a store with a clock of its own.
        sleep: function that waits for seconds; for the same.
        progress: function of (objects ready, objects in all); by default a bar on a terminal, nothing elsewhere.

    Returns:
        Outcome. What is not ready stands in it by name; nothing is raised for an object that S3 refuses.

    Raises:
        ValueError: arguments do not go, or another process has the state table open.
        botocore.exceptions.ClientError: S3 refuses the caller as such (AccessDenied …).
    """
    now = now or (lambda: datetime.now(UTC))
    hours = 2 * max(plan.hours, UNKNOWN_HOURS if plan.waiting else 0) if wait_hours is None else wait_hours
    if not isinstance(hours, int | float) or hours < 0 or poll_s <= 0 or longest_poll_s < poll_s or tries < 1:
        raise ValueError("wait_hours is from 0, poll_s above 0 and not above longest_poll_s, tries from 1")
    listing.check("auto", workers)
    with requests.open_state(state) as table, listing.pool(s3, workers) as threads:
        run = _Run(plan, s3, table, threads, workers, now, progress or _bar)
        run.resume()
        end, pause = now() + timedelta(hours=hours), poll_s
        for attempt in range(10**9):
            run.ask(last=attempt + 1 >= tries)
            left = (end - now()).total_seconds()
            run.look() if left <= 0 else run.poll()
            if not run.open() or left <= 0:
                break
            sleep(min(pause, left))
            pause = min(2 * pause, longest_poll_s)
        return run.outcome()


class _Run:
    """One run over one plan; its counts."""

    def __init__(self, plan, s3, table, threads, workers, now, progress):
        self.plan, self.s3, self.table, self.threads, self.workers = plan, s3, table, threads, workers
        self.now, self.progress, self.begun = now, progress, now()
        self.keys = {(step.object.uri, step.object.version) for step in plan.steps}
        self.counts = {"requested": 0, "prolonged": 0, "already": 0}
        self.resumed = 0

    def resume(self):
        """Take the plan into the state table, and settle what an earlier run left in it."""
        held = {(row["uri"], row["version"]): row for row in self.table.rows(self.keys)}
        self.resumed = sum(row["state"] in (ASKING, ASKED, READY) for row in held.values())
        changes = []
        for step in self.plan.steps:
            row = held.get((step.object.uri, step.object.version))
            if row is None or self._again(step, row):
                changes.append(self._new(step))
                self.counts["already"] += step.action == planning.WAIT
        self.table.put(changes)
        self.look(ASKING)

    def _again(self, step, row):
        """Say whether a row is of an earlier need: what it asked for failed, or came and went."""
        if row["state"] in (PLANNED, FAILED):
            return True
        if row["state"] != READY or step.action == planning.WAIT:
            return row["state"] == READY
        if step.action == planning.PROLONG:
            return moment(row["until"]) <= step.object.restored_until
        if self.plan.made_at > moment(row["asked_at"]):
            return True  # seen archived since it was asked for: the copy is gone, or written anew
        until = moment(row["until"])
        return until is not None and until <= self.now()

    def _new(self, step):
        one, waits = step.object, step.action == planning.WAIT
        return {
            "uri": one.uri, "version": one.version, "version_id": one.version_id, "action": step.action,
            "tier": step.tier, "days": None if one.access_tier else self.plan.days, "hours": step.hours,
            "state": ASKED if waits else PLANNED, "asked_at": text(self.now()) if waits else None,
            "until": text(one.restored_until),
        }  # fmt: skip

    def open(self):
        """Return the rows that are not settled."""
        return self.table.rows(self.keys, *OPEN)

    def ask(self, *, last):
        """Ask for what is planned, a bounded number at a time; each is noted before it is sent."""
        todo, size = self.table.rows(self.keys, PLANNED), BATCH * self.workers
        for batch in (todo[start : start + size] for start in range(0, len(todo), size)):
            asking = [row | {"state": ASKING, "asked_at": text(self.now())} for row in batch]
            self.table.put(asking)
            answers = list(self.threads.map(self._send, asking))
            answered = list(zip(asking, answers, strict=True))
            self.table.note([(row, self._answered(*said, last)) for row, said in answered])
            there = {row["uri"] for row, said in answered if said[0] in (200, 403)}  # these need no wait
            self._look([row for row in self.table.rows(self.keys, ASKED) if row["uri"] in there] if there else [])

    def _send(self, row):
        """Send one request; returns (status, error code, message)."""
        from botocore.exceptions import ClientError, ConnectionError, HTTPClientError

        bucket, key = split(row["uri"])
        version = {"VersionId": row["version_id"]} if row["version_id"] else {}
        asked = {"Days": row["days"]} if row["days"] else {}
        if row["tier"]:
            asked["GlacierJobParameters"] = {"Tier": row["tier"]}
        try:
            said = self.s3.restore_object(Bucket=bucket, Key=key, RestoreRequest=asked, **version)
            return said["ResponseMetadata"]["HTTPStatusCode"], None, None
        except ClientError as error:
            code = error.response["Error"]["Code"]
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status in (401, 403) and code not in ALREADY_THERE:
                raise
            return status, code, error.response["Error"].get("Message", "")
        except (ConnectionError, HTTPClientError) as error:
            return LOST, None, str(error)

    def _answered(self, status, code, message, last):
        """Return what is noted of an answer."""
        if status == LOST:
            return {"state": ASKING, "why": message}
        values = {"status": status, "why": f"{code}: {message}" if code else None}
        if status in (200, 202) or code == "RestoreAlreadyInProgress" or code in ALREADY_THERE:
            name = {202: "requested", 200: "prolonged"}.get(status, "already")
            self.counts[name] += 1
            return values | {"state": ASKED}
        if code in TRIED_AGAIN and not last:
            return values | {"state": PLANNED}
        return values | {"state": FAILED}

    def look(self, *states):
        """Look at all that is under way, or may be, and note what is there."""
        self._look(self.table.rows(self.keys, *(states or (ASKING, ASKED))))
        self.progress(len(self.table.rows(self.keys, READY)), len(self.keys))

    def poll(self):
        """Look at a few of what is under way, spread evenly; at all as soon as one of the few is there.

        Objects asked together come together: thousands of looks an hour would tell no more than a few.
        """
        rows = self.table.rows(self.keys, ASKED)
        few = rows[:: -(-len(rows) // self.workers) or 1]
        changed = self._look(few + self.table.rows(self.keys, ASKING))
        if changed or not rows:
            self.look()

    def _look(self, rows):
        """Look at rows and note what is there; returns how many are not under way any more."""
        heads = self.threads.map(lambda row: listing.head(self.s3, row["uri"], row["version_id"], "object"), rows)
        seen = [(row, self._seen(row, found)) for row, found in zip(rows, heads, strict=True)]
        self.table.note(seen)
        return sum(values["state"] != ASKED for _, values in seen)

    def _seen(self, row, found):
        if found is None:
            return {"state": FAILED, "why": "it is not there any more"}
        if not row["version_id"] and found.version_id is None and found.etag != row["version"]:
            return {"state": FAILED, "why": "it was overwritten since the plan"}
        until = found.restored_until
        if found.readable:
            unsure = row["state"] == ASKING and row["action"] == planning.PROLONG
            if unsure and until and until <= moment(row["until"]):  # the request never arrived
                return {"state": PLANNED}
            return {"state": READY, "until": text(until)}
        if found.state == RESTORING:
            return {"state": ASKED}
        if row["action"] == planning.WAIT:
            return {"state": FAILED, "why": "it was under way, and is archived again; plan it anew"}
        asked = moment(row["asked_at"])
        gone = asked + timedelta(hours=row["hours"], days=(row["days"] or 0) + 1)
        # archived, nothing under way: the request never arrived, or its copy came and went unseen
        return {"state": PLANNED if row["state"] == ASKING or gone <= self.now() else ASKED}

    def outcome(self):
        """Return what became of the plan."""
        now, rows = self.now(), self.table.rows(self.keys)
        until = {row["uri"]: moment(row["until"]) for row in rows if row["state"] == READY}
        gone = [
            (uri, f"its copy expired, {end:%Y-%m-%d %H:%M}") for uri, end in until.items() if end and end <= now
        ]
        soon = now + timedelta(days=1)
        return Outcome(
            **self.counts, resumed=self.resumed, ready=len(until) - len(gone),
            waiting=tuple(row["uri"] for row in rows if row["state"] in OPEN),
            failed=(*((row["uri"], row["why"]) for row in rows if row["state"] == FAILED), *gone),
            expiring=tuple((uri, end) for uri, end in until.items() if end and now < end <= soon),
            seconds=(now - self.begun).total_seconds(),
        )  # fmt: skip


def _bar(ready, total):
    """Draw a bar where a person looks on."""
    if total and sys.stderr.isatty():
        full = 40 * ready // total
        end = "\n" if ready == total else ""
        sys.stderr.write(f"\rrestored [{'#' * full}{'.' * (40 - full)}] {ready}/{total}{end}")
        sys.stderr.flush()
