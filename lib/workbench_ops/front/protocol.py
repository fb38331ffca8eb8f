"""Messages and stubs of Spark Connect, as PySpark brings them; imported when they are used."""

from typing import Any


def base() -> Any:
    """Return the module of the requests and answers."""
    from pyspark.sql.connect.proto import base_pb2

    return base_pb2


def stub(channel: Any) -> Any:
    """Return the calls of a server behind a channel of gRPC."""
    from pyspark.sql.connect.proto import base_pb2_grpc

    stubs: Any = base_pb2_grpc
    return stubs.SparkConnectServiceStub(channel)
