"""Answers that were verified are remembered by their hash, so that the next run need not ask the oracle again.

One file a data digest and query. What is remembered counts only for the same text, the same rules of comparison
and the same versions of what translates and answers; an answer that was never verified is compared anew.
"""

import hashlib
import importlib.metadata
import json
from functools import cache
from pathlib import Path

from workbench._base import files
from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds.verdicts import DIFFERENT, UNVERIFIED, Judgement

MOST = 20  # answers remembered a query: ties let an engine give several
RULES = ("answers.py", "values.py", "matching.py", "verdicts.py", "dialect.py", "oracle.py")


def folder():
    """Return where verdicts are kept by default: the user's cache."""
    return files.cache() / "tpcds" / "kept"


def find(place, data, query, text, digest):
    """Return the Judgement on an answer that was verified before; None when it was not.

    Args:
        place: folder.
        data: digest of the data.
        query: its name.
        text: what the verdict depends on besides: the query's text, and how the engine shortens decimals.
        digest: of the answer.
    """
    found = _read(_file(place, data, query)).get(_key(digest, text))
    return Judgement(*found) if found else None


def keep(place, data, query, text, digest, verdict):
    """Remember the verdict on an answer.

    Raises:
        ValueError: the verdict is "different" or "unverified": nothing was verified.
    """
    if verdict.kind in (DIFFERENT, UNVERIFIED):
        raise ArgumentError(f"the answer to {query} is {verdict.kind}; only what was verified is kept")
    file = _file(place, data, query)
    kept = _read(file) | {_key(digest, text): [verdict.kind, verdict.sentence, verdict.scaled]}
    file.parent.mkdir(parents=True, exist_ok=True)
    with files.replacing(file) as new:  # two processes that keep at once: one is forgotten, and verified again
        new.write_text(json.dumps(dict(list(kept.items())[-MOST:]), indent=1))


def _read(file):
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _file(place, data, query):
    return Path(place) / data / f"{query}.json"


def _key(digest, text):
    """Return what an answer is remembered by: engines with other rules of comparison do not forget each other."""
    return f"{digest} {hashlib.sha256(json.dumps([text, *rules()]).encode()).hexdigest()}"


@cache
def rules():
    """Return what decides a verdict besides the answer: our code, the packages that translate and answer."""
    here = Path(__file__).parent
    code = hashlib.sha256(b"".join((here / name).read_bytes() for name in RULES)).hexdigest()
    return (code, *(f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "sqlglot")))
