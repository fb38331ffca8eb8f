"""Claims: one small document a token, created only where there is none and replaced only where it is unchanged.

    Folder("/shared/claims")                       files; the replacement is done under a lock of the system's
    Bucket(s3, "lake", "claims")                   objects, by If-None-Match and If-Match

A claim says what was submitted under a token (a digest), which generation of it counts, and what is known of each
attempt. It is written before anything is submitted, so that whoever comes later knows that something may run.
"""

import hashlib
import json
import os
import re
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench._base import locks, settings
from workbench._base.errors import ArgumentError
from workbench_ops.submit.errors import ClaimBusy

LONGEST_TOKEN = 512
LOCK_SECONDS = 60
TRIES = 200  # of a change that others' changes overtake; each loss is somebody else's gain


@dataclass(frozen=True)
class Attempt:
    """One submission of a claim.

    Attributes:
        name: unique name that the job is given.
        target: name of the target that it was submitted to.
        by: process that submits: host, process id, start time; it tells whether an id may still come.
        run_id: the service's id; None while nobody knows whether the submission arrived.
    """

    name: str
    target: str
    by: str
    run_id: str | None = None


@dataclass(frozen=True)
class Claim:
    """What is known of a token.

    Attributes:
        token: the caller's token.
        digest: of the job's content.
        queue: the queue that was asked for, or None.
        generation: from 1; raised only by a run that was seen to have failed.
        attempts: submissions of this generation, oldest first.
        fenced: name of the attempt that may run, None until one has asked.
        fenced_id: id of the run as the job itself knows it, where it knows.
        fenced_by: unique name of the call that passed the fence; an attempt may be started twice.
        cancelled: whether the run must not begin any more.
        write: unique name of this version, by which a writer knows its own.
    """

    token: str
    digest: str
    queue: str | None = None
    generation: int = 1
    attempts: tuple[Attempt, ...] = ()
    fenced: str | None = None
    fenced_id: str | None = None
    fenced_by: str | None = None
    cancelled: bool = False
    write: str = field(default_factory=lambda: uuid.uuid4().hex)

    def changed(self, **values: Any) -> "Claim":
        """Return a copy with other values, which is a version of its own."""
        return replace(self, **values, write=uuid.uuid4().hex)

    def attempt(self, name: str | None) -> Attempt | None:
        """Return the attempt of a name, None where this generation has none."""
        return next((attempt for attempt in self.attempts if attempt.name == name), None)


class Claims(ABC):
    """Where claims are."""

    @abstractmethod
    def read(self, key: str) -> tuple[bytes, str] | None:
        """Return a document and the mark of its version; None where there is none."""

    @abstractmethod
    def create(self, key: str, content: bytes) -> bool:
        """Write a document where there is none; False where there is one."""

    @abstractmethod
    def swap(self, key: str, content: bytes, mark: str) -> bool:
        """Write a document in the place of the version with this mark; False where it is another one."""

    @abstractmethod
    def listed(self) -> Iterator[str]:
        """Return the keys of all documents, sorted."""

    @abstractmethod
    def address(self) -> dict[str, str]:
        """Return by what another process finds the same claims; without secrets."""


