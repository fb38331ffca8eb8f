"""An extension of IPython that watches every Spark session of a kernel, from its first statement on.

`workbench run --metrics run` loads it; a notebook needs no line for it. The variable WORKBENCH_METRICS names the
folder: the first session's files are in it, those of a second session, of a JVM of its own, in its folder `2`.

Nothing of it is in the way: what fails is noted in `sessions.json` beside the files, and the notebook goes on.
"""

import collections
import functools
import importlib.abc
import importlib.machinery
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench._base import files
from workbench.metrics import reports, watching

VARIABLE = "WORKBENCH_METRICS"  # names the folder; without it the extension does nothing
STATE = "sessions.json"
TABLES_SECONDS = 1.0  # for looking at the tables that were written: none is begun after that,
TABLES_SHARE = 0.02  # or after this share of the run's time, where that is more
APPENDER = "workbench-metrics-of-the-run"  # beside that of a notebook which watches its session itself
_MODULE = "pyspark.sql.session"


class _Kernel:
    """What is watched in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.began = time.monotonic()
        self.watches: dict[str, watching.Watch] = {}  # by application
        self.running: dict[str, Any] = {}  # sessions, by application
        self.state: dict[str, Any] = {"sessions": [], "tables": [], "note": None}

    def begin(self, spark: Any) -> None:
        """Watch a session, unless its application is watched already."""
        application = str(spark.sparkContext.applicationId)
        if application in self.watches:
            return
        number = len(self.watches) + 1
        folder = self.folder if number == 1 else self.folder / str(number)
        watch = watching.begin(spark, folder, APPENDER)
        self.watches[application], self.running[application] = watch, spark
        before = {"application": application, "folder": str(number) if number > 1 else "", "ended": False}
        self.state["sessions"].append(before | {"failure": watch.failure})
        _before(type(spark.sparkContext), "stop", self.end)
        self.write()

    def end(self, context: Any) -> None:
        """End the watch of a context that is about to stop."""
        application = str(context.applicationId)
        if watch := self.watches.get(application):
            self.running.pop(application, None)
            watch.stop()
            entry = next(entry for entry in self.state["sessions"] if entry["application"] == application)
            entry |= {"ended": True, "failure": watch.failure}
            self.write()

    def write(self) -> None:
        """Write what is known into the folder."""
        with files.replacing(self.folder / STATE) as new:
            new.write_text(json.dumps(self.state), encoding="utf-8")


_kernels: list[_Kernel] = []


def load_ipython_extension(shell: object) -> None:
    """Watch the sessions that this process starts from now on.

    Args:
        shell: of IPython, which calls this.
    """
    if not (folder := os.environ.get(VARIABLE)) or _kernels:
        return
    kernel = _Kernel(Path(folder))
    _kernels.append(kernel)
    _quietly(kernel, kernel.write)

    def patch(module: ModuleType) -> None:
        _after(module.SparkSession, "__init__", lambda spark: _quietly(kernel, lambda: kernel.begin(spark)))

    if _MODULE in sys.modules:
        patch(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Finder(_MODULE, lambda module: _quietly(kernel, lambda: patch(module))))


def finish() -> None:
    """End the watches of this process, and look at the tables that were written while their session is there."""
    for kernel in _kernels:
        _finish(kernel)


def _finish(kernel: _Kernel) -> None:
    sessions = [*kernel.running.values()]
    for act in (lambda spark: kernel.end(spark.sparkContext), lambda spark: _look_at_tables(kernel, spark)):
        for spark in sessions:
            _quietly(kernel, functools.partial(act, spark))
    _quietly(kernel, kernel.write)


def _quietly(kernel: _Kernel, act: Callable[[], object]) -> None:
    """Act; what fails is noted, and goes no further."""
    try:
        act()
    except Exception as error:
        text = str(error).strip().splitlines()
        kernel.state["note"] = f"{type(error).__name__}: {text[0][:300] if text else ''}"
        try:
            kernel.write()
        except Exception:  # the folder is gone, or its disk is full: the runner sees that nothing is there
            return


def _look_at_tables(kernel: _Kernel, spark: Any) -> None:
    """Diagnose the tables that a session wrote, by their metadata, as long as there is time.

    Those that most files were written to come first, as they are the likeliest to need it.
    """
    from workbench.tables import doctor

    application = str(spark.sparkContext.applicationId)
    commits = reports.read(kernel.watches[application].folder).commits
    files_written: collections.Counter[str] = collections.Counter()
    for commit in commits:
        files_written[commit.table] += commit.added_data_files + commit.added_delete_files
    now = time.monotonic()
    deadline = now + max(TABLES_SECONDS, TABLES_SHARE * (now - kernel.began))
    for table in _tables(spark, [table for table, _ in files_written.most_common()]):
        entry: dict[str, Any] = {"table": table, "findings": [], "note": None}
        if time.monotonic() > deadline:
            entry["note"] = "not looked at: the time for it was over"
        else:
            try:
                findings = doctor.diagnose(spark, table).findings
                entry["findings"] = [_finding(finding) for finding in findings]
            except Exception as error:  # it was dropped meanwhile, or has another name in the catalog
                entry["note"] = f"not looked at: {type(error).__name__}"
        kernel.state["tables"].append(entry)


def _tables(spark: Any, names: list[str]) -> list[str]:
    """Return the name of each table once, though Iceberg reports it with its catalog's name and without."""
    from workbench.tables import commits

    tables: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            meant = commits.identified(spark, name)
            tables.setdefault(f"{meant.catalog().name()}.{meant.identifier().toString()}", name)
        except Exception:  # no name of this session: the diagnosis says so
            tables.setdefault(name, name)
    return list(tables.values())


def _finding(finding: Any) -> dict[str, str]:
    return {name: getattr(finding, name) for name in ("cause", "severity", "what", "advice")}


def _after(owner: type, name: str, act: Callable[[Any], None]) -> None:
    """Let a method of a class call a function behind itself, with the object."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        act(self)
        return result

    setattr(owner, name, method)


def _before(owner: type, name: str, act: Callable[[Any], None]) -> None:
    """Let a method of a class call a function before itself, with the object; once, however often it is asked."""
    original = getattr(owner, name)
    if getattr(original, "_watched", False):
        return

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for kernel in _kernels:
            _quietly(kernel, lambda: act(self))
        return original(self, *args, **kwargs)

    method._watched = True  # type: ignore[attr-defined]
    setattr(owner, name, method)


class _Finder(importlib.abc.MetaPathFinder):
    """Call a function with a module when it has been imported for the first time."""

    def __init__(self, name: str, act: Callable[[ModuleType], None]) -> None:
        self.name, self.act = name, act

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module as Python does, and stand aside from then on."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def executed(module: ModuleType) -> None:
                execute(module)
                self.act(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec
