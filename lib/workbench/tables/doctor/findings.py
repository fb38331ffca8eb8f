"""Hold what hurts a table: findings as values, and their table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench._base import arguments
from workbench._base.door import checked
from workbench._base.typing import Judged, PandasFrame
from workbench.tables.maintenance import Policy

HIGH, MIDDLE, LOW = "high", "middle", "low"
SEVERITIES = (HIGH, MIDDLE, LOW)
CAUSES = (
    "small_files",
    "delete_files",
    "too_many_partitions",
    "wrong_partition_transform",
    "skewed_partitions",
    "skewed_files",
    "unsorted_files",
    "many_manifests",
    "old_snapshots",
    "metadata_versions",
    "large_metadata",
    "dangling_refs",
)


@dataclass(frozen=True)
class Finding:
    """One cause of trouble.

    Attributes:
        cause: of `CAUSES`.
        severity: `high`: most queries open or read many times what they need; `middle`: some do; `low`: storage
            or commits pay for it, queries do not.
        what: a sentence with figures.
        advice: what to do, a sentence.
        actions: of maintenance that do it.
        properties: (name, text) that keep it from coming again.
        statements: SQL that does it and that only the table's owner may decide.
    """

    cause: str
    severity: str
    what: str
    advice: str
    actions: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    statements: tuple[str, ...] = ()

    @property
    def by(self) -> Literal["maintenance", "property", "owner"]:
        """What would do it: `maintenance`, `property` or `owner`."""
        return "maintenance" if self.actions else "property" if self.properties else "owner"


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a table.

    Attributes:
        table: its name.
        uuid: the table's own id, which one made anew under the name does not have.
        snapshot: main's when it was looked at; None of an empty table.
        now: when.
        policy: Policy.
        findings: the gravest first; none of a healthy table.
    """

    table: str
    uuid: str
    snapshot: int | None
    now: datetime
    policy: Policy
    findings: tuple[Finding, ...]

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of what was found, in its order."""
        return tuple(finding.cause for finding in self.findings)


@checked
def told(findings: Judged[Diagnosis | Iterable[Finding]]) -> PandasFrame:
    """Return findings as a pandas DataFrame, to be shown.

    Args:
        findings: a Diagnosis, or some of its findings.

    Returns:
        One row a finding, in their order: cause, severity, what, advice, by (strings), would_do (string:
        actions, properties or statements).

    Raises:
        ValueError: it is neither.
    """
    import pandas as pd

    several = findings.findings if isinstance(findings, Diagnosis) else findings
    rows = []
    for finding in several if isinstance(several, Iterable) else (several,):
        arguments.kind("findings", finding, Finding, "what doctor.diagnose returns, or some of its findings")
        figures = (finding.cause, finding.severity, finding.what, finding.advice, finding.by, would_do(finding))
        rows.append(figures)
    return pd.DataFrame(rows, columns=["cause", "severity", "what", "advice", "by", "would_do"])


def would_do(finding: Finding) -> str:
    """Return what would do it, as text: actions, properties and statements."""
    settings = [f"{name}={value}" for name, value in finding.properties]
    return "; ".join((*finding.actions, *settings, *finding.statements))


def size(many: float) -> str:
    """Return bytes as people say them."""
    units = ["bytes", "KB", "MB", "GB"]
    while many >= 1024 and len(units) > 1:
        many, units = many / 1024, units[1:]
    return f"{many:,.0f} {units[0]}" if units[0] == "bytes" or many >= 10 else f"{many:.1f} {units[0]}"
