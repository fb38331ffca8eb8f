"""What `bench.quality` asks of PySail, in a process of its own: evaluate rules, again and again, on one session."""

import json
import sys
import time
from datetime import datetime

from quality_cases import pysail


def main():
    """Answer each line of standard input (`folder`, `rules`, `now`) by one of `seconds` and `passed`."""
    from workbench import quality

    with pysail() as spark:
        for line in sys.stdin:
            asked = json.loads(line)
            begin = time.perf_counter()
            df = spark.read.parquet(asked["folder"])
            ruleset = f"Rules = [{', '.join(asked['rules'])}]"
            result = quality.evaluate(spark, df, ruleset, now=datetime.fromisoformat(asked["now"]))
            seconds = time.perf_counter() - begin
            print(json.dumps({"seconds": seconds, "passed": [o.passed for o in result.outcomes]}), flush=True)
