"""Functions of AWS Lambda that write what a queue brings, each message once, and the zip of them.

    handler = functions.handler(json.loads, catalog={"type": "rest", …}, table="sales.orders")

    handling     a batch of SQS to rows; messages that fail alone
    packaging    the zip, with what PyIceberg needs and below Lambda's limit

Least rights, settings of queue and mapping, and what was never tried on AWS itself: docs/light.md of the project.
"""

from workbench.light.functions.handling import handler
from workbench.light.functions.packaging import LIMIT_BYTES, NEEDED, Package, package

__all__ = ["LIMIT_BYTES", "NEEDED", "Package", "handler", "package"]
