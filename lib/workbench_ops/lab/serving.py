"""JupyterLab begun as this process: on loopback, with our panel, its kernels with our progress."""

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from workbench._base import scratch
from workbench._base.errors import ArgumentError, MissingPackageError
from workbench_ops import machine
from workbench_ops.lab import spare as spares

LOOPBACK = "127.0.0.1"
MARK = "WORKBENCH_LAB"  # set in the server and in the kernels it starts
HERE = Path(__file__).parent


def serve(folder: str | Path, *, port: int = 8888, browser: bool = True, spare: bool = True) -> None:
    """Serve JupyterLab until it is ended; its kernels end with it.

    All its kernels share one throw-away lake (environment `local`), which the panel sees, too.

    Args:
        folder: of the notebooks that it shows.
        port: TCP port on 127.0.0.1.
        browser: whether the machine's browser opens it.
        spare: whether a JVM is started ahead for the next kernel; it takes a few hundred MB.

    Raises:
        ValueError: there is no such folder, or somebody listens on the port.
        ModuleNotFoundError: JupyterLab is not installed.
    """
    if not Path(folder).is_dir():
        raise ArgumentError(f"{folder} is not a folder; name the one that holds your notebooks")
    if wrong := machine.free_port(port).wrong:
        raise ArgumentError(f"{wrong}; name another with --port")
    try:
        from jupyterlab.labapp import LabApp
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "jupyterlab is not installed: pip install 'iceberg-workbench[notebooks]'"
        ) from error
    os.environ[MARK] = "1"
    kernels = _kernels(scratch.enter() / "lab")
    others = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = os.pathsep.join([str(kernels), *([others] if others else [])])
    with ExitStack() as living:
        if spare:
            living.enter_context(spares.kept(Path(folder)))
        LabApp.launch_instance(arguments(folder, port=port, browser=browser))


def arguments(folder: str | Path, *, port: int, browser: bool) -> list[str]:
    """Return what Jupyter's server is told."""
    return [
        f"--ServerApp.ip={LOOPBACK}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={Path(folder).resolve()}",
        "--ServerApp.jpserver_extensions=workbench_ops.lab=True",
        f"--LabApp.extra_labextensions_path={HERE / 'labextensions'}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",  # no request to the outside
        *([] if browser else ["--ServerApp.open_browser=False"]),
        *(["--ServerApp.allow_root=True"] if os.getuid() == 0 else []),
    ]


def _kernels(folder: Path) -> Path:
    """Write the kernel `python3` as ipykernel has it, with our progress; return the folder for JUPYTER_PATH."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True, exist_ok=True)
    loaded = "--IPKernelApp.extensions=workbench_ops.lab.kernel"
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", loaded],
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "metadata": {"debugger": True},
        "kernel_protocol_version": "5.5",
    }
    (place / "kernel.json").write_text(json.dumps(spec, indent=1), encoding="utf-8")
    return folder
