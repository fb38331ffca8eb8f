"""What a check says: one sentence for each thing that would differ, with where it is and what to do."""

from dataclasses import dataclass

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
        what: what stands there.
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

    def sentence(self):
        """Return it as one sentence."""
        return f"cell {self.cell}, line {self.line}: {self.what}: {self.why}; {self.instead}"


def verdict(findings):
    """Return the worst grade of findings: `cannot run`, `differs`, or `runs` without any."""
    grades = {finding.grade for finding in findings}
    return next((grade for grade in (CANNOT_RUN, DIFFERS) if grade in grades), RUNS)
