"""Maintenance for long: random histories beside a writer, and kill -9 in every stage and at random moments.

    python -m soak.maintenance [HISTORIES [KILLS_AT_RANDOM]]

What was done is kept under .workbench, a row each; a run that was interrupted goes on with what is missing, and the
rows of other versions, or of other code in a part of the proof, do not count.
"""

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path

from bench import evidence

from workbench import session
from workbench._base import worklist

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workbench" / "tables" / "maintenance"))
import maintenance_histories as histories
import maintenance_kills as kills

KEPT = Path(__file__).resolve().parents[2] / ".workbench" / "soak_maintenance.db"
_KEY = ("what", "which", "made_from")
ROUNDS = worklist.Form(
    name="file of rounds", user="soak", table="rounds", key=_KEY, outlives_power=False,
    columns=dict.fromkeys((*_KEY, "seen"), "TEXT NOT NULL"),
)  # fmt: skip
LONGEST_RUN_S = 12  # of the whole of maintenance on the small table, on a busy machine


def main(count=200, random_kills=20):
    """Do what is missing, print as it goes, and keep the figures; the exit code says whether all held."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    wanted = [("history", seed) for seed in range(count)]
    wanted += [("kill", point) for point in kills.POINTS] + [("random kill", seed) for seed in range(random_kills)]
    with opened() as rounds:
        done = kept(rounds)
        for what, which in wanted:
            if (what, str(which)) not in done:
                begin = time.monotonic()
                found = DO[what](spark, f"soak.{what[0]}_{abs(hash((what, which)))}", which)
                done[what, str(which)] = found | {"seconds": round(time.monotonic() - begin, 1)}
                keep(rounds, what, which, done[what, str(which)])
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


def opened():
    """Open the rounds; those that the version before this one kept as lines are taken over."""
    KEPT.parent.mkdir(exist_ok=True)
    file = KEPT.with_suffix(".jsonl")
    lines = file.read_text().split("\n")[:-1] if file.is_file() else []  # a kill may have cut off the last one
    return worklist.opened(KEPT, ROUNDS, earlier=lambda: [row_of(**json.loads(line)) for line in lines])


def row_of(what, which, seen, **made_from):
    return {"what": what, "which": which, "made_from": json.dumps(made_from), "seen": json.dumps(seen)}


def kept(rounds):
    """Return what is there for these versions: (what, which) to what was seen."""
    now = evidence.made_from().items()
    return {
        (row["what"], row["which"]): json.loads(row["seen"])
        for row in rounds.rows()
        if now <= json.loads(row["made_from"]).items()
    }


def keep(rounds, what, which, seen):
    print(f"{what} {which}: {seen}", flush=True)
    rounds.put([row_of(what, str(which), seen, **evidence.made_from())])


DO = {"history": history, "kill": kill, "random kill": random_kill}

if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
