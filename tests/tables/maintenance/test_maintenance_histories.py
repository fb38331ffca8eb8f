"""Random histories, then every action in a random order beside a writer: whoever reads the table reads the same.

`make soak-maintenance` draws 200 of them.
"""

import os

import maintenance_histories as histories
import pytest

SEEDS = 200 if os.environ.get("WORKBENCH_SOAK") else 5


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_action_beside_a_writer(spark, namespace, seed):
    found = histories.play(spark, f"{namespace}.t", seed)
    assert {name: found[name] for name in histories.HARMLESS} == histories.HARMLESS, found["error"]
    assert found["files_compacted"] > 0
