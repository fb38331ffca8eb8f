"""Which kernel a notebook runs in, and how it is reached: over sockets in a private folder, for this user only."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from traitlets.config import Config

from workbench._base.errors import ArgumentError

DEFAULT = "python3"  # for Jupyter, too
MAX_SOCKET_PATH = 100  # the systems' limit on the path of a socket file is a little above


def named(notebook: nbformat.NotebookNode) -> str | None:
    """Return the name of the kernel that a notebook was saved with, or None where it names none."""
    return (notebook.metadata.get("kernelspec") or {}).get("name") or None


def default(notebook: nbformat.NotebookNode) -> str:
    """Return the kernel for a notebook that names none: python3, as for Jupyter, or the only one of its language.

    Without a language it is taken for Python, as its parameters cell is.

    Raises:
        ArgumentError: no installed kernel has its language, or several have and none is python3.
    """
    spec, info = (notebook.metadata.get(part) or {} for part in ("kernelspec", "language_info"))
    language = spec.get("language") or info.get("name") or "python"
    languages = installed()
    fitting = sorted(name for name, spoken in languages.items() if spoken.lower() == language.lower())
    if DEFAULT in fitting:
        return DEFAULT
    if len(fitting) == 1:
        return fitting[0]
    which = f"of {language} there are {', '.join(fitting)}" if fitting else f"none of {language} is installed"
    others = "" if fitting else f" (installed are {', '.join(sorted(languages)) or 'none'})"
    raise ArgumentError(
        f"the notebook names no kernel, and {which}{others}; open it in JupyterLab, choose one "
        "(Kernel, Change Kernel) and save it"
    )


def installed() -> dict[str, str]:
    """Return the kernels that Jupyter finds here: name to language."""
    from jupyter_client.kernelspec import KernelSpecManager

    specs = KernelSpecManager().get_all_specs()
    return {name: spec["spec"].get("language") or "" for name, spec in specs.items()}


def require(notebook: nbformat.NotebookNode, kernel: str | None = None) -> None:
    """Validate that a notebook's kernel is installed.

    Args:
        notebook: as `notebook.read` returned it.
        kernel: name of the one that it is to run in; None for the notebook's own, or the default.

    Raises:
        ArgumentError: it is not; the message lists those that are.
    """
    if (asked := kernel or named(notebook)) is None:
        default(notebook)
    elif asked not in (languages := installed()):
        wrong = f"there is no kernel {asked!r}" if kernel else f"the notebook names the kernel {asked!r}"
        how = "" if kernel else "; open it in JupyterLab, choose one of them (Kernel, Change Kernel) and save it"
        raise ArgumentError(
            f"{wrong}; installed are {', '.join(sorted(languages)) or 'none'}{how if languages else ''}"
        )


@contextmanager
def private(name: str) -> Iterator[Config]:
    """Yield the configuration of a notebook client whose kernel talks over sockets that only this user can open.

    Where the temporary folder's path is too long for a socket file, the kernel talks over the loopback address.

    Args:
        name: unique text, such as a run's id; `remove` takes it where the block was killed.
    """
    folder = _folder(name)
    folder.mkdir(mode=0o700)
    try:
        fits = len(str(folder / "k-99")) <= MAX_SOCKET_PATH
        yield Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "k")}} if fits else {})
    finally:
        remove(name)


def remove(name: str) -> None:
    """Remove the sockets of a kernel that is gone."""
    shutil.rmtree(_folder(name), ignore_errors=True)


def _folder(name: str) -> Path:
    return Path(tempfile.gettempdir()) / f"kernel-{name}"
