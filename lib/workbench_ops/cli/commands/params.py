"""`workbench params`: what a notebook can be given."""

from typing import Annotated

import typer

from workbench_ops.cli.printing import columns


def params(notebook: Annotated[str, typer.Argument(help="name in notebooks/ or path")]) -> None:
    """List the parameters of a notebook: name, type, default, help; and its params files."""
    from workbench._base import settings
    from workbench_ops.run import notebook as notebooks

    path = notebooks.find(notebook)
    declared = notebooks.parameters(notebooks.read(path)).values()
    columns(
        [
            ("PARAMETER", "TYPE", "DEFAULT", ""),
            *((p.name, p.type or "any", repr(p.default), p.help) for p in declared),
        ]
    )
    files = sorted((settings.home() / "params" / path.stem).glob("*.yml"))
    for file in files:
        print(f"file  {file.relative_to(settings.home())}")
