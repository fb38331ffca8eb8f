"""The calls of a run as an IAM policy that allows them and little else."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from workbench._base.door import checked
from workbench_ops.policies import actions
from workbench_ops.policies.calls import Call, databases

ACCOUNT, REGION = "ACCOUNT_ID", "REGION"  # stand in the policy for what is not known
PARTITIONS = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"))
LABELS = {"s3": "Storage", "glue": "Catalog", "kinesis": "Streams", "ssm": "Parameters", "sts": "Roles"}


@dataclass(frozen=True)
class Policy:
    """A policy document and what has to be known about it."""

    document: dict[str, Any]
    missing: tuple[str, ...]  # sentences: calls that it does not allow, as what they need is not known
    notes: tuple[str, ...]  # sentences: what was assumed


@checked
def policy(
    calls: set[Call],
    *,
    warehouse: str | None = None,
    account: str = ACCOUNT,
    region: str = REGION,
    candidates: Iterable[Any] = (),
) -> Policy:
    """Make the policy of a run's calls to AWS.

    Objects in S3 are allowed by folder: below the warehouse that of a database, elsewhere the object's own. Tables
    are allowed by database. A call whose objects are not known (Arrow's, a list of files to delete) gets the
    folders below the warehouse that the run used otherwise, or the warehouse.

    Args:
        calls: set of calls.Call.
        warehouse: `s3://bucket/prefix`, or None.
        account: number of the account.
        region: where the tables and streams are, unless a call has a region.
        candidates: words that may be names of databases.

    Returns:
        Policy; its document has no statement where nothing was called.
    """
    draft = _Draft(calls, warehouse, account, region, candidates)
    for call in sorted(calls, key=lambda call: (call.service, call.operation, call.names)):
        draft.add(call)
    return Policy({"Version": "2012-10-17", "Statement": draft.statements()}, draft.missing(), draft.notes())


@checked
def faults(document: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a policy by the rules of this project, a sentence each: empty when it is right."""
    sentences = []
    for statement in document["Statement"]:
        acts = statement.get("Action", [])
        sid = statement.get("Sid", "a statement")
        if "NotAction" in statement or "NotResource" in statement or statement.get("Effect") != "Allow":
            sentences.append(f"{sid} does not say what is allowed")
        sentences += [
            f"{sid} has a wildcard action: {part}" for part in acts if not re.fullmatch(r"[a-z0-9]+:\w+", part)
        ]
        if not acts:
            sentences.append(f"{sid} has no action")
        everywhere = set(acts) <= set(actions.EVERYWHERE.values())
        wide = [part for part in statement.get("Resource", ["*"]) if not re.match(r"arn:[a-z-]+:[a-z0-9]+:", part)]
        if wide and not everywhere:
            sentences.append(f"{sid} is for any resource")
        inner = [
            part for part in statement.get("Resource", []) if re.search(r"[*?](?!})", part.removesuffix("/*"))
        ]
        sentences += [f"{sid} has a wildcard before the end of {part}" for part in inner if part != "*"]
    return sentences


class _Draft:
    """What is allowed so far: resources by action, prefixes by bucket and action of listing."""

    def __init__(
        self, calls: Set[Call], warehouse: str | None, account: str, region: str, candidates: Iterable[str]
    ) -> None:
        place = urlsplit(warehouse or "")
        self.bucket, self.prefix = place.netloc, place.path.strip("/")
        self.account, self.region = account, region
        self.databases, self.unknown = databases(calls, candidates)
        self.streams = sorted({name for call in calls for name in call.all("stream")})
        self.areas = defaultdict[str, set[str]](set)
        for call, key in _keys(calls):
            bucket = call.first("bucket")
            self.areas[bucket].add(_area(key, self._below(bucket)))
        self.allowed = defaultdict[str, set[str]](set)
        self.listed: dict[tuple[str, str], set[str]] = {}
        self.lacking: list[str] = []
        self.assumed = defaultdict[tuple[str, str], set[str]](set)

    def add(self, call: Call) -> None:
        known = {"s3": self._s3, "glue": self._glue, "kinesis": self._kinesis, "ssm": self._ssm, "sts": self._sts}
        how, pair = known.get(call.service), (call.service, call.operation)
        if pair in actions.FREE:
            return
        if pair in actions.EVERYWHERE:
            self.allowed[actions.EVERYWHERE[pair]].add("*")
        elif how is None or not how(call):
            self.lacking.append(f"{call.service}:{call.operation}, called by {call.by.capitalize()}")

    def _s3(self, call: Call) -> bool:
        bucket = call.first("bucket") or self.bucket
        if not bucket or bucket.startswith("arn:"):  # an access point has rights of its own beside the bucket's
            return False
        if call.operation in actions.S3_LISTING:
            self._listing(actions.S3_LISTING[call.operation], bucket, call)
        elif call.operation in actions.S3_BUCKET:
            self._give(f"s3:{actions.S3_BUCKET[call.operation]}", f"s3:::{_plain(bucket)}")
        elif call.operation in actions.S3_OBJECT:
            areas = {_area(key, self._below(bucket)) for key in call.all("key")} or self._guessed(bucket, call)
            for action in self._of_object(call):
                for area in areas:
                    self._give(f"s3:{action}", f"s3:::{_plain(bucket)}/{area}")
            for source in call.all("source"):
                source, version, _ = source.lstrip("/").partition("?versionId=")
                other, _, key = source.partition("/")
                action = "s3:GetObjectVersion" if version else "s3:GetObject"
                self._give(action, f"s3:::{_plain(other)}/{_area(key, self._below(other))}")
        else:
            return False
        return True

    def _of_object(self, call: Call) -> list[str]:
        extras = call.all("extra")
        needed = [*actions.S3_OBJECT[call.operation]]
        needed += [actions.S3_EXTRAS[kind] for kind in extras if kind in actions.S3_EXTRAS]
        return [actions.S3_VERSIONS.get(action, action) if "version" in extras else action for action in needed]

    def _listing(self, action: str, bucket: str, call: Call) -> None:
        """Allow listing a bucket below the prefixes that were asked for; without a prefix all of it."""
        prefixes = self.listed.setdefault((f"s3:{action}", bucket), set())
        if call.by == "arrow":
            for area in self._guessed(bucket, call):
                prefixes |= {area, area.removesuffix("/*")}
        else:
            asked = call.first("prefix")
            prefixes.add(_area(asked, self._below(bucket)) if asked else "")

    def _guessed(self, bucket: str, call: Call) -> set[str]:
        """Return the areas of a call without an object's name: those that the run used, or the whole warehouse."""
        below = self._below(bucket)
        root = f"{_plain(below)}/*" if below else "*"
        seen = set(self.areas[bucket])
        if bucket == self.bucket:
            seen |= {f"{_plain(below + '/' if below else '')}{_plain(name)}.db/*" for name in self.databases}
            seen = {area for area in seen if area.startswith(root[:-1])}
        areas = seen or {root}
        places = ", ".join(f"{bucket}/{area}" for area in sorted(areas))
        self.assumed[call.by.capitalize(), places].add(call.operation)
        return areas

    def _glue(self, call: Call) -> bool:
        kinds, account = actions.GLUE.get(call.operation), call.first("catalog") or self.account
        if not kinds or not self.databases or ":" in account or "/" in account:  # a catalog below an account's
            return False
        region = call.region or self.region
        named = [_plain(name) for name in call.all("database") or self.databases]
        for kind in kinds:
            tails = {"catalog": ["catalog"], "database": [f"database/{name}" for name in named]}
            for tail in tails.get(kind) or [f"{kind}/{name}/*" for name in named]:
                self._give(f"glue:{call.operation}", f"glue:{region}:{_plain(account)}:{tail}")
        return True

    def _kinesis(self, call: Call) -> bool:
        streams = call.all("stream") or self.streams
        if call.operation not in actions.KINESIS or not streams:
            return False
        place = f"kinesis:{call.region or self.region}:{self.account}:stream/"
        for stream in map(_plain, streams):
            action = f"kinesis:{call.operation}"
            self.allowed[action].add(stream if stream.startswith("arn:") else self._arn(f"{place}{stream}"))
        return True

    def _ssm(self, call: Call) -> bool:
        name = _plain(call.first("parameter")).lstrip("/")
        if call.operation != "GetParameter" or not name:
            return False
        ours = self._arn(f"ssm:{call.region or self.region}:{self.account}:parameter/{name}")
        self.allowed["ssm:GetParameter"].add(name if name.startswith("arn:") else ours)
        return True

    def _sts(self, call: Call) -> bool:
        if call.operation != "AssumeRole" or not call.first("arn"):
            return False
        self.allowed["sts:AssumeRole"].add(_plain(call.first("arn")))
        return True

    def _give(self, action: str, tail: str) -> None:
        self.allowed[action].add(self._arn(tail))

    def _arn(self, tail: str) -> str:
        partition = next((name for start, name in PARTITIONS if self.region.startswith(start)), "aws")
        return f"arn:{partition}:{tail}"

    def _below(self, bucket: str) -> str | None:
        return self.prefix if bucket == self.bucket else None

    def statements(self) -> list[dict[str, Any]]:
        """Return the statements: actions on the same resources together, listing by prefixes as a condition."""
        for action, bucket in list(self.listed):
            whole = f"s3:::{_plain(bucket)}"
            if "" in self.listed[action, bucket] or self._arn(whole) in self.allowed[action]:
                del self.listed[action, bucket]  # all of it may be listed
                self._give(action, whole)
        groups = defaultdict[tuple[str, tuple[str, ...]], set[str]](set)
        for action, arns in self.allowed.items():
            if arns:
                groups[action.partition(":")[0], tuple(sorted(arns))].add(action)
        ordered = sorted(groups.items(), key=lambda group: (group[0][0], sorted(group[1])))
        statements: list[dict[str, Any]] = [
            {"Effect": "Allow", "Action": sorted(group), "Resource": list(resources)}
            for (_, resources), group in ordered
        ]
        for (action, bucket), prefixes in sorted(self.listed.items()):
            condition = {"StringLike": {"s3:prefix": sorted(prefixes)}}
            resource = [self._arn(f"s3:::{_plain(bucket)}")]
            statements.append(
                {"Effect": "Allow", "Action": [action], "Resource": resource, "Condition": condition}
            )
        return _named(statements)

    def missing(self) -> tuple[str, ...]:
        unknown = f"Glue requests for databases whose names stand nowhere in the notebook: {self.unknown}"
        return (*sorted(set(self.lacking)), *([unknown] if self.unknown else []))

    def notes(self) -> tuple[str, ...]:
        sentences = [
            f"{by} did not name the objects of {', '.join(sorted(operations))}; taken to be in {areas}"
            for (by, areas), operations in sorted(self.assumed.items())
        ]
        if self.account == ACCOUNT and ACCOUNT in str(dict(self.allowed)):
            sentences.append(f"the number of the account is not known: replace {ACCOUNT}")
        return tuple(sentences)


def _named(statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give each statement an id, which may have letters and digits only."""
    counts = Counter[str]()
    named: list[dict[str, Any]] = []
    for statement in statements:
        service = statement["Action"][0].partition(":")[0]
        label = LABELS[service]
        counts[label] += 1
        named.append({"Sid": f"{label}{counts[label]}", **statement})
    return named


def _keys(calls: Set[Call]) -> Iterator[tuple[Call, str]]:
    return ((call, key) for call in calls if call.service == "s3" for key in call.all("key"))


def _area(key: str, below: str | None) -> str:
    """Return the pattern that is allowed for a key: the first folder below the warehouse, or its own folder."""
    start = f"{below}/" if below else "" if below == "" else None
    if start is not None and key.startswith(start):
        first, slash, _ = key[len(start) :].partition("/")
        return _plain(start + first) + ("/*" if slash else "")
    folder, slash, name = key.rpartition("/")
    return f"{_plain(folder)}/*" if slash else _plain(name)


def _plain(text: str) -> str:
    """Return a text as IAM takes it letter by letter."""
    return re.sub(r"[*?$]", lambda match: f"${{{match[0]}}}", text)
