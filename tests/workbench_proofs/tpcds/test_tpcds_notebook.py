"""What the notebook of the benchmark must not do because its data may be a thousand times those of its defaults."""

import ast

import nbformat
from conftest import ROOT

from workbench_proofs.tpcds import data, layouts

NOTEBOOK = ROOT / "notebooks" / "90_benchmark_tpcds.ipynb"
MOST_COLUMNS = 2


def fetched():
    """Yield (table, names of the calls, columns) for each scan that the notebook takes into its own memory."""
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    for node in ast.walk(ast.parse("\n".join(cells))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "to_pandas":
            called, inner = [], node
            while isinstance(inner, ast.Call | ast.Attribute):
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                    called.append((inner.func.attr, [ast.literal_eval(one) for one in inner.args if literal(one)]))
                inner = inner.func if isinstance(inner, ast.Call) else inner.value
            if isinstance(inner, ast.Subscript):
                yield ast.literal_eval(inner.slice), dict(called)


def literal(node):
    return isinstance(node, ast.Constant)


def test_a_fact_is_fetched_by_its_days_and_two_columns():
    """At a scale factor of 10, store_sales has 29 million rows of 23 columns: whole, they do not fit a machine."""
    found = dict(fetched())
    assert "store_sales" in found and set(found) <= set(data.TABLES)
    for table, called in found.items():
        assert 0 < len(called.get("select", ())) <= MOST_COLUMNS, f"{table} comes with all its columns"
        assert "filter" in called, f"{table} comes whole"
    assert layouts.FACTS["store_sales"] not in found["store_sales"]["select"]
