"""What an error says of a commit: refused, unknown, or none of a commit's."""

import re

from workbench._base import arguments
from workbench._base.errors import WorkbenchError

CONFLICT = "conflict"  # another commit came first; nothing of this one is in the table
VALIDATION = "validation"  # the data changed under the commit; the statement itself has to run again
UNKNOWN = "unknown"  # it may be in the table or not
CONNECTION = "connection"  # catalog or store did not answer; a commit may be in the table or not
OTHER = "other"

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
    """A write committed to another table than the one that was named, and to that one nothing."""


class MainMoved(WorkbenchError, RuntimeError):
    """Main is no longer the snapshot it was expected to be: somebody committed meanwhile.

    Attributes:
        expected: snapshot id main should have had; None when it should have had none.
        found: snapshot id it has.
    """

    def __init__(self, table, expected, found, note=""):
        super().__init__(f"main of {table} moved from snapshot {expected} to {found}{note}")
        self.expected, self.found = expected, found


class BranchMoved(WorkbenchError, RuntimeError):
    """A branch is not where its owner left it: somebody else committed to it, replaced or dropped it."""


def causes(error):
    """Return the class names of a Spark error's Java exceptions, outermost first.

    Args:
        error: exception from PySpark or Py4J; its Python causes are followed too.

    Returns:
        tuple of full class names; empty when none is behind it.

    Raises:
        ValueError: it is no exception.
    """
    return _chain(_checked(error))[0]


def missing_file(error):
    """Say whether an error comes of a file that is gone, as of one that expired under its reader.

    Java says the same of a file on disk that may not be read. Where nothing was raised it is False.

    Raises:
        ValueError: it is no exception.
    """
    return bool(_GONE.intersection(causes(error)))


def _checked(error):
    if error is not None:
        arguments.kind("error", error, BaseException, "an exception")
    return error


def _chain(error):
    """Return (class names of the Java exceptions behind an error, what each exception says)."""
    names, texts = [], []
    while error is not None and len(texts) < _DEEPEST:
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        while java is not None and len(names) < _DEEPEST:
            names.append(java.getClass().getName())
            texts.append(str(java.getMessage()))
            java = java.getCause()
        texts.append(str(error))
        error = error.__cause__
    return tuple(names + [name for text in texts for name in _NAMED.findall(text) if name not in names]), texts


def kind(error):
    """Say what an error leaves: `conflict`, `validation`, `unknown`, `connection` or `other`.

    `conflict` and `validation` are refusals: nothing was committed. After `unknown` and `connection` the commit
    may be in the table. `other` is a failure that is none of a commit's, such as bad SQL. Where nothing was raised
    it is None.

    Raises:
        ValueError: it is no exception.
    """
    if error is None:
        return None
    names, texts = _chain(_checked(error))
    found = next((kind for kind, classes in _KINDS if classes.intersection(names)), None)
    if found in (None, VALIDATION) and _CALLED.intersection(names) and any(map(_TAKEN.search, texts)):
        return CONFLICT
    if found == CONNECTION and any(_TASK in text for text in texts):
        return (
            OTHER  # what lost its connection was a task, to its worker or the store, and a commit follows them all
        )
    return found or (CONNECTION if isinstance(error, ConnectionError) else OTHER)


def first_line(error):
    """Return the first line of what an error says, its Java class before it where there is one."""
    java = getattr(error, "java_exception", None)
    text = f"{java.getClass().getSimpleName()}: {java.getMessage()}" if java is not None else str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]
