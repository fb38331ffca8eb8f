"""The states of a child, without Spark: what each gives, how it fails, how it is tried again."""

import json

import pytest

from workbench import maps
from workbench.maps.lines import Unreadable, csv_items, json_items, records, split
from workbench.maps.states import About, Machine

ABOUT = About("run", "flow", "2026-01-31T10:00:00.000Z", 1_769_853_600_000)
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:f"
PUT = "arn:aws:states:::aws-sdk:firehose:putRecord"


def outcome(states, value=None, bound=None, start=None):
    waits = []
    machine = {"StartAt": start or next(iter(states)), "States": states}
    ended = Machine(machine, bound or {}, ABOUT, sleep=waits.append).run(value, "run/7", 7)
    return ended, waits


def passing(output, **more):
    return {"A": {"Type": "Pass", "Output": output, "End": True, **more}}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("{% $states.input %}", {"a": [1, None], "b": 2}),
        ("{% $states.input.a %}", [1, None]),
        ({"x": "{% $states.input.b + 1 %}", "y": ["plain", 3, None]}, {"x": 3, "y": ["plain", 3, None]}),
        ("{% $states.context.Execution.Id %}", "run/7"),
        ("{% $states.context.Execution.Input.b %}", 2),
        ("{% $states.context.State.Name %}", "A"),
        ("{% $states.context.State.EnteredTime %}", "2026-01-31T10:00:00.000Z"),
        ("{% $now() %}", "2026-01-31T10:00:00.000Z"),
        ("{% $string(37.77491234567891) %}", "37.7749123456789"),
        ("{% $partition([1, 2, 3], 2) %}", [[1, 2], [3]]),
        ("{% $range(0, 10, 5) %}", [0, 5, 10]),
        ("{% $hash('a', 'SHA-256') %}", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
        ("{% $parse('[1]') %}", [1]),
        ("{% null %}", None),
    ],
)
def test_a_pass_gives_what_its_output_says(output, expected):
    ended, _ = outcome(passing(output), {"a": [1, None], "b": 2})
    assert (ended.output, ended.error) == (expected, None)


def test_without_output_the_input_passes():
    assert outcome({"A": {"Type": "Pass", "End": True}}, [1])[0].output == [1]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("{% $states.input.none %}", "returned nothing (undefined)"),
        ("{% $sum %}", "returned a function"),
        ("{% 1 + 'a' %}", "T2002"),
        ("{% $hash('a', 'SHA-2') %}", "$hash knows MD5"),
        ("{% $parse('{') %}", "not JSON"),
        ("{% $error('mine') %}", "mine"),
    ],
)
def test_an_expression_without_a_value_fails_the_item(output, words):
    ended, _ = outcome(passing(output), {})
    assert ended.error == "States.QueryEvaluationError" and words in ended.cause and ended.output is None


def test_chance_is_the_items_own():
    draws = [outcome(passing("{% [$uuid(), $random()] %}"))[0].output for _ in range(2)]
    other = Machine({"StartAt": "A", "States": passing("{% [$uuid(), $random()] %}")}, {}, ABOUT).run(
        None, "run/8", 8
    )
    assert draws[0] == draws[1] != other.output and draws[0][0] != draws[0][1]


