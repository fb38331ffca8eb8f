"""moto's S3, corrected where an archive needs it. Only the store's own process calls `install`.

What each patch changes, and the description it follows, is the table in docs/archive.md.
"""

import copy
import functools
from datetime import UTC
from urllib.parse import parse_qs, unquote, urlparse

from workbench_standins.archive.retrieval import Refused


def install(state):
    """Patch moto in this process, so that it follows a State."""
    import moto.s3.models as models

    models.utcnow = state.naive_now  # created, modified: everything follows the store's clock
    _objects(state, models.FakeKey)
    _buckets(state, models.FakeBucket, models.S3Backend)
    _reads(state)
    _copies(state)
    _posts(state)
    _listings(state)


def backend():
    """Return moto's only S3 backend."""
    from moto.s3.models import s3_backends

    return s3_backends["123456789012"]["aws"]


def _wrap(owner, name):
    """Replace a method by a function of (original, instance, …)."""

    def put(function):
        original = getattr(owner, name)

        @functools.wraps(original)
        def method(self, *args, **kwargs):
            return function(original, self, *args, **kwargs)

        setattr(owner, name, method)

    return put


def _objects(state, key_class):
    plain = key_class.response_dict.fget

    def response_dict(key):
        found = plain(key)
        if header := state.header(key):
            found["x-amz-restore"] = header
        if tier := state.access_tier(key):
            found["x-amz-archive-status"] = tier
        return found

    key_class.response_dict = property(response_dict)


def _buckets(state, bucket_class, backend_class):
    @_wrap(bucket_class, "set_lifecycle")
    def set_lifecycle(original, bucket, rules):
        kept = copy.deepcopy(rules)  # moto forgets filters on size
        original(bucket, rules)
        bucket.lifecycle = kept
        state.apply_rules(bucket, backend())

    @_wrap(bucket_class, "delete_lifecycle")
    def delete_lifecycle(original, bucket):
        original(bucket)
        bucket.lifecycle = []

    @_wrap(backend_class, "list_objects_v2")
    def list_objects_v2(original, store, bucket, prefix, delimiter, continuation_token, start_after, max_keys):
        if delimiter or max_keys == 0:
            return original(store, bucket, prefix, delimiter, continuation_token, start_after, max_keys)
        after = store._pagination_tokens.get(continuation_token) or start_after or ""
        names = sorted(n for n in bucket.keys if n > after and n.startswith(prefix or ""))
        found = []
        for name in names:
            if hasattr(key := bucket.keys[name], "storage_class"):  # no delete marker
                found.append(key)
            if len(found) > max_keys:
                break
        return store._truncate_result(found, max_keys)


def _reads(state):
    from moto.s3.exceptions import InvalidObjectState
    from moto.s3.responses import S3Response

    @_wrap(S3Response, "_get_key")
    def _get_key(original, response, validate_storage_class=True):
        key, not_modified = original(response, validate_storage_class=False)
        if validate_storage_class and getattr(response, "reads_bytes", True) and not state.readable(key):
            error = InvalidObjectState(storage_class=key.storage_class)
            error.access_tier = state.access_tier(key)
            raise error
        return key, not_modified

    for name in ("get_object_tagging", "get_object_legal_hold"):  # need no bytes: an archived object has them

        @_wrap(S3Response, name)
        def of_metadata(original, response):
            response.reads_bytes = False
            return original(response)


def _copies(state):
    from moto.s3.exceptions import ObjectNotInActiveTierError
    from moto.s3.responses import S3Response

    for name in ("copy_object", "upload_part_copy"):

        @_wrap(S3Response, name)
        def copied(original, response):
            source = urlparse(response.headers.get("x-amz-copy-source"))
            bucket, _, key_name = unquote(source.path).lstrip("/").partition("/")
            version = parse_qs(source.query).get("versionId", [None])[0]
            key = response.backend.get_object(bucket, key_name, version_id=version)
            if key is not None and not state.readable(key):
                raise ObjectNotInActiveTierError(key_name)
            return original(response)


def _posts(state):
    import xmltodict
    from moto.s3.exceptions import InvalidObjectState, MissingKey, MissingVersion, S3ClientError
    from moto.s3.responses import S3Response

    def found(response, bucket, query, name):
        version = query.get("versionId", [None])[0]
        key = response.backend.get_object(bucket, name, version_id=version)
        if key is None:
            raise MissingVersion() if version else MissingKey(key=name)
        return key

    @_wrap(S3Response, "_key_response_post")
    def _key_response_post(original, response, request, body, bucket, query, name):
        if "select" in query and not state.readable(key := found(response, bucket, query, name)):
            raise InvalidObjectState(storage_class=key.storage_class)
        if "restore" not in query:
            return original(response, request, body, bucket, query, name)
        key = found(response, bucket, query, name)
        asked = xmltodict.parse(body)["RestoreRequest"] or {}
        tier = (asked.get("GlacierJobParameters") or {}).get("Tier") or asked.get("Tier")
        days = int(asked["Days"]) if asked.get("Days") else None
        try:
            return state.restore(bucket, key, tier=tier, days=days), {}, ""
        except Refused as refused:
            response.data["Action"] = "RestoreObject"
            refusal = S3ClientError(refused.code, refused.message)
            refusal.status_code = refused.status
            refusal.storage_class = key.storage_class
            status, headers, text = _serialized(response, refusal)
            return refused.status or status, headers, text


def _serialized(response, error):
    from moto.core.responses import ActionResult

    return response.serialized(ActionResult(error))


def _listings(state):
    from moto.s3.responses import S3Response

    rows = {"ListObjects": "Contents", "ListObjectsV2": "Contents", "ListObjectVersions": "Versions"}

    @_wrap(S3Response, "serialized")
    def serialized(original, response, action_result):
        asked = response.headers.get("x-amz-optional-object-attributes", "")
        where = rows.get((response.data or {}).get("Action"))
        if where and "RestoreStatus" in asked and isinstance(action_result.result, dict):
            quoted = (
                "url" in response.querystring.get("encoding-type", []) and where == "Contents"
            )  # never versions
            for row in action_result.result[where]:
                name = unquote(row["Key"]) if quoted else row["Key"]
                key = response.backend.get_object(response.bucket_name, name, version_id=row.get("VersionId"))
                if key is not None and (status := state.restore_status_of(key)):
                    row["RestoreStatus"] = status
        return original(response, action_result)


def plant(state, bucket, *, prefix, count, size, storage_class, restored):
    """Put many objects at once, past HTTP; those named restored have a copy that lives."""
    from workbench_standins.archive.retrieval import Retrieval

    store = backend()
    for number in range(count):
        key = store.put_object(
            bucket, f"{prefix}{number:06d}", b"x" * size, storage=storage_class, disable_notification=True
        )
        if number < restored:
            key.retrieval = Retrieval("Standard", 3650, state.now().astimezone(UTC))
