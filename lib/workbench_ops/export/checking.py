"""The check: what of a notebook would be different in Glue, cell by cell."""

from workbench_ops.export import cells as code
from workbench_ops.export import homes, places, rules, sessions, versions, wheel


def check(notebook, *, version="6.0", declared=(), given=None, shipped=None, folders=()):
    """Say what in a notebook would behave differently in AWS Glue. Nothing is executed.

    Args:
        notebook: NotebookNode.
        version: of Glue, `6.0` or `5.1`.
        declared: the notebook's parameters: objects with `name` and `default`.
        given: parameters of the run, name to value, where they are not the defaults.
        folders: where modules of one's own may be, such as the notebook's; Path objects.
        shipped: folder of the environments that the wheel takes along; None for that of this library.

    Returns:
        list of Finding, by cell and line.

    Raises:
        ValueError: there is no such version.
    """
    glue = versions.version(version)
    values = {parameter.name: parameter.default for parameter in declared} | dict(given or {})
    cells = code.read(notebook, values)
    names = code.imported(cells)
    found = [
        *rules.misplaced(cells),
        *rules.overtaken(cells, sessions.defaults(glue)),
        *homes.environments(cells, names, values, glue=glue, shipped=shipped or wheel.environments()),
        *places.files(cells, names),
        *places.buckets(cells),
        *places.variables(cells, names),
        *rules.imports(cells, glue, folders),
        *rules.features(cells, names, glue),
        *rules.library(cells, names),
        *rules.processes(cells, names),
        *rules.shell(cells, names),
        *rules.plots(cells, names),
    ]
    return sorted(set(found))
