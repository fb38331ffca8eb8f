"""Options that several commands have."""

from typing import Annotated

import typer

AnyNotebook = Annotated[str, typer.Argument(help="name in notebooks/, or path of any notebook")]
AsJson = Annotated[bool, typer.Option("--json", help="print the run record as JSON, as the last line")]
Environment = Annotated[str | None, typer.Option(help="value of the parameter ENVIRONMENT")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="value of one parameter; may be repeated")
]
Params = Annotated[str | None, typer.Option(metavar="FILE", help="YAML file with names and values of parameters")]
Timeout = Annotated[float | None, typer.Option(min=0.1, help="seconds that each run may take")]
Metrics = Annotated[
    str,
    typer.Option(
        metavar="off|run|keep", help="watch what Spark and Iceberg do; keep: the log of a healthy run stays, too"
    ),
]
