"""Short-lived keys of the storage for who sees every cell of a table: AWS's STS, or one that speaks as it does.

    keys = access.keys(policy, "engineer", "sales.customer", catalog=catalog, sts=sts, s3=s3, role="arn:…")
    StaticTable.from_metadata(keys.metadata_location, keys.properties())

Keys open files and no cells. So they are for who sees every cell of every version of the table, dropped columns
among them, and open its location alone, for GET and LIST. Before they are handed out they are tried: an STS that
does not keep to the policy of a session would hand out keys to everything.
"""

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

from workbench._base.bounds import Ge, Le
from workbench._base.door import checked
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import Catalog, Judged
from workbench.access import places
from workbench.access.conditions import ALWAYS, NEVER, described
from workbench.access.deciding import NothingVisible, decide, refuse_other_table
from workbench.access.places import Place
from workbench.access.policies import Policy, granted
from workbench.access.typing import IcebergTable

LEAST_SECONDS, MOST_SECONDS = 900, 3600  # AWS gives none that end sooner
LARGEST_POLICY = 2048  # characters, as AWS's STS takes them
SKEW = timedelta(seconds=60)  # by which clocks may differ
ROLE = re.compile(r"arn:(aws[a-z-]*):iam::\d{12}:role/[\w+=,.@/-]{1,576}")
SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
NAME_MAPPING = "schema.name-mapping.default"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
DENIED = ("AccessDenied", "403", "Forbidden")
log = logging.getLogger("workbench.access")


class NoKeys(WorkbenchError):
    """A principal gets no keys of a table of which it sees something.

    Attributes:
        reason: why, for the owner of the policy: it may name what the principal does not see.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Keys:
    """Keys that open the files of one table until they end. They are a secret: neither print nor keep them.

    Attributes:
        principal: whose they are.
        table: what they open.
        location: the prefix of its files, s3://bucket/…/.
        metadata_location: of the table's metadata when they were given, with which engines open it.
        expires: when they end.
    """

    principal: str
    table: str
    location: str
    metadata_location: str
    expires: datetime
    _secrets: Mapping[str, str] = field(repr=False)

    def properties(self) -> dict[str, str]:
        """Return the properties by which Iceberg's S3FileIO and PyIceberg read by these keys."""
        return dict(self._secrets)


@checked
def keys(
    policy: Policy,
    principal: str,
    table: str,
    *,
    catalog: Judged[Catalog],
    sts: Judged[Any],
    s3: Judged[Any],
    role: str,
    seconds: Annotated[int, Ge(LEAST_SECONDS), Le(MOST_SECONDS)] = LEAST_SECONDS,
) -> Keys:
    """Give keys of a table's files to a principal who sees every cell of it, by the policy as it is now.

    Every table of the catalog is loaded, and the table's location is listed: what lies inside it would be opened
    with it. The keys are logged, without the secret.

    Args:
        policy: as `read` returns it. The table must be bound to its UUID, as `bind` does.
        principal: the reader.
        table: `namespace.name`, or with the policy's catalog in front.
        catalog: PyIceberg's, in which the table is.
        sts: boto3's client of STS, with the owner's keys, which may assume the role.
        s3: boto3's client of S3, with the owner's keys: it lists the table's location.
        role: ARN of a role that may read the tables. Only the owner may assume it: a reader who could assume it
            again would read all.
        seconds: how long the keys open the table, 900 to 3,600. Nothing ends them sooner, neither a grant that is
            taken away.

    Returns:
        Keys.

    Raises:
        NothingVisible: the principal sees nothing of the table, or there is none: the same is said of both.
        NoKeys: the principal sees not all of it, or its files cannot be told apart from others.
        ArgumentError: the principal is unknown, an argument is invalid, or the STS hands out keys that open
            nothing, too much, or for too long.
    """
    if principal not in policy.principals:
        raise ArgumentError(f"{principal!r} is not a principal of the policy")
    if ROLE.fullmatch(role) is None:
        raise ArgumentError(f"role must be arn:aws:iam::ACCOUNT:role/NAME, found {role!r}")
    loaded = _loaded(policy, principal, table, catalog)
    name = policy.tables[policy.key(table)].name
    try:
        refuse_some_cells(policy, principal, table, loaded)
        place = places.of(loaded)
        with _answering():
            places.refuse_others(place, name, loaded, catalog, s3)
    except ArgumentError as error:
        sentence = f"there are no keys of {name} for {principal}: they are for who may read all of a table"
        raise NoKeys(f"{sentence}; ask the front or the page", str(error)) from None
    with _answering():
        given = _assumed(sts, role, principal, place, int(seconds))
        require_narrow(_client(s3, given), place)
    log.info("%s got keys of %s until %s", principal, name, given["Expiration"].isoformat(timespec="seconds"))
    return Keys(
        principal, name, place.location, loaded.metadata_location, given["Expiration"], _properties(s3, given)
    )


