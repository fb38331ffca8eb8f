"""`workbench lab`: JupyterLab with a panel of tables, sortable results and the progress of Spark."""

from pathlib import Path
from typing import Annotated

import typer


def lab(
    folder: Annotated[
        Path | None, typer.Argument(help="of your notebooks; left out: notebooks, or the working folder")
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port on 127.0.0.1")] = 8888,
    browser: Annotated[bool, typer.Option(help="open it in the browser of this machine")] = True,
    spare: Annotated[bool, typer.Option(help="start a JVM ahead for the next kernel, about 700 MB")] = True,
) -> None:
    """Open JupyterLab with a panel of tables; Ctrl-C ends it and its kernels."""
    from workbench_ops.lab import serving

    if folder is None:
        folder = Path("notebooks") if Path("notebooks").is_dir() else Path()
    serving.serve(folder, port=port, browser=browser, spare=spare)
