"""`workbench map`: a definition checked, run, redriven and described by one command each."""

import json

import pytest
from conftest import workbench

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:square"
MACHINE = {
    "QueryLanguage": "JSONata",
    "StartAt": "Each",
    "States": {
        "Each": {
            "Type": "Map",
            "ItemReader": {
                "Resource": "arn:${Partition}:states:::s3:getObject",
                "ReaderConfig": {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"},
                "Arguments": {"Bucket": "lake", "Key": "{% $states.input.key %}"},
            },
            "ItemProcessor": {
                "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                "StartAt": "Square",
                "States": {"Square": {"Type": "Task", "Resource": FUNCTION, "End": True}},
            },
            "End": True,
        }
    },
}
CODE = """
import os

FAILS = {fails!r}

def square(item, call):
    if os.path.exists(FAILS) and item["n"] == 3:
        raise ConnectionError("busy")
    return item["n"] ** 2
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "flow.asl.json").write_text(json.dumps(MACHINE, indent=1))
    (tmp_path / "functions.py").write_text(CODE.format(fails=str(tmp_path / "fails")))
    for part in range(2):
        (tmp_path / f"p{part}.jsonl").write_text("".join(f'{{"n": {n}}}\n' for n in range(3 * part, 3 * part + 3)))
    (tmp_path / "m.csv").write_text("s3://lake/p0.jsonl\ns3://lake/p1.jsonl\n")
    return tmp_path


def test_check_prints_all_reasons(files):
    flow = files / "flow.asl.json"
    checked = workbench("map", "check", flow, "--name", "Partition=aws")
    assert (checked.returncode, checked.stderr) == (
        0,
        "",
    ) and "runs here: Each, with 0 states around" in checked.stdout
    flow.write_text(flow.read_text().replace("JSONL", "XML"))
    refused = workbench("map", "check", flow)
    assert refused.returncode == 2 and "for 2 reasons" in refused.stderr
    assert "has ${Partition} left" in refused.stderr and "found 'XML'" in refused.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--name", "Partition"], "--name must be NAME=VALUE, found 'Partition'"),
        (["--name", "Partition=aws", "--input", "{"], "--input is not JSON"),
        (["--name", "Partition=aws", "--bind", f"{FUNCTION}=square"], "and --functions no file"),
        (
            ["--name", "Partition=aws", "--bind", f"{FUNCTION}=cube", "--functions", "functions.py"],
            "has no function cube",
        ),
        (["--name", "Partition=aws", "--bind", "a=b", "--bind", "a=c"], "--bind has a twice"),
    ],
)
def test_what_is_refused_before_a_session(files, options, words):
    refused = workbench("map", "run", files / "flow.asl.json", "iot.t", "--run-id", "r", *options, cwd=files)
    assert refused.returncode == 2 and words in refused.stderr


@pytest.mark.proof("34_map_items runs a map and redrives what failed, in one process")
def test_run_redrive_and_describe(files, project):
    flow, fails = files / "flow.asl.json", files / "fails"
    fails.touch()
    where = ["iot.t", "--run-id", "r", "--environment", "lake"]
    how = ["--name", "Partition=aws", "--bind", f"{FUNCTION}=square", "--functions", files / "functions.py", "--bucket", f"lake={files}", "--wave-rows", 3]  # fmt: skip
    failed = workbench("map", "run", flow, *where, *how, "--input", '{"key": "m.csv"}')
    assert failed.returncode == 1, failed.stderr
    run = json.loads(failed.stdout)
    assert (run["state"], run["items_done"], run["failed"]) == ("failed", 6, 1)
    assert (
        "r  3 of 6 items, 0 failed, wave 1 of 2" in failed.stderr
        and "1 of 6 items failed, and none may" in failed.stderr
    )
    assert "1 by ConnectionError, as item 3: " in failed.stderr
    cause = json.dumps({"errorMessage": "busy", "errorType": "ConnectionError"})
    failures = workbench("map", "failures", *where).stdout.splitlines()
    assert [json.loads(line) for line in failures] == [
        {"error": "ConnectionError", "items": 1, "causes": 1, "index": 3, "cause": cause}
    ]
    fails.unlink()
    again = workbench("map", "redrive", flow, *where, *how)
    assert again.returncode == 0, again.stderr
    assert (json.loads(again.stdout)["state"], json.loads(again.stdout)["redrive"]) == ("succeeded", 1)
    assert json.loads(workbench("map", "describe", *where).stdout) == json.loads(again.stdout)
