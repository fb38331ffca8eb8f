"""Log-ins to Amazon MSK by IAM: a topic's setting `token: msk:REGION`, signed here and renewed before it expires.

A token is a request to the cluster's Connect action, signed by the AWS credentials of the process that reads (the
driver's and each worker's own): variables, a profile, a role. AWS's own signer writes it, without asking AWS. It
is valid for 15 minutes, and librdkafka asks for the next one when 80 % of that is over.
"""

import importlib.util
import re
from collections.abc import Mapping
from typing import Any

from workbench._base import secrets
from workbench._base.errors import ArgumentError, MissingPackageError

SETTING = "token"
LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+(,(127\.0\.0\.1|localhost|\[::1\]):\d+)*")


def require(config: Mapping[str, Any], bootstrap: str) -> None:
    """Require that a topic's settings go with its token; nothing where there is none.

    Raises:
        ArgumentError: the token is not msk:REGION or a reference, or another setting says how to log in or sends
            the token in the clear.
    """
    if SETTING not in config:
        return
    token = config[SETTING]
    if not secrets.REFERENCE.fullmatch(str(token)):
        region(token)
    if other := sorted(name for name in config if name.startswith("sasl.") or name == "oauth_cb"):
        raise ArgumentError(f"config has token, which says how to log in, and {other[0]}; leave one of them out")
    protocol = str(config.get("security.protocol", "SASL_SSL")).upper()
    if protocol != "SASL_SSL" and not (protocol == "SASL_PLAINTEXT" and LOOPBACK.fullmatch(bootstrap)):
        raise ArgumentError(
            "config has token, which others must not read on the way; "
            f"security.protocol must be SASL_SSL, found {protocol}"
        )


def region(token: object) -> str:
    """Return the region of a setting `token`.

    Raises:
        ArgumentError: it is not msk:REGION. What is there is not shown: it may be a token.
    """
    match = secrets.MSK.fullmatch(token) if isinstance(token, str) else None
    if match is None:
        raise ArgumentError("token must be msk:REGION, such as msk:eu-central-1, or a reference to it, env:NAME")
    return match[1]


def settings(token: str) -> dict[str, Any]:
    """Return librdkafka's settings for a `token`, which log in by IAM; others may be set beside them.

    The first token is signed here, so that what is missing is said before a client waits for a broker.

    Raises:
        ArgumentError: it is not msk:REGION, or there are no AWS credentials.
        ModuleNotFoundError: AWS's signer is not installed.
    """
    where = region(token)
    signed(where)

    def renewed(_: str) -> tuple[str, float]:
        return signed(where)

    return {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "oauth_cb": renewed}


def signed(where: str) -> tuple[str, float]:
    """Return a token for the clusters of a region and when it expires, in seconds since 1970.

    Raises:
        ArgumentError: there are no AWS credentials, or they cannot be had.
        ModuleNotFoundError: AWS's signer is not installed.
    """
    if importlib.util.find_spec("aws_msk_iam_sasl_signer") is None:
        raise MissingPackageError(
            "aws-msk-iam-sasl-signer-python is not installed: pip install 'iceberg-workbench[msk]'",
            name="aws_msk_iam_sasl_signer",
        )
    import botocore.session
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
    from botocore.exceptions import BotoCoreError

    needs = f"token msk:{where} needs AWS credentials, by variables, a profile or a role"
    try:
        if botocore.session.Session().get_credentials() is None:
            raise ArgumentError(f"{needs}, and none were found")
        token, expiry_ms = MSKAuthTokenProvider.generate_auth_token(where)
    except BotoCoreError as error:
        raise ArgumentError(f"{needs}: {error}") from None
    return token, expiry_ms / 1000
