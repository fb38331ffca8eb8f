"""Notebooks in memory, and what a check says of them."""

import nbformat

from workbench_ops import export
from workbench_ops.run import notebook as notebooks


def made(*cells, parameters=None):
    """A notebook of code cells; the parameters cell is the first."""
    found = nbformat.v4.new_notebook()
    found.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    if parameters is not None:
        found.cells.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    found.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    return found


def declared(notebook):
    return list(notebooks.parameters(notebook).values())


def checked(notebook, version="6.0", shipped=None, **given):
    return export.check(notebook, version=version, declared=declared(notebook), given=given, shipped=shipped)


def told(findings):
    """Each finding as (cell, line, rule, grade)."""
    return [(one.cell, one.line, one.rule, one.grade) for one in findings]


def session(notebook, *, version="6.0", environment=None, **options):
    values = {one.name: one.default for one in declared(notebook)}
    return export.session(notebook, values, version=version, environment=environment, **options)
