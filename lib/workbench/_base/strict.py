"""Models that refuse what they do not know, and the known name that is nearest to a wrong one."""

import difflib

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A settings block: unknown keys are refused, values are not changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def nearest(name, valid):
    """Return the valid name nearest to a wrong one, or None."""
    close = difflib.get_close_matches(str(name).lower(), {v.lower(): v for v in valid}, n=1, cutoff=0.6)
    return next((v for v in valid if v.lower() == close[0]), None) if close else None
