"""The function of soak.lambdas: ours, ours with a column of ids, and a plain append; faults strike behind the commit."""

import json
import os

import faults

from workbench.light import functions

LAKE = json.loads(os.environ["LAKE"])
TABLE = "q.t"


def identify(record):
    return json.loads(record["body"])["id"]


def parse(body):
    message = json.loads(body)
    return [{"message": message["id"], "row": row} for row in range(message["rows"])]


ours = {"catalog": LAKE, "table": TABLE, "identify": identify, "tries": 100}
by_summary = functions.handler(parse, **ours)
with_column = functions.handler(parse, **ours, id_column="message")


def handler(event, context):
    answer = by_summary(event, context)
    faults.strike(event)
    return answer


def by_column(event, context):
    answer = with_column(event, context)
    faults.strike(event)
    return answer


def plain(event, context):
    """As walkthroughs have it: append what comes."""
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog

    table = load_catalog(**LAKE).load_table(TABLE)
    failures, rows = [], []
    for record in event["Records"]:
        try:
            rows += parse(record["body"])
        except ValueError:
            failures.append({"itemIdentifier": record["messageId"]})
    if rows:
        table.append(pa.Table.from_pylist(rows, table.schema().as_arrow()))
    faults.strike(event)
    return {"batchItemFailures": failures}
