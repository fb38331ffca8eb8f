"""`python -m workbench.streams`, the name that `workbench ingest` had in 0.1: said once, and done."""

import os
import sys

if __name__ == "__main__":
    print("workbench: `python -m workbench.streams` is now `workbench ingest`", file=sys.stderr, flush=True)
    os.execv(sys.executable, [sys.executable, "-m", "workbench_ops.cli", "ingest", *sys.argv[1:]])
