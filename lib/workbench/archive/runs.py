"""One run over one plan: its requests, its looks, and what came of them, each step noted in the state table."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from workbench._base import worklist
from workbench.archive import listing, looks, planning
from workbench.archive.objects import split
from workbench.archive.planning import Step
from workbench.archive.requests import (
    ASKED,
    ASKING,
    FAILED,
    OPEN,
    PLANNED,
    READY,
    STATES,
    Changes,
    Row,
    moment,
    text,
)

TRIED_AGAIN = (
    "GlacierExpeditedRetrievalNotAvailable",
    "SlowDown",
    "ServiceUnavailable",
    "InternalError",
    "Throttling",
)
ALREADY_THERE = ("InvalidObjectState", "ObjectAlreadyInActiveTierError")
BATCH = 4  # requests noted at once, times the workers
LOST = -1  # no answer came: the request may have arrived
Answer = tuple[int, str | None, str | None]  # status, error code, message
UNSEEN = object()  # a look that S3 had no answer to: it is looked at again


@dataclass(frozen=True)
class Outcome:
    """The result of a restore.

    Attributes:
        requested: requests of this run that S3 took as new or faster restores (202).
        prolonged: copies that live longer by requests of this run (200).
        resumed: objects of the plan that an earlier run with this state table had asked for, or may have.
        already: objects that were under way by somebody else's request.
        ready: objects of the plan that can be read now.
        waiting: addresses of those that are not there yet.
        failed: (address, why) of those that S3 refuses, that changed since the plan, or that were never asked for.
        expiring: (address, time) of copies that go within a day of the end of this run, or sooner than the plan's
            days say, because somebody else or an earlier plan asked for them; those of the plan's `expiring` that
            are no steps of it too, with the time that the plan saw.
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
    def complete(self) -> bool:
        """Whether every object of the plan can be read."""
        return not self.waiting and not self.failed


