"""Values at the edge of what a notebook takes, at which its checks hold all the same."""

import pytest
from conftest import ROOT
from test_second_values import run


@pytest.mark.proof("nbval runs 12_ingest_kafka with its defaults, in which there are records of each kind")
def test_so_few_records_that_none_of_a_kind_is_there(project):
    """Seven records of the second topic have no delete among them, and nothing bad."""
    few = ("--set", "RECORDS=7", "--set", "BAD_SHARE=0")
    record = run(ROOT / "notebooks/12_ingest_kafka.ipynb", project, *few)
    assert record["status"] == "passed", record["failing_cell"]
    assert record["results"]["deletes"] == 0