def test_assign_sees_the_values_of_before():
    states = {
        "A": {"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "B"},
        "B": {
            "Type": "Pass",
            "Assign": {"x": "{% $y %}", "y": "{% $x %}"},
            "Output": "{% [$x, $y] %}",
            "Next": "C",
        },
        "C": {
            "Type": "Pass",
            "Output": {"before": "{% $states.input %}", "x": "{% $x %}", "y": "{% $y %}"},
            "End": True,
        },
    }
    assert outcome(states)[0].output == {"before": [1, 2], "x": 2, "y": 1}


def choice(condition, **more):
    ends = {name: {"Type": "Pass", "Output": name, "End": True} for name in ("Yes", "No")}
    rule = {"Condition": condition, "Next": "Yes", **more}
    return {"A": {"Type": "Choice", "Choices": [rule], "Default": "No"}, **ends}


def test_a_choice_takes_the_first_that_holds():
    assert outcome(choice("{% $states.input > 3 %}"), 4)[0].output == "Yes"
    assert outcome(choice("{% $states.input > 3 %}"), 3)[0].output == "No"
    ended, _ = outcome(choice("{% $states.input %}"), 3)
    assert ended.error == "States.QueryEvaluationError" and "not a boolean" in ended.cause
    states = choice("{% false %}")
    del states["A"]["Default"]
    assert outcome(states)[0].error == "States.NoChoiceMatched"


def test_succeed_and_fail():
    assert outcome({"A": {"Type": "Succeed", "Output": "{% $states.input * 2 %}"}}, 4)[0].output == 8
    ended, _ = outcome({"A": {"Type": "Fail", "Error": "Mine", "Cause": "{% 'of ' & $states.input %}"}}, "x")
    assert (ended.error, ended.cause, ended.tries) == ("Mine", "of x", 1)


def task(**more):
    return {"A": {"Type": "Task", "Resource": FUNCTION, "End": True, **more}}


def failing(times, error):
    calls = []

    def function(arguments, call):
        calls.append(call)
        if len(calls) <= times:
            raise error
        return {"calls": len(calls)}

    return function, calls


def test_fails_twice_then_works():
    function, calls = failing(2, TimeoutError("busy"))
    ended, waits = outcome(
        task(Retry=[{"ErrorEquals": ["TimeoutError"], "IntervalSeconds": 3}]), {}, {"A": function}
    )
    assert (ended.output, ended.tries, waits) == ({"calls": 3}, 3, [3, 6.0])
    assert [call.key for call in calls] == ["run/7/A"] * 3 and [call.tries for call in calls] == [0, 1, 2]


def test_retries_end_and_count_by_entry():
    function, calls = failing(9, maps.TaskFailed("Busy", "wait"))
    ended, waits = outcome(
        task(Retry=[{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "MaxDelaySeconds": 1}]), {}, {"A": function}
    )
    assert (ended.error, ended.cause, ended.tries, len(calls), waits) == ("Busy", "wait", 3, 3, [1, 1])
    ended, _ = outcome(task(Retry=[{"ErrorEquals": ["Other"]}]), {}, {"A": failing(1, ValueError("x"))[0]})
    assert ended.error == "ValueError" and json.loads(ended.cause) == {
        "errorMessage": "x",
        "errorType": "ValueError",
    }
    ended, _ = outcome(
        task(Retry=[{"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]), {}, {"A": failing(1, ValueError("x"))[0]}
    )
    assert ended.tries == 1


def test_catch_gives_the_error_on():
    states = task(
        Catch=[
            {
                "ErrorEquals": ["States.TaskFailed"],
                "Next": "B",
                "Assign": {"why": "{% $states.errorOutput.Cause %}"},
            }
        ]
    )
    states["B"] = {"Type": "Pass", "Output": "{% [$states.input.Error, $why] %}", "End": True}
    assert outcome(states, {}, {"A": failing(1, maps.TaskFailed("Mine", "x"))[0]})[0].output == ["Mine", "x"]
    assert (
        outcome(states, {}, {"A": failing(1, maps.TaskFailed("States.Timeout", "x"))[0]})[0].error
        == "States.Timeout"
    )


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({1, 2}, "Runtime.MarshalError"),
        (float("nan"), "Runtime.MarshalError"),
        ("x" * 262_144, "States.DataLimitExceeded"),
    ],
)
def test_a_result_that_is_no_json_or_too_large_fails(result, error):
    ended, _ = outcome(task(Retry=[{"ErrorEquals": ["None"]}]), {}, {"A": lambda arguments, call: result})
    assert ended.error == error


def test_all_does_not_match_what_is_too_large():
    states = task(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "A"}])
    assert outcome(states, {}, {"A": lambda *_: "x" * 262_144})[0].error == "States.DataLimitExceeded"


def test_a_value_that_is_too_large_is_none():
    ended, _ = outcome(passing("{% $join($map([1..30000], function($n) { 'xxxxxxxxxx' })) %}"))
    assert ended.error == "States.DataLimitExceeded" and "gave more than 262,144 bytes" in ended.cause
    states = passing({"a": "{% $states.input %}", "b": "{% $states.input %}"})
    assert outcome(states, "x" * 200_000)[0].error == "States.DataLimitExceeded"


def test_a_function_cannot_change_the_states_input():
    def function(arguments, call):
        arguments["a"].append(2)
        return arguments

    states = {
        "A": {
            "Type": "Task",
            "Resource": FUNCTION,
            "Output": {"input": "{% $states.input.a %}", "result": "{% $states.result.a %}"},
            "End": True,
        }
    }
    assert outcome(states, {"a": [1]}, {"A": function})[0].output == {"input": [1], "result": [1, 2]}


def test_lambda_invoke_has_its_payload():
    states = {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": True,
                    "Arguments": {"FunctionName": FUNCTION, "Payload": "{% $states.input %}"}}}  # fmt: skip
    ended, _ = outcome(states, 5, {"A": lambda event, context: [event, context.aws_request_id]})
    assert ended.output == {"ExecutedVersion": "$LATEST", "Payload": [5, "run/7/A"], "StatusCode": 200}


