"""What it costs to be governed: by the front against its server, and at the server against a condition by hand.

    python -m bench.access [ROWS [ROUNDS]]

One query over trips in four ways, in turn: the reader's own through the front; what the front makes of it, at the
server; the policy's SELECT as `access.sql` gives it to somebody with a session, at the server; and the same rows by a
condition that was written by hand, without a policy. Answers are compared before a figure is kept. Which files are
read is told by the conditions that Iceberg was given, and by PyIceberg's plan of them.
"""

import atexit
import os
import re
import shutil
import sys
import tempfile
import time

from bench import evidence
from bench.spent import Clock

NAME = "bench.trips"
QUERIES = {
    "all visible rows": "SELECT count(*) AS n, sum(total_amount) AS amount FROM {}",
    "groups": (
        "SELECT pulocationid, count(*) AS n, sum(total_amount) AS amount FROM {} GROUP BY pulocationid ORDER BY 1"
    ),
    "one day": (
        "SELECT count(*) AS n, sum(fare_amount) AS amount FROM {} WHERE tpep_pickup_datetime >= TIMESTAMP '2024-01-03' "
        "AND tpep_pickup_datetime < TIMESTAMP '2024-01-04'"
    ),
    "one day, a condition that may fail": (
        "SELECT count(*) AS n, sum(fare_amount) AS amount FROM {} WHERE tpep_pickup_datetime >= TIMESTAMP '2024-01-03' "
        "AND tpep_pickup_datetime < TIMESTAMP '2024-01-04' AND 1 / trip_distance >= 0"
    ),
}
BY_HAND = "SELECT * FROM {} WHERE vendorid = 1"
WAYS = ("front", "its statement", "access.sql", "by hand")
GOALS = {"front over its statement": 1.1, "its statement over by hand": 1.25}
ASKED_AT_ONCE = 5  # answers a measurement: one is too short


