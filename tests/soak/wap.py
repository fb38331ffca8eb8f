"""The gate under load: two auditors in two processes for many rounds, and a kill in every place there is.

    python -m soak.wap [ROUNDS] [RANDOM_KILLS]

Each kill is a process of its own with its own JVM, then the same id again. Beside the places between two steps, where
nothing is under way, processes and their JVM are killed after a random time, in the middle of whatever they do.
"""

import os
import random
import signal
import sys
import tempfile
import time

import wap_child
import wap_processes as processes
from bench import evidence

from workbench import session, wap

PLACES = [(step, kind) for kind, steps in wap_child.STEPS.items() for step in steps]


def main(rounds=100, random_kills=30, seed=1):
    """Run everything, print as it goes, and keep the figures; the exit code says whether all held."""
    spark = session.start("local")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS soak")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        attempts = processes.two_auditors(spark, "soak.rounds", folder, rounds)
    found, expected = processes.found(spark, "soak.rounds"), processes.expected(rounds)
    wrong = [f"rounds: {name} differs" for name in expected if found[name] != expected[name]]
    print(f"{rounds} rounds: {wrong or 'as expected'}", flush=True)
    wrong += [line for place in PLACES for line in killed_at(spark, *place)]
    moments, lines = killed_at_random(spark, random_kills, random.Random(seed))
    evidence.write(
        "wap_soak",
        what="two auditors in two processes on one SQLite catalog; kill -9 between steps and at random moments",
        rounds=rounds,
        attempts={f"{a} and {b}": attempts.count([a, b]) for a, b in sorted({tuple(pair) for pair in attempts})},
        rows_lost=len(set(expected["rows"]) - set(found["rows"])),
        rows_doubled=len(found["rows"]) - len(set(found["rows"])),
        published_without_evidence=abs(len(found["runs"]) - 2 * rounds),
        kills_between_steps=len(PLACES),
        kills_at_random_moments=moments,
        wrong=wrong + lines,
        minutes=round((time.monotonic() - begin) / 60, 1),
    )
    session.stop(spark)
    return 1 if wrong + lines else 0


def killed_at(spark, step, kind):
    """Kill a run after a step and run its id again; returns what was not as expected, in lines."""
    table = f"soak.{step}_{kind}"
    processes.killed(processes.kill(spark, table, step, kind))
    found, expected = processes.after_kill(spark, table, step, kind), processes.after_kill_expected(step, kind)
    wrong = [
        f"killed after {step} ({kind}): {name} is {found[name]}, not {value}"
        for name, value in expected.items()
        if found[name] != value
    ]
    print(f"killed after {step} ({kind}): {wrong or 'as expected'}", flush=True)
    return wrong


def killed_at_random(spark, kills, chance):
    """Kill a process and its JVM at random moments of its runs.

    Returns:
        (what the kills left: words to count, lines of what was wrong).
    """
    left, wrong = {}, []
    for number in range(1, kills + 1):
        table = f"soak.random_{number}"
        processes.make(spark, table)
        process = processes.start("auditor_alone", table, f"run-{number}", new_session=True)
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("\n")
        process.stdin.flush()
        step = chance.choice(["ready", *wap_child.STEPS["passed"][:-2]])
        for line in process.stdout if step != "ready" else ():
            if line.strip() == step:
                break
        time.sleep(chance.expovariate(10))  # some way into the step that follows
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        seen = seen_after(spark, table, f"run-{number}")
        left[seen[0]] = left.get(seen[0], 0) + 1
        if seen[1:] != ([(0, 1), (5, 0)], 1, ["main"]):
            wrong.append(f"random kill {number}: {seen}")
        print(f"random kill {number}: {seen}", flush=True)
    return left, wrong


def seen_after(spark, table, run_id):
    """Run a killed run's id again; returns (what it had left, rows, evidence rows, refs)."""
    before, branches = processes.rows(spark, table), len(processes.refs(spark, table)) - 1
    try:
        wap.run(spark, table, write=wap_child.count_and_insert(spark, 5), audit=wap_child.verdict, id=run_id)
        what = "a branch" if branches else "nothing"
    except wap.AlreadyPublished:
        what = "published"
    if (before == [(0, 1), (5, 0)]) != (what == "published"):
        what = f"half published: {before}"
    return what, processes.rows(spark, table), wap.evidence(spark, table).count(), processes.refs(spark, table)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
