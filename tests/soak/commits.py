"""Four processes append while one compacts and one expires: every acknowledged row once, no live file twice.

    python -m soak.commits [COMMITS [KILLS [ENVIRONMENT]]]

On `local`, `s3` and `rest`, or on the one that is named; what is there for the same versions is kept. Then processes
that are killed between a commit's swap in the catalog and its return, each begun again by its name. On `rest` one
answer to a commit in twenty is lost after it took effect, to everybody; and a commit is held until its writer has
given up and looked for it.
"""

import json
import os
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import commits_child
import commits_processes as processes
from bench import evidence

from workbench import session
from workbench._base import settings
from workbench.session import services as stand_ins
from workbench.tables import commits
from workbench_standins import proxy, s3

WRITERS, LOST_SHARE, SEED = 4, 0.05, 1
GIVES_UP_MS = 5_000
NEVER = (
    "rows_lost",
    "rows_doubled",
    "rows_not_acknowledged",
    "files_twice",
    "killed_rows_lost",
    "killed_rows_doubled",
)
KILLED = ("kills_between_swap_and_return", "killed_after_their_swap", "killed_found_by_the_rerun")
CATALOGS = {"local": "SQLite, files", "s3": "SQLite, S3", "rest": "REST, S3"}


def main(count=1000, kills=10, *wanted):
    """Run what is missing, print as it goes, and keep the figures; the exit code says whether all held."""
    count, kills = int(count), int(kills)
    found = kept(count, kills)
    for environment in wanted or [one for one in CATALOGS if one not in found]:
        with ExitStack() as living:  # a session is one environment's, so each is a round of its own
            between = living.enter_context(losing_answers()) if environment == "rest" else None
            spark = session.start(os.environ["WORKBENCH_TEST_ENVIRONMENT"] if between else environment)
            os.environ.setdefault("WORKBENCH_TEST_ENVIRONMENT", environment)
            living.callback(session.stop, spark)
            spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
            found[environment] = together(spark, count, between) | again(spark, kills)
            if between:
                found[environment] |= late(spark, between)
        os.environ.pop("WORKBENCH_TEST_ENVIRONMENT")
        evidence.write(
            "commits_soak",
            what="4 processes append, 1 compacts, 1 expires; kill -9 between swap and return; late and lost answers",
            commits_expected=count // WRITERS * WRITERS,
            kills=kills,
            catalogs={one: found[one] for one in CATALOGS if one in found},
        )
    if missing := [one for one in CATALOGS if one not in found]:
        print(f"missing: {', '.join(missing)}")
    bad = [said for environment, one in found.items() for said in wrong(environment, one, count, kills)]
    for said in bad:
        print(f"wrong: {said}")
    return 1 if bad else 0