def test_records_are_delivered_only_by_what_succeeds():
    put = {"Type": "Task", "Resource": PUT, "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": "{% $string($states.input) %}"}}, "Output": "{% $states.input %}"}  # fmt: skip
    target = maps.Delivery("a INT")
    states = {"A": {**put, "Next": "B"}, "B": {**put, "End": True}}
    ended, _ = outcome(states, {"a": 1}, {"A": target, "B": target})
    assert ended.records == ('{"a":1}', '{"a":1}')
    states["B"] = {"Type": "Fail", "Error": "E"}
    ended, _ = outcome(states, {"a": 1}, {"A": target})
    assert (ended.error, ended.records) == ("E", ())
    states = {"A": {**put, "Arguments": {"DeliveryStreamName": "s", "Record": {"Data": 5}}, "End": True}}
    assert "must be a text, found number" in outcome(states, {}, {"A": target})[0].cause


def test_a_machine_that_does_not_end_is_ended():
    states = {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "A"}}
    assert outcome(states)[0].error == "States.Runtime"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ["a", "b"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"say ""x""",c', ['say "x"', "c"]),
        ("a\\,b,c", ["a,b", "c"]),
        ("a\\\\,b", ["a\\", "b"]),
        ("a\\nb", ["anb"]),
        ("", [""]),
        (",", ["", ""]),
    ],
)
def test_a_csv_record_is_split(text, expected):
    assert split(text, ",") == expected


def test_csv_items_are_texts_by_their_header():
    lines = ["\ufeffid,name", '1,"two\r', 'lines"', "2", "", "3,x,more\r"]
    assert list(csv_items(lines, None, ",")) == [
        {"id": "1", "name": "two\r\nlines"}, {"id": "2", "name": ""}, {"id": "3", "name": "x"},
    ]  # fmt: skip
    assert list(csv_items(["1|2"], ["a", "b"], "|")) == [{"a": "1", "b": "2"}]
    assert list(records(['a,"b', 'c"'], ",")) == ['a,"b\nc"']


def test_json_lines_are_items_and_others_say_what_is_wrong():
    items = list(json_items(['{"a": 1}', "", "[2]", "{", "NaN"]))
    assert items[:2] == [{"a": 1}, [2]]
    assert [str(item).partition(":")[0] for item in items[2:]] == ["line 4 is not JSON", "line 5 is not JSON"]
    assert all(isinstance(item, Unreadable) for item in items[2:])


def test_the_functions_that_a_definition_may_call_are_those_of_the_engine():
    import jlens

    from workbench.maps import expressions

    added = {"partition", "range", "hash", "uuid", "parse"}
    own = expressions.FUNCTIONS - added
    assert {name for name in own if jlens.Expression(f"$type(${name})").evaluate() != "function"} == set()
    assert {name for name in ("eval", "clone") if name in own} == {"clone"}  # Step Functions has no $eval
    for name in added:
        assert jlens.Expression(f"$exists(${name})").evaluate() is False


@pytest.mark.parametrize(
    ("failed", "items", "count", "percentage", "over"),
    [
        (0, 0, None, None, False),
        (1, 10**6, None, None, True),
        (3, 100, 3, None, False),
        (4, 100, 3, None, True),
        (29, 100, None, "29", False),
        (30, 100, None, "29", True),
        (1, 1000, None, "0.1", False),
        (2, 1000, None, "0.1", True),
        (0, 100, 0, "0", False),
        (1, 100, 0, "50", True),
        (51, 100, 99, "50", True),
        (100, 100, None, "100", False),
    ],
)
def test_the_limit_itself_is_tolerated(failed, items, count, percentage, over):
    from workbench.maps.plans import exceeded

    assert exceeded(failed, items, count, percentage) is over


def test_waves_are_whole_files_and_pass_over_empty_ones():
    from workbench.maps.files import File
    from workbench.maps.plans import Plan, waves

    def planned(*rows):
        files = [File(f"f{n}", "", "", 1, 1, count) for n, count in enumerate(rows)]
        return Plan(None, None, None, {}, None, files, (), None, None)

    def places(plan, done, wave_rows):
        return [list(wave) for wave in waves(plan, done, wave_rows)]

    assert places(planned(5, 5, 5), 0, 5) == [[0], [1], [2]]
    assert places(planned(5, 5, 5), 0, 6) == [[0, 1], [2]]
    assert places(planned(5, 5, 5), 1, 100) == [[1, 2]]
    assert places(planned(0, 5, 0, 0, 5, 0), 0, 5) == [[0, 1], [2, 3, 4]]
    assert places(planned(0, 0), 0, 1) == [] == places(planned(), 0, 1)
