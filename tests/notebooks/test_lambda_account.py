"""13_ingest_lambda in a stand-in of an AWS account: SQS, an event source mapping, and Lambda from the zip."""

import aws_stand_in
import pytest
from conftest import ROOT
from test_second_values import run

NAME = "13_ingest_lambda"


# the stand-in is an environment of its own, which `make prove PART=lambdas` makes first
@pytest.mark.proof("nbval runs 13_ingest_lambda with its functions as processes of this machine")
def test_the_functions_of_an_account(project):
    aws_stand_in.require()
    (project / ".workbench").mkdir()
    (project / ".workbench" / "ministack").symlink_to(ROOT / ".workbench" / "ministack")
    record = run(ROOT / "notebooks" / f"{NAME}.ipynb", project, "--params", ROOT / "params" / NAME / "account.yml")
    assert record["status"] == "passed", record["failing_cell"]
    assert record["checks"] and all(check["passed"] for check in record["checks"])
    facts = record["results"]
    assert (facts["rows_lost"], facts["rows_doubled"], facts["dead_letters"]) == (0, 0, 5)
    assert facts["rows_doubled_plain"] > 0
