"""What AWS's own tools read from variables of the process."""

import os


def s3_endpoint() -> str | None:
    """Return the address of S3 that variables name, the service's own before that of all; None for AWS's.

    Source: AWS SDKs and tools reference, service-specific endpoints. A profile's `endpoint_url` is not read.
    """
    if os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() == "true":
        return None
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
