"""Random histories, then every action in a random order beside a writer: whoever reads the table reads the same.

`make prove PART=maintenance-soak` draws 200 of them.
"""

import maintenance_histories as histories
import pytest

CHECKED = 1  # its table is merge-on-read
OTHERS = pytest.mark.proof("the same test shows it for the history of another seed, merge-on-read")


@pytest.mark.parametrize(
    "seed", [seed if seed == CHECKED else pytest.param(seed, marks=OTHERS) for seed in range(5)]
)
def test_every_action_beside_a_writer(spark, namespace, seed):
    found = histories.play(spark, f"{namespace}.t", seed)
    assert {name: found[name] for name in histories.HARMLESS} == histories.HARMLESS, found["error"]
    assert found["files_compacted"] > 0
