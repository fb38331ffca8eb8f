"""Calls to AWS, as three clients tell of them: Spark's log of what it signs, Python's notes, Arrow's datagrams.

What is read here may hold credentials (a session's token is among the signed headers); what is returned has none.
Amazon's documents: Signature Version 4, "Create a canonical request"; "SDK metrics", client-side monitoring.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

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
PROVED = {"GetDatabase", "DeleteDatabase", "GetTables"}  # the name is all that they say
ALONE = PROVED - {"GetTables"}  # from the second page on it says more
FOLDER = re.compile(r"(?:^|/)([^/]+)\.db/")


@dataclass(frozen=True)
class Call:
    """One call, by names alone; equal ones are the same call made again."""

    by: str  # spark, python or arrow
    service: str  # as it is signed: s3, glue, kinesis
    operation: str
    host: str
    region: str = ""
    names: tuple = ()  # kind, text: bucket, key, prefix, source, catalog, database, stream, parameter, arn, extra
    digest: str = ""  # of the request's content, where names stand in it that the log does not have

    def all(self, kind):
        """Return the texts of one kind."""
        return tuple(text for found, text in self.names if found == kind)

    def one(self, kind):
        """Return the text of one kind, or an empty one."""
        return next(iter(self.all(kind)), "")


class SignerLog:
    """Spark's calls, from the messages of the SDK's signer: a request, and by its digest where it was sent."""

    def __init__(self):
        self.requests, self.scopes, self.rest = {}, {}, ""

    def feed(self, text):
        """Take the next part of the log; what is secret in it is forgotten here."""
        *messages, self.rest = (self.rest + text).split(f"\n{SEPARATOR}\n")
        for message in messages:
            if message.startswith(REQUEST):
                self._request(message.removeprefix(REQUEST))
            elif found := SCOPE.match(message):
                lines = message[found.end() :].split("\n")
                parts = lines[2].split("/") if len(lines) > 3 else ()
                if len(parts) == 4:
                    self.scopes[lines[3]] = parts[1], parts[2]

    def _request(self, text):
        method, path, query, *rest = text.split("\n")
        headers = dict(line.split(":", 1) for line in rest[:-2] if ":" in line)
        kept = {name: headers.get(name, "") for name in ("host", "x-amz-target", "x-amz-copy-source")}
        kept["extra"] = [kind for kind in ("tagging", "acl") if f"x-amz-{kind}" in headers]
        safe = {key: value for key, value in _query(query).items() if not key.lower().startswith("x-amz-")}
        digest = rest[-1] if kept["x-amz-target"] else ""
        self.requests[hashlib.sha256(text.encode()).hexdigest()] = method, path, safe, kept, digest

    def calls(self, endpoints=()):
        """Return the set of calls.

        Args:
            endpoints: host:port of what stands for AWS beside its own hosts.
        """
        return {self._call(key, *request, endpoints) for key, request in self.requests.items()}

    def _call(self, key, method, path, query, kept, digest, endpoints):
        region, service = self.scopes.get(key, ("", "?"))
        host, target = kept["host"], kept["x-amz-target"]
        if service == "s3":
            operation, names = _rest(method, path, query, host, endpoints)
            names += [("source", unquote(kept["x-amz-copy-source"]).lstrip("/"))] * bool(kept["x-amz-copy-source"])
            if operation in ("PutObject", "UploadPart") and kept["x-amz-copy-source"]:
                operation = {"PutObject": "CopyObject", "UploadPart": "UploadPartCopy"}[operation]
            names += [("extra", kind) for kind in kept["extra"]]
        else:
            operation, names = target.rpartition(".")[2] or f"{method} {path}", []
        return Call("spark", service, operation, host, region, tuple(names), digest)


def _rest(method, path, query, host, endpoints):
    """Return operation and names of a request to S3, which has them in method, path and query."""
    bucket, key = _place(path, host, endpoints)
    operation = next((how.get(method) for name, how in SEVERAL.items() if name in query), None)
    if operation is None:
        other = sorted(set(query) - PLAIN)
        told = f"{method} {'object' if key else 'bucket'}" + (f" ?{'&'.join(other)}" if other else "")
        operation = (
            told if other else (OBJECT if key else BUCKET if bucket else {"GET": "ListBuckets"}).get(method)
        )
        operation = operation or told
    names = [("bucket", bucket)] * bool(bucket) + [("key", key)] * bool(key)
    names += [("prefix", query["prefix"])] if "prefix" in query else []
    return operation, names + [("extra", "version")] * ("versionId" in query)


def _place(path, host, endpoints):
    """Return bucket and key: the bucket leads the host or the path."""
    path, found = unquote(path).lstrip("/"), S3_HOST.match(host)
    bucket = found["bucket"] if found else None
    for endpoint in endpoints:
        if host.endswith(f".{endpoint}"):
            bucket = host.removesuffix(f".{endpoint}")
    if bucket:
        return bucket, path
    bucket, _, key = path.partition("/")
    return bucket, key


def of_python(line):
    """Return the call of a line of the hook's notes."""
    noted = json.loads(line)
    names = tuple((kind, text) for kind, text in noted["names"])
    host = urlsplit(noted["url"]).netloc
    return Call("python", noted["service"], noted["operation"], host, noted["region"], names)


