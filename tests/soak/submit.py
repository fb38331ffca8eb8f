"""Submitters killed at random, and racers: `python -m soak.submit TOKENS RACED` under tests; each job ran once.

For each token three submitters are killed at a random moment, and a fourth finishes. Then four race for each of
the raced tokens, one of them killed. The oracle is the line that each job writes. A round without the fence shows
that the oracle sees a double.
"""

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import submit_kills


def main(tokens: int, raced: int) -> int:
    rng = random.Random(39)
    with tempfile.TemporaryDirectory() as folder:
        place = submit_kills.Place(Path(folder))
        for n in range(tokens):
            submit_kills.killed_at_random(place, f"killed {n}", rng)
            assert place.passed(f"killed {n}") == "passed"
        for n in range(raced):
            submit_kills.raced(place, f"raced {n}")
            assert place.passed(f"raced {n}") == "passed"
        counts = Counter(place.lines().values())
        # what a service without the fence would have started twice: runs that found the fence passed
        declined = sum("declined" in path.read_text() for path in Path(folder).glob("runs/*/ended"))
        attempts = len(list(Path(folder).glob("runs/*")))
    doubled = sum(count for times, count in counts.items() if times != 1)
    print(f"{tokens} tokens under kills, {raced} raced: {counts[1]} ran once, {doubled} did not; "
          f"{attempts} processes were started, {declined} declined at the fence")  # fmt: skip
    return int(counts != {1: tokens + raced} or not declined)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