class Run:
    """One run over one plan; its counts."""

    def __init__(
        self,
        plan: planning.Plan,
        s3: Any,
        table: worklist.Worklist,
        threads: ThreadPoolExecutor,
        workers: int,
        now: Callable[[], datetime],
        progress: Callable[[int, int], object],
    ) -> None:
        self.plan, self.s3, self.table, self.threads, self.workers = plan, s3, table, threads, workers
        self.now, self.progress, self.begun = now, progress, now()
        self.steps = {_key(step): step for step in plan.steps}
        self.keys = self.steps.keys()
        self.counts = {"requested": 0, "prolonged": 0, "already": 0}
        self.resumed, self.polls = 0, 0
        self.denied: Exception | None = None  # botocore's ClientError

    def resume(self) -> None:
        """Take the plan into the state table, and settle what an earlier run left in it."""
        asked = self._rows(ASKING, ASKED, READY)
        self.resumed = len(asked)
        changes: dict[tuple[str, str], Row] = {}
        for row, look in self._heads(asked):
            step = self._step(row)
            if look is UNSEEN:
                values: Changes | None = {"state": ASKED} if row["state"] == READY else {}
            else:
                values = looks.of_earlier(step, row, look, self.plan.made_at, self.now())
            changes[_key(step)] = self._new(step) if values is None else row | values
        for key, step in self.steps.items():
            if key not in changes:  # nobody asked, or S3 refused it
                changes[key] = self._new(step)
                self.counts["already"] += step.action == planning.WAIT
        self.table.put(changes.values())
        self._tell()

    def _new(self, step: Step) -> Row:
        entry, waits = step.object, step.action == planning.WAIT
        return {
            "uri": entry.uri, "version": entry.version, "version_id": entry.version_id, "action": step.action,
            "tier": step.tier, "days": None if entry.access_tier else self.plan.days, "hours": step.hours,
            "state": ASKED if waits else PLANNED, "asked_at": text(self.now()) if waits else None,
            "until": text(entry.restored_until),
        }  # fmt: skip

    def _rows(self, *states: str) -> list[Row]:
        """Return the plan's rows, by address; with states, those that are in one of them."""
        rows = {(row["uri"], row["version"]): row for row in self.table.rows(state=states or STATES)}
        return [rows[key] for key in sorted(rows.keys() & self.keys)]

    def _step(self, row: Row) -> Step:
        return self.steps[row["uri"], row["version"]]

    def open(self) -> list[Row]:
        """Return the rows that are not settled."""
        return self._rows(*OPEN)

    def ask(self, *, last: bool) -> None:
        """Ask for what is planned, a bounded number at a time; each is looked at, and noted before it is sent."""
        todo, size = self._rows(PLANNED), BATCH * self.workers
        for batch in (todo[start : start + size] for start in range(0, len(todo), size)):
            needed = self._needed(batch)
            asking = [row | {"state": ASKING, "asked_at": text(self.now())} for row in needed]
            self.table.put(asking)
            answers = list(self.threads.map(self._send, asking))
            self._refuse_caller(answers)
            noted = [row | self._answered(*answer, last) for row, answer in zip(asking, answers, strict=True)]
            self.table.put(noted)
            self._look([row for row in noted if row["state"] == ASKED and row["status"] in (200, 403)])  # no wait

    def _needed(self, rows: Sequence[Row]) -> list[Row]:
        """Look at planned rows, note those that need no request, and return the others."""
        seen = [(row, look) for row, look in self._heads(rows) if look is not UNSEEN]
        noted = [(row, looks.before_asking(self._step(row), row, look, self.now())) for row, look in seen]
        settled = [(row, values) for row, values in noted if values is not None]
        self.counts["already"] += sum(values["state"] == ASKED for _, values in settled)
        self.table.put(row | values for row, values in settled)
        return [row for row, values in noted if values is None]

    def _send(self, row: Row) -> Answer:
        """Send one request; returns (status, error code, message)."""
        from botocore.exceptions import ClientError, ConnectionError, HTTPClientError

        bucket, key = split(row["uri"])
        version = {"VersionId": row["version_id"]} if row["version_id"] else {}
        request: dict[str, Any] = {"Days": row["days"]} if row["days"] else {}
        if row["tier"]:
            request["GlacierJobParameters"] = {"Tier": row["tier"]}
        try:
            answer = self.s3.restore_object(Bucket=bucket, Key=key, RestoreRequest=request, **version)
            return answer["ResponseMetadata"]["HTTPStatusCode"], None, None
        except ClientError as error:
            code = error.response["Error"]["Code"]
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if _denied(status, code):
                self.denied = error
            return status, code, error.response["Error"].get("Message", "")
        except (ConnectionError, HTTPClientError) as error:
            return LOST, None, str(error)

    def _refuse_caller(self, answers: Sequence[Answer]) -> None:
        """Raise when S3 refuses all that is asked first: not one object is denied then, but the caller."""
        every = bool(answers) and all(_denied(status, code) for status, code, _ in answers)
        if self.denied is not None and every and not sum(self.counts.values()):
            raise self.denied

    def _answered(self, status: int, code: str | None, message: str | None, last: bool) -> Changes:
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

    def look(self) -> None:
        """Look at all that is under way, or may be, and note what is there."""
        self._look(self._rows(ASKING, ASKED))
        self._tell()

    def poll(self) -> None:
        """Look at a few of what is under way, others each time; at all as soon as one of the few is there.

        Objects asked together come together: thousands of looks an hour would show no more than a few.
        """
        rows = self._rows(ASKED)
        step = -(-len(rows) // self.workers) or 1
        changed = self._look(rows[self.polls % step :: step] + self._rows(ASKING))
        self.polls += 1
        if changed or not rows:
            self.look()

    def _tell(self) -> None:
        self.progress(len(self._rows(READY)), len(self.keys))

    def _heads(self, rows: Sequence[Row]) -> list[tuple[Row, Any]]:
        return list(zip(rows, self.threads.map(self._head, rows), strict=True))

    def _head(self, row: Row) -> Any:
        """Look at one object: Object, None when it is not there, UNSEEN when S3 does not answer just now."""
        from botocore.exceptions import ClientError, ConnectionError, HTTPClientError

        try:
            return listing.head(self.s3, row["uri"], row["version_id"], "object")
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] not in (429, 500, 502, 503, 504):
                raise
        except (ConnectionError, HTTPClientError):
            pass
        return UNSEEN

    def _look(self, rows: Sequence[Row]) -> int:
        """Look at rows and note what is there; returns how many are not under way any more."""
        seen = [(row, look) for row, look in self._heads(rows) if look is not UNSEEN]
        noted = [(row, looks.under_way(row, look, self.now())) for row, look in seen]
        self.table.put(row | values for row, values in noted)
        return sum(values["state"] != ASKED for _, values in noted)

    def outcome(self) -> Outcome:
        """Return what became of the plan."""
        now, rows = self.now(), self._rows()
        failed = [
            (row["uri"], row["why"] or "it was not asked for yet; run again")
            for row in rows
            if row["state"] in (FAILED, PLANNED)
        ]
        ready = [(row["uri"], moment(row["until"])) for row in rows if row["state"] == READY]
        gone = [(uri, f"its copy expired, {end:%Y-%m-%d %H:%M}") for uri, end in ready if end and end <= now]
        soon = max(now + timedelta(days=1), self.plan.made_at + timedelta(days=self.plan.days))
        return Outcome(
            **self.counts, resumed=self.resumed, ready=len(ready) - len(gone),
            waiting=tuple(row["uri"] for row in rows if row["state"] in (ASKING, ASKED)),
            failed=(*failed, *gone),
            expiring=(*((uri, end) for uri, end in ready if end and now < end <= soon), *self._untouched()),
            seconds=(now - self.begun).total_seconds(),
        )  # fmt: skip

    def _untouched(self) -> list[tuple[str, datetime]]:
        """Return the copies that the plan saw going, and that no step of it prolongs."""
        return [
            (entry.uri, entry.restored_until)
            for entry in self.plan.expiring
            if entry.restored_until and (entry.uri, entry.version) not in self.keys
        ]


def _denied(status: int, code: str | None) -> bool:
    return status in (401, 403) and code not in ALREADY_THERE


def _key(step: Step) -> tuple[str, str]:
    return step.object.uri, step.object.version
