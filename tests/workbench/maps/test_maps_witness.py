"""Small definitions on a second engine: ministack runs the same file, and each item must come out alike.

It runs JSONL and JSONata children. What it ignores or leaves unevaluated is listed below, with what we do.
"""

import json
import time
from contextlib import closing

import aws_stand_in
import pytest
from machines import flow, jsonl, passing

from workbench import maps
from workbench_standins import account

pytestmark = pytest.mark.proof(
    "test_maps_run and test_maps_jsonata have each state and function without a second engine"
)

ITEMS = [{"n": n, "name": f"d{n}", "at": [n, {"x": n / 4}]} for n in range(20)]
DOUBLED = passing(
    "{% {'n': $states.input.n * 2, 'name': $uppercase($states.input.name), 'x': $states.input.at[1].x} %}"
)
CHOICE = {
    "Look": {
        "Type": "Choice",
        "Choices": [
            {"Condition": "{% $states.input.n % 2 = 0 %}", "Next": "Even"},
            {"Condition": "{% $states.input.n > 17 %}", "Next": "Bad"},
        ],
        "Default": "Odd",
    },
    "Even": {"Type": "Pass", "Assign": {"half": "{% $states.input.n / 2 %}"}, "Next": "Tell"},
    "Tell": {"Type": "Pass", "Output": "{% $string($half) & ' of ' & $states.input.name %}", "End": True},
    "Odd": {"Type": "Succeed"},
    "Bad": {"Type": "Fail", "Error": "Too.Large", "Cause": "more than 17"},
}


@pytest.fixture(scope="module")
def served():
    with account.serve(aws_stand_in.PYTHON) as stand_in:
        with closing(stand_in.client("s3")) as s3:
            s3.create_bucket(Bucket="lake")
            s3.put_object(Bucket="lake", Key="items.jsonl", Body="\n".join(map(json.dumps, ITEMS)).encode())
        yield stand_in


def witnessed(served, definition):
    """Return how an execution of the second engine ended: its state, and the output of each item."""
    with closing(served.client("stepfunctions")) as client:
        made = client.create_state_machine(
            name=f"m{time.time_ns()}",
            definition=json.dumps(definition.machine),
            roleArn="arn:aws:iam::000000000000:role/r",
        )
        begun = client.start_execution(stateMachineArn=made["stateMachineArn"], input="{}")["executionArn"]
        end = time.monotonic() + 60
        while (ended := client.describe_execution(executionArn=begun))["status"] == "RUNNING":
            assert time.monotonic() < end
            time.sleep(0.05)
    return ended["status"], json.loads(ended["output"])


def ours(spark, definition, folder, table):
    """Return the same of our own run; what failed gives null."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS witness")
    try:
        maps.run(spark, definition, f"witness.{table}", run_id="r", buckets={"lake": str(folder)})
        state = "SUCCEEDED"
    except maps.TooManyFailed:
        state = "FAILED"
    rows = maps.results(spark, f"witness.{table}", run_id="r").orderBy("_index").collect()
    return state, [None if row._error else json.loads(row._output) for row in rows]


@pytest.mark.parametrize(
    ("name", "states", "fields"),
    [
        ("doubled", DOUBLED, {}),
        ("choice", CHOICE, {"ToleratedFailureCount": 1}),
        ("share", CHOICE, {"ToleratedFailurePercentage": 5}),
        ("one_at_once", DOUBLED, {"MaxConcurrency": 1}),
    ],
)
def test_each_item_is_that_of_a_second_engine(spark, served, tmp_path, name, states, fields):
    definition = flow(states, tmp_path / "lake", **fields)
    jsonl(tmp_path / "lake", ITEMS)
    assert ours(spark, definition, tmp_path / "lake", name) == witnessed(served, definition)


@pytest.mark.parametrize(("tolerated", "state"), [(0, "FAILED"), (1, "SUCCEEDED")])
def test_the_threshold_is_that_of_a_second_engine(spark, served, tmp_path, tolerated, state):
    definition = flow(CHOICE, tmp_path / "lake", ToleratedFailureCount=tolerated)
    jsonl(tmp_path / "lake", ITEMS)
    assert ours(spark, definition, tmp_path / "lake", f"threshold{tolerated}")[0] == state
    assert witnessed(served, definition)[0] == state


DIFFERENCES = {
    # it hands over single items, whatever the batch; we run batches
    "batches": (passing(), {"ItemBatcher": {"MaxItemsPerBatch": 5}}, ITEMS, 4),
    # it leaves expressions of an ItemSelector as texts; we evaluate them
    "selector": (
        passing(),
        {"ItemSelector": {"v": "{% $states.context.Map.Item.Value.n %}"}},
        [{"v": "{% $states.context.Map.Item.Value.n %}"}] * 20,
        20,
    ),
    # it takes no notice of the Output of a Succeed state; we give it
    "succeed": ({"Odd": {"Type": "Succeed", "Output": "{% 'odd' %}"}}, {}, ITEMS, 20),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_the_second_engine_differs(spark, served, tmp_path, name):
    states, fields, theirs, count = DIFFERENCES[name]
    definition = flow(states, tmp_path / "lake", **fields)
    jsonl(tmp_path / "lake", ITEMS)
    state, outputs = witnessed(served, definition)
    assert (state, outputs) == ("SUCCEEDED", theirs)
    state, outputs = ours(spark, definition, tmp_path / "lake", name)
    assert state == "SUCCEEDED" and len(outputs) == count and outputs != theirs
