"""The calls of a run as an IAM policy that allows them and little else."""

import re
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import urlsplit

from workbench_ops.policies import actions
from workbench_ops.policies.calls import databases

ACCOUNT, REGION = "ACCOUNT_ID", "REGION"  # stand in the policy for what is not known
PARTITIONS = (("cn-", "aws-cn"), ("us-gov-", "aws-us-gov"))
LABELS = {"s3": "Storage", "glue": "Catalog", "kinesis": "Streams", "ssm": "Parameters", "sts": "Roles"}


@dataclass(frozen=True)
class Policy:
    """A policy document and what has to be known about it."""

    document: dict
    missing: tuple  # sentences: calls that it does not allow, since nobody knows what they need
    notes: tuple  # sentences: what was taken to be so


def policy(calls, *, warehouse=None, account=ACCOUNT, region=REGION, candidates=()):
    """Make the policy of a run's calls to AWS.

    Objects in S3 are allowed by folder: below the warehouse that of a database, elsewhere the object's own. Tables
    are allowed by database. A call whose objects nobody told (Arrow's, a list of files to delete) gets the folders
    below the warehouse that the run used otherwise, or the warehouse.

    Args:
        calls: set of calls.Call.
        warehouse: `s3://bucket/prefix`, or None.
        account: number of the account.
        region: where the tables and streams are, unless a call told its region.
        candidates: words that may be names of databases.

    Returns:
        Policy; its document has no statement where nothing was called.
    """
    made = _Making(calls, warehouse, account, region, candidates)
    for call in sorted(calls, key=lambda one: (one.service, one.operation, one.names)):
        made.add(call)
    return Policy({"Version": "2012-10-17", "Statement": made.statements()}, made.missing(), made.notes())


def faults(document):
    """Return what is wrong with a policy by the rules of this project, a sentence each: empty when it is right."""
    found = []
    for statement in document["Statement"]:
        acts = statement.get("Action", [])
        sid = statement.get("Sid", "a statement")
        if "NotAction" in statement or "NotResource" in statement or statement.get("Effect") != "Allow":
            found.append(f"{sid} does not say what is allowed")
        found += [f"{sid} has a wildcard action: {one}" for one in acts if not re.fullmatch(r"[a-z0-9]+:\w+", one)]
        if not acts:
            found.append(f"{sid} has no action")
        everywhere = set(acts) <= set(actions.EVERYWHERE.values())
        wide = [one for one in statement.get("Resource", ["*"]) if not re.match(r"arn:[a-z-]+:[a-z0-9]+:", one)]
        if wide and not everywhere:
            found.append(f"{sid} is for any resource")
        inner = [one for one in statement.get("Resource", []) if re.search(r"[*?](?!})", one.removesuffix("/*"))]
        found += [f"{sid} has a wildcard before the end of {one}" for one in inner if one != "*"]
    return found


