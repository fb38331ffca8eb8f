"""Commits to Iceberg tables: what an error says of one, when it is repeated, how an unknown outcome is settled.

An error leaves one of three things: nothing was committed and the caller may try again, nothing was committed and
trying again is useless, or nobody knows. The third is settled by looking at the table, never by a blind repeat.
"""

import json
import random
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any

from workbench import identifiers
from workbench.tables import snapshots

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
        *(f"org.apache.hc.core5.http.{name}Exception" for name in ("ConnectionClosed", "NoHttpResponse")),
        "org.apache.hc.client5.http.ConnectTimeoutException",
        "software.amazon.awssdk.core.exception.SdkClientException",
    }),
)  # fmt: skip
# Where a Java error reached Python as text only: through foreachBatch, or over Spark Connect
_NAMED = re.compile(r"^(?:: |Caused by: |JVM stacktrace:\n)([\w.$]+(?:Exception|Error))\b", re.MULTILINE)
_DEEPEST = 30


class OutcomeUnknown(RuntimeError):
    """A commit may be in the table or not, and looking did not settle it."""


class MainMoved(RuntimeError):
    """Main is no longer the snapshot it was expected to be: somebody committed meanwhile.

    Attributes:
        expected: snapshot id main should have had; None when it should have had none.
        found: snapshot id it has.
    """

    def __init__(self, table, expected, found, note=""):
        super().__init__(f"main of {table} moved from snapshot {expected} to {found}{note}")
        self.expected, self.found = expected, found


class BranchMoved(RuntimeError):
    """A branch is not where its owner left it: somebody else committed to it, replaced or dropped it."""


@dataclass(frozen=True)
class Attempt:
    """How a commit ended well.

    Attributes:
        value: what the commit returned, or what `landed` returned when the answer was lost.
        tries: how often it was begun.
        found: whether it was known only by looking at the table.
    """

    value: Any
    tries: int
    found: bool


def causes(error):
    """Return the class names of a Spark error's Java exceptions, outermost first.

    Args:
        error: exception from PySpark or Py4J; its Python causes are followed too.

    Returns:
        tuple of full class names; empty when none is behind it.
    """
    names, texts = [], []
    while error is not None and len(texts) < _DEEPEST:
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        while java is not None and len(names) < _DEEPEST:
            names.append(java.getClass().getName())
            texts.append(str(java.getMessage()))
            java = java.getCause()
        texts.append(str(error))
        error = error.__cause__
    return tuple(names + [name for text in texts for name in _NAMED.findall(text) if name not in names])


def kind(error):
    """Say what an error leaves: `conflict`, `validation`, `unknown`, `connection` or `other`.

    `conflict` and `validation` are refusals: nothing was committed. After `unknown` and `connection` the commit
    may be in the table. `other` is a failure that is none of a commit's, such as bad SQL.
    """
    names = set(causes(error))
    found = next((kind for kind, classes in _KINDS if names & classes), None)
    return found or (CONNECTION if isinstance(error, ConnectionError) else OTHER)