def of_arrow(datagram, client_id):
    """Return the call of a datagram of client-side monitoring, or None: not ours, not an attempt, or botocore's.

    botocore sends them, too, and is noted with its names already.
    """
    try:
        told = json.loads(datagram)
    except ValueError:
        return None
    if not isinstance(told, dict) or told.get("ClientId") != client_id or told.get("Type") != "ApiCallAttempt":
        return None
    if "Botocore/" in told.get("UserAgent", ""):
        return None
    texts = (str(told.get(name, "")) for name in ("Api", "Fqdn", "Region"))
    return Call("arrow", str(told.get("Service", "?")).lower(), *texts)


def to_aws(call, endpoints=()):
    """Tell whether a call went to AWS or to what stands for it, and not to a stand-in of S3 or Kinesis alone."""
    hosts = {call.host, call.host.partition(":")[0]}
    ours = {*endpoints, *(one.partition(":")[0] for one in endpoints if call.by == "arrow")}  # it tells no port
    ours_too = any(call.host.endswith(f".{one}") for one in endpoints)
    return bool(hosts & ours) or ours_too or any(AMAZON.search(f".{host}") for host in hosts)


def _query(text):
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}


def words(*texts: str) -> set[str]:
    """Return the words of texts that may be names of databases, in lower case, too: Glue's catalog keeps that."""
    found = {word for text in texts for kind in (WORD, QUOTED) for word in kind.findall(text)}
    return found | {word.lower() for word in found}


def databases(calls: Iterable[Call], candidates: Iterable[str] = ()) -> tuple[list[str], int]:
    """Return the databases that Glue was asked for, and how many requests name one that nobody knows.

    A signed request has the digest of its content. That of `GetDatabase` is `{"Name":"sales"}`, so a name that
    stands in the notebook or in a path of its files is proved by computing the digest again.

    Args:
        calls: of a run.
        candidates: words that may be names.

    Returns:
        (sorted list of names, number of requests of Spark whose database is none of the candidates).
    """
    glue = [call for call in calls if call.service == "glue"]
    told = {name for call in glue for name in call.all("database")}
    files = {
        name for call in calls if call.service == "s3" for key in call.all("key") for name in FOLDER.findall(key)
    }
    digests = {call.digest: call.operation for call in glue if call.digest and call.operation in PROVED}
    known = {
        _digest({key: name}): name for key in ("Name", "DatabaseName") for name in {*candidates, *files, *told}
    }
    proved = {known[digest] for digest in digests if digest in known}
    inferred = files if any(call.by == "spark" for call in glue) else set()
    unknown = [digest for digest, operation in digests.items() if operation in ALONE and digest not in known]
    return sorted(told | proved | inferred), len(unknown)


def _digest(content):
    return hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
