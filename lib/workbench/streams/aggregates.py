"""Records that the Kinesis Producer Library packed into one: told from others, and not taken apart.

Source: aggregation-format.md of awslabs/amazon-kinesis-producer: four bytes, a Protobuf message whose fields 3 are
the records, and the MD5 of that message.
"""

import hashlib

from workbench.streams import varints

MAGIC = b"\xf3\x89\x9a\xc2"  # no beginning of a text: it is not UTF-8
DIGEST = 16
RECORDS = 3 << 3 | 2  # the tag of a record within: field 3, a message


def reason(raw: bytes) -> tuple[str, str] | None:
    """Return (reason, message) where a record is an aggregate; None where it is not, or is a damaged one."""
    body = raw[len(MAGIC) : -DIGEST]
    if not raw.startswith(MAGIC) or hashlib.md5(body, usedforsecurity=False).digest() != raw[-DIGEST:]:
        return None
    return "aggregated", (
        f"{_count(body)} records that the Kinesis Producer Library packed into one (F3 89 9A C2 …), which is not "
        "taken apart: have the producer send them one by one"
    )


def _count(body: bytes) -> int:
    """Return how many records are in the message; what cannot be walked through ends the count."""
    place = found = 0
    while place < len(body):
        found += body[place] == RECORDS
        try:
            size, place = varints.unsigned(body, place + 1)
        except (IndexError, OverflowError):
            break
        place += size
    return found
