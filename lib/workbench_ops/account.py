"""What an AWS account must have before the first run, examined without changing anything.

It asks sts:GetCallerIdentity, s3:ListBucket of the warehouse, glue:GetDatabases for a catalog of type glue, and
s3tables:GetTableBucket for a table bucket. Whether the caller may write cannot be seen by reading: the first run
finds that out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from workbench import costs
from workbench._base import secrets, settings
from workbench._base.errors import WorkbenchError
from workbench._base.settings import Embedded, Environment, Remote

REMEDIES = {
    "ExpiredToken": "sign in again (aws sso login)",
    "ExpiredTokenException": "sign in again (aws sso login)",
    "InvalidClientTokenId": "there is no such access key (any more): choose another AWS_PROFILE",
    "SignatureDoesNotMatch": "the secret key is not that of the access key: choose another AWS_PROFILE",
}
Catalog = Mapping[str, Any]
Finding = tuple[str, str, str]
TABLE_BUCKET = re.compile(r"arn:aws[a-z-]*:s3tables:[^:]+:\d{12}:bucket/.+")  # GovCloud and China, too


def concerns(env: Environment) -> bool:
    """Say whether an environment's catalog is in an AWS account."""
    return env.stand_in is None and (env.catalog.type == "glue" or _signed(env))


def findings(env: Environment) -> list[Finding]:
    """Examine the account that an environment names.

    Args:
        env: one whose catalog is Glue's, or a REST catalog with `rest.sigv4-enabled`.

    Returns:
        list of (what, wrong, remedy), in the order in which things must be corrected; `wrong` and `remedy` are
        empty where it is right. What depends on something wrong is not asked. The last ones say what a run makes
        and costs.
    """
    if unset := list(_unset(env)):
        return unset
    cat = _resolved(env.catalog)
    answers: list[Finding] = []
    for look in (_warehouse, _credentials, _identity, *(_PLACES[_kind(cat)])):
        what, wrong, remedy = map(secrets.redact, look(cat))  # an address may have a password in it
        answers.append((what, wrong, remedy))
        if wrong:
            return answers
    return answers + [(secrets.redact(what), "", "") for what in _promises(env, cat)]


def missing_credentials(env: Environment) -> str | None:
    """Say that an environment's catalog is in an AWS account and nobody is signed in; else None. AWS is not asked.

    A provider of Java's own that the catalog names is not examined.
    """
    if not concerns(env) or "client.credentials-provider" in env.catalog.properties or list(_unset(env)):
        return None
    _, wrong, remedy = _credentials(_resolved(env.catalog))
    return secrets.redact(f"{wrong}: {remedy}") if wrong else None


def number(env: Environment) -> str | None:
    """Return the number of the account whose credentials an environment uses, or None if AWS does not answer."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return str(_client(_resolved(env.catalog), "sts").get_caller_identity()["Account"])
    except (BotoCoreError, ClientError):
        return None


def _warehouse(cat: Catalog) -> Finding:
    """Examine the address of the warehouse: s3://bucket/prefix, or the ARN of a table bucket."""
    address = cat["warehouse"] or ""
    if _kind(cat) == "s3tables":
        if not TABLE_BUCKET.fullmatch(address):
            return (
                "warehouse",
                f"the warehouse {address!r} is not a table bucket",
                "arn:aws:s3tables:REGION:ACCOUNT:bucket/NAME",
            )
    elif not re.match(r"s3://[^/\[\]]+(/|$)", address):
        return "warehouse", f"the warehouse {address!r} is not a place in S3", "s3://bucket/prefix"
    return f"warehouse {address}", "", ""


def _credentials(cat: Catalog) -> Finding:
    if cat.get("s3.access-key-id"):
        return "credentials of the environment file's references", "", ""
    from botocore.exceptions import BotoCoreError

    try:
        credentials = _session(cat).get_credentials()
    except BotoCoreError as error:  # a profile that is not there, half a key, a program that fails
        return (
            "credentials",
            f"the AWS credentials could not be read: {_line(error)}",
            "look at AWS_PROFILE, AWS_ACCESS_KEY_ID and ~/.aws/config",
        )
    if credentials is None:
        return (
            "credentials",
            "there are no AWS credentials",
            "set AWS_PROFILE, or sign in (aws sso login); they are never written into an environment file",
        )
    return f"credentials by {credentials.method}", "", ""


def _identity(cat: Catalog) -> Finding:
    def ask() -> str:
        caller = _client(cat, "sts").get_caller_identity()
        return f"account {caller['Account']} as {caller['Arn']}"

    return _asked("sts:GetCallerIdentity", ask)


def _bucket(cat: Catalog) -> Finding:
    place = urlsplit(cat["warehouse"])

    def ask() -> str:
        s3 = _client(cat, "s3")
        answer = s3.head_bucket(Bucket=place.netloc)
        region, ours = answer.get("BucketRegion"), cat.get("client.region")
        if region and ours and region != ours:
            raise _Wrong(f"the bucket {place.netloc} is in {region}, the environment says {ours}",
                         f"set client.region to {region}: every byte would cross regions")  # fmt: skip
        prefix = f"{place.path.strip('/')}/".removeprefix("/")
        s3.list_objects_v2(Bucket=place.netloc, Prefix=prefix, MaxKeys=1)
        return f"bucket {place.netloc} in {region or ours or 'its region'}, which may be listed"

    missing = f"there is no bucket {place.netloc}", f"make it (aws s3 mb s3://{place.netloc}), or name another"
    return _asked(f"s3:ListBucket on {place.netloc}", ask, {"404": missing, "NoSuchBucket": missing})


