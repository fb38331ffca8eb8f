"""Maintenance for long: random histories beside a writer, and kill -9 in every stage and at random moments.

    python -m soak.maintenance [HISTORIES [KILLS_AT_RANDOM]]

What was done is kept under .workbench, one line each; a run that was interrupted goes on with what is missing, and
the lines of other versions, or of other code in a part of the proof, do not count.
"""

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from bench import evidence

from workbench import session

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workbench" / "tables" / "maintenance"))
import maintenance_histories as histories
import maintenance_kills as kills

KEPT = Path(__file__).resolve().parents[2] / ".workbench" / "soak_maintenance.jsonl"
LONGEST_RUN_S = 12  # of the whole of maintenance on the small table, on a busy machine


def main(count=200, random_kills=20):
    """Do what is missing, print as it goes, and keep the figures; the exit code says whether all held."""
    spark, done = session.start("local"), kept()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    wanted = [("history", seed) for seed in range(count)]
    wanted += [("kill", point) for point in kills.POINTS] + [("random kill", seed) for seed in range(random_kills)]
    for what, which in wanted:
        if (what, str(which)) not in done:
            begin = time.monotonic()
            found = DO[what](spark, f"soak.{what[0]}_{abs(hash((what, which)))}", which)
            done[what, str(which)] = found | {"seconds": round(time.monotonic() - begin, 1)}
            keep(what, which, done[what, str(which)])
    told = figures([done[what, str(which)] | {"what": what} for what, which in wanted])
    evidence.write(
        "maintenance_soak",
        what="random histories with every action in random order beside a writer; kill -9 of maintenance in a process",
        **told,
    )
    session.stop(spark)
    return 1 if told["wrong"] or any(told[name] for name in histories.HARMLESS) else 0


def figures(found):
    """Return the sums of what was seen."""
    played = [one for one in found if one["what"] == "history"]
    sums = {name: sum(one[name] for one in played) for name in (*histories.HARMLESS, "actions", "commits_beside")}
    struck = [one for one in found if one["what"] != "history"]
    return {
        "histories": len(played),
        "actions": sums.pop("actions"),
        "commits_beside": sums.pop("commits_beside"),
        "histories_that_compacted_nothing": sum(not one["files_compacted"] for one in played),
        **sums,
        "kills": len(struck),
        "kills_in_stages": len(kills.POINTS),
        "random_kills_left": dict(sorted(Counter(one["left"] for one in struck if "left" in one).items())),
        "wrong": [line for one in struck for line in one["wrong"]]
        + [one["error"] for one in played if one["error"]],
        "minutes": round(sum(one["seconds"] for one in found) / 60, 1),
    }


def history(spark, table, seed):
    found = histories.play(spark, table, seed)
    spark.sql(f"DROP TABLE {table} PURGE")
    return found


def kill(spark, table, point):
    before = kills.sick(spark, table)
    wrong = kills.begun_again(spark, table, kills.killed(spark, table, point), before)
    return {"wrong": [f"{point}: {line}" for line in wrong]}


def random_kill(spark, table, seed):
    """Kill the whole of maintenance at a random moment; the fast way and Spark's in turn."""
    before = kills.sick(spark, table)
    wanted = kills.planned(spark, table, *kills.ALL[:5], fast=seed % 2 == 0)
    after_s = random.Random(seed).uniform(0, LONGEST_RUN_S)
    kills.killed(spark, table, "at random", wanted=wanted, after_s=after_s)
    left = kills.stage(spark, table)
    wrong = kills.begun_again(spark, table, wanted, before)
    return {"wrong": [f"random kill {seed}: {line}" for line in wrong], "left": left}


def kept():
    """Return what is there for these versions: (what, which) to what was seen."""
    lines = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.is_file() else []
    return {
        (one["what"], one["which"]): one["seen"] for one in lines if evidence.made_from().items() <= one.items()
    }


def keep(what, which, seen):
    print(f"{what} {which}: {seen}", flush=True)
    KEPT.parent.mkdir(exist_ok=True)
    line = {"what": what, "which": str(which), "seen": seen} | evidence.made_from()
    with KEPT.open("a") as file:
        file.write(json.dumps(line) + "\n")


DO = {"history": history, "kill": kill, "random kill": random_kill}

if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
