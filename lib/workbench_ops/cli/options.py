"""Options that several commands have."""

from typing import Annotated

import typer

AnyNotebook = Annotated[str, typer.Argument(help="name in notebooks/, or path of any notebook")]
AsJson = Annotated[bool, typer.Option("--json", help="print the run record as JSON on the last line")]
Environment = Annotated[str | None, typer.Option(help="value for ENVIRONMENT")]
Overrides = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="one parameter")]
Params = Annotated[str | None, typer.Option(metavar="FILE", help="flat YAML file: names and values")]
Timeout = Annotated[float | None, typer.Option(min=0.1, help="seconds each run may take")]
