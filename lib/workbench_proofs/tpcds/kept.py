"""Verdicts on answers, kept by the answer's hash, so that the next run need not ask the oracle again.

One file a data digest and query. What is kept counts only for the same text, the same rules of comparison
and the same versions of what translates and answers; an answer that was never verified is compared anew.
"""

import hashlib
import importlib.metadata
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from workbench._base import files
from workbench._base.errors import ArgumentError
from workbench_proofs.tpcds.verdicts import DIFFERENT, UNVERIFIED, Judgement

MOST = 20  # verdicts kept a query: ties let an engine give several answers
RULES = ("answers.py", "values.py", "matching.py", "verdicts.py", "dialect.py", "oracle.py")


def folder() -> Path:
    """Return where verdicts are kept by default: the user's cache."""
    return files.cache() / "tpcds" / "kept"


def find(place: str | Path, data: str, query: str, text: Sequence[str], digest: str) -> Judgement | None:
    """Return the Judgement on an answer that was verified before; None when it was not.

    Args:
        place: folder.
        data: digest of the data.
        query: its name.
        text: what the verdict depends on besides: the query's text, and how the engine shortens decimals.
        digest: of the answer.
    """
    fields = _read(_file(place, data, query)).get(_key(digest, text))
    return Judgement(*fields) if fields else None


def keep(place: str | Path, data: str, query: str, text: Sequence[str], digest: str, verdict: Judgement) -> None:
    """Keep the verdict on an answer.

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


def _read(file: Path) -> dict[str, list[Any]]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _file(place: str | Path, data: str, query: str) -> Path:
    return Path(place) / data / f"{query}.json"


def _key(digest: str, text: Sequence[str]) -> str:
    """Return what a verdict is kept by: engines with other rules of comparison do not replace each other's."""
    return f"{digest} {hashlib.sha256(json.dumps([text, *rules()]).encode()).hexdigest()}"


@cache
def rules() -> tuple[str, ...]:
    """Return what decides a verdict besides the answer: our code, the packages that translate and answer."""
    here = Path(__file__).parent
    code = hashlib.sha256(b"".join((here / name).read_bytes() for name in RULES)).hexdigest()
    return (code, *(f"{name} {importlib.metadata.version(name)}" for name in ("duckdb", "sqlglot")))
