"""How often each detector is right, on runs that are made anew: planted ones, and healthy ones of other kinds.

The thresholds are the defaults, which no run of these was looked at for but those of seed 0.
"""

import os
import subprocess
import sys
from collections import Counter

import pytest
from conftest import PROVE
from metrics_cases import GOLDEN, HEALTHY, PLANTED

from workbench.metrics import events, incidents, reports

SEEDS = int(os.environ.get("WORKBENCH_METRICS_SEEDS", "20" if PROVE else "1"))


@pytest.mark.proof(
    "test_a_planted_incident_is_found_and_nothing_else and test_a_healthy_run_has_none read one run of each"
)
def test_each_planted_run_is_found_and_no_healthy_one(tmp_path):
    names = [*HEALTHY, *PLANTED]
    make = [
        sys.executable,
        str(GOLDEN / "make.py"),
        str(tmp_path),
        *names,
        *(str(seed) for seed in range(1, SEEDS + 1)),
    ]
    made = subprocess.run(make, capture_output=True, text=True, timeout=7200)
    assert made.returncode == 0, made.stderr[-2000:]
    missed, false, scored, alarms = Counter(), Counter(), Counter(), []
    for name in names:
        cause, besides = PLANTED.get(name, (None, set()))
        for seed in range(1, SEEDS + 1):
            folder = tmp_path / f"{name}-{seed}"
            run, kept = events.read(folder), reports.read(folder)
            assert run.whole, folder.name
            causes = {incident.cause for incident in incidents.find(run, kept)}
            scored[name] += 1
            missed[name] += cause is not None and cause not in causes
            false[name] += bool(causes - {cause} - besides)
            alarms += [f"{folder.name}: {incident}" for incident in incidents.find(run, kept)
                       if incident.cause not in {cause} | besides]  # fmt: skip
    print(f"{scored.total()} runs; missed {dict(missed)}; with false alarms {dict(false)}")
    assert scored.total() == SEEDS * len(names)
    assert (missed.total(), false.total()) == (0, 0), alarms