def kept(count, kills):
    """Return what is there for these versions and sizes: environment to its figures."""
    path = evidence.FOLDER / "commits_soak.json"
    there = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    same = evidence.made_from() | {"commits_expected": count // WRITERS * WRITERS, "kills": kills}
    return there["catalogs"] if all(there.get(name) == value for name, value in same.items()) else {}


def wrong(environment, one, count, kills):
    """Say which of a catalog's figures must not be: what was lost or doubled, and what had to happen and did not."""
    must = dict.fromkeys(NEVER, 0) | dict.fromkeys(KILLED, kills) | {"commits": count // WRITERS * WRITERS}
    least = {"compactions_that_replaced_files": 1, "manifest_lists_expired": 1}
    if environment == "rest":  # where a proxy loses answers and holds commits
        must |= {"late_rows_lost": 0, "late_rows_doubled": 0}
        must |= {"late_append_said_to_be": "OutcomeUnknown", "late_append_found_by_its_name": True}
        least |= {"answers_cut_off": 1, "late_update_tries": 2}
    bad = {name for name, value in must.items() if one.get(name) != value}
    bad |= {name for name, number in least.items() if (one.get(name) or 0) < number}
    return [f"{environment}: {name} is {one.get(name)}" for name in sorted(bad)]


@contextmanager
def losing_answers():
    """Put a proxy before the REST catalog of an S3 server, for this process and those it starts."""
    with ExitStack() as living:
        folder = Path(living.enter_context(tempfile.TemporaryDirectory()))
        server = living.enter_context(s3.serve(folder / "s3"))
        between = living.enter_context(proxy.between(server.catalog_endpoint, seed=SEED))
        text = settings.environments()["rest"].read_text(encoding="utf-8")
        own = text.replace(
            "  type: rest", f"  type: rest\n  properties: {{rest.client.socket-timeout-ms: '{GIVES_UP_MS}'}}"
        )
        (folder / "rest.yml").write_text(own, encoding="utf-8")
        stand_ins.hand_on("scratch", replace(server, catalog_endpoint=between.endpoint))
        os.environ["WORKBENCH_TEST_ENVIRONMENT"] = str(folder / "rest.yml")
        yield between


def together(spark, count, between):
    """All six processes at once; on REST with answers lost."""
    begin, table = time.monotonic(), "soak.everybody"
    processes.make(spark, table)
    commits.set_profile(spark, table)
    if between:
        between.play([proxy.Rule("lose_answer", proxy.COMMIT, share=LOST_SHARE)])
    told, compacted, expired = processes.everybody_at_once(
        spark, table, writers=WRITERS, commits_each=count // WRITERS, timeout_s=600
    )
    cut_off = sum(one.hit for one in between.injected()) if between else None
    if between:
        between.play([])
    acknowledged = [(f"w{n}", number) for n, lines in told.items() for number, _, _ in lines]
    seen = processes.figures(spark, table, acknowledged)
    print(f"{len(acknowledged)} commits: {seen}, {cut_off} answers lost", flush=True)
    return {
        "commits": len(acknowledged),
        **{f"rows_{name}" if "file" not in name else name: value for name, value in seen.items()},
        "compactions_that_replaced_files": compacted,
        "manifest_lists_expired": sum(expired),
        "begun_again_by_retrying": sum(tries - 1 for lines in told.values() for _, tries, _ in lines if tries),
        "found_by_their_mark": sum(found for lines in told.values() for _, _, found in lines),
        **({"answers_cut_off": cut_off} if between else {}),
        "minutes": round((time.monotonic() - begin) / 60, 1),
    }


def again(spark, kills):
    """Kills between swap and return; returns how many were such, and what was lost or doubled after the reruns."""
    seen = [killed(spark, f"soak.killed_{n}") for n in range(kills)]
    return {
        "kills_between_swap_and_return": len(seen),
        "killed_after_their_swap": sum(one["swapped"] for one in seen),
        "killed_found_by_the_rerun": sum(one["found"] for one in seen),
        "killed_rows_lost": sum(one["lost"] for one in seen),
        "killed_rows_doubled": sum(one["doubled"] for one in seen),
    }


def killed(spark, table):
    """Kill a process when its append is in the catalog and it has not heard so; begin it again; return figures."""
    processes.make(spark, table)
    child = processes.start("killed_append", table, "once")
    processes.ready(child)
    processes.killed(child)
    swapped = processes.figures(spark, table, [("once", 1)])["lost"] == 0
    done = commits.retrying(spark, table, once(spark, table), id="once")
    seen = processes.figures(spark, table, [("once", 1)])
    print(f"{table}: swapped before the kill: {swapped}, found by the rerun: {done.found}, {seen}", flush=True)
    return seen | {"swapped": swapped, "found": done.found}


def once(spark, table):
    return lambda: commits_child.row(spark, "once", 1).writeTo(table).append()


def late(spark, between):
    """Hold a commit until its writer gave up, looked for it and did not find it; then let it land.

    An append is then said to be unknown and found by its name later; an UPDATE, which is bound to the state that it
    read, is tried again, and one of the two is refused by the catalog.
    """
    table = "soak.late"
    processes.make(spark, table)
    told = []

    def append():
        try:
            commits.retrying(spark, table, once(spark, table), id="once")
        except commits.OutcomeUnknown as error:
            told.append(type(error).__name__)

    held_until_given_up(between, append, requests=1)
    first = processes.figures(spark, table, [("once", 1)])
    rerun = commits.retrying(spark, table, once(spark, table), id="once")

    def update():
        write = lambda: spark.sql(f"UPDATE {table} SET n = n + 1 WHERE name = 'once'")  # noqa: E731
        told.append(commits.retrying(spark, table, write, conditional=True).tries)

    held_until_given_up(between, update, requests=2)
    second = processes.figures(spark, table, [("once", 2)])
    print(f"late: {told}, {first}, found by its name: {rerun.found}, {second}", flush=True)
    return {
        "late_append_said_to_be": told[0] if told else None,
        "late_append_found_by_its_name": rerun.found,
        "late_update_tries": told[-1] if len(told) == 2 else None,
        "late_rows_lost": first["lost"] + second["lost"],
        "late_rows_doubled": first["doubled"] + second["doubled"] + second["not_acknowledged"],
    }


def held_until_given_up(between, write, *, requests):
    """Call a function in a thread while commits are held; let them go when so many were given up by their client."""
    with between.hold(None, proxy.COMMIT) as held:
        thread = threading.Thread(target=write)
        thread.start()
        end = time.monotonic() + 120
        while time.monotonic() < end and (len(held.waiting()) < requests or not held.waiting()[0][1]):
            time.sleep(0.05)
        if requests == 1:
            thread.join(120)  # it has looked and said that it does not know
        held.release()
        thread.join(120)
        held.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
