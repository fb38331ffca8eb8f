"""The process that executes a notebook with papermill and reports to the runner, a JSON line an event.

It is a process of its own so that the runner survives whatever happens in it. It ends with everything it started
when the runner is gone: the runner holds the other end of a pipe, and the pipe closes however the runner ended.
"""

import argparse
import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from nbclient.exceptions import DeadKernelError
from nbclient.util import run_sync
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NotebookExecutionManager
from papermill.execute import ERROR_ANCHOR_MSG, ERROR_MARKER_TAG, ERROR_MESSAGE_TEMPLATE, execute_notebook
from papermill.iorw import write_ipynb
from papermill.utils import chdir, nb_kernel_name

from workbench._base import secrets, settings
from workbench_ops.run import kernel, metering, processes
from workbench_ops.run import notebook as notebooks

EXTENSION = "workbench.metrics.kernel"
END_SECONDS = 20  # that a kernel has for ending its watches, and for a look at its tables


def main(arguments: Sequence[str] | None = None) -> None:
    """Execute a notebook; the last event says how it ended."""
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
    ended = _execute(given, json.loads(given.parameters))
    processes.end(os.environ[processes.TAG], also=processes.below(os.getpid()))
    _Executing.tell(event="end", **ended)


def _execute(given: argparse.Namespace, parameters: dict[str, Any]) -> dict[str, Any]:
    """Run the notebook and return how it ended: status, reason, failing_cell."""
    try:
        executed = _prepared(given, parameters)
        with chdir(given.cwd):
            raised = _Executing.notebook(executed, given)
        for index, error in _failures(executed, raised):
            _mark(executed, index)
            write_ipynb(executed, given.output)
            return _failed(error, _Executing.places[index])
    except DeadKernelError:
        return {
            "status": "died",
            "reason": "the kernel died",
            "failing_cell": _at("DeadKernel", "the kernel died"),
        }
    except OSError as error:
        reason = f"the notebook could not be written: {error.strerror or error}"
        return {"status": "failed", "reason": reason, "failing_cell": _at(type(error).__name__, str(error))}
    unfinished = [
        c for c in executed.cells if c.cell_type == "code" and c.source.strip() and c.execution_count is None
    ]
    if unfinished:
        reason = f"the notebook ended itself (sys.exit) with {len(unfinished)} code cells left"
        return {"status": "failed", "reason": reason, "failing_cell": _at("SystemExit", reason)}
    return {"status": "passed", "reason": None, "failing_cell": None}


def _prepared(given: argparse.Namespace, parameters: dict[str, Any]) -> NotebookNode:
    """Return the notebook with the parameters in it, and write it to the output."""
    nb = notebooks.read(given.input)
    if kernel.named(nb) is None and not given.kernel:
        name = kernel.default(nb)
        nb.metadata["kernelspec"] = {"name": name, "display_name": name, "language": kernel.installed()[name]}
    write_ipynb(nb, given.output)
    prepared = execute_notebook(
        given.output, given.output, parameters, prepare_only=True, progress_bar=False,
        kernel_name=given.kernel or None,
    )  # fmt: skip
    prepared.metadata.papermill["input_path"] = given.input
    return prepared


def _failures(executed: NotebookNode, raised: Mapping[int, Any]) -> Iterator[tuple[int, Any]]:
    """Yield (index of the cell, its error) for each cell that fails the run, in their order.

    Two kinds do: a cell that stopped the notebook, and one that shows an error after which it went on. An
    error in a cell with Jupyter's tag raises-exception is meant, and the notebook goes on after it everywhere.
    What sys.exit(0) leaves undone is examined later.
    """
    for index, cell in enumerate(executed.cells):
        meant = "raises-exception" in cell.metadata.tags
        shown = [output for output in cell.get("outputs", ()) if output.output_type == "error" and not meant]
        for error in [raised[index]] if index in raised else shown:
            if error.ename != "SystemExit" or error.evalue not in ("", "0"):
                yield index, error
                break


def _mark(executed: NotebookNode, index: int) -> None:
    """Show in the notebook where it failed, by the two cells that papermill puts into those it runs itself."""
    count = executed.cells[index].execution_count
    for place, text in ((index, ERROR_ANCHOR_MSG), (0, ERROR_MESSAGE_TEMPLATE % count)):
        executed.cells.insert(place, nbformat.v4.new_markdown_cell(text, metadata={"tags": [ERROR_MARKER_TAG]}))


