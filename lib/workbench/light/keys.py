"""AWS keys of a catalog's properties, else those of the standard chain: variables, profiles, roles."""

import os
from collections.abc import Mapping
from typing import NamedTuple


class Keys(NamedTuple):
    """An access key of AWS, in the form that botocore signs with."""

    access_key: str
    secret_key: str
    token: str | None


def aws(properties: Mapping[str, str], prefixes: tuple[str, ...]) -> Keys | None:
    """Return the keys by which a service is reached; None where there are none.

    Args:
        properties: of a catalog; `s3.access-key-id` and its like.
        prefixes: of the properties that may hold them, the first that has one first.
    """
    for prefix in prefixes:
        if access := properties.get(f"{prefix}.access-key-id"):
            return Keys(
                access, properties[f"{prefix}.secret-access-key"], properties.get(f"{prefix}.session-token")
            )
    if access := os.environ.get("AWS_ACCESS_KEY_ID"):  # the chain begins with them; boto3 takes long to import
        return Keys(access, os.environ.get("AWS_SECRET_ACCESS_KEY", ""), os.environ.get("AWS_SESSION_TOKEN"))
    import boto3

    credentials = boto3.Session().get_credentials()
    return Keys(*credentials.get_frozen_credentials()[:3]) if credentials else None
