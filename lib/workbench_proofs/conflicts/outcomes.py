"""The outcome of a race: from the chain of Java exceptions, from what is in the table, and from its rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tables import commits
from workbench_proofs.conflicts.racing import Race

if TYPE_CHECKING:
    from workbench_proofs.conflicts.orders import Rows, Serial  # which needs `reason`

BOTH, RETRIED = "both_committed", "retried_and_committed"
CATALOG, DATA, OTHER = "catalog_conflict", "data_conflict", "other_error"
ANOMALY = "silent_anomaly"
OUTCOMES = (BOTH, RETRIED, CATALOG, DATA, OTHER, ANOMALY)
_REFUSALS = {commits.CONFLICT: CATALOG, commits.VALIDATION: DATA}
_ICEBERG = "org.apache.iceberg.exceptions."
_DEEPEST = 30


@dataclass(frozen=True)
class Outcome:
    """What became of the second statement.

    Attributes:
        name: one of OUTCOMES.
        error_class: simple name of the Java exception that says why it was refused; None when it was not.
        message: first line of what that exception says.
        equal_to: the order that gives the final rows: first_second, second_first, both or neither; of a refused
            second first_alone, when nothing of it is in the table.
    """

    name: str
    error_class: str | None
    message: str | None
    equal_to: str


def outcome(race: Race, serial: "Serial", rows: "Rows", *, landed: int) -> Outcome:
    """Classify a race.

    Args:
        race: racing.Race; its first statement succeeded.
        serial: orders.Serial of the statements.
        rows: final rows, as orders.rows_of gives them.
        landed: how many of the two commits are in the table's history.

    Returns:
        Outcome. `silent_anomaly` when both said that they succeeded and no serial order gives these rows, or one
        of the two commits is not there. A refusal that left something in the table is `other_error`.
    """
    if race.second is None:
        equal = serial.equal_to(rows)
        if equal == "neither" or landed != 2:
            return Outcome(ANOMALY, None, None, equal)
        return Outcome(RETRIED if race.attempts > 1 else BOTH, None, None, equal)
    clean = rows == serial.first_alone and landed == 1
    equal = "first_alone" if clean else serial.equal_to(rows)
    kind = commits.kind(race.second)
    return Outcome(_REFUSALS.get(kind, OTHER) if clean and kind else OTHER, *reason(race.second), equal)


def reason(error: BaseException) -> tuple[str, str]:
    """Return (simple class name, first line of the message) of the Java exception that decides.

    It is the first of Iceberg's own in the chain of causes, else the last of the chain, else the Python error.
    """
    chain: list[tuple[str, str]] = []  # of (class, message)
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while java is not None and len(chain) < _DEEPEST:
        chain.append((java.getClass().getName(), str(java.getMessage())))
        java = java.getCause()
    chain = chain or [(type(error).__name__, str(error))]
    name, message = next((entry for entry in chain if entry[0].startswith(_ICEBERG)), chain[-1])
    return name.rpartition(".")[2], (message.strip().splitlines() or [""])[0]
