"""`workbench new`: a notebook begun from the template."""

from typing import Annotated

import typer

from workbench_ops.cli.printing import from_here


def new(name: Annotated[str, typer.Argument(help="two digits and words, such as 25_find_duplicates")]) -> None:
    """Start a notebook from the template."""
    from workbench_ops.run import refresh as refreshing

    path = refreshing.create(name)
    print(f"{from_here(path)}: edit it in JupyterLab, then `workbench refresh {name}`")
