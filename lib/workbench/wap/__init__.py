"""Write, audit, publish: a gate that publishes exactly what was audited, with its evidence, while others commit.

`run` does it all. `staging`, `attest` and `publish` are its steps for people who publish themselves; `evidence`
lists what was published through the gate, `sweep` drops what dead runs left.
"""

from workbench.tables.commits import BranchMoved, MainMoved, OutcomeUnknown
from workbench.wap.attestation import AlreadyPublished, Attested, attest, evidence
from workbench.wap.branches import AlreadyStaged, NothingStaged, Stage, sweep
from workbench.wap.gate import Outcome, run
from workbench.wap.manual import NotAudited, UnknownBranch, publish, staging

__all__ = [
    "AlreadyPublished",
    "AlreadyStaged",
    "Attested",
    "BranchMoved",
    "MainMoved",
    "NotAudited",
    "NothingStaged",
    "Outcome",
    "OutcomeUnknown",
    "Stage",
    "UnknownBranch",
    "attest",
    "evidence",
    "publish",
    "run",
    "staging",
    "sweep",
]
