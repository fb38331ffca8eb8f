"""moto's S3, corrected where an archive needs it. Only the store's own process calls `install`.

What each patch changes, and the description it follows, is the table in docs/archive.md.
"""

import copy
import functools
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from workbench_standins.archive.retrieval import Refused, Retrieval
from workbench_standins.archive.store import State

Original = Callable[..., Any]  # the method of moto that a patch replaces


def install(state: State) -> None:
    """Patch moto in this process, so that it follows a State."""
    from moto.s3 import models

    patched: Any = models
    patched.utcnow = state.naive_now  # created, modified: everything follows the store's clock
    _objects(state, models.FakeKey)
    _buckets(state, models.FakeBucket, models.S3Backend)
    _reads(state)
    _copies(state)
    _posts(state)
    _listings(state)


def backend() -> Any:
    """Return moto's only S3 backend."""
    from moto.s3.models import s3_backends

    return s3_backends["123456789012"]["aws"]


def _wrap(owner: Any, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that replaces a method by a function of (original, instance, …)."""

    def put(function: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return function(original, self, *args, **kwargs)

        setattr(owner, name, method)
        return function

    return put


def _objects(state: State, key_class: Any) -> None:
    plain = key_class.response_dict.fget

    def response_dict(key: Any) -> Any:
        headers = plain(key)
        if header := state.header(key):
            headers["x-amz-restore"] = header
        if tier := state.access_tier(key):
            headers["x-amz-archive-status"] = tier
        return headers

    key_class.response_dict = property(response_dict)


def _buckets(state: State, bucket_class: Any, backend_class: Any) -> None:
    @_wrap(bucket_class, "set_lifecycle")
    def set_lifecycle(original: Original, bucket: Any, rules: list[Any]) -> None:
        kept = copy.deepcopy(rules)  # moto forgets filters on size
        original(bucket, rules)
        bucket.lifecycle = kept
        state.apply_rules(bucket, backend())

    @_wrap(bucket_class, "delete_lifecycle")
    def delete_lifecycle(original: Original, bucket: Any) -> None:
        original(bucket)
        bucket.lifecycle = []

    @_wrap(backend_class, "list_objects_v2")
    def list_objects_v2(
        original: Original, store: Any, bucket: Any, prefix: Any, delimiter: Any, continuation_token: Any,
        start_after: Any, max_keys: Any
    ) -> Any:  # fmt: skip
        if delimiter or max_keys == 0:
            return original(store, bucket, prefix, delimiter, continuation_token, start_after, max_keys)
        after = store._pagination_tokens.get(continuation_token) or start_after or ""
        names = sorted(n for n in bucket.keys if n > after and n.startswith(prefix or ""))
        keys: list[Any] = []
        for name in names:
            if hasattr(key := bucket.keys[name], "storage_class"):  # no delete marker
                keys.append(key)
            if len(keys) > max_keys:
                break
        return store._truncate_result(keys, max_keys)


def _reads(state: State) -> None:
    from moto.s3.exceptions import InvalidObjectState
    from moto.s3.responses import S3Response

    @_wrap(S3Response, "_get_key")
    def _get_key(original: Original, response: Any, validate_storage_class: bool = True) -> Any:
        key, not_modified = original(response, validate_storage_class=False)
        if validate_storage_class and getattr(response, "reads_bytes", True) and not state.readable(key):
            error: Any = InvalidObjectState(storage_class=key.storage_class)
            error.access_tier = state.access_tier(key)
            raise error
        return key, not_modified

    for name in ("get_object_tagging", "get_object_legal_hold"):  # need no bytes: an archived object has them

        @_wrap(S3Response, name)
        def of_metadata(original: Original, response: Any) -> Any:
            response.reads_bytes = False
            return original(response)


def _copies(state: State) -> None:
    from moto.s3.exceptions import ObjectNotInActiveTierError
    from moto.s3.responses import S3Response

    for name in ("copy_object", "upload_part_copy"):

        @_wrap(S3Response, name)
        def copied(original: Original, response: Any) -> Any:
            source = urlparse(response.headers.get("x-amz-copy-source"))
            bucket, _, key_name = unquote(source.path).lstrip("/").partition("/")
            version = parse_qs(source.query).get("versionId", [None])[0]
            key = response.backend.get_object(bucket, key_name, version_id=version)
            if key is not None and not state.readable(key):
                raise ObjectNotInActiveTierError(key_name)
            return original(response)


def _posts(state: State) -> None:
    import xmltodict
    from moto.s3.exceptions import InvalidObjectState, MissingKey, MissingVersion, S3ClientError
    from moto.s3.responses import S3Response

    def existing(response: Any, bucket: Any, query: Mapping[str, Any], name: str) -> Any:
        version = query.get("versionId", [None])[0]
        key = response.backend.get_object(bucket, name, version_id=version)
        if key is None:
            raise MissingVersion() if version else MissingKey(key=name)
        return key

    @_wrap(S3Response, "_key_response_post")
    def _key_response_post(
        original: Original, response: Any, request: Any, body: Any, bucket: Any, query: Any, name: Any
    ) -> Any:
        if "select" in query and not state.readable(key := existing(response, bucket, query, name)):
            raise InvalidObjectState(storage_class=key.storage_class)
        if "restore" not in query:
            return original(response, request, body, bucket, query, name)
        key = existing(response, bucket, query, name)
        asked = xmltodict.parse(body)["RestoreRequest"] or {}
        tier = (asked.get("GlacierJobParameters") or {}).get("Tier") or asked.get("Tier")
        days = int(asked["Days"]) if asked.get("Days") else None
        try:
            return state.restore(bucket, key, tier=tier, days=days), {}, ""
        except Refused as refused:
            response.data["Action"] = "RestoreObject"
            refusal: Any = S3ClientError(refused.code, refused.message)
            refusal.status_code = refused.status
            refusal.storage_class = key.storage_class
            status, headers, text = _serialized(response, refusal)
            return refused.status or status, headers, text


def _serialized(response: Any, error: Exception) -> Any:
    from moto.core.responses import ActionResult

    return response.serialized(ActionResult(error))


def _listings(state: State) -> None:
    from moto.s3.responses import S3Response

    rows = {"ListObjects": "Contents", "ListObjectsV2": "Contents", "ListObjectVersions": "Versions"}

    @_wrap(S3Response, "serialized")
    def serialized(original: Original, response: Any, action_result: Any) -> Any:
        asked = response.headers.get("x-amz-optional-object-attributes", "")
        where = rows.get((response.data or {}).get("Action", ""))
        if where and "RestoreStatus" in asked and isinstance(action_result.result, dict):
            # names of versions are never quoted
            quoted = "url" in response.querystring.get("encoding-type", []) and where == "Contents"
            for row in action_result.result[where]:
                name = unquote(row["Key"]) if quoted else row["Key"]
                key = response.backend.get_object(response.bucket_name, name, version_id=row.get("VersionId"))
                if key is not None and (status := state.restore_status_of(key)):
                    row["RestoreStatus"] = status
        return original(response, action_result)


def plant(
    state: State, bucket: str, *, prefix: str, count: int, size: int, storage_class: str, restored: int
) -> None:
    """Put many objects at once, past HTTP; the first `restored` ones have a copy that has not expired."""
    store = backend()
    for number in range(count):
        key = store.put_object(
            bucket, f"{prefix}{number:06d}", b"x" * size, storage=storage_class, disable_notification=True
        )
        if number < restored:
            key.retrieval = Retrieval("Standard", 3650, state.now().astimezone(UTC))
