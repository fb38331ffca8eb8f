"""Tags of cells: where papermill writes a run's values, and what would count in their place."""

from nbformat import NotebookNode

from workbench_ops.run.notebook import Refused


def sole_values(notebook: NotebookNode, given: dict) -> None:
    """Refuse a notebook in which other values than those of the record would be run with.

    papermill writes a run's values behind the first cell with the tag `parameters`, or in place of those of an
    earlier run; what a later cell of parameters assigns replaces them, and without any the earlier ones stay.

    Args:
        notebook: as `read` returned it.
        given: the values of this run beside the defaults.

    Raises:
        Refused: it has a second cell of parameters, or values of an earlier run that would count.
    """
    first, *more = _tagged(notebook, "parameters") or [None]
    if more:
        raise Refused(
            f"cells {first + 1} and {more[0] + 1} both have the tag parameters, and a run's values stand behind "
            "the first: what the other assigns would replace them; make them one cell"
        )
    earlier = _tagged(notebook, "injected-parameters")
    if first is not None and earlier and (not given or earlier[0] < first or earlier[1:]):
        raise Refused(
            f"cell {earlier[-1] + 1} has the values of an earlier run (tag injected-parameters), which would "
            "count and not those of this one; delete it"
        )


def _tagged(notebook, tag):
    """Return the places of the code cells with a tag."""
    cells = enumerate(notebook.cells)
    return [n for n, cell in cells if cell.cell_type == "code" and tag in (cell.metadata.get("tags") or [])]
