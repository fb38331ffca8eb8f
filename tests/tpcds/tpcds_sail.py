"""All queries on PySail, in a process of its own: its client and a classic session cannot live in one."""

import json
import sys

from workbench import tpcds
from workbench.tpcds import engines


def main(scale, place):
    data, engine = tpcds.generate(scale), tpcds.engine("sail")
    with engines.sail(data) as session:
        results = list(tpcds.run(engine, session, data, place=place))
    print(json.dumps({one.query: [one.verdict.kind, one.verdict.sentence] for one in results}))


if __name__ == "__main__":
    main(*sys.argv[1:])