class Folder(Claims):
    """Claims in a folder of a disk that all submitters and jobs see and that holds locks (no object store)."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()

    def read(self, key: str) -> tuple[bytes, str] | None:
        """Return a document and the mark of its version; None where there is none."""
        try:
            content = (self.path / f"{key}.json").read_bytes()
        except FileNotFoundError:
            return None
        return content, hashlib.sha256(content).hexdigest()

    def create(self, key: str, content: bytes) -> bool:
        """Write a document where there is none; False where there is one."""
        with self._written(content) as new:
            try:
                os.link(new, self.path / f"{key}.json")  # whole or not at all, and never over another one
            except FileExistsError:
                return False
        return True

    def swap(self, key: str, content: bytes, mark: str) -> bool:
        """Write a document in the place of the version with this mark; False where it is another one."""
        lock = self.path / "locks" / f"{key}.lock"
        with locks.held(lock, f"the claim in {lock} is held by another process", seconds=LOCK_SECONDS):
            current = self.read(key)
            if current is None or current[1] != mark:
                return False
            with self._written(content) as new:
                new.replace(self.path / f"{key}.json")
        return True

    def listed(self) -> Iterator[str]:
        """Return the keys of all documents, sorted."""
        yield from sorted(path.stem for path in self.path.glob("*.json"))

    def address(self) -> dict[str, str]:
        """Return by what another process finds the same claims."""
        return {"folder": str(self.path)}

    def _written(self, content: bytes) -> "_Temporary":
        return _Temporary(self.path, content)


class _Temporary:
    """A file beside the documents that is on the disk, gone with its context."""

    def __init__(self, folder: Path, content: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".claim-")
        self.path = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)


class Bucket(Claims):
    """Claims in a bucket of a service that has conditional writes: S3, and most that speak its language.

    Args:
        s3: boto3 client.
        bucket: its name.
        prefix: of the keys, without a slash at its end.
    """

    def __init__(self, s3: Any, bucket: str, prefix: str = "claims") -> None:
        self.s3, self.bucket, self.prefix = s3, bucket, prefix.strip("/")
        self._process = os.getpid()

    def _own(self) -> Any:
        """Return the client with connections of its own: over those from before a fork answers are mixed up."""
        if self._process != os.getpid():
            self.s3.close()
            self._process = os.getpid()
        return self.s3

    def read(self, key: str) -> tuple[bytes, str] | None:
        """Return a document and the mark of its version; None where there is none."""
        try:
            answer = self._own().get_object(Bucket=self.bucket, Key=self._key(key))
        except self.s3.exceptions.NoSuchKey:
            return None
        return answer["Body"].read(), answer["ETag"]

    def create(self, key: str, content: bytes) -> bool:
        """Write a document where there is none; False where there is one."""
        return self._put(key, content, IfNoneMatch="*")

    def swap(self, key: str, content: bytes, mark: str) -> bool:
        """Write a document in the place of the version with this mark; False where it is another one."""
        return self._put(key, content, IfMatch=mark)

    def listed(self) -> Iterator[str]:
        """Return the keys of all documents, sorted."""
        listing = self._own().get_paginator("list_objects_v2")
        pages = listing.paginate(Bucket=self.bucket, Prefix=f"{self.prefix}/")
        for page in pages:
            yield from (entry["Key"].removeprefix(f"{self.prefix}/").removesuffix(".json")
                        for entry in page.get("Contents", ()))  # fmt: skip

    def address(self) -> dict[str, str]:
        """Return by what another process finds the same claims; its keys to the bucket are its own."""
        endpoint = {"endpoint": self.s3.meta.endpoint_url} if self.s3.meta.endpoint_url else {}
        region = {"region": self.s3.meta.region_name} if self.s3.meta.region_name else {}
        return {"bucket": self.bucket, "prefix": self.prefix} | endpoint | region

    def _key(self, key: str) -> str:
        return f"{self.prefix}/{key}.json" if self.prefix else f"{key}.json"

    def _put(self, key: str, content: bytes, **condition: str) -> bool:
        from botocore.exceptions import ClientError

        try:
            self._own().put_object(Bucket=self.bucket, Key=self._key(key), Body=content, **condition)
        except ClientError as error:
            # 409: another conditional write is under way; 404: what was to be replaced is gone
            if error.response["ResponseMetadata"]["HTTPStatusCode"] not in (404, 409, 412) or _missing(error):
                raise
            return False
        return True


def _missing(error: Any) -> bool:
    return str(error.response.get("Error", {}).get("Code")) == "NoSuchBucket"


def key_of(token: str) -> str:
    """Return the key of a token's claim: readable, and different for different tokens.

    Raises:
        ArgumentError: the token is empty, longer than 512 characters, or has characters that nobody sees.
    """
    if not token or len(token) > LONGEST_TOKEN or not token.isprintable() or token != token.strip():
        shown = repr(token if len(token) <= 60 else f"{token[:60]}…")
        expected = f"1 to {LONGEST_TOKEN} printable characters without spaces around them"
        raise ArgumentError(f"token must be {expected}, found {shown}")
    readable = re.sub(r"[^A-Za-z0-9.-]+", "_", token).strip("._")[:60]
    return f"{readable}-{hashlib.sha256(token.encode()).hexdigest()[:20]}"


def load(claims: Claims, token: str) -> tuple[Claim, str] | None:
    """Return a token's claim and the mark of its version; None where there is none."""
    document = claims.read(key_of(token))
    return (parse(document[0], token), document[1]) if document else None


