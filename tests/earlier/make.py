"""Stores as the version before `workbench._base.worklist` left them; written by its code, commit c1c0727, not by today's.

    python tests/earlier/make.py

state.db, state.db-wal   a restore of ten objects that was killed: four asked for by a run before it, two by this one
matrix.jsonl             cells of two versions, one measured twice, and a line that a kill cut off
units.json               a unit that was measured; units.part.json: one that was stopped at its third answer of four
"""

import os
import shutil
import signal
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing import Process
from pathlib import Path
from tempfile import TemporaryDirectory

from workbench import archive
from workbench_proofs import conflicts
from workbench_proofs.conflicts import kept
from workbench_proofs.tpcds import measuring
from workbench_proofs.tpcds.runs import Result
from workbench_proofs.tpcds.verdicts import Judgement
from workbench_standins import archive as local

HERE = Path(__file__).parent


def restore(endpoint, state, until):
    """Restore what is in the bucket, and die by signal 9 before the answer to that request is noted."""
    store = local.Store(endpoint)
    s3, sent = store.client(), []

    def die(**_):
        sent.append(1)
        if len(sent) == until:
            os.kill(os.getpid(), signal.SIGKILL)

    s3.meta.events.register("after-call.s3.RestoreObject", die)
    plan = archive.plan(archive.inventory("s3://attic/", s3=s3), tier="Bulk", days=3, now=store.clock.now())
    archive.restore(plan, s3=s3, state=state, wait_hours=0, workers=1, now=store.clock.now)


def states():
    with local.serve() as store, TemporaryDirectory() as folder:
        store.client().create_bucket(Bucket="attic")
        for prefix, count, until in (("p/", 4, 0), ("q/", 6, 2)):
            store.plant("attic", prefix, count)
            child = Process(target=restore, args=(store.endpoint, f"{folder}/state.db", until))
            child.start()
            child.join()
        assert child.exitcode == -signal.SIGKILL
        for name in ("state.db", "state.db-wal"):
            shutil.copy(Path(folder) / name, HERE / name)


def cells():
    file = HERE / "matrix.jsonl"
    file.unlink(missing_ok=True)
    first = conflicts.Result("append", "append", None, "same", "v3", "retried_and_committed", None, None, 12, "both",
                             "indistinguishable", "4.1.4", "1.11.0")  # fmt: skip
    second = replace(first, first="merge", isolation="snapshot", outcome="silent_anomaly", equal_to="neither")
    for result in (replace(first, rows=11), second, first, replace(first, iceberg="1.12.0")):
        kept.append(file, result)
    with file.open("a") as end:
        end.write('{"first": "mer')


def units():
    for name in ("units.json", "units.part.json"):
        (HERE / name).unlink(missing_ok=True)
    data = type("Data", (), {"digest": "d", "scale": "1"})()
    todo = measuring.units([measuring.engines.engine(name) for name in ("spark41", "sail")], ["flat"])
    measuring._opened = lambda *_: nullcontext()
    measuring.asking.run = lambda *_: None

    def answers(left, engine, *_, **__):
        for number, (phase, query) in enumerate(left):
            if engine.name == "sail" and number == 2:
                raise KeyboardInterrupt
            yield phase, Result(engine.name, query, Judgement("equal", "100 rows"), 1.5, 0.25, 10, 20, 30, "flat")

    measuring._asked = answers
    try:
        for _ in measuring.run(todo, None, data, {"flat": "n"}, queries=["q1", "q2"], file=HERE / "units.json"):
            pass
    except KeyboardInterrupt:
        (HERE / "lock").unlink()


if __name__ == "__main__":
    states()
    cells()
    units()
