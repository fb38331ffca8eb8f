"""What hurts a table: findings as values, and their table."""

from dataclasses import dataclass
from datetime import datetime

from workbench._base import arguments
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
    def by(self):
        """What would do it: `maintenance`, `property` or `owner`."""
        return "maintenance" if self.actions else "property" if self.properties else "owner"


@dataclass(frozen=True)
class Diagnosis:
    """What was found of a table.

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
    def causes(self):
        """The names of what was found, in its order."""
        return tuple(one.cause for one in self.findings)


def told(findings):
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

    each = findings.findings if isinstance(findings, Diagnosis) else findings
    each = tuple(each) if hasattr(each, "__iter__") else (each,)
    for one in each:
        arguments.kind("findings", one, Finding, "what doctor.diagnose returns, or some of its findings")
    rows = [(one.cause, one.severity, one.what, one.advice, one.by, would_do(one)) for one in each]
    return pd.DataFrame(rows, columns=["cause", "severity", "what", "advice", "by", "would_do"])


def would_do(finding):
    """Return what would do it, as text: actions, properties and statements."""
    settings = [f"{name}={value}" for name, value in finding.properties]
    return "; ".join((*finding.actions, *settings, *finding.statements))


def size(many):
    """Return bytes as people say them."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if many < 1024 or unit == "GB":
            return f"{many:,.0f} {unit}" if unit == "bytes" or many >= 10 else f"{many:.1f} {unit}"
        many /= 1024