@contextmanager
def _answering() -> Iterator[None]:
    """Turn a refusal of AWS's, or of who speaks as it does, into a sentence."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        raise ArgumentError(f"{error.operation_name} was refused: {_code(error)}") from None
    except BotoCoreError as error:
        raise ArgumentError(f"S3 or its STS cannot be asked: {type(error).__name__}") from None


def _loaded(policy: Policy, principal: str, table: str, catalog: Any) -> IcebergTable:
    """Load a table of which the principal may see something.

    A table of which nothing is granted is not looked for, so that one that is missing takes as long.
    """
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

    parts = policy.key(table)
    nothing = NothingVisible(f"there is no table {table} that {principal} may read")
    if parts not in granted(policy, principal):
        raise nothing
    try:
        loaded = catalog.load_table(parts)
    except (NoSuchTableError, NoSuchNamespaceError):
        raise nothing from None
    try:
        hidden = decide(policy, principal, table, loaded.schema()).row == NEVER
    except ArgumentError:
        hidden = False  # a filter does not fit: what is said then is of those who may not read all
    if hidden:
        raise nothing
    return loaded


def refuse_some_cells(policy: Policy, principal: str, table: str, loaded: IcebergTable) -> None:
    """Refuse a principal who does not see every cell that is, or ever was, in the files of a table.

    Args:
        policy: as of `keys`.
        principal: as of `keys`.
        table: its name.
        loaded: the table, as PyIceberg loaded it.

    Raises:
        ArgumentError: a column of some version of it is hidden in some row, nobody bound it, or the policy is
            bound to another table of that name, or to none.
    """
    _refuse_forgotten_fields(table, loaded)
    for schema in loaded.metadata.schemas:
        decision = decide(policy, principal, table, schema)
        refuse_other_table(decision, str(loaded.metadata.table_uuid))
        if decision.uuid is None:
            raise ArgumentError(f"the policy does not say which table {table} is: bind it")
        for column in decision.columns:
            if column.condition != ALWAYS:
                seen = described(column.condition)
                why = f", {column.reason}" if column.reason else ""
                raise ArgumentError(
                    f"{principal} sees {column.name} (field {column.field_id}, which older files may hold too): "
                    f"{seen}{why}"
                )


def _refuse_forgotten_fields(table: str, loaded: IcebergTable) -> None:
    """Refuse a table whose files may hold columns that none of its schemas has.

    A schema is forgotten once no snapshot refers to it; the files that were written by it stay. And files that no
    writer of Iceberg wrote, which are read by a mapping of names, may hold anything beside it.
    """
    known: set[int] = set()
    for schema in loaded.metadata.schemas:
        known |= set(schema.field_ids)
    forgotten = sorted({*range(1, loaded.metadata.last_column_id + 1)} - known)
    if forgotten:
        fields = ", ".join(map(str, forgotten))
        raise ArgumentError(f"no schema of {table} has its fields {fields} any more, and files may hold them")
    if NAME_MAPPING in loaded.properties:
        raise ArgumentError(f"{table} has files that others than Iceberg wrote, which may hold further columns")


def session_policy(place: Place, partition: str = "aws") -> str:
    """Return the policy of a session, as AWS has it: GET and LIST of one prefix, and nothing else.

    Args:
        place: the files of a table.
        partition: of AWS, as ARNs have it.

    Raises:
        ArgumentError: it is longer than AWS's STS takes.
    """
    bucket = f"arn:{partition}:s3:::{place.bucket}"
    read = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{bucket}/{place.prefix}*"]}
    listed = {"StringLike": {"s3:prefix": [f"{place.prefix}*"]}}
    browse = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [bucket], "Condition": listed}
    text = json.dumps({"Version": "2012-10-17", "Statement": [read, browse]}, separators=(",", ":"))
    if len(text) > LARGEST_POLICY:
        raise ArgumentError(f"the location {place.location} is too long for the policy of a session")
    return text


def session_name(principal: str) -> str:
    """Return the name of a principal's session, which AWS logs: the principal's own where STS takes it."""
    if SESSION_NAME.fullmatch(principal):
        return principal
    return f"reader-{hashlib.sha256(principal.encode()).hexdigest()[:24]}"


def _assumed(sts: Any, role: str, principal: str, place: Place, seconds: int) -> Mapping[str, Any]:
    """Return the credentials of a session of the role, with the policy of one table."""
    partition = role.split(":")[1]
    with _answers_unlogged():
        answer = sts.assume_role(
            RoleArn=role, RoleSessionName=session_name(principal), Policy=session_policy(place, partition),
            DurationSeconds=seconds,
        )  # fmt: skip
    given: Mapping[str, Any] = answer["Credentials"]
    latest = datetime.now(UTC) + timedelta(seconds=seconds) + SKEW
    if not given.get("SessionToken") or given["Expiration"] > latest:
        raise ArgumentError("the STS gave keys that live longer than was asked; they are not handed out")
    return given


@contextmanager
def _answers_unlogged() -> Iterator[None]:
    """Keep botocore from logging answers, which it does whole at its level DEBUG: this one has the secret."""

    def none(record: logging.LogRecord) -> bool:
        return False

    parsers = logging.getLogger("botocore.parsers")
    parsers.addFilter(none)
    try:
        yield
    finally:
        parsers.removeFilter(none)


def _client(s3: Any, given: Mapping[str, Any]) -> Any:
    """Return a client as the owner's, with the keys of a session."""
    import boto3

    return boto3.client(
        "s3", endpoint_url=s3.meta.endpoint_url, region_name=s3.meta.region_name, config=s3.meta.config,
        aws_access_key_id=given["AccessKeyId"], aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )  # fmt: skip


