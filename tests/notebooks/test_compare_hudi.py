"""32_compare_formats with Hudi in Delta's place, on the engine that Hudi's jar is for."""

import pytest
from conftest import ROOT
from test_second_values import run

NAME = "32_compare_formats"


# the engine is an environment of its own, which `make prove PART=formats-compared` makes first
@pytest.mark.proof("nbval runs 32_compare_formats with Delta, and test_compared_formats.py what is not Spark's")
def test_iceberg_and_hudi(project):
    engines = ROOT / ".workbench" / "engines"
    if not (engines / "spark35" / "bin" / "python").exists():
        pytest.skip("the engine spark35 is not installed: workbench engines install spark35")
    (project / ".workbench").mkdir()
    (project / ".workbench" / "engines").symlink_to(engines)
    params = ROOT / "params" / NAME / "hudi.yml"
    record = run(ROOT / "notebooks" / f"{NAME}.ipynb", project, "--engine", "spark35", "--params", params)
    assert record["status"] == "passed", record["failing_cell"]
    assert record["checks"] and all(check["passed"] for check in record["checks"])
    facts = {name: record["results"][name] for name in ("answers_equal", "as_of_equal", "changes_equal")}
    assert facts == dict.fromkeys(facts, True)