def attempt(
    commit,
    *,
    landed=None,
    again=(CONFLICT,),
    conditional=False,
    tries=5,
    first_wait_s=0.1,
    longest_wait_s=60.0,
    sleep=time.sleep,
):
    """Call a function that commits, again where safe with doubling waits; settle an unknown outcome by looking.

    Args:
        commit: function without arguments; each call begins from the table's newest state.
        landed: function without arguments that looks for this commit's own mark in the table: returns what stands
            for the commit, or None when the mark is not there. Without one an unknown outcome stays unknown.
        again: kinds of refusal that are tried again. A statement whose rows depend on what it read may name
            `validation` too, because the whole of it runs again.
        conditional: whether a repeat cannot take effect twice (it is bound to the same base, or idempotent). Only
            then is a commit whose mark is not there tried again: the lost request may still land after the look.
        tries: how often at most.
        first_wait_s: seconds before the second try.
        longest_wait_s: the most that one wait takes, before chance is added.
        sleep: function that waits; for tests.

    Returns:
        Attempt.

    Raises:
        OutcomeUnknown: the commit may be in the table or not.
        Exception: the last refusal when tries are used up; any other error at once.
    """
    import tenacity

    if not isinstance(tries, int) or tries < 1:
        raise ValueError(f"tries is a whole number from 1, not {tries!r}")
    if wrong := sorted(set(again) - {CONFLICT, VALIDATION}):
        raise ValueError(f"only the refusals conflict and validation can be tried again as such, not {wrong[0]}")
    begun = 0

    def once():
        nonlocal begun
        begun += 1
        try:
            return Attempt(commit(), begun, False)
        except Exception as error:
            if kind(error) not in (UNKNOWN, CONNECTION):
                raise
            if landed is None:
                raise OutcomeUnknown(f"a commit's outcome is unknown: {_first_line(error)}") from error
            if (value := _look(landed, error, sleep)) is not None:
                return Attempt(value, begun, True)
            if not conditional or begun == tries:
                raise OutcomeUnknown(
                    f"a commit's outcome is unknown: {_first_line(error)}; not there now, it may still arrive"
                ) from error
            raise

    def wait(state):
        return min(first_wait_s * 2 ** (state.attempt_number - 1), longest_wait_s) * random.uniform(1, 1.25)

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(tries),
        retry=tenacity.retry_if_exception(lambda error: kind(error) in (*again, UNKNOWN, CONNECTION)),
        wait=wait,
        sleep=sleep,
        reraise=True,
    )
    return retrying(once)


def load(spark, table):
    """Return Iceberg's own table object at the newest metadata, past every cache of the session.

    Raises:
        TableNotFound: no such table.
        ValueError: it is no Iceberg table or a part of one (`t.history`, `t.branch_x`), or over Spark Connect.
    """
    from py4j.java_gateway import is_instance_of

    quoted = identifiers.quoted(table)
    if not hasattr(spark, "_jsparkSession"):
        raise ValueError("this needs a classic Spark session; Spark Connect gives no way to Iceberg's tables")
    # a Python thread has a Java thread of its own, in which no session is active and no catalog known
    type(spark)._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)
    try:
        loaded = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, quoted)
    except Exception as error:
        if kind(error) != VALIDATION and not spark.catalog.tableExists(table):  # t.branch_x where t has no x
            snapshots.current(spark, table)  # says which tables there are
        raise ValueError(f"{table} is no Iceberg table: {_first_line(error)}") from error
    metadata = is_instance_of(spark.sparkContext._gateway, loaded, "org.apache.iceberg.BaseMetadataTable")
    of, _, last = table.rpartition(".")
    selects = last.startswith(("branch_", "tag_", "snapshot_id_", "at_timestamp_"))
    if metadata or (selects and not loaded.name().lower().endswith(f".{last}".lower())):
        raise ValueError(f"{table} is a part of the table {of}; name that one")
    loaded.refresh()
    return loaded


def snapshots_of(spark, loaded):
    """Return a loaded table's snapshots, dicts as in the table specification, past what Spark may have cached."""
    text = spark._jvm.org.apache.iceberg.TableMetadataParser.toJson(loaded.operations().current())
    return [{"summary": {}, **one} for one in json.loads(text).get("snapshots", [])]


def columns_of(loaded, snapshot_id=None):
    """Return {column name: (field id, type)} of a loaded table, or as a snapshot is read by its id."""
    schema = loaded.schemas().get(loaded.snapshot(snapshot_id).schemaId()) if snapshot_id else loaded.schema()
    return {field.name(): (field.fieldId(), field.type().toString()) for field in schema.columns()}


def head(loaded, branch="main"):
    """Return the snapshot id a branch of a loaded table points to; None when there is no such branch."""
    return ref.snapshotId() if (ref := loaded.refs().get(branch)) is not None else None


