"""The function of soak.lambdas: ours, or a plain append; both die and raise behind their commits, where planted."""

import json
import os
import signal
import zlib

from workbench.light import functions

CATALOG = {
    "name": "lake", "type": "glue", "warehouse": "env:WAREHOUSE", "glue.endpoint": "env:AWS_ENDPOINT_URL",
    "s3.endpoint": "env:AWS_ENDPOINT_URL", "s3.access-key-id": "test", "s3.secret-access-key": "test",
    "s3.region": "us-east-1", "client.region": "us-east-1",
}  # fmt: skip
TABLE = "q.t"


def identify(record):
    return json.loads(record["body"])["id"]


def parse(body):
    message = json.loads(body)
    return [{"message": message["number"], "row": row} for row in range(message["rows"])]


def failing(record):
    """The fault that a message is planted with, at its first delivery."""
    first = record["attributes"].get("ApproximateReceiveCount") == "1"
    drawn = zlib.crc32(record["messageId"].encode()) % 1000 / 1000
    share = float(os.environ.get("FAULTS", "0"))
    return None if not first else "kill" if drawn < share else "raise" if drawn < 2 * share else None


def behind(event):
    """Die, or raise, as one of the messages says; the commit is there by then."""
    faults = {failing(record) for record in event["Records"]}
    if "kill" in faults:
        os.kill(os.getpid(), signal.SIGKILL)
    if "raise" in faults:
        raise RuntimeError("planted behind the commit")


ours = functions.handler(parse, catalog=CATALOG, table=TABLE, identify=identify, tries=100)


def handler(event, context):
    answer = ours(event, context)
    behind(event)
    return answer


def plain(event, context):
    """As walkthroughs have it: append what comes."""
    import pyarrow as pa

    from workbench.light import catalogs
    from workbench.light.functions.handling import _value

    table = catalogs.load({key: _value(value) for key, value in CATALOG.items()}).load_table(TABLE)
    failures, rows = [], []
    for record in event["Records"]:
        try:
            rows += parse(record["body"])
        except ValueError:
            failures.append({"itemIdentifier": record["messageId"]})
    if rows:
        table.append(pa.Table.from_pylist(rows, table.schema().as_arrow()))
    behind(event)
    return {"batchItemFailures": failures}