def main(rows=1_000_000, rounds=7):
    rows, rounds = int(rows), int(rounds)
    os.environ["WORKBENCH_HOME"] = folder = tempfile.mkdtemp(prefix="bench-access-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # behind all that the session registers
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    figures = measured(rows, rounds, os.path.join(folder, "key"))
    evidence.write(
        "access", what=f"{ASKED_AT_ONCE} answers over {rows:,} trips in 62 partitions, seconds by round", rows=rows,
        rounds=rounds, **figures,
    )  # fmt: skip


def measured(rows, rounds, key):
    from workbench import access, session
    from workbench._base import settings
    from workbench.access import reading
    from workbench_ops import front
    from workbench_standins import spark_connect

    catalog, conf = session.catalog("lake"), session.spark_conf(settings.environment("lake"))
    table = made(catalog, rows)
    policy = reading.judged(shared_with_a_reader(table), "the benchmark's policy")
    decision = access.decide(policy, "reader", NAME, table.schema())
    by_policy = front.by_policy(lambda: policy, catalog, name="lake")
    texts = {
        "front": NAME,
        "its statement": by_policy("reader", f"lake.{NAME}"),
        "access.sql": access.sql(decision, "spark", source=f"lake.{NAME}"),
        "by hand": BY_HAND.format(f"lake.{NAME}"),
    }
    with (
        spark_connect.serve(conf) as server,
        front.serve(by_policy, server=server, users={"reader"}, key=key, catalog="lake") as running,
    ):
        clients = {"front": connected(running.remote("reader"))}
        clients |= dict.fromkeys(WAYS[1:], connected(server.remote()))
        queries = {name: one_query(clients, asked(query, texts), rounds, table) for name, query in QUERIES.items()}
        for client in (clients["front"], clients["by hand"]):
            client.stop()
    worst = {name: max(query[name]["wall"] for query in queries.values()) for name in GOALS}
    return {"goals": GOALS, "worst": worst, "queries": queries}


def asked(query, texts):
    """The statement of each way; the front keeps a condition that may fail behind the policy's."""
    from workbench_ops.front import statements

    simple = statements.simple(query.format(NAME))
    own = texts["its statement"] if simple else statements.apart(texts["its statement"])
    subqueries = {way: f"({text}) t" for way, text in (texts | {"its statement": own}).items()}
    return {way: query.format(text) for way, text in (subqueries | {"front": NAME}).items()}


def connected(remote):
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(remote).create()


def made(catalog, rows):
    """Trips by vendor and day, a file a partition."""
    from pyiceberg.transforms import DayTransform, IdentityTransform

    from workbench import light
    from workbench.data import taxi

    trips, _ = taxi.trips(rows, seed=1)
    catalog.create_namespace_if_not_exists("bench")
    table = catalog.create_table(NAME, trips.schema)
    with table.update_spec() as update:
        update.add_field("vendorid", IdentityTransform(), "vendor")
        update.add_field("tpep_pickup_datetime", DayTransform(), "day")
    light.append(catalog, NAME, trips, ids="trips")
    return catalog.load_table(NAME)


def shared_with_a_reader(table):
    """A policy: rows of one vendor, without two columns."""
    hidden = ["store_and_fwd_flag", "airport_fee"]
    names = table.schema().column_names
    columns = {name: {"id": table.schema().find_field(name).field_id, "tags": {}} for name in names}
    grant = {"to": "reader", "by": "owner", "table": NAME}
    return {
        "principals": {"reader": {}}, "administrators": ["owner"], "tables": {NAME: {"columns": columns}},
        "filters": {"vendor": {"table": NAME, "where": "vendorid = 1"}},
        "grants": [grant | {"all_but": hidden, "filter": "vendor"}],
    }  # fmt: skip


def one_query(clients, statements, rounds, table):
    def measure(way):
        def ask():
            clock, start = Clock(), time.perf_counter()
            answers = [
                [tuple(row) for row in clients[way].sql(statements[way]).collect()] for _ in range(ASKED_AT_ONCE)
            ]
            wall, cpu = time.perf_counter() - start, clock()
            spent[way].append(round(cpu, 2))
            return wall, [[round(float(value), 2) for value in row] for row in answers[-1]]

        return ask

    spent = {way: [] for way in WAYS}
    evidence.in_turn({way: measure(way) for way in WAYS}, rounds=1)  # what only a first answer costs
    spent = {way: [] for way in WAYS}
    walls, answers = evidence.in_turn({way: measure(way) for way in WAYS}, rounds=rounds)
    if any(answer != answers["by hand"][0] for given in answers.values() for answer in given):
        raise SystemExit(f"the answers differ: {answers}")

    def over(way, other):
        each = {"wall": walls, "cpu": spent}
        return {
            kind: evidence.median([a / b for a, b in zip(figures[way], figures[other], strict=True)])
            for kind, figures in each.items()
        }

    return {
        "wall": walls, "cpu": spent, "rows": len(answers["by hand"][0]),
        "front over its statement": over("front", "its statement"),
        "its statement over by hand": over("its statement", "by hand"),
        "access.sql over by hand": over("access.sql", "by hand"),
        "files": {way: files(clients["by hand"], statements[way], table) for way in WAYS[1:]},
    }  # fmt: skip


def files(client, statement, table):
    """How many files are read: those that PyIceberg plans by the conditions on vendor and day that Iceberg is given."""
    plan = client.sql(f"EXPLAIN {statement}").first()[0]
    (given,) = re.findall(r"filters=(.*?), runtimeFilters", plan)
    conditions = ["vendorid = 1"] if "vendorid = 1" in given else []
    moments = re.findall(r"tpep_pickup_datetime (>=|<) (\d+)", given)
    for operator, moment in moments:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(moment) / 1e6))
        conditions.append(f"tpep_pickup_datetime {operator} '{at}'")
    scan = table.scan(row_filter=" and ".join(conditions)) if conditions else table.scan()
    return len(list(scan.plan_files()))


if __name__ == "__main__":
    main(*sys.argv[1:])
