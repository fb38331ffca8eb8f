"""A queue's messages through functions of Lambda that die and raise behind their commits: each is there once.

    python -m soak.lambdas [MESSAGES [CONCURRENCY [PLAIN_MESSAGES]]]

On the stand-in of an AWS account, from the zip that would be deployed: of the messages a tenth are unreadable, about
5 % are sent twice by their sender, 5 % kill their function behind its commit and 5 % let it raise there, at their
first delivery. First a plain append, as walkthroughs have it, then ours; figures go to docs/evidence.
"""

import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from bench import evidence

from workbench import light
from workbench.light import functions
from workbench_standins import account
from workbench_standins.account import functions as deployed

FAULTS, ROWS_EACH, UNREADABLE_EVERY, SEED = 0.05, 20, 10, 1
BATCH, VISIBILITY_SECONDS = 5, 30  # a message whose function died comes again after those
SCHEMA = pa.schema([("message", pa.int64()), ("row", pa.int64())])
COUNTS = """SELECT count(*) AS rows, count(DISTINCT (message, row)) AS different, count(DISTINCT message) AS messages
    FROM q.t"""


def main(messages=1000, concurrency=8, plain=80):
    """Run both, print and keep the figures; the exit code says whether ours held."""
    messages, concurrency, plain = int(messages), int(concurrency), int(plain)
    with tempfile.TemporaryDirectory() as folder:
        zipped = packed(Path(folder))
        figures = {
            "plain": run(zipped.path, "app.plain", plain, concurrency),
            "ours": run(zipped.path, "app.handler", messages, concurrency),
        }
    evidence.write(
        "lambda",
        what=f"{messages} messages of {ROWS_EACH} rows, batches of {BATCH}, {concurrency} at once; a tenth unreadable, "
        "5 % sent twice, 5 % killed and 5 % raising behind the commit",
        messages=messages, concurrency=concurrency,
        zip_mb=round(zipped.bytes / 1e6), zip_packed_mb=round(zipped.packed_bytes / 1e6), **figures,
    )  # fmt: skip
    ours = figures["ours"]
    held = ours["rows_lost"] == ours["rows_doubled"] == 0 and ours["dead_letters"] == ours["dead_letters_expected"]
    return 0 if held and figures["plain"]["rows_doubled"] else 1


def packed(folder):
    """Write the zip of queue_function.py."""
    (folder / "function").mkdir()
    shutil.copy(Path(__file__).with_name("queue_function.py"), folder / "function" / "app.py")
    return functions.package(folder / "function", folder / "function.zip")


def run(zip_path, handler, messages, concurrency):
    """Let a function take messages from a queue; returns what was lost and doubled."""
    begun = time.monotonic()
    with account.serve() as served:
        served.client("s3").create_bucket(Bucket="lake")
        properties = {"name": "lake"} | served.properties("s3://lake/warehouse")
        catalog = light.catalogs.load(properties)
        catalog.create_namespace("q")
        catalog.create_table("q.t", SCHEMA)
        variables = {
            "WAREHOUSE": "s3://lake/warehouse",
            "FAULTS": str(FAULTS),
            "AWS_ENDPOINT_URL": served.endpoint,
        }
        place = deployed.deploy(
            served, zip_path, handler=handler, variables=variables, batch=BATCH, concurrency=concurrency,
            visibility_seconds=VISIBILITY_SECONDS,
        )  # fmt: skip
        queues = served.client("sqs")
        unreadable = sum(send(queues, place.queue, messages))
        deployed.drained(queues, place.queue, patience_seconds=900 + 5 * messages)
        (found,) = light.query(properties, COUNTS).to_pylist()
        expected = ROWS_EACH * (messages - len(range(0, messages, UNREADABLE_EVERY)))
        return {
            "rows_expected": expected,
            "rows_lost": expected - found["different"],
            "rows_doubled": found["rows"] - found["different"],
            "dead_letters": deployed.waiting(queues, place.dead_letters),
            "dead_letters_expected": unreadable,
            "commits": len(catalog.load_table("q.t").snapshots()),
            "minutes": round((time.monotonic() - begun) / 60, 1),
        }


def send(queues, queue, messages):
    """Send the messages; gives for each delivery whether it is unreadable."""
    drawn = random.Random(SEED)
    for number in range(messages):
        readable = number % UNREADABLE_EVERY
        body = json.dumps({"id": f"m{number}", "number": number, "rows": ROWS_EACH}) if readable else "unreadable"
        for _ in range(2 if drawn.random() < FAULTS else 1):
            queues.send_message(QueueUrl=queue, MessageBody=body)
            yield not readable


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
