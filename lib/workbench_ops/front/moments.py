"""Dates and times that are written down as ISO 8601 has them."""

import re
from datetime import datetime

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d:\d\d(\.\d{1,6})?)?")


def is_valid(text: str) -> bool:
    """Return whether a text is a date or a time that every cast of Spark takes."""
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
