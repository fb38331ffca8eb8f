"""Models that refuse what they do not know, and the known name that is nearest to a wrong one."""

import difflib
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A settings block: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def nearest(name: object, valid: Iterable[str]) -> str | None:
    """Return the valid name nearest to a wrong one, or None."""
    by_lower = {candidate.lower(): candidate for candidate in reversed([*valid])}
    close = difflib.get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None