def required(claims: Claims, token: str) -> tuple[Claim, str]:
    """Return a token's claim and the mark of its version.

    Raises:
        ArgumentError: the token has none.
    """
    loaded = load(claims, token)
    if loaded is None:
        raise ArgumentError(f"nothing was submitted under the token {token}")
    return loaded


def parse(content: bytes, origin: str) -> Claim:
    """Return the claim in a document.

    Raises:
        ArgumentError: it is no claim of this version of the library.
    """
    try:
        values: dict[str, Any] = json.loads(content)
        attempts = tuple(Attempt(**attempt) for attempt in values.pop("attempts"))
        return Claim(**values, attempts=attempts)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ArgumentError(f"the claim of {origin} cannot be read: {error}") from None


def opened(claims: Claims, claim: Claim) -> Claim:
    """Write a claim where its token has none; return the one that is there then."""
    if claims.create(key_of(claim.token), _bytes(claim)):
        return claim
    loaded = load(claims, claim.token)
    if loaded is None:
        raise ClaimBusy(f"the claim of {claim.token} was there and is gone; claims are never deleted while used")
    return loaded[0]


def change(claims: Claims, token: str, decide: Callable[[Claim], Claim | None]) -> Claim:
    """Change a claim by one conditional write, decided anew on each version that others wrote meanwhile.

    Args:
        claims: where it is.
        token: of the claim.
        decide: given the claim as it is, returns what it is to be; None leaves it.

    Returns:
        The claim as it is afterwards.

    Raises:
        ArgumentError: the token has no claim.
        ClaimBusy: others' changes came first for too many times.
    """
    ours: Claim | None = None
    for _ in range(TRIES):
        claim, mark = required(claims, token)
        if ours is not None and claim.write == ours.write:  # it landed, and its answer was lost
            return claim
        ours = decide(claim)
        if ours is None or claims.swap(key_of(token), _bytes(ours), mark):
            return ours or claim
    raise ClaimBusy(f"the claim of {token} was replaced {TRIES} times while it was to be changed")


def at(address: Mapping[str, str]) -> Claims:
    """Return the claims of an address, as a job is given it."""
    if "folder" in address:
        return Folder(address["folder"])
    import boto3

    s3 = boto3.client("s3", endpoint_url=address.get("endpoint"), region_name=address.get("region"))
    return Bucket(s3, address["bucket"], address["prefix"])


def place(where: str | None = None) -> Claims:
    """Return the claims of a place as people name it.

    Args:
        where: a folder, or s3://bucket/prefix; left out, `.workbench/claims` of the project.

    Raises:
        ArgumentError: an address without a bucket, or of something else than a bucket.
    """
    if where is None:
        return Folder(settings.home() / ".workbench" / "claims")
    if "://" not in where:
        return Folder(where)
    kind, _, rest = where.partition("://")
    bucket, _, prefix = rest.partition("/")
    if kind != "s3" or not bucket:
        raise ArgumentError(f"claims must be a folder or s3://bucket/prefix, found {where!r}")
    return at({"bucket": bucket, "prefix": prefix or "claims"})


def all_of(claims: Claims) -> Iterator[Claim]:
    """Return all claims, sorted by their keys."""
    for key in claims.listed():
        if document := claims.read(key):
            yield parse(document[0], key)


def _bytes(claim: Claim) -> bytes:
    return json.dumps(asdict(claim), indent=1, sort_keys=True).encode()
