"""What an error says of a commit: it was refused, its outcome is unknown, or the error is not about a commit."""

import re
from typing import Final

from workbench._base.door import checked
from workbench._base.errors import WorkbenchError

CONFLICT: Final = "conflict"  # another commit came first; nothing of this one is in the table
VALIDATION: Final = "validation"  # the data changed under the commit; the statement itself has to run again
UNKNOWN: Final = "unknown"  # it may be in the table or not
CONNECTION: Final = "connection"  # catalog or store did not answer; a commit may be in the table or not
OTHER: Final = "other"

_ICEBERG = "org.apache.iceberg.exceptions."
_KINDS = (  # the first kind that has one of its classes in the chain wins
    # the JDBC catalog wraps each failed statement, also one whose answer was lost, in UncheckedSQLException
    (UNKNOWN, {_ICEBERG + "CommitStateUnknownException", "org.apache.iceberg.jdbc.UncheckedSQLException",
               "org.apache.iceberg.jdbc.UncheckedInterruptedException"}),
    (CONFLICT, {_ICEBERG + "CommitFailedException"}), (VALIDATION, {_ICEBERG + "ValidationException"}),
    (CONNECTION, {
        _ICEBERG + "ServiceFailureException", _ICEBERG + "ServiceUnavailableException",
        *(f"java.net.{name}Exception" for name in ("Connect", "NoRouteToHost", "Socket", "SocketTimeout")),
        "java.net.UnknownHostException", "javax.net.ssl.SSLException", "java.nio.channels.ClosedChannelException",
        *(f"java.sql.SQL{name}Exception" for name in ("NonTransientConnection", "Timeout", "TransientConnection")),
        # the REST client's word for no answer, or none that it can read. A refusal has another class; the classes
        # behind this one are those of an HTTP library, which Iceberg ships under names of its own
        _ICEBERG + "RESTException",
        "software.amazon.awssdk.core.exception.SdkClientException",
    }),
)  # fmt: skip
_GONE = {  # a file that is not there: Iceberg's word, S3's where Iceberg only asks for a length, that of a disk
    _ICEBERG + "NotFoundException",
    "software.amazon.awssdk.services.s3.model.NoSuchKeyException",
    "java.io.FileNotFoundException",
}
# A commit to another branch took the sequence number: some REST servers call that a bad request, others a
# validation (apache/iceberg#15001). Nothing of this one is in the table, and it can be repeated
_TAKEN = re.compile(r"add snapshot with sequence number \d+.* last sequence number \d+")
_CALLED = {_ICEBERG + "BadRequestException", _ICEBERG + "ValidationException"}
# Where a Java error reached Python as text only: through foreachBatch, or over Spark Connect
_NAMED = re.compile(r"^(?:: |Caused by: |JVM stacktrace:\n)([\w.$]+(?:Exception|Error))\b", re.MULTILINE)
_DEEPEST = 30
_TASK = "Job aborted due to stage failure"


class OutcomeUnknown(WorkbenchError, RuntimeError):
    """A commit may be in the table or not, and looking did not settle it."""


class PartlyCommitted(WorkbenchError, RuntimeError):
    """A write committed once and was refused after that: it commits more than once, and must not be repeated."""


class WrongTable(WorkbenchError, RuntimeError):
    """A write committed to another table than the one that was named, and nothing to that one."""


class MainMoved(WorkbenchError, RuntimeError):
    """Main is no longer the snapshot it was expected to be: somebody committed meanwhile.

    Attributes:
        expected: snapshot id main should have had; None when it should have had none.
        found: snapshot id it has.
    """

    def __init__(self, table: str, expected: int | None, found: int | str | None, note: str = "") -> None:
        super().__init__(f"main of {table} moved from snapshot {expected} to {found}{note}")
        self.expected, self.found = expected, found


class BranchMoved(WorkbenchError, RuntimeError):
    """A branch is not where its owner left it: somebody else committed to it, replaced or dropped it."""


@checked
def causes(error: BaseException | None) -> tuple[str, ...]:
    """Return the class names of a Spark error's Java exceptions, outermost first.

    Args:
        error: exception from PySpark or Py4J; its Python causes are followed too.

    Returns:
        tuple of full class names; empty where no Java exception is behind it.

    Raises:
        ValueError: it is not an exception.
    """
    return _chain(error)[0]


@checked
def missing_file(error: BaseException | None) -> bool:
    """Say whether the cause of an error is a missing file, as of a snapshot that expired under its reader.

    Java says the same of a file on disk that may not be read. None gives False.

    Raises:
        ValueError: it is not an exception.
    """
    return bool(_GONE.intersection(causes(error)))


def _chain(error: BaseException | None) -> tuple[tuple[str, ...], list[str]]:
    """Return (class names of the Java exceptions behind an error, what each exception says)."""
    names: list[str] = []
    texts: list[str] = []
    while error is not None and len(texts) < _DEEPEST:
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        while java is not None and len(names) < _DEEPEST:
            names.append(java.getClass().getName())
            texts.append(str(java.getMessage()))
            java = java.getCause()
        texts.append(str(error))
        error = error.__cause__
    return tuple(names + [name for text in texts for name in _NAMED.findall(text) if name not in names]), texts


@checked
def kind(error: BaseException | None) -> str | None:
    """Say what an error leaves: `conflict`, `validation`, `unknown`, `connection` or `other`.

    `conflict` and `validation` are refusals: nothing was committed. After `unknown` and `connection` the commit
    may be in the table. `other` is a failure that is not about a commit, such as bad SQL. None gives None.

    Raises:
        ValueError: it is not an exception.
    """
    if error is None:
        return None
    names, texts = _chain(error)
    matched = next((kind for kind, classes in _KINDS if classes.intersection(names)), None)
    if matched in (None, VALIDATION) and _CALLED.intersection(names) and any(map(_TAKEN.search, texts)):
        return CONFLICT
    if matched == CONNECTION and any(_TASK in text for text in texts):
        return OTHER  # a task lost its connection, to its worker or the store; a commit follows all tasks
    return matched or (CONNECTION if isinstance(error, ConnectionError) else OTHER)


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, its Java class before it where there is one."""
    java = getattr(error, "java_exception", None)
    text = f"{java.getClass().getSimpleName()}: {java.getMessage()}" if java is not None else str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]
