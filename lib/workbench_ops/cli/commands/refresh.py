"""`workbench refresh`: the outputs that are stored in notebooks, made anew."""

from typing import Annotated

import typer


def refresh(
    names: Annotated[list[str] | None, typer.Argument(help="notebooks; left out: all of them")] = None,
) -> None:
    """Execute notebooks in a fresh kernel and store their outputs in normal form."""
    from workbench_ops.run import notebook as notebooks
    from workbench_ops.run import refresh as refreshing

    for path in [notebooks.find(name) for name in names or []] or notebooks.every():
        print(f"{path.stem:28} {'changed' if refreshing.refresh(path) else 'the same'}", flush=True)
