"""What Spark is doing, told to the browser while a cell runs; loaded into each Python kernel of `workbench lab`.

A thread looks at the stages that run and sends them by the browser's comm. It looks only while a cell runs and a
browser listens; nothing is stored, and no session is begun.
"""

import sys
import threading
import time
from typing import Any

from workbench_ops.lab.spare import taking

TARGET = "workbench.progress"
EVERY_SECONDS = 0.5
MOST = 5  # stages that are told


def load_ipython_extension(shell: Any) -> None:
    """Tell the browsers of this kernel what Spark is doing, from now on, and have it ask for the spare JVM."""
    taking.install()
    telling = Telling()
    shell.kernel.comm_manager.register_target(TARGET, telling.opened)
    shell.events.register("pre_execute", telling.running.set)
    shell.events.register("post_execute", telling.running.clear)


class Telling:
    """The browsers that listen, and the thread that tells them."""

    def __init__(self) -> None:
        self.comms: list[Any] = []
        self.running = threading.Event()
        self.thread: threading.Thread | None = None

    def opened(self, comm: Any, message: Any) -> None:
        """Tell one more browser, until it closes its comm."""
        self.comms.append(comm)
        comm.on_close(lambda closing: self._leave(comm))
        if self.thread is None:
            self.thread = threading.Thread(target=self._tell, name="workbench-progress", daemon=True)
            self.thread.start()

    def _leave(self, comm: Any) -> None:
        if comm in self.comms:
            self.comms.remove(comm)

    def _tell(self) -> None:
        sent: dict[str, Any] = {}
        while True:
            self.running.wait()
            time.sleep(EVERY_SECONDS)  # a short cell is not worth a look
            if not (self.running.is_set() and self.comms) or (now := progress()) == sent:
                continue
            sent = now
            for comm in [*self.comms]:
                try:
                    comm.send(now)
                except Exception:  # the kernel is ending, or the browser is gone
                    self._leave(comm)


def progress() -> dict[str, Any]:
    """Return what Spark is doing now in this process.

    Returns:
        dict: `stages`, a list of at most five, oldest first, each `id`, `tasks`, `done` and `rows` (read so far);
        and `count`, of all that run. Both are empty where there is no session, or where it cannot be asked.
    """
    nothing: dict[str, Any] = {"stages": [], "count": 0}
    core = sys.modules.get("pyspark.core.context") or sys.modules.get("pyspark.context")
    context = getattr(getattr(core, "SparkContext", None), "_active_spark_context", None)
    java = getattr(context, "_jsc", None)  # a context that is just beginning has none yet
    if java is None:
        return nothing
    try:
        active = java.sc().statusStore().activeStages()
        stages = [_told(active.apply(n)) for n in range(active.size())]
    except Exception:  # a session that is just ending: there is nothing to tell
        return nothing
    stages.sort(key=lambda stage: stage["id"])
    return {"stages": stages[:MOST], "count": len(stages)}


def _told(stage: Any) -> dict[str, int]:
    rows = stage.inputRecords() + stage.shuffleReadRecords()
    return {"id": stage.stageId(), "tasks": stage.numTasks(), "done": stage.numCompleteTasks(), "rows": rows}
