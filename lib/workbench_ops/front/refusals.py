"""What the front says when it refuses, and what is left of the server's errors: nothing the client did not send.

A message of Spark's may quote a row, a condition or the names of hidden columns. Of it go through: the class of
the error, its SQLSTATE, and of an error of analysis those parameters that consist of words of the client's own.
"""

import json
import re
from collections.abc import Collection
from typing import Any

from workbench._base.errors import ArgumentError

CLASS = re.compile(r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*")
STATE = re.compile(r"[0-9A-Z]{5}")
JAVA = re.compile(r"(org\.apache\.spark|java\.lang|java\.util)(\.[A-Za-z]+)+")
WORD = re.compile(r"\w+")
# errors that are found before a row is read, so that their parameters cannot be of one
OF_ANALYSIS = (
    "AMBIGUOUS_", "COLUMN_ALREADY_EXISTS", "DATATYPE_MISMATCH", "FIELD_NOT_FOUND", "GROUP_BY_", "GROUPING_",
    "INCOMPATIBLE_", "INVALID_EXTRACT_", "INVALID_USAGE_", "MISSING_AGGREGATION", "MISSING_GROUP_BY",
    "NESTED_AGGREGATE", "NUM_COLUMNS_MISMATCH", "NUM_TABLE_VALUE_", "PARSE_", "UNBOUND_SQL_PARAMETER",
    "UNRESOLVED_", "UNSUPPORTED_", "WRONG_NUM_ARGS",
)  # fmt: skip
MOST_CHARACTERS = 300


class Refused(ArgumentError):
    """What a client asks for is not let through; the message says what and why, and nothing of what is hidden.

    Attributes:
        code: name of the status of gRPC.
    """

    def __init__(self, message: str, code: str = "PERMISSION_DENIED") -> None:
        super().__init__(message)
        self.code = code


def status(refused: Refused) -> Any:
    """Return what gRPC sends for a refusal, for `abort_with_status`."""
    # by this class PySpark's client raises an AnalysisException, as for other queries that cannot be answered
    classes = {"classes": json.dumps(["org.apache.spark.sql.AnalysisException"])}
    return _status(refused.code, f"the front refuses this: {refused}", classes)


def cleaned(error: Any, words: Collection[str]) -> Any:
    """Return what gRPC sends for an error of the server.

    Args:
        error: grpc.RpcError of a call.
        words: those in the client's request.

    Returns:
        grpc.Status, for `abort_with_status`.
    """
    import grpc

    code = error.code()
    if code == grpc.StatusCode.UNAVAILABLE:
        return _status("UNAVAILABLE", "the server behind the front does not answer", {})
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return _status("DEADLINE_EXCEEDED", "the server behind the front took too long to plan this", {})
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        return _status(
            "RESOURCE_EXHAUSTED", "the query or its answer is too large for the server or the front", {}
        )
    if code == grpc.StatusCode.CANCELLED:
        return _status("CANCELLED", "the query was cancelled", {})
    info = _info(error)
    kind, named = info.get("errorClass", ""), {}
    if not CLASS.fullmatch(kind) or len(kind) > MOST_CHARACTERS:
        text = "the server behind the front failed; what it says of it is not passed on"
        return _status("INTERNAL", text, _classes(info))
    if kind.startswith(OF_ANALYSIS):
        named = {name: value for name, value in _parameters(info).items() if _known(value, words)}
    rest = "; of what it names, this is also in the query: " if named else ""
    text = f"[{kind}] the server behind the front cannot answer this{rest}"
    text += ", ".join(f"{name} = {value}" for name, value in named.items())
    metadata = _classes(info) | {"errorClass": kind, "messageParameters": json.dumps(named)}
    if STATE.fullmatch(info.get("sqlState", "")):
        metadata["sqlState"] = info["sqlState"]
    return _status("INTERNAL", text, metadata)


def words_of(message: Any) -> frozenset[str]:
    """Return the words of all texts in a message of a client."""
    return frozenset(word for text in _texts(message) for word in WORD.findall(text.lower()))


def _texts(message: Any) -> Any:
    for field, value in message.ListFields():
        if field.message_type is None:
            if field.cpp_type == field.CPPTYPE_STRING and field.type == field.TYPE_STRING:
                yield from [value] if isinstance(value, str) else value
        elif field.message_type.GetOptions().map_entry:
            yield from value
            yield from (item for item in value.values() if isinstance(item, str))
            for item in value.values():
                yield from () if isinstance(item, str) else _texts(item)
        else:
            for item in [value] if hasattr(value, "ListFields") else value:
                yield from _texts(item)


def _known(value: object, words: Collection[str]) -> bool:
    return isinstance(value, str) and len(value) <= MOST_CHARACTERS and {*WORD.findall(value.lower())} <= {*words}


def _info(error: Any) -> dict[str, str]:
    """Return the metadata of the ErrorInfo in an error, {} where there is none."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    try:
        details = rpc_status.from_call(error)
    except ValueError:  # the two places in which gRPC has the message differ
        return {}
    for detail in details.details if details else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return dict(info.metadata)
    return {}


def _parameters(info: dict[str, str]) -> dict[str, Any]:
    try:
        parameters = json.loads(info.get("messageParameters", "{}"))
    except ValueError:
        return {}
    return parameters if isinstance(parameters, dict) else {}


def _classes(info: dict[str, str]) -> dict[str, str]:
    """Return which of Java's classes an error is of, by which a client chooses its own."""
    try:
        classes = json.loads(info.get("classes", "[]"))
    except ValueError:
        return {}
    return {"classes": json.dumps([name for name in classes if JAVA.fullmatch(str(name))])}


def _status(code: str, text: str, metadata: dict[str, str]) -> Any:
    import grpc
    from google.protobuf import any_pb2
    from google.rpc import error_details_pb2, status_pb2
    from grpc_status import rpc_status

    info: Any = error_details_pb2.ErrorInfo(domain="org.apache.spark", metadata=metadata)
    detail = any_pb2.Any()
    detail.Pack(info)
    number = getattr(grpc.StatusCode, code).value[0]
    return rpc_status.to_status(status_pb2.Status(code=number, message=text, details=[detail]))
