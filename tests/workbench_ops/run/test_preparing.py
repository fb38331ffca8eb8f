"""A notebook that would run with other values than its record names is refused."""

from contextlib import nullcontext

import nbformat
import pytest

from workbench_ops.run import preparing
from workbench_ops.run.notebook import Refused


@pytest.mark.parametrize(
    ("tags", "given", "sentence"),
    [
        (["parameters", None, "parameters"], {"A": 2}, "cells 1 and 3 both have the tag parameters"),
        (["parameters", "injected-parameters"], {}, "cell 2 has the values of an earlier run"),
        (["injected-parameters", "parameters"], {"A": 2}, "cell 1 has the values of an earlier run"),
        (["parameters", "injected-parameters", "injected-parameters"], {"A": 2}, "cell 3 has the values"),
        (["parameters", "injected-parameters"], {"A": 2}, None),  # papermill writes them in that cell's place
        (["injected-parameters", None], {}, None),  # all there is: the record names no values
        (["parameters", None], {}, None),
    ],
)
def test_what_would_run_with_other_values_than_the_records_is_refused(tags, given, sentence):
    cells = [nbformat.v4.new_code_cell("A = 1", metadata={"tags": [tag] if tag else []}) for tag in tags]
    refused = pytest.raises(Refused, match=sentence) if sentence else nullcontext()
    with refused:
        preparing.require_sole_values(nbformat.v4.new_notebook(cells=cells), given)