def _databases(cat: Catalog) -> Finding:
    def ask() -> str:
        _client(cat, "glue").get_databases(MaxResults=1)
        return "Glue catalog, whose databases may be listed"

    return _asked("glue:GetDatabases", ask)


def _table_bucket(cat: Catalog) -> Finding:
    def ask() -> str:
        _client(cat, "s3tables").get_table_bucket(tableBucketARN=cat["warehouse"])
        return "table bucket, which may be seen"

    missing = (
        f"there is no table bucket {cat['warehouse']}",
        "make it (aws s3tables create-table-bucket), or name another",
    )
    return _asked("s3tables:GetTableBucket", ask, {"NotFoundException": missing})


_PLACES: dict[str, tuple[Callable[[Catalog], Finding], ...]] = {
    "glue": (_bucket, _databases),
    "rest": (),
    "s3tables": (_table_bucket,),
}


def _promises(env: Environment, cat: Catalog) -> Iterator[str]:
    """Yield what a run makes in the account, and what it costs by list price."""
    listed = costs.prices("s3")
    about = listed.table["about"]
    month = costs.storage_usd(listed, "STANDARD", about["bytes_per_gb"], about["days_per_month"])
    files = f"files below {cat['warehouse']}" if _kind(cat) != "rest" else "what the REST catalog keeps"
    yield f"a run makes a namespace of its own for each notebook, tables in it and {files}; nothing is made now"
    here = env.spark.master.startswith("local")
    hourly = (
        "nothing costs by the hour while Spark runs on this machine"
        if here
        else ("the cluster costs by the hour until it is ended, whether Spark runs or not")
    )
    yield (
        f"{hourly}; S3 keeps a GB for {month} USD a month "
        f"(list price of {about['region']}, {about['date']}) and bills requests"
    )


class _Wrong(WorkbenchError, Exception):
    """Something that an answer shows, and what to do about it."""


def _asked(right: str, ask: Callable[[], str], known: Mapping[str, tuple[str, str]] | None = None) -> Finding:
    """Ask for what needs a right; return the answer, or what an error of AWS means."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return ask(), "", ""
    except _Wrong as wrong:
        return right, *wrong.args
    except ClientError as error:
        code = str(error.response["Error"]["Code"])
        if known and code in known:
            return right, *known[code]
        if code in REMEDIES:
            return right, f"AWS does not accept these credentials ({code})", REMEDIES[code]
        if code in ("403", "AccessDenied", "AccessDeniedException", "UnauthorizedOperation"):
            return right, f"this caller has no right to {right}", "let your administrator allow it"
        return (
            right,
            f"{right} failed with {code}: {_line(error.response['Error'].get('Message', ''))}",
            "see AWS's message",
        )
    except (BotoCoreError, ValueError) as error:  # the last is botocore's for an endpoint that is not an address
        return right, f"{right} could not be asked: {_line(error)}", "look at region, network and proxy"


def _line(error: object) -> str:
    return " ".join(str(error).split())


def _client(cat: Catalog, service: str) -> Any:
    from botocore.config import Config

    keys = {"aws_access_key_id": "s3.access-key-id", "aws_secret_access_key": "s3.secret-access-key"}
    keys |= {"aws_session_token": "s3.session-token", "endpoint_url": f"{service}.endpoint"}
    named = {name: cat[key] for name, key in keys.items() if cat.get(key)}
    style = {"addressing_style": "path"} if cat.get("s3.path-style-access") == "true" else {}
    config = Config(connect_timeout=5, read_timeout=15, retries={"max_attempts": 2}, s3=style)
    return _session(cat).client(service, config=config, **named)


def _session(cat: Catalog) -> Any:
    import boto3

    return boto3.Session(region_name=cat.get("client.region") or cat.get("rest.signing-region"))


def _kind(cat: Catalog) -> str:
    if cat["type"] == "glue":
        return "glue"
    return "s3tables" if cat.get("rest.signing-name") == "s3tables" else "rest"


def _signed(env: Environment) -> bool:
    return env.catalog.type == "rest" and env.catalog.properties.get("rest.sigv4-enabled") == "true"


def _unset(env: Environment) -> Iterator[Finding]:
    """Yield the references of an environment's catalog that have no value: (key, wrong, remedy)."""
    for key, value in settings.catalog_references(env).items():
        try:
            secrets.resolve(value)
        except ValueError as error:
            if value.startswith("env:"):
                yield key, f"catalog.{key} is {value}, which is not set", f"export {value[4:]}=…"
            else:
                yield (
                    key,
                    f"catalog.{key}: {secrets.redact(_line(error))}",
                    "look at its name, region and credentials",
                )


def _resolved(cat: Embedded | Remote) -> Catalog:
    # an embedded catalog has no address
    properties = {key: getattr(cat, key, None) for key in ("type", "uri", "warehouse")} | cat.properties
    return {key: value and secrets.resolve(value) for key, value in properties.items()}
