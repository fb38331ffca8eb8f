"""k and l of random tables against pycanon, which counts them by pandas in an environment of its own."""

import json
import random
import subprocess

import pytest
from conftest import ROOT

from workbench import anonymity

PYTHON = ROOT / ".workbench" / "pycanon" / "venv" / "bin" / "python"  # make .workbench/pycanon/.packages
QUASI, SENSITIVE = ["age", "area", "sex"], "disease"
PYCANON = """
import json, sys
import pandas
from pycanon import anonymity

answers = []
for rows in json.load(sys.stdin):
    frame = pandas.DataFrame(rows, columns=[*QUASI, SENSITIVE])
    k = anonymity.k_anonymity(frame, QUASI)
    answers.append([int(k), int(anonymity.l_diversity(frame, QUASI, [SENSITIVE]))])
json.dump(answers, sys.stdout)
"""


def table(seed):
    """Return rows of random quasi-identifiers and a disease: from one row to 400, in few classes or in many."""
    draw = random.Random(seed)
    ages, areas, diseases = (draw.randint(1, most) for most in (6, 4, 5))
    return [
        (10 * draw.randint(1, ages), f"area {draw.randint(1, areas)}", draw.choice("fm"), f"d{draw.randint(1, diseases)}")
        for _ in range(draw.choice([1, 30, 400]))
    ]  # fmt: skip


def by_pycanon(tables):
    code = f"QUASI, SENSITIVE = {QUASI!r}, {SENSITIVE!r}\n{PYCANON}"
    asked = json.dumps(tables)
    run = subprocess.run([PYTHON, "-c", code], input=asked, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.proof("k and l against a count by hand: test_k_and_l_are_those_of_a_count_by_hand")
def test_k_and_l_are_those_of_pycanon(spark, namespace):
    tables = [table(seed) for seed in range(20)]
    expected = by_pycanon(tables)
    assert len({tuple(pair) for pair in expected}) > 5  # they differ, so that a constant would not agree
    found = []
    for rows in tables:
        name = f"{namespace}.people"
        frame = spark.createDataFrame(rows, "age INT, area STRING, sex STRING, disease STRING")
        frame.writeTo(name).createOrReplace()
        report = anonymity.checks(spark, name, quasi=QUASI, sensitive=SENSITIVE)
        found.append([report.k, report.l])
    spark.sql(f"DROP TABLE {namespace}.people PURGE")
    assert found == expected
