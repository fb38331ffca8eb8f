"""Find the state of objects: by listings where they have it, by HEAD requests in parallel where they do not."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Annotated, Any, Literal

from workbench._base.bounds import Ge, Le
from workbench.archive.objects import ARCHIVED, Object, from_head, from_listing, split

WORKERS = 32
Workers = Annotated[int, Ge(1), Le(256)]
Status = Literal["auto", "listing", "head"]
Address = tuple[str, str | None, str]  # uri, version id, kind


def under(s3: Any, prefix: str, *, status: Status = "auto", workers: int = WORKERS) -> Iterator[Object]:
    """Return every object of a directory, in the order of keys, folder keys too; memory is that of one page.

    Args:
        s3: boto3 client of S3.
        prefix: s3://bucket/path: the objects below `path/`, and the object of that very key. To S3 a prefix is a
            beginning, which has sales_old/ come with sales; those are left.
        status: `listing` trusts that listings have the state of restores, `head` asks for each archived object;
            `auto` trusts a server that names itself AmazonS3. Objects of Intelligent-Tiering are always asked,
            because no listing has their tier.
        workers: HEAD requests at a time.

    Raises:
        ValueError: the prefix is not an address in S3.
    """
    bucket, start = split(prefix)
    return _pages(s3, bucket, start, status, workers)


def heads(s3: Any, addresses: Iterable[Address], *, workers: int = WORKERS) -> list[Object | None]:
    """Look at objects by HEAD, `workers` at a time.

    Args:
        s3: boto3 client of S3.
        addresses: of the objects.
        workers: how many at a time.

    Returns:
        list of Object in the same order; None for an object that is not there.
    """
    with pool(s3, workers) as threads:
        return list(threads.map(lambda address: head(s3, *address), addresses))


def pool(s3: Any, workers: int) -> ThreadPoolExecutor:
    """Return threads for requests; more than ten need a client whose max_pool_connections is as large."""
    return ThreadPoolExecutor(workers, thread_name_prefix="archive")


def head(s3: Any, uri: str, version_id: str | None, kind: str) -> Object | None:
    """Look at one object; None when it is not there."""
    from botocore.exceptions import ClientError

    bucket, key = split(uri)
    version = {"VersionId": version_id} if version_id else {}
    try:
        return from_head(uri, s3.head_object(Bucket=bucket, Key=key, **version), kind=kind)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] in (404, 405):
            return None
        raise


def _pages(s3: Any, bucket: str, start: str, status: str, workers: int) -> Iterator[Object]:
    operation, rows = _operation(s3, bucket)
    pages = s3.get_paginator(operation).paginate(
        Bucket=bucket, Prefix=start, OptionalObjectAttributes=["RestoreStatus"]
    )
    with pool(s3, workers) as threads:
        for page in pages:
            is_amazon = page["ResponseMetadata"]["HTTPHeaders"].get("server") == "AmazonS3"
            trusted = status == "listing" or (status == "auto" and is_amazon)
            newest = [row for row in page.get(rows, []) if row.get("IsLatest", True)]
            entries = [from_listing(bucket, row) for row in newest if _belongs(row["Key"], start)]
            unknown = [entry for entry in entries if _unknown(entry, trusted)]
            looks = threads.map(lambda entry: head(s3, entry.uri, entry.version_id, entry.kind), unknown)
            known = dict(zip(unknown, looks, strict=True))  # None for one deleted between listing and look
            for entry in entries:
                look = known.get(entry, entry)
                if look is not None:
                    yield replace(look, version_id=entry.version_id)


def _belongs(key: str, start: str) -> bool:
    """Say whether a key that begins with a directory's name is of the directory."""
    return not start or start.endswith("/") or key == start or key.startswith(start + "/")


def _unknown(entry: Object, trusted: bool) -> bool:
    if entry.storage_class == "INTELLIGENT_TIERING":
        return True
    return entry.state == ARCHIVED and not trusted


def _operation(s3: Any, bucket: str) -> tuple[str, str]:
    """Return how to list: a bucket with versions by versions, because only that tells which one is the newest."""
    from botocore.exceptions import ClientError

    try:
        versioned = s3.get_bucket_versioning(Bucket=bucket).get("Status")
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("AccessDenied", "NotImplemented", "MethodNotAllowed"):
            raise
        versioned = None
    return ("list_object_versions", "Versions") if versioned else ("list_objects_v2", "Contents")
