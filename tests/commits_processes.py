"""What the check, the soak run and the benchmark do with processes of their own that commit to one table."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from workbench.tables import commits

CHILD = Path(__file__).with_name("commits_child.py")


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, CHILD, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ready(*children):
    for child in children:
        assert child.stdout.readline() == "ready\n"


def go(*children):
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()


def make(spark, table):
    spark.sql(f"CREATE TABLE {table} (name STRING, n BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '2')")


def everybody_at_once(spark, table, *, writers, commits_each, timeout_s=300):
    """Let processes append while this one compacts and another one expires.

    Returns:
        (lines of each writer: [number, tries, found], compactions that replaced files, what was expired each time).
    """
    appending = [start("append", table, f"w{n}", commits_each) for n in range(writers)]
    expiring = start("expire", table)
    told, expired, compacted = {}, [], 0
    with_all = [*appending, expiring]
    try:
        ready(*with_all)
        listening = [
            threading.Thread(target=lambda n=n, c=c: told.update({n: [json.loads(line) for line in c.stdout]}))
            for n, c in enumerate(appending)
        ]
        listening.append(threading.Thread(target=lambda: expired.extend(map(int, expiring.stdout))))
        for thread in listening:
            thread.start()
        go(*with_all)
        while any(child.poll() is None for child in appending):
            compacted += compact(spark, table) > 0
        expiring.stdin.close()
        for thread in listening:
            thread.join(timeout_s)
        assert [child.wait(timeout_s) for child in with_all] == [0] * len(with_all)
    finally:
        for child in with_all:
            child.kill()
    return told, compacted, expired


def compact(spark, table):
    """Rewrite small files; returns how many were replaced."""
    done = commits.retrying(
        spark,
        table,
        lambda: spark.sql(
            f"CALL system.rewrite_data_files(table => '{table}', options => map('min-input-files', '5'))"
        ).collect(),
        conditional=True,  # files that were replaced are not there to be replaced again
    )
    return done.value[0].rewritten_data_files_count


def figures(spark, table, acknowledged):
    """Say what a table has of the acknowledged rows (name, n), and which live files it names more than once."""
    spark.sql(f"REFRESH TABLE {table}")
    rows = [tuple(row) for row in spark.table(table).collect()]
    files = [row.file_path for row in spark.sql(f"SELECT file_path FROM {table}.files").collect()]
    return {
        "lost": len(set(acknowledged) - set(rows)),
        "doubled": len(rows) - len(set(rows)),
        "not_acknowledged": len(set(rows) - set(acknowledged)),
        "files_twice": len(files) - len(set(files)),
    }


def killed(child):
    go(child)
    child.communicate(timeout=600)
    assert child.returncode == -signal.SIGKILL, f"the child was not killed but ended with {child.returncode}"


def waiting(folder):
    """A function for mapInArrow whose rows come only when somebody lets them go."""

    def wait(batches):
        import time
        from pathlib import Path

        Path(folder, "reading").touch()
        end = time.monotonic() + 600
        while not Path(folder, "go").exists():
            assert time.monotonic() < end, "nobody let the rows go"
            time.sleep(0.01)
        yield from batches

    return wait


def until_reading(folder):
    """Wait until such a function was asked for its rows: what it is part of has planned and not committed."""
    end = time.monotonic() + 600
    while not Path(folder, "reading").exists():
        assert time.monotonic() < end, "nobody reads"
        time.sleep(0.01)


def let_go(folder):
    Path(folder, "go").touch()
