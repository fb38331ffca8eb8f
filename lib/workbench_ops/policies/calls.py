"""Calls to AWS, as three clients report them: Spark's log of what it signs, Python's notes, Arrow's datagrams.

What is read here may hold credentials (a session's token is among the signed headers); what is returned has none.
Amazon's documents: Signature Version 4, "Create a canonical request"; "SDK metrics", client-side monitoring.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from workbench._base.door import checked

SEPARATOR = "----8<----"
REQUEST, SCOPE = "AWS4 Canonical Request: ", re.compile(r"AWS4 String to [Ss]ign: ")
AMAZON = re.compile(r"\.(amazonaws\.com(\.cn)?|api\.aws)$")
S3_HOST = re.compile(r"(?:(?P<bucket>.+)\.)?s3[.-][a-z0-9.-]*amazonaws\.com(?:\.cn)?$")
SEVERAL = {  # query of a request to S3: operation by method
    "uploads": {"POST": "CreateMultipartUpload", "GET": "ListMultipartUploads"},
    "uploadId": {
        "PUT": "UploadPart",
        "POST": "CompleteMultipartUpload",
        "DELETE": "AbortMultipartUpload",
        "GET": "ListParts",
    },
    "restore": {"POST": "RestoreObject"},
    "delete": {"POST": "DeleteObjects"},
    "tagging": {"GET": "GetObjectTagging", "PUT": "PutObjectTagging", "DELETE": "DeleteObjectTagging"},
    "attributes": {"GET": "GetObjectAttributes"},
    "list-type": {"GET": "ListObjectsV2"},
    "versions": {"GET": "ListObjectVersions"},
    "location": {"GET": "GetBucketLocation"},
    "versioning": {"GET": "GetBucketVersioning"},
}
OBJECT = {"GET": "GetObject", "HEAD": "HeadObject", "PUT": "PutObject", "DELETE": "DeleteObject"}
BUCKET = {"GET": "ListObjects", "HEAD": "HeadBucket", "PUT": "CreateBucket", "DELETE": "DeleteBucket"}
PLAIN = {"x-id", "versionId", "prefix", "delimiter", "marker", "max-keys", "encoding-type", "partNumber"}
PLAIN |= {"continuation-token", "start-after", "fetch-owner", "key-marker", "version-id-marker"}

WORD = re.compile(r"\w[\w-]*")
QUOTED = re.compile(r"`([^`]+)`")  # as SQL has a name with other characters
PROVED = {"GetDatabase", "DeleteDatabase", "GetTables"}  # whose content is the name alone
ALONE = PROVED - {"GetTables"}  # from the second page on its content has more
FOLDER = re.compile(r"(?:^|/)([^/]+)\.db/")


@dataclass(frozen=True)
class Call:
    """One call, by names alone; equal ones are the same call made again."""

    by: str  # spark, python or arrow
    service: str  # as it is signed: s3, glue, kinesis
    operation: str
    host: str
    region: str = ""
    names: tuple[
        tuple[str, str], ...
    ] = ()  # kind, text: bucket, key, prefix, source, catalog, database, stream, parameter, arn, extra
    digest: str = ""  # of the request's content, where names stand in it that the log does not have

    def all(self, kind: str) -> tuple[str, ...]:
        """Return the texts of one kind."""
        return tuple(text for each, text in self.names if each == kind)

    def first(self, kind: str) -> str:
        """Return the first text of a kind, or an empty one."""
        return next(iter(self.all(kind)), "")


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    query: dict[str, str]
    host: str
    target: str  # x-amz-target: service and operation, where the protocol is not S3's
    source: str  # x-amz-copy-source
    extras: list[str]
    digest: str


class SignerLog:
    """Spark's calls, from the messages of the SDK's signer: a request, and by its digest where it was sent."""

    def __init__(self) -> None:
        self.requests: dict[str, _Request] = {}
        self.scopes: dict[str, tuple[str, str]] = {}
        self.rest = ""

    def feed(self, text: str) -> None:
        """Take the next part of the log; what is secret in it is forgotten here."""
        *messages, self.rest = (self.rest + text).split(f"\n{SEPARATOR}\n")
        for message in messages:
            if message.startswith(REQUEST):
                self._request(message.removeprefix(REQUEST))
            elif scope := SCOPE.match(message):
                lines = message[scope.end() :].split("\n")
                parts = lines[2].split("/") if len(lines) > 3 else ()
                if len(parts) == 4:
                    self.scopes[lines[3]] = parts[1], parts[2]

    def _request(self, text: str) -> None:
        method, path, query, *rest = text.split("\n")
        headers = dict(line.split(":", 1) for line in rest[:-2] if ":" in line)
        host, target, source = (headers.get(name, "") for name in ("host", "x-amz-target", "x-amz-copy-source"))
        extras = [kind for kind in ("tagging", "acl") if f"x-amz-{kind}" in headers]
        safe = {key: value for key, value in _query(query).items() if not key.lower().startswith("x-amz-")}
        request = _Request(method, path, safe, host, target, source, extras, rest[-1] if target else "")
        self.requests[hashlib.sha256(text.encode()).hexdigest()] = request

    def calls(self, endpoints: Collection[str] = ()) -> set[Call]:
        """Return the set of calls.

        Args:
            endpoints: host:port of what stands for AWS beside its own hosts.
        """
        return {self._call(key, request, endpoints) for key, request in self.requests.items()}

    def _call(self, key: str, request: _Request, endpoints: Collection[str]) -> Call:
        region, service = self.scopes.get(key, ("", "?"))
        names: list[tuple[str, str]] = []
        if service == "s3":
            operation, names = _rest(request, endpoints)
            if request.source:
                names.append(("source", unquote(request.source).lstrip("/")))
                operation = {"PutObject": "CopyObject", "UploadPart": "UploadPartCopy"}.get(operation, operation)
            names += [("extra", kind) for kind in request.extras]
        else:
            operation = request.target.rpartition(".")[2] or f"{request.method} {request.path}"
        return Call("spark", service, operation, request.host, region, tuple(names), request.digest)


def _rest(request: _Request, endpoints: Collection[str]) -> tuple[str, list[tuple[str, str]]]:
    """Return operation and names of a request to S3, which has them in method, path and query."""
    method, query = request.method, request.query
    bucket, key = _place(request.path, request.host, endpoints)
    operation = next((how.get(method) for name, how in SEVERAL.items() if name in query), None)
    if operation is None:
        other = sorted(set(query) - PLAIN)
        described = f"{method} {'object' if key else 'bucket'}" + (f" ?{'&'.join(other)}" if other else "")
        known = {} if other else OBJECT if key else BUCKET if bucket else {"GET": "ListBuckets"}
        operation = known.get(method) or described
    names = [("bucket", bucket)] * bool(bucket) + [("key", key)] * bool(key)
    names += [("prefix", query["prefix"])] if "prefix" in query else []
    return operation, names + [("extra", "version")] * ("versionId" in query)


def _place(path: str, host: str, endpoints: Collection[str]) -> tuple[str, str]:
    """Return bucket and key: the bucket leads the host or the path."""
    path, s3_host = unquote(path).lstrip("/"), S3_HOST.match(host)
    bucket = s3_host["bucket"] if s3_host else None
    for endpoint in endpoints:
        if host.endswith(f".{endpoint}"):
            bucket = host.removesuffix(f".{endpoint}")
    if bucket:
        return bucket, path
    bucket, _, key = path.partition("/")
    return bucket, key


def of_python(line: str) -> Call:
    """Return the call of a line of the hook's notes."""
    noted = json.loads(line)
    names = tuple((kind, text) for kind, text in noted["names"])
    host = urlsplit(noted["url"]).netloc
    return Call("python", noted["service"], noted["operation"], host, noted["region"], names)


