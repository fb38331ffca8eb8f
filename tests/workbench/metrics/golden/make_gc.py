"""Make the golden logs of collectors anew: a program that allocates, on small heaps.

    python tests/workbench/metrics/golden/make_gc.py FOLDER NAME=JAVA_HOME …

NAME is the feature release; a compiler, javac, must be on the PATH.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from workbench.metrics import collectors

HERE = Path(__file__).parent
CASES = {  # to collector, release, heap in MB, arrays of 1 kB that live, seconds, threads
    "g1": ("G1", 17, 64, 10_000, 2, 2),
    "g1-full": ("G1", 17, 64, 50_000, 3, 2),
    "parallel": ("Parallel", 17, 64, 20_000, 2, 2),
    "serial": ("Serial", 17, 64, 20_000, 2, 2),
    "shenandoah": ("Shenandoah", 17, 64, 30_000, 3, 4),
    "z17": ("Z", 17, 128, 30_000, 2, 4),
    "z": ("Z", 21, 128, 30_000, 2, 4),
    "z-memory": ("Z", 21, 64, 80_000, 3, 4),
    "g1-25": ("G1", 25, 64, 10_000, 2, 2),
    "z-25": ("Z", 25, 128, 30_000, 2, 4),
}


def main(folder, *homes):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    by_release = {int(name): home for name, home in (word.split("=") for word in homes)}
    with tempfile.TemporaryDirectory(dir=folder) as classes:
        subprocess.run(["javac", "--release", "17", "-d", classes, HERE / "Alloc.java"], check=True)
        for name, (collector, release, heap, live, seconds, threads) in CASES.items():
            if release not in by_release:
                continue
            log = folder / f"{name}.gc.log"
            flags = collectors.options(collector, log, java=release, heap_bytes=heap << 20)
            words = [
                f"{by_release[release]}/bin/java",
                *flags,
                "-XX:-UsePerfData",
                "-cp",
                classes,
                "Alloc",
                live,
                seconds,
                threads,
            ]
            result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=200)
            print(name, result.returncode, result.stderr[-200:], log.stat().st_size, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
