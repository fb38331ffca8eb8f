"""What documentation and users say of concurrent writes, to be held against the matrix cell by cell."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench._base import arguments
from workbench._base.door import checked
from workbench_proofs.conflicts.outcomes import ANOMALY, BOTH, CATALOG, DATA, RETRIED
from workbench_proofs.conflicts.runs import Result

AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "not measured"
_PUBLISHED = "AWS Big Data Blog, concurrent write conflicts"
_COMMITTED = frozenset({BOTH, RETRIED})


@dataclass(frozen=True)
class Claim:
    """A sentence about cells.

    Attributes:
        source: who says it: an issue (`owner/name#number`) or a document.
        says: what, in our words.
        where: what the cells have in common: name of a Result's field to a value or a tuple of values.
        outcomes: outcomes that agree with it.
        equal_to: the order that the rows should be equal to, when the claim is about them.
    """

    source: str
    says: str
    where: Mapping[str, str | tuple[str, ...]]
    outcomes: frozenset[str]
    equal_to: str | None = None

    def cells(self, results: Iterable[Result]) -> list[Result]:
        """Return the results that the claim is about."""
        return [
            result
            for result in results
            if all(_fits(getattr(result, name), value) for name, value in self.where.items())
        ]

    def agrees(self, result: Result) -> bool:
        """Say whether a result is as the claim says."""
        return result.outcome in self.outcomes and self.equal_to in (None, result.equal_to)


@dataclass(frozen=True)
class Held:
    """A claim held against results.

    Attributes:
        claim: the Claim.
        verdict: agrees when all of its cells do, differs when one does not, or not measured.
        cells: how many there are.
        against: those that differ.
    """

    claim: Claim
    verdict: str
    cells: int
    against: tuple[Result, ...]


def _pair(
    first: str | tuple[str, ...], second: str | tuple[str, ...], **more: str | tuple[str, ...]
) -> dict[str, str | tuple[str, ...]]:
    return {"first": first, "second": second, **more}


_SAME, _LOOSE = {"partition": "same", "isolation": "serializable"}, {"partition": "same", "isolation": "snapshot"}
_CHANGES = ("update", "delete", "merge")
CLAIMS = (
    Claim(_PUBLISHED, "an append never has a data conflict", {"second": "append"}, _COMMITTED | {CATALOG}),
    Claim(_PUBLISHED, "an insert by MERGE has none either, and is therefore safe",
          _pair("merge_insert_only", "merge_insert_only", partition="same"), _COMMITTED),
    Claim(_PUBLISHED, "compaction has data conflicts with UPDATE, DELETE and MERGE",
          _pair(_CHANGES, "rewrite_data_files"), frozenset({DATA})),
    Claim(_PUBLISHED, "and they with compaction", _pair("rewrite_data_files", _CHANGES), frozenset({DATA})),
    Claim("apache/iceberg#12653", "two MERGEs that only insert both succeed, and the key is there twice",
          _pair("merge_insert_only", "merge_insert_only", partition="same"), frozenset({ANOMALY})),
    Claim("apache/iceberg#13091", "MERGEs of two partitions conflict when serializable",
          _pair("merge", "merge", partition="other", isolation="serializable"), frozenset({DATA})),
    Claim("apache/iceberg#13974", "serializable: a MERGE fails when rows were appended that it would match",
          _pair("append", "merge", **_SAME), frozenset({DATA})),
    Claim("apache/iceberg#13974", "snapshot: both succeed, and the appended row is not updated",
          _pair("append", "merge", **_LOOSE), _COMMITTED, "second_first"),
    Claim("apache/iceberg#11795", "merge-on-read MERGEs conflict at snapshot isolation too",
          _pair("merge", "merge", mode=("merge-on-read", "v3"), **_LOOSE), frozenset({DATA})),
    Claim("apache/iceberg#18020", "UPDATEs of one data file conflict by their deletion vectors at either level",
          _pair("update", "update", mode="v3", partition="same"), frozenset({DATA})),
    Claim("trinodb/trino#31072", "two MERGEs of one new key both succeed although serializable (in Trino)",
          _pair("merge", "merge", **_SAME), frozenset({ANOMALY})),
    Claim("nimtable/iceberg-compaction#163", "deleted rows come back after compaction (by that tool)",
          _pair("delete", "rewrite_data_files"), frozenset({ANOMALY})),
)  # fmt: skip


@checked
def held(results: Iterable[Result], claims: Iterable[Claim] = CLAIMS) -> list[Held]:
    """Hold claims against results: list of Held, in the order of the claims.

    Raises:
        ValueError: these are not results, or those are not claims.
    """
    results = arguments.each("results", results, Result, "results, as conflicts.run gives them")
    claims = arguments.each("claims", claims, Claim, "claims, as in CLAIMS")
    return [_held(claim, claim.cells(results)) for claim in claims]


def _held(claim: Claim, cells: list[Result]) -> Held:
    against = tuple(result for result in cells if not claim.agrees(result))
    verdict = UNKNOWN if not cells else DIFFERS if against else AGREES
    return Held(claim, verdict, len(cells), against)


def _fits(value: Any, expected: str | tuple[str, ...]) -> bool:
    return value in expected if isinstance(expected, tuple) else value == expected
