"""The wheel in an environment of its own, far from the checkout: the doctor, and a notebook of the user's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, write_notebook

BIN = Path(sys.executable).parent
OWN = """
from workbench import checks, quality, results, session, wap

spark = session.start(ENVIRONMENT)
spark.sql("CREATE NAMESPACE mine")
spark.sql("CREATE TABLE mine.t (id INT) USING iceberg")
new = spark.createDataFrame([(number,) for number in range(ROWS)], "id INT")
outcome = wap.run(
    spark, "mine.t", write=lambda stage: new.writeTo(stage.table).append(),
    audit=lambda df: quality.evaluate(spark, df, 'Rules = [ IsUnique "id" ]').verdict(),
)
checks.require("rows", spark.table("mine.t").count(), ROWS)
import workbench_proofs, workbench_standins
places = [module.__file__ for module in (checks, workbench_proofs, workbench_standins)]
results.record(published=outcome.published, places=", ".join(places))
"""


def called(*command, cwd=None):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "PYTHON"))}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


@pytest.mark.proof("test_the_wheel_stands_alone looks into it, and reads its environments without the checkout")
def test_installed_it_runs_a_notebook_of_the_users_own(tmp_path):
    wheel = os.environ.get("WORKBENCH_TEST_WHEEL")  # what `make release` built
    if wheel is None:
        called(BIN / "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
        wheel = next(tmp_path.glob("*.whl"))
    home, uv = tmp_path / "venv", (BIN / "uv", "--no-config")
    called(*uv, "venv", "--quiet", "--python", sys.executable, home)
    install = (*uv, "pip", "install", "--quiet", "--python", home / "bin" / "python", "--no-deps")
    called(*install, "--require-hashes", "--no-build-isolation", "-r", ROOT / "locks" / "build.lock")
    called(*install, "--require-hashes", "--no-build-isolation", "-r", ROOT / "locks" / "project.lock")
    called(*install, wheel)
    (mine := tmp_path / "mine").mkdir()
    said = called(home / "bin" / "workbench", "doctor", cwd=mine)
    assert "wrong" not in said and "ok     PySpark" in said
    write_notebook(mine / "notebooks" / "own.ipynb", OWN, parameters='ENVIRONMENT: str = "local"\nROWS: int = 5')
    record = json.loads(
        called(home / "bin" / "workbench", "run", "own", "--set", "ROWS=7", "--json", cwd=mine).splitlines()[-1]
    )
    assert (record["status"], record["results"]["published"]) == ("passed", True)
    assert record["results"]["places"].count(str(home)) == 3