class _Making:
    """What is allowed so far: resources by action, prefixes by bucket and action of listing."""

    def __init__(self, calls, warehouse, account, region, candidates):
        place = urlsplit(warehouse or "")
        self.bucket, self.prefix = place.netloc, place.path.strip("/")
        self.account, self.region = account, region
        self.databases, self.unknown = databases(calls, candidates)
        self.streams = sorted({name for call in calls for name in call.all("stream")})
        told = ((call.one("bucket"), _area(key, self._below(call.one("bucket")))) for call, key in _keys(calls))
        self.areas = defaultdict(set)
        for bucket, area in told:
            self.areas[bucket].add(area)
        self.given, self.listed = defaultdict(set), {}
        self.lacking, self.said = [], defaultdict(set)

    def add(self, call):
        known = {"s3": self._s3, "glue": self._glue, "kinesis": self._kinesis, "ssm": self._ssm, "sts": self._sts}
        how, pair = known.get(call.service), (call.service, call.operation)
        if pair in actions.FREE:
            return
        if pair in actions.EVERYWHERE:
            self.given[actions.EVERYWHERE[pair]].add("*")
        elif how is None or not how(call):
            self.lacking.append(f"{call.service}:{call.operation}, called by {call.by.capitalize()}")

    def _s3(self, call):
        bucket = call.one("bucket") or self.bucket
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

    def _of_object(self, call):
        extras = call.all("extra")
        needed = [*actions.S3_OBJECT[call.operation]]
        needed += [actions.S3_EXTRAS[kind] for kind in extras if kind in actions.S3_EXTRAS]
        return [actions.S3_VERSIONS.get(one, one) if "version" in extras else one for one in needed]

    def _listing(self, action, bucket, call):
        """Let a bucket be listed below the prefixes that were asked for; without one all of it."""
        prefixes = self.listed.setdefault((f"s3:{action}", bucket), set())
        if call.by == "arrow":
            for area in self._guessed(bucket, call):
                prefixes |= {area, area.removesuffix("/*")}
        else:
            asked = call.one("prefix")
            prefixes.add(_area(asked, self._below(bucket)) if asked else "")

    def _guessed(self, bucket, call):
        """The areas of a call that names no object: those that the run used below the warehouse, or all of it."""
        below = self._below(bucket)
        root = f"{_plain(below)}/*" if below else "*"
        seen = set(self.areas[bucket])
        if bucket == self.bucket:
            seen |= {f"{_plain(below + '/' if below else '')}{_plain(name)}.db/*" for name in self.databases}
            seen = {area for area in seen if area.startswith(root[:-1])}
        areas = seen or {root}
        told = ", ".join(f"{bucket}/{area}" for area in sorted(areas))
        self.said[call.by.capitalize(), told].add(call.operation)
        return areas

    def _glue(self, call):
        kinds, account = actions.GLUE.get(call.operation), call.one("catalog") or self.account
        if not kinds or not self.databases or ":" in account or "/" in account:  # a catalog below an account's
            return False
        region = call.region or self.region
        named = [_plain(name) for name in call.all("database") or self.databases]
        for kind in kinds:
            tails = {"catalog": ["catalog"], "database": [f"database/{name}" for name in named]}
            tails |= {each: [f"{each}/{name}/*" for name in named] for each in ("table", "userDefinedFunction")}
            for tail in tails[kind]:
                self._give(f"glue:{call.operation}", f"glue:{region}:{_plain(account)}:{tail}")
        return True

    def _kinesis(self, call):
        streams = call.all("stream") or self.streams
        if call.operation not in actions.KINESIS or not streams:
            return False
        place = f"kinesis:{call.region or self.region}:{self.account}:stream/"
        for stream in map(_plain, streams):
            action = f"kinesis:{call.operation}"
            self.given[action].add(stream if stream.startswith("arn:") else self._arn(f"{place}{stream}"))
        return True

    def _ssm(self, call):
        name = _plain(call.one("parameter")).lstrip("/")
        if call.operation != "GetParameter" or not name:
            return False
        ours = self._arn(f"ssm:{call.region or self.region}:{self.account}:parameter/{name}")
        self.given["ssm:GetParameter"].add(name if name.startswith("arn:") else ours)
        return True

    def _sts(self, call):
        if call.operation != "AssumeRole" or not call.one("arn"):
            return False
        self.given["sts:AssumeRole"].add(_plain(call.one("arn")))
        return True

    def _give(self, action, tail):
        self.given[action].add(self._arn(tail))

    def _arn(self, tail):
        partition = next((name for start, name in PARTITIONS if self.region.startswith(start)), "aws")
        return f"arn:{partition}:{tail}"

    def _below(self, bucket):
        return self.prefix if bucket == self.bucket else None

    def statements(self):
        """The statements: actions on the same resources together, listing with its prefixes as a condition."""
        for action, bucket in list(self.listed):
            whole = f"s3:::{_plain(bucket)}"
            if "" in self.listed[action, bucket] or self._arn(whole) in self.given[action]:
                del self.listed[action, bucket]  # all of it may be listed
                self._give(action, whole)
        groups = defaultdict(set)
        for action, resources in ((one, found) for one, found in self.given.items() if found):
            groups[action.partition(":")[0], tuple(sorted(resources))].add(action)
        made = [
            {"Effect": "Allow", "Action": sorted(group), "Resource": list(resources)}
            for (_, resources), group in sorted(groups.items(), key=lambda one: (one[0][0], sorted(one[1])))
        ]
        for (action, bucket), prefixes in sorted(self.listed.items()):
            condition = {"StringLike": {"s3:prefix": sorted(prefixes)}}
            resource = [self._arn(f"s3:::{_plain(bucket)}")]
            made.append({"Effect": "Allow", "Action": [action], "Resource": resource, "Condition": condition})
        return _named(made)

    def missing(self):
        found = sorted(set(self.lacking))
        if self.unknown:
            found.append(f"Glue requests for databases whose names stand nowhere in the notebook: {self.unknown}")
        return tuple(found)

    def notes(self):
        found = [
            f"{by} told no objects of {', '.join(sorted(operations))}; taken to be in {areas}"
            for (by, areas), operations in sorted(self.said.items())
        ]
        if self.account == ACCOUNT and ACCOUNT in str(dict(self.given)):
            found.append(f"the number of the account is not known: replace {ACCOUNT}")
        return tuple(found)


def _named(statements):
    """Give each statement an id, which may have letters and digits only."""
    counts, named = defaultdict(int), []
    for one in statements:
        service = one["Action"][0].partition(":")[0]
        label = LABELS[service]
        counts[label] += 1
        named.append({"Sid": f"{label}{counts[label]}", **one})
    return named


def _keys(calls):
    return ((call, key) for call in calls if call.service == "s3" for key in call.all("key"))


def _area(key, below):
    """Return the pattern that is allowed for a key: the first folder below the warehouse, else its own folder."""
    start = f"{below}/" if below else "" if below == "" else None
    if start is not None and key.startswith(start):
        first, slash, _ = key[len(start) :].partition("/")
        return _plain(start + first) + ("/*" if slash else "")
    folder, slash, name = key.rpartition("/")
    return f"{_plain(folder)}/*" if slash else _plain(name)


def _plain(text):
    """Return a text as IAM takes it letter by letter."""
    return re.sub(r"[*?$]", lambda found: f"${{{found[0]}}}", text)
