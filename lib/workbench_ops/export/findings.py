"""The findings of a check: one sentence for each thing that would differ, with its place and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench._base.door import checked
from workbench_ops.export.versions import CANNOT_RUN, DIFFERS

RUNS = "runs"


@dataclass(frozen=True, order=True)
class Finding:
    """One thing in a notebook that would be different in Glue.

    Attributes:
        cell: number among the code cells that are not empty, from 1.
        line: of that cell, from 1.
        rule: name of the rule.
        grade: `differs`, or `cannot run`.
        what: the thing itself.
        why: why that matters in Glue.
        instead: what to do.
    """

    cell: int
    line: int
    rule: str
    grade: str
    what: str
    why: str
    instead: str

    def sentence(self) -> str:
        """Return the finding as one sentence."""
        return f"cell {self.cell}, line {self.line}: {self.what}: {self.why}; {self.instead}"


@checked
def verdict(findings: Iterable[Finding]) -> str:
    """Return the worst grade of findings: `cannot run`, `differs`, or `runs` without any."""
    grades = {finding.grade for finding in findings}
    return next((grade for grade in (CANNOT_RUN, DIFFERS) if grade in grades), RUNS)