def _failed(error: Any, place: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a cell failed: its number, its first line, and the line of it that was running."""
    cell = _at(error.ename, _root_cause(error.evalue) + _advice(error), place)
    trace = error.traceback or ""
    trace = re.sub(r"\x1b\[[0-9;]*m", "", trace if isinstance(trace, str) else "\n".join(trace))
    at = re.search(r"Cell In\[\d+\], line (\d+)", trace)
    lines = place["source"].splitlines()
    if at and int(at[1]) <= len(lines):
        cell["line"] = lines[int(at[1]) - 1].strip()
    return {"status": "failed", "reason": f"cell {cell['number']} failed: {error.ename}", "failing_cell": cell}


def _advice(error: Any) -> str:
    """Return what provides the magic that most strangers' notebooks lack."""
    if error.ename != "UsageError" or not re.search(r"`%+sql` not found", error.evalue):
        return ""
    return ' Write spark.sql("…").show(), or load a package that has it, such as JupySQL, by %load_ext.'


def _root_cause(message: str) -> str:
    """Return a message without Java's stack: what was tried, and the innermost cause."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    stack = [line for line in lines if re.match(r"at [\w.$/]+\(", line)]
    if not stack:
        return message
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return "\n".join([*lines[: min(lines.index(stack[0]), 6)], *causes[-1:]])


def _at(error: str, message: str, where: Mapping[str, Any] | None = None) -> dict[str, Any]:
    where = where or _Executing.where or {"number": 0, "first_line": ""}
    message = secrets.redact(str(message), _Executing.hidden)
    return {
        "number": where["number"],
        "first_line": where["first_line"],
        "error": error,
        "message": message[:4000],
    }


class _Manager(NotebookExecutionManager):
    """Papermill's own bookkeeping, with an event at each cell's start and secrets blanked out before each save."""

    def cell_start(self, cell: NotebookNode, cell_index: int, **kwargs: Any) -> None:
        if cell.cell_type == "code" and cell.source.strip():
            lines = [line for line in cell.source.splitlines() if line.strip()]
            cells = [c for c in self.nb.cells if c.cell_type == "code" and c.source.strip()]
            where = {
                "number": next(i for i, c in enumerate(cells, 1) if c is cell),
                "first_line": lines[0].strip(),
            }
            _Executing.where = where
            _Executing.places[cell_index] = where | {"source": cell.source}
            _Executing.tell(event="cell", of=len(cells), heading=notebooks.headings(self.nb)[cell_index], **where)
        super().cell_start(cell, cell_index, **kwargs)

    def cell_exception(self, cell: NotebookNode, cell_index: int, exception: Any = None, **kwargs: Any) -> None:
        _Executing.raised[cell_index] = exception  # a magic's usage error leaves no trace in the outputs
        super().cell_exception(cell, cell_index, exception=exception, **kwargs)

    def save(self, **kwargs: Any) -> None:
        for cell in self.nb.cells:
            if cell.cell_type == "code":
                cell.outputs = secrets.redact(cell.outputs, _Executing.hidden)
        super().save(**kwargs)


class _Client(PapermillNotebookClient):
    """Papermill's client, which lets a kernel end what watches it when the cells are done.

    A kernel that does not answer in time is ended as ever: its log is then without an end.
    """

    def papermill_execute_cells(self) -> None:
        super().papermill_execute_cells()
        if self.extra_arguments:
            with suppress(Exception):
                assert self.kc is not None
                run_sync(self.kc.execute_interactive)(
                    f"__import__({EXTENSION!r}, fromlist=['']).finish()", silent=True, store_history=False,
                    allow_stdin=False, timeout=END_SECONDS, output_hook=lambda message: None,
                )  # fmt: skip


def _watched(name: str) -> list[str]:
    """Return what a kernel is started with so that it is watched: nothing where it is not IPython's."""
    argv = KernelSpecManager().get_kernel_spec(name).argv
    return [f"--InteractiveShellApp.extra_extensions={EXTENSION}"] if "ipykernel_launcher" in argv else []


class _Executing:
    """What is known about the notebook under way: the current cell, where each stands, and what stopped it."""

    tell: ClassVar[Callable[..., None]]
    where: ClassVar[dict[str, Any] | None] = None
    hidden: ClassVar[Sequence[str]] = ()
    places: ClassVar[dict[int, dict[str, Any]]] = {}
    raised: ClassVar[dict[int, Any]] = {}

    @classmethod
    def notebook(cls, nb: NotebookNode, given: argparse.Namespace) -> dict[int, Any]:
        """Execute a notebook in place, saved as it goes; return index to error of the cell that stopped it."""
        manager = _Manager(nb, output_path=given.output, progress_bar=False, autosave_cell_every=5)
        manager.notebook_start()
        try:
            with kernel.private(os.environ[processes.TAG]) as config:
                name = nb_kernel_name(nb, given.kernel)
                client = _Client(
                    manager, kernel_name=name, startup_timeout=120, config=config,
                    extra_arguments=_watched(name) if os.environ.get(metering.VARIABLE) else [],
                )  # fmt: skip
                client.execute()
        finally:
            manager.notebook_complete()
        return cls.raised


def _end_with_runner() -> None:
    processes.end(os.environ[processes.TAG], also=processes.below(os.getpid()))
    kernel.remove(os.environ[processes.TAG])
    os._exit(1)


if __name__ == "__main__":
    main()
