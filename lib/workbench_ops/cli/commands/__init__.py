"""The subcommands of `workbench`, a module each: it holds a function, or a Typer of several, by its own name."""
