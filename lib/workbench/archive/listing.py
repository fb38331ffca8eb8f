"""The state of objects: by listings where they tell it, by HEAD requests in parallel where they do not."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from workbench._base.errors import ArgumentError
from workbench.archive.objects import ARCHIVED, from_head, from_listing, split

WORKERS = 32
HEAD_MODES = ("auto", "listing", "head")


def under(s3, prefix, *, status="auto", workers=WORKERS):
    """Give every object of a directory, in the order of keys, folder keys too; memory is that of one page.

    Args:
        s3: boto3 client of S3.
        prefix: s3://bucket/path: the objects below `path/`, and the object of that very key. To S3 a prefix is a
            beginning, which has sales_old/ come with sales; those are left.
        status: `listing` trusts that listings tell the state of restores, `head` asks for each archived object;
            `auto` trusts a server that names itself AmazonS3. Objects of Intelligent-Tiering are always asked,
            because no listing tells their tier.
        workers: HEAD requests at a time.

    Raises:
        ValueError: arguments do not go.
    """
    bucket, start = split(prefix)
    check(status, workers)
    return _pages(s3, bucket, start, status, workers)


def check(status, workers):
    """Refuse arguments that do not go."""
    if status not in HEAD_MODES:
        raise ArgumentError(f"status is {', '.join(HEAD_MODES)}, not {status!r}")
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 256:
        raise ArgumentError(f"workers is a whole number from 1 to 256, not {workers!r}")


def heads(s3, wanted, *, workers=WORKERS):
    """Look at objects by HEAD, `workers` at a time.

    Args:
        s3: boto3 client of S3.
        wanted: list of (uri, version id or None, kind).
        workers: how many at a time.

    Returns:
        list of Object in the same order; None for an object that is not there.
    """
    with pool(s3, workers) as threads:
        return list(threads.map(lambda one: head(s3, *one), wanted))


def pool(s3, workers):
    """Return threads for requests; more than ten need a client whose max_pool_connections is as large."""
    return ThreadPoolExecutor(workers, thread_name_prefix="archive")


def head(s3, uri, version_id, kind):
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


def _pages(s3, bucket, start, status, workers):
    operation, rows = _operation(s3, bucket)
    pages = s3.get_paginator(operation).paginate(
        Bucket=bucket, Prefix=start, OptionalObjectAttributes=["RestoreStatus"]
    )
    with pool(s3, workers) as threads:
        for page in pages:
            told = page["ResponseMetadata"]["HTTPHeaders"].get("server") == "AmazonS3"
            trusted = status == "listing" or (status == "auto" and told)
            newest = [row for row in page.get(rows, []) if row.get("IsLatest", True)]
            found = [from_listing(bucket, row) for row in newest if _belongs(row["Key"], start)]
            ask = [n for n, one in enumerate(found) if _unknown(one, trusted)]
            seen = threads.map(lambda one: head(s3, one.uri, one.version_id, one.kind), [found[n] for n in ask])
            for n, one in zip(ask, seen, strict=True):
                found[n] = one and replace(one, version_id=found[n].version_id)
            yield from (one for one in found if one is not None)  # deleted between listing and look


def _belongs(key, start):
    """Say whether a key that begins with a directory's name is of the directory."""
    return not start or start.endswith("/") or key == start or key.startswith(start + "/")


def _unknown(found, trusted):
    if found.storage_class == "INTELLIGENT_TIERING":
        return True
    return found.state == ARCHIVED and not trusted


def _operation(s3, bucket):
    """Return how to list: a bucket with versions by versions, because only that tells which one is the newest."""
    from botocore.exceptions import ClientError

    try:
        versioned = s3.get_bucket_versioning(Bucket=bucket).get("Status")
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("AccessDenied", "NotImplemented", "MethodNotAllowed"):
            raise
        versioned = None
    return ("list_object_versions", "Versions") if versioned else ("list_objects_v2", "Contents")
