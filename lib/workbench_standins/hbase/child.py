"""The process between us and HBase's JVM: it starts it, ends it when its own input ends, notes what it took."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from workbench._base import children
from workbench_standins import folders
from workbench_standins.ports import HOST

USAGE = "usage.json"
PATIENCE_SECONDS = 60  # HBase that ends in order writes its rows down


def running(settings: Mapping[str, Any]) -> AbstractContextManager[dict[str, Any]]:
    """Return the context of a child with these settings; it yields the child's answer.

    Raises:
        ValueError: the folder cannot be had.
        ChildProcessError: it did not start.
    """
    return children.serving(__name__, settings, name="process of HBase", patience_seconds=PATIENCE_SECONDS)


def main() -> None:
    """Serve as the child."""
    folders.serve_from(_serve, kind="hbase", mark="hbase.log")


def _serve(folder: Path, settings: Mapping[str, Any]) -> None:
    from workbench_standins.hbase import node

    process, port = node.start(folder, settings["java"], settings["options"])
    before = children.taken()[0] + node.cpu_seconds(process.pid)
    try:
        answer = {"zookeeper": f"{HOST}:{port}", "folder": str(folder), "process_id": process.pid}
        children.say(answer)
        children.until_either_ends(process)
    finally:
        exit_code = process.poll()
        children.end(process, haste=settings["folder"] is None, patience_seconds=PATIENCE_SECONDS - 10)
        cpu_seconds, peak_memory_bytes = children.taken()
        usage = {
            "exit_code": exit_code,
            "cpu_seconds": cpu_seconds - before,
            "peak_memory_bytes": peak_memory_bytes,
            "pauses_logged": node.pauses_logged(folder),
        }
        (folder / USAGE).write_text(json.dumps(usage), encoding="utf-8")
