"""The process that executes a notebook with papermill and tells the runner where it is, a JSON line an event.

It is a process of its own so that the runner survives whatever happens in it. It ends with everything it started
when the runner is gone: the runner holds the other end of a pipe, and the pipe closes however the runner ended.
"""

import argparse
import json
import logging
import os
import re

from nbclient.exceptions import DeadKernelError
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, NotebookExecutionManager, papermill_engines
from papermill.exceptions import PapermillExecutionError
from papermill.execute import execute_notebook

from workbench import secrets, settings
from workbench.run import kernel, processes
from workbench.run import notebook as notebooks


def main(arguments=None):
    """Execute a notebook; the last event tells how it ended."""
    parser = argparse.ArgumentParser()
    names = ("input", "output", "parameters", "environment", "kernel", "events", "lifeline", "cwd")
    for name in names:
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args(arguments)
    logging.getLogger("papermill").setLevel(logging.ERROR)
    processes.adopt()
    processes.when_cut(int(given.lifeline), _end_with_runner)
    events = os.fdopen(int(given.events), "w", buffering=1)
    _Executing.tell = staticmethod(lambda **event: print(json.dumps(event), file=events))
    _Executing.hidden = settings.secret_values(given.environment)
    papermill_engines.register("workbench", _Executing)
    ended = _execute(given, json.loads(given.parameters))
    processes.end(os.environ[processes.TAG], also=processes.below(os.getpid()))
    _Executing.tell(event="end", **ended)


def _execute(given, parameters):
    """Run the notebook and say how it ended: status, reason, failing_cell."""
    try:
        done = execute_notebook(
            given.input, given.output, parameters, engine_name="workbench", progress_bar=False, cwd=given.cwd,
            kernel_name=given.kernel or None,
        )  # fmt: skip
    except PapermillExecutionError as error:
        return _failed(error)
    except DeadKernelError:
        return {
            "status": "died",
            "reason": "the kernel died",
            "failing_cell": _at("DeadKernel", "the kernel died"),
        }
    except OSError as error:
        reason = f"the notebook could not be written: {error.strerror or error}"
        return {"status": "failed", "reason": reason, "failing_cell": _at(type(error).__name__, str(error))}
    left = [c for c in done.cells if c.cell_type == "code" and c.source.strip() and c.execution_count is None]
    if left:
        reason = f"the notebook ended itself (sys.exit) with {len(left)} code cells left"
        return {"status": "failed", "reason": reason, "failing_cell": _at("SystemExit", reason)}
    return {"status": "passed", "reason": None, "failing_cell": None}


def _failed(error):
    """Tell where a cell failed: by its number, its first line, and the line of it that was running."""
    cell = _at(error.ename, _root_cause(error.evalue))
    trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback or []))
    at = re.search(r"Cell In\[\d+\], line (\d+)", trace)
    lines = error.source.splitlines()
    if at and int(at[1]) <= len(lines):
        cell["line"] = lines[int(at[1]) - 1].strip()
    return {"status": "failed", "reason": f"cell {cell['number']} failed: {error.ename}", "failing_cell": cell}


def _root_cause(message):
    """Return a message without Java's stack: what was tried, and the innermost cause."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    stack = [line for line in lines if re.match(r"at [\w.$/]+\(", line)]
    if not stack:
        return message
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return "\n".join([*lines[: min(lines.index(stack[0]), 6)], *causes[-1:]])


def _at(error, message):
    where = _Executing.where or {"number": 0, "first_line": ""}
    message = secrets.redact(str(message), _Executing.hidden)
    return {
        "number": where["number"],
        "first_line": where["first_line"],
        "error": error,
        "message": message[:4000],
    }


class _Told(NotebookExecutionManager):
    """Papermill's own bookkeeping, with an event at each cell's start and secrets blanked out before each save."""

    def cell_start(self, cell, cell_index=None, **kwargs):
        if cell.cell_type == "code" and cell.source.strip():
            lines = [line for line in cell.source.splitlines() if line.strip()]
            cells = [c for c in self.nb.cells if c.cell_type == "code" and c.source.strip()]
            where = {
                "number": next(i for i, c in enumerate(cells, 1) if c is cell),
                "first_line": lines[0].strip(),
            }
            _Executing.where = where
            _Executing.tell(event="cell", of=len(cells), heading=notebooks.headings(self.nb)[cell_index], **where)
        super().cell_start(cell, cell_index, **kwargs)

    def save(self, **kwargs):
        for cell in self.nb.cells:
            if cell.cell_type == "code":
                cell.outputs = secrets.redact(cell.outputs, _Executing.hidden)
        super().save(**kwargs)


class _Executing(Engine):
    """Papermill's engine, with the bookkeeping above."""

    where = None
    hidden = ()

    @classmethod
    def execute_notebook(cls, nb, kernel_name, output_path=None, **kwargs):
        manager = _Told(nb, output_path=output_path, progress_bar=False, autosave_cell_every=5)
        manager.notebook_start()
        try:
            with kernel.private(os.environ[processes.TAG]) as config:
                client = PapermillNotebookClient(
                    manager, kernel_name=kernel_name, startup_timeout=120, config=config
                )
                client.execute()
        finally:
            manager.notebook_complete()
        return manager.nb


def _end_with_runner():
    processes.end(os.environ[processes.TAG], also=processes.below(os.getpid()))
    kernel.remove(os.environ[processes.TAG])
    os._exit(1)


if __name__ == "__main__":
    main()