def of_arrow(datagram: bytes, client_id: str) -> Call | None:
    """Return the call of a datagram of client-side monitoring, or None: not ours, not an attempt, or botocore's.

    botocore sends them, too, and is noted with its names already.
    """
    try:
        event = json.loads(datagram)
    except ValueError:
        return None
    if not isinstance(event, dict) or event.get("ClientId") != client_id or event.get("Type") != "ApiCallAttempt":
        return None
    if "Botocore/" in event.get("UserAgent", ""):
        return None
    operation, host, region = (str(event.get(name, "")) for name in ("Api", "Fqdn", "Region"))
    return Call("arrow", str(event.get("Service", "?")).lower(), operation, host, region)


@checked
def to_aws(call: Call, endpoints: Collection[str] = ()) -> bool:
    """Tell whether a call went to AWS or to what stands for it, and not to a stand-in of S3 or Kinesis alone."""
    hosts = {call.host, call.host.partition(":")[0]}
    ours = {
        *endpoints,
        *(endpoint.partition(":")[0] for endpoint in endpoints if call.by == "arrow"),
    }  # it tells no port
    ours_too = any(call.host.endswith(f".{endpoint}") for endpoint in endpoints)
    return bool(hosts & ours) or ours_too or any(AMAZON.search(f".{host}") for host in hosts)


def _query(text: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}


@checked
def words(*texts: str) -> set[str]:
    """Return the words of texts that may be names of databases, in lower case, too: Glue's catalog keeps that."""
    as_written = {word for text in texts for kind in (WORD, QUOTED) for word in kind.findall(text)}
    return as_written | {word.lower() for word in as_written}


def databases(calls: Iterable[Call], candidates: Iterable[str] = ()) -> tuple[list[str], int]:
    """Return the databases that Glue was asked for, and how many requests name an unknown one.

    A signed request has the digest of its content. That of `GetDatabase` is `{"Name":"sales"}`, so a name that
    stands in the notebook or in a path of its files is proved by computing the digest again.

    Args:
        calls: of a run.
        candidates: words that may be names.

    Returns:
        (sorted list of names, number of requests of Spark whose database is none of the candidates).
    """
    glue = [call for call in calls if call.service == "glue"]
    named = {name for call in glue for name in call.all("database")}
    files = {
        name for call in calls if call.service == "s3" for key in call.all("key") for name in FOLDER.findall(key)
    }
    digests = {call.digest: call.operation for call in glue if call.digest and call.operation in PROVED}
    known = {
        _digest({key: name}): name for key in ("Name", "DatabaseName") for name in {*candidates, *files, *named}
    }
    proved = {known[digest] for digest in digests if digest in known}
    inferred = files if any(call.by == "spark" for call in glue) else set()
    unknown = [digest for digest, operation in digests.items() if operation in ALONE and digest not in known]
    return sorted(named | proved | inferred), len(unknown)


def _digest(content: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
