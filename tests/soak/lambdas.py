"""A queue's messages through functions of Lambda that die and raise behind their commits: each is there once.

    python -m soak.lambdas [MESSAGES [CONCURRENCY [PLAIN_MESSAGES]]]

On the stand-in of an AWS account, from the zip that would be deployed: of the messages a tenth are unreadable, and 5 %
each kill their function behind its commit, let it raise there, and are sent twice by their sender. First a plain
append, as walkthroughs have it, then ours. Then all snapshots but the newest are expired, and old messages are sent
again: they are refused, or looked up in a column beside new ones. Figures go to docs/evidence.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from bench import evidence

from workbench import light
from workbench_proofs import lambdas
from workbench_standins import account

FAULTS, ROWS_EACH, BATCH, AGAIN = 0.05, 20, 5, 40
SCHEMA = pa.schema([("message", pa.string()), ("row", pa.int64())])
COUNTS = "SELECT count(*) AS rows, count(DISTINCT (message, row)) AS different FROM q.t"
IDS = "workbench.light.ids"  # where a snapshot has the ids of its rows
CODE = Path(__file__).with_name("queue_function.py")


def main(messages=1000, concurrency=8, plain=80):
    """Run both, print and keep the figures; the exit code says whether ours held."""
    messages, concurrency, plain = int(messages), int(concurrency), int(plain)
    with tempfile.TemporaryDirectory() as folder:
        figures = run(Path(folder, "plain"), "plain", plain, concurrency)
        figures |= run(Path(folder, "ours"), "handler", messages, concurrency)
        zipped = Path(folder, "ours", "function.zip").stat().st_size
    evidence.write(
        "lambda",
        what=f"{messages} messages of {ROWS_EACH} rows, batches of {BATCH}, {concurrency} at once; a tenth "
        "unreadable; 5 % kill their function behind the commit, 5 % let it raise there, 5 % are sent twice; then "
        f"{AGAIN} old ones come again behind an expiry",
        messages=messages, concurrency=concurrency, zip_packed_mb=round(zipped / 1e6), **figures,
    )  # fmt: skip
    return 0 if held(**figures) else 1


def held(plain, handler, expired):
    """Say whether ours lost and doubled nothing where the plain append doubled, and struck as planted."""
    once = handler["rows_lost"] == handler["rows_doubled"] == expired["rows_doubled"] == 0
    letters = handler["dead_letters"] == handler["dead_letters_expected"]
    struck = all(variant["struck"] == variant["struck_expected"] for variant in (plain, handler))
    refused = expired["refused"] == expired["sent_again"] and expired["dead_letters_by_column"] == 0
    return once and letters and struck and refused and expired["new_rows_lost"] == 0 and plain["rows_doubled"] > 0


def run(folder, handler, messages, concurrency):
    """Let a function take messages from a queue; returns what was lost and doubled, by the name of the handler."""
    made = lambdas.planted(messages, rows_each=ROWS_EACH, faults=FAULTS)
    begun = time.monotonic()
    with account.serve() as served:
        served.client("s3").create_bucket(Bucket="lake")
        properties = {"name": "lake"} | served.properties("s3://lake/warehouse")
        catalog = light.catalogs.load(properties)
        catalog.create_namespace("q")
        catalog.create_table("q.t", SCHEMA)
        function = lambdas.written(
            CODE.read_text(encoding="utf-8"), folder, variables={"LAKE": json.dumps(properties)},
            batch=BATCH, concurrency=concurrency, account=served,
        )  # fmt: skip
        delivery = lambdas.deliver(function, handler, made.bodies)
        rows, different = counted(properties)
        figures = {
            "messages": messages, "deliveries": len(made.bodies), "rows_expected": made.rows,
            "rows_lost": made.rows - different, "rows_doubled": rows - different,
            "killed": made.count("killed"), "raised": made.count("raised"), "sent_twice": made.count("sent twice"),
            "struck": len(lambdas.struck(function)), "struck_expected": made.count("killed", "raised"),
            "dead_letters": len(delivery.dead_letters), "dead_letters_expected": len(made.unreadable),
            "commits": len(catalog.load_table("q.t").snapshots()), "seconds": round(time.monotonic() - begun),
        }  # fmt: skip
        further = {} if handler == "plain" else {"expired": expired(function, properties, made)}
    return {handler: figures} | further


def expired(function, properties, made):
    """Expire all snapshots but the newest and send old messages again, and new ones where a column has the ids."""
    table = light.catalogs.load(properties).load_table("q.t")
    table.maintenance.expire_snapshots().by_ids([kept.snapshot_id for kept in table.snapshots()[:-1]]).commit()
    before, _ = counted(properties)
    known = json.loads(table.refresh().current_snapshot().summary[IDS])
    old, new = [id for id in made.fates if id not in known][:AGAIN], [f"new{number}" for number in range(AGAIN)]
    refused = lambdas.deliver(function, "handler", lambdas.again(old, rows_each=ROWS_EACH))
    looked_up = lambdas.deliver(function, "by_column", lambdas.again(old + new, rows_each=ROWS_EACH))
    rows, different = counted(properties)
    return {
        "sent_again": len(old), "refused": len(refused.dead_letters),
        "dead_letters_by_column": len(looked_up.dead_letters), "rows_doubled": rows - different,
        "new_rows_lost": before + len(new) * ROWS_EACH - different,
    }  # fmt: skip


def counted(properties):
    """Return the rows of the table, and the different ones among them."""
    (counts,) = light.query(properties, COUNTS).to_pylist()
    return counts["rows"], counts["different"]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