def descends(spark, loaded, snapshot_id, ancestor_id):
    """Say whether a snapshot of a loaded table is another one or descends from it."""
    return spark._jvm.org.apache.iceberg.util.SnapshotUtil.isAncestorOf(loaded, snapshot_id, ancestor_id)


def fast_forward(spark, table, *, to, expected, branch, tries=10, columns=None):
    """Move main to the head of a branch and drop the branch, in one commit, if nothing moved meanwhile.

    Iceberg's procedure `fast_forward` publishes whatever the branch points to, also if main was rolled back under
    it. Here the commit is bound to a state in which main was `expected` and the branch at `to`; any change between
    makes Iceberg refuse it (*Table metadata refresh is required*), and it is tried again from a fresh look.

    Args:
        spark: classic session whose catalog holds the table.
        table: `namespace.name` or `catalog.namespace.name`.
        to: snapshot id, the branch's head and main's next snapshot; descends from `expected`.
        expected: snapshot id main has now; None when it has none yet.
        branch: its name; gone afterwards.
        tries: how often at most.
        columns: `columns_of` when the rows were written; one of them that was dropped or replaced since is
            refused like a main that moved.

    Returns:
        Attempt, its value the snapshot id `to`. Main has been read again: it is this snapshot or descends from it.

    Raises:
        MainMoved: main is another snapshot.
        BranchMoved: the branch is not at `to`.
        OutcomeUnknown: main may have been moved or not, or an acknowledged commit is not in the table.
        ValueError: `to` does not descend from `expected`.
    """

    def landed():
        loaded = load(spark, table)
        main = head(loaded)
        return to if main is not None and descends(spark, loaded, main, to) else None

    def commit():
        loaded = load(spark, table)
        # bound to the metadata of this moment, so a commit that succeeds began from exactly what is checked here
        manager = loaded.manageSnapshots()
        if (main := head(loaded)) != expected:
            raise MainMoved(table, expected, main)
        if lost := sorted(set((columns or {}).items()) - set(columns_of(loaded).items())):
            raise MainMoved(table, expected, main, f": its column {lost[0][0]} was dropped or replaced meanwhile")
        if (found := head(loaded, branch)) != to:
            raise BranchMoved(f"branch {branch} of {table} is at snapshot {found}, not at {to}")
        if expected is not None and not descends(spark, loaded, to, expected):
            raise ValueError(f"snapshot {to} of {table} does not descend from main's, {expected}")
        tag = f"{branch}_{uuid.uuid4().hex[:8]}"  # seen by nobody: made and removed within the commit
        manager.createTag(tag, to).fastForwardBranch("main", tag).removeTag(tag).removeBranch(branch).commit()
        return to

    def known():
        try:
            return commit()
        except (MainMoved, BranchMoved):
            if value := landed():  # an earlier try whose answer was lost
                return value
            raise

    done = attempt(known, landed=landed, conditional=True, tries=tries, first_wait_s=0.05, longest_wait_s=2)
    if landed() is None:
        main = head(load(spark, table))
        raise OutcomeUnknown(f"the catalog acknowledged main of {table} at snapshot {to}, but main is now {main}")
    return done


def _look(landed, error, sleep):
    """Return what `landed` finds; the look may meet the same broken connection, and is tried again."""
    import tenacity

    looking = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(5),
        wait=tenacity.wait_exponential(multiplier=0.2, max=5),
        retry=tenacity.retry_if_exception(lambda e: kind(e) in (UNKNOWN, CONNECTION)),
        sleep=sleep,
        reraise=True,
    )
    try:
        return looking(landed)
    except Exception as failed:
        why = f"{_first_line(error)}; the look at the table failed too: {_first_line(failed)}"
        raise OutcomeUnknown(f"a commit's outcome is unknown: {why}") from error


def _first_line(error):
    java = getattr(error, "java_exception", None)
    text = f"{java.getClass().getSimpleName()}: {java.getMessage()}" if java is not None else str(error)
    return (text.strip().splitlines() or [type(error).__name__])[0]