def require_narrow(client: Any, place: Place) -> None:
    """Require that keys open the table's metadata, list nothing beside it and begin no upload.

    Args:
        client: boto3's client of S3 with the keys.
        place: the files of the table.

    Raises:
        ArgumentError: they open nothing, or more.
    """
    from botocore.exceptions import ClientError

    try:
        client.head_object(Bucket=place.bucket, Key=place.metadata)
    except ClientError as error:
        raise ArgumentError(
            f"the STS gave keys that do not open the table ({_code(error)}): the role must be allowed "
            "s3:GetObject and s3:ListBucket; a server without roles gives keys that open nothing"
        ) from None
    more = "the STS does not keep to the policy of a session: its keys {}; they are not handed out"
    outside = {"the bucket": "", "the folder above": place.prefix.rstrip("/").rpartition("/")[0]}
    for what, prefix in outside.items():
        if not _denied(client.list_objects_v2, Bucket=place.bucket, Prefix=prefix, MaxKeys=1):
            raise ArgumentError(more.format(f"list {what}"))
    upload = {"Bucket": place.bucket, "Key": f"{place.prefix}.workbench-access"}
    begun: list[Any] = []
    if not _denied(lambda: begun.append(client.create_multipart_upload(**upload))):
        client.abort_multipart_upload(**upload, UploadId=begun[0]["UploadId"])
        raise ArgumentError(more.format("write"))


def _denied(call: Any, **arguments: Any) -> bool:
    from botocore.exceptions import ClientError

    try:
        call(**arguments)
    except ClientError as error:
        if _code(error) in DENIED:
            return True
        raise
    return False


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def _properties(s3: Any, given: Mapping[str, Any]) -> dict[str, str]:
    """Return what an engine needs of the keys and of the place where they are good."""
    properties = {
        "s3.access-key-id": given["AccessKeyId"],
        "s3.secret-access-key": given["SecretAccessKey"],
        "s3.session-token": given["SessionToken"],
        "s3.region": s3.meta.region_name,
        "client.region": s3.meta.region_name,
    }
    if not re.search(r"\.amazonaws\.com(\.cn)?$", s3.meta.endpoint_url):
        properties |= {"s3.endpoint": s3.meta.endpoint_url, "s3.path-style-access": "true"}
    return properties


@checked
def sts_client(properties: Mapping[str, str], *, endpoint: str | None = None) -> Any:
    """Return a boto3 client of STS with the keys of a catalog's properties, else those of the standard chain.

    Args:
        properties: of a catalog, as `session.catalog_properties` returns them.
        endpoint: address of the STS; left out, that of the properties' own S3 server, which is where SeaweedFS
            and its like have theirs, else AWS's.
    """
    import boto3
    from botocore.config import Config

    names = {"region_name": "client.region", "aws_access_key_id": "s3.access-key-id"}
    names |= {"aws_secret_access_key": "s3.secret-access-key", "aws_session_token": "s3.session-token"}
    known = {name: properties[key] for name, key in names.items() if key in properties}
    address = endpoint or properties.get("s3.endpoint")
    here = address is not None and urlsplit(address).hostname in LOOPBACK
    if address is not None and not here and urlsplit(address).scheme != "https":
        raise ArgumentError(
            f"the STS at {address} would send keys in the clear: its address must begin with https://"
        )
    ours = Config(proxies={}) if here else None
    return boto3.client("sts", endpoint_url=address, config=ours, **known)
