"""A process of its own that moves a Delta table or follows it, and kills itself with signal 9 before a step.

python move_child.py move SOURCE TABLE STEP      at version 4
python move_child.py follow SOURCE TABLE STEP
STEP is vectors, files, commit, or none; without a kill it prints what it did and whether both are equal, as JSON.
"""

import json
import os
import signal
import sys

from workbench import formats, session


def kill_at(step):
    def look(at):
        if at == step:
            os.kill(os.getpid(), signal.SIGKILL)

    return look


def main(what, source, table, step):
    spark = session.start("lake")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS killed")
    if what == "move":
        done = formats.move(spark, source, table, version=4, on_step=kill_at(step))
    else:
        done = formats.follow(spark, table, on_step=kill_at(step))
    print(json.dumps([done.version, spark.table(table).count(), formats.verify(spark, table).equal]))


if __name__ == "__main__":
    main(*sys.argv[1:])
