"""One bad item fails alone, by a name and a reason, whatever it makes raise; and no number is changed unseen."""

import asyncio
import itertools
import json
import sys

import pytest
from machines import PUT, calling, passing
from test_maps_states import ABOUT, FUNCTION, outcome, task
from test_maps_work import lines, rows, work

from workbench import maps
from workbench.maps import expressions
from workbench.maps.lines import Unclosed, Unreadable, csv_items
from workbench.maps.states import About, Machine

HALF = "\ud800"
WIDE = 2**53 + 1


class Unprintable(Exception):
    """An exception whose message cannot be read."""

    def __str__(self):
        raise KeyError("message")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("$random([1])", "$random takes nothing, or a whole number"),
        ("$random(true)", "$random takes nothing, or a whole number"),
        ("$parse()", "$parse takes a text"),
        ("$parse(5)", "$parse takes a text"),
        ("$parse('NaN')", "NaN is not a JSON number"),
        ("$parse('-Infinity')", "-Infinity is not a JSON number"),
        ("$parse('1e400')", "1e400 is not a JSON number"),
        ("$parse($join($map([1..5000], function($n) { '[' })))", "not JSON"),
        (
            "$parse('{\"id\": 9007199254740993}').id",
            "given the number 9007199254740993, which JSONata would change",
        ),
        ("$hash('a')", "$hash knows MD5"),
        ("$hash($states.input.none, 'MD5')", "$hash takes a value that is not null"),
        ("$partition([1, 2])", "$partition takes an array and a whole number"),
        ("$partition([1, 2], true)", "$partition takes an array and a whole number"),
        ("$range(1)", "$range takes three whole numbers"),
        ("$range(0, 1e20, 1)", "$range gives at most 1,000 numbers"),
        ("$range(0, true, 1)", "$range takes three whole numbers"),
    ],
)
def test_a_function_with_wrong_arguments_fails_its_item(expression, words):
    ended, _ = outcome(passing(f"{{% {expression} %}}"), {})
    assert ended.error == "States.QueryEvaluationError" and words in ended.cause


@pytest.mark.parametrize(
    ("expression", "expected"),
    [("$range(0, -10, -5)", [0, -5, -10]), ("$range(5, 1, 1)", []), ("$range(1, 1, 1)", [1]),
     ("$count($map([1, 2], $uuid))", 2), ("$map([[1, 2]], $count)", 2)],
)  # fmt: skip
def test_functions_that_are_called_as_aws_calls_them(expression, expected):
    assert outcome(passing(f"{{% {expression} %}}"), {})[0].output == expected


def raising(error):
    def function(arguments, call):
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (raising(ValueError(HALF)), "ValueError"),
        (raising(Unprintable()), "Unprintable"),
        (raising(SystemExit(3)), "SystemExit"),
        (raising(asyncio.CancelledError()), "CancelledError"),
        (lambda *_: maps.TaskFailed("E", 5), "ArgumentError"),
        (lambda *_: maps.TaskFailed(None), "ArgumentError"),
        (raising(maps.TaskFailed("E", HALF)), "E"),
        (lambda *_: sys.exit(), "SystemExit"),
        (lambda *_: HALF, "Runtime.MarshalError"),
        (lambda *_: json.loads("[" * 900 + "]" * 900), None),
    ],
)
def test_whatever_a_function_does_its_item_alone_fails(function, error):
    items = [{"n": 1}, {"n": 2}]
    given = rows(work(calling(), bound={"Call": lambda item, call: function() if item["n"] == 1 else item}
                 if function.__code__.co_argcount == 0 else
                 {"Call": lambda item, call: function(item, call) if item["n"] == 1 else item}),
                 lines(items), "_index", "_error")  # fmt: skip
    assert given == [(0, error), (1, None)]


def test_items_that_are_nested_deeply_fail_alone():
    deep = [depth for depth in range(900, 1100, 7)]
    texts = [b'{"a": ' + b"[" * depth + b"]" * depth + b"}" for depth in deep]
    given = rows(work(passing("{% $states.input.a %}")), {"line": [*texts, b'{"a": 1}']}, "_index", "_error")
    assert [index for index, _ in given] == list(range(len(deep) + 1)) and given[-1][1] is None
    assert given[-2][1] is not None


@pytest.mark.parametrize("rate", [1e300, 2.0])
def test_a_wait_has_a_greatest_length(rate):
    from test_maps_states import failing

    function, _ = failing(1200, TimeoutError("busy"))
    retry = [{"ErrorEquals": ["TimeoutError"], "BackoffRate": rate, "MaxAttempts": 1200}]
    ended, waits = outcome(task(Retry=retry), {}, {"A": function})
    assert ended.tries == 1201 and max(waits) == 31_622_400


@pytest.mark.parametrize(
    ("output", "value", "reads"),
    [
        ("{% $states.input.id %}", {"id": WIDE}, True),
        ("{% $string($states.input.id) %}", {"id": -WIDE}, True),
        ("{% $states.input %}", {"a": [{"id": WIDE}]}, True),
        ("{% $states.input.a.id %}", {"a": [{"id": 10**400}]}, True),
        ("{% $lookup($states.input, 'id') %}", {"id": WIDE}, True),
        ("{% $states.context.Execution.Input.id %}", {"id": WIDE}, True),
        ("{% $states.input.name %}", {"id": WIDE, "name": "n"}, False),
        ("{% $states.input.id %}", {"id": 2**60}, False),
        ("{% $states.input.id %}", {"id": str(WIDE)}, False),
    ],
)
def test_a_whole_number_that_jsonata_would_change_is_not_read(output, value, reads):
    """JSONata's numbers are doubles: an id of 9007199254740993 had become 9007199254740992 without a word."""
    ended, _ = outcome(passing(output), value)
    assert (ended.error == "States.QueryEvaluationError") is reads
    if reads:
        assert "which JSONata would change: it is exact for whole numbers to 9007199254740992" in ended.cause
    else:
        assert ended.output == value.get("name", value["id"])


def test_a_wide_number_goes_by_where_no_expression_reads_it():
    for kind in ("JSONL", "PARQUET"):
        columns = lines([{"id": WIDE}]) if kind == "JSONL" else {"_row": [0], "item": [{"id": WIDE}]}
        whole = work(calling(), bound={"Call": lambda item, call: item}, kind=kind)
        assert rows(whole, columns, "_output") == [(f'{{"id":{WIDE}}}',)]
        read = work(passing("{% $states.input.id %}"), kind=kind)
        ((error, cause),) = rows(read, columns, "_error", "_cause")
        assert error == "States.QueryEvaluationError" and str(WIDE) in cause
    states = calling() | {"After": {"Type": "Pass", "Output": "{% $states.input.id %}", "End": True}}
    states["Call"] = {name: value for name, value in states["Call"].items() if name != "End"} | {"Next": "After"}
    given = rows(work(states, bound={"Call": lambda item, call: {"id": WIDE}}), lines([{"n": 1}]), "_error")
    assert given == [("States.QueryEvaluationError",)]
    literal = {"A": {"Type": "Pass", "Output": {"id": WIDE}, "Next": "B"},
               "B": {"Type": "Pass", "Output": "{% $states.input.id %}", "End": True}}  # fmt: skip
    assert rows(work(literal), lines([{"n": 1}]), "_error") == [("States.QueryEvaluationError",)]


def test_chance_draws_each_time_anew():
    """Two fields, two entries of a state in a loop and two tables had drawn the same."""
    states = {
        "A": {"Type": "Pass", "Assign": {"all": [], "n": 0}, "Next": "B"},
        "B": {"Type": "Pass", "Output": {"x": "{% $uuid() %}", "y": "{% $uuid() %}"},
              "Assign": {"all": "{% $append($all, [$uuid(), $uuid()]) %}", "n": "{% $n + 1 %}"}, "Next": "C"},
        "C": {"Type": "Choice", "Choices": [{"Condition": "{% $n < 3 %}", "Next": "B"}], "Default": "D"},
        "D": {"Type": "Pass", "Output": "{% $append($all, [$states.input.x, $states.input.y]) %}", "End": True},
    }  # fmt: skip
    draws = []
    for table, index in itertools.product(("", "t", "u"), (7, 8)):
        about = About(ABOUT.run_id, ABOUT.machine, ABOUT.started, ABOUT.now, table)
        machine = Machine({"StartAt": "A", "States": states}, {}, about)
        first, again = (machine.run({}, f"run/{index}", index).output for _ in range(2))
        assert first == again and len(first) == 8
        draws += first
    assert len(set(draws)) == len(draws)


def test_an_expression_that_names_no_field_of_states_has_the_context():
    for output in ("{% $keys($states) %}", "{% $exists($lookup($states, 'context').Execution) %}",
                   "{% ($s := $states; $exists($s.context)) %}"):  # fmt: skip
        ended, _ = outcome(passing(output), {})
        assert ended.output in (["input", "context"], True)


def test_a_fail_state_whose_words_are_no_text():
    ended, _ = outcome({"A": {"Type": "Fail", "Error": "{% 5 %}"}})
    assert (ended.error, ended.cause) == (
        "States.QueryEvaluationError", "Error of A must be a text, found number",
    )  # fmt: skip
    assert outcome({"A": {"Type": "Fail"}})[0].error == "Failed"


def test_runtime_is_caught_by_nothing_and_what_is_too_large_by_its_name_alone():
    states = {
        "A": {"Type": "Task", "Resource": FUNCTION, "End": True,
              "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "B"}]},
        "B": {"Type": "Pass", "Output": "caught", "End": True},
    }  # fmt: skip
    too_large = {"A": lambda *_: "x" * 262_144}
    assert outcome(states, {}, too_large)[0].error == "States.DataLimitExceeded"
    states["A"]["Catch"][0]["ErrorEquals"] = ["States.DataLimitExceeded"]
    assert outcome(states, {}, too_large)[0].output == "caught"
    states["A"]["Catch"][0]["ErrorEquals"] = ["States.Runtime", "States.TaskFailed"]
    assert outcome(states, {}, {"A": raising(maps.TaskFailed("States.Runtime", "x"))})[0].error == "States.Runtime"


def test_variables_have_a_size():
    assign = {"x": "{% $states.input %}", "y": "{% $states.input %}"}
    ended, _ = outcome({"A": {"Type": "Pass", "Assign": assign, "End": True}}, "x" * 200_000)
    assert ended.error == "States.DataLimitExceeded" and "Assign of A has 400," in ended.cause


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"FunctionName": FUNCTION, "Payload": 1, "InvocationType": "Event"},
            "InvocationType, which must be RequestResponse",
        ),
        ({"FunctionName": FUNCTION, "Qualifier": "2"}, "gave Qualifier, which does not run here"),
        ([1], "must be an object with FunctionName and Payload, found array"),
    ],
)
def test_arguments_that_an_expression_gives_are_looked_at(arguments, words):
    """They had been passed over."""
    states = {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": True,
                    "Arguments": "{% $states.input %}"}}  # fmt: skip
    ended, _ = outcome(states, arguments, {"A": lambda *_: 1})
    assert ended.error in ("States.Runtime", "Lambda.InvalidParameterValueException") and words in ended.cause
    put = {"A": {"Type": "Task", "Resource": PUT, "Arguments": "{% $states.input %}", "End": True}}
    ended, _ = outcome(put, {"Record": {"Data": "{}"}, "Other": 1}, {"A": maps.Delivery("a INT")})
    assert ended.error == "States.Runtime" and "gave Other" in ended.cause


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('abc,123,"commas, quotes (""), and a line"', ["abc", "123", 'commas, quotes ("), and a line']),
        ('{""MyKey"":""MyValue""},"[1,2,3]"', ['{"MyKey":"MyValue"}', "[1,2,3]"]),
        ('"",b', ["", "b"]),
        ('""', [""]),
        ('"""",b', ['"', "b"]),
        ('"""x""",b', ['"x"', "b"]),
        ('""x"",b', ['"x"', "b"]),
        ('a\\"b,c', ['a"b', "c"]),
    ],
)
def test_quotes_that_are_written_twice(line, fields):
    names = ["a", "b", "c"][: len(fields)]
    assert list(csv_items([line], names, ",")) == [dict(zip(names, fields, strict=True))]


@pytest.mark.parametrize("line", ['5" disk,b', '"a"x,b', 'x"a,b"', 'a, "b"'])
def test_a_quote_that_stands_alone_fails_its_record(line):
    unreadable, after = csv_items([line, "c,d"], ["a", "b"], ",")
    assert isinstance(unreadable, Unreadable) and "a quote stands alone in field" in str(unreadable)
    assert after == {"a": "c", "b": "d"}


def test_a_csv_file_whose_header_or_end_is_wrong():
    items = list(csv_items(['i"d,b', "1,2"], None, ","))
    assert [str(item) for item in items] == [
        "the header cannot be read: a quote stands alone in field 1: write it twice"
    ]
    items = csv_items(["1,2", '3,"4', "5,6"], ["a", "b"], ",")
    assert next(items) == {"a": "1", "b": "2"}
    with pytest.raises(Unclosed, match="the quote that line 2 opens is never closed"):
        next(items)
    assert list(csv_items(['\ufeff"a",b', "1,2"], None, ",")) == [{"a": "1", "b": "2"}]


def test_a_selector_has_the_state_in_its_context():
    given = work(passing())
    selector = {"name": "{% $states.context.State.Name %}", "n": "{% $states.context.Map.Item.Value.n %}"}
    selecting = type(given)(**{**vars(given), "selector": selector})
    assert rows(selecting, lines([{"n": 5}]), "_output") == [('{"name":"Each","n":5}',)]
    assert expressions.almost("{% 1 %}") is None


@pytest.mark.parametrize("name", ["uuid", "random", "count", "now", "hash", "partition"])
def test_a_variable_of_a_functions_name_is_the_variable(name):
    states = {
        "A": {"Type": "Pass", "Assign": {name: {"v": "x"}}, "Next": "B"},
        "B": {"Type": "Pass", "Output": {"o": f"{{% {{'id': ${name}.v, 'z': 1}} %}}", "l": f"{{% [${name}.v] %}}"}, "End": True},
    }  # fmt: skip
    assert outcome(states)[0].output == {"o": {"id": "x", "z": 1}, "l": ["x"]}
    states["A"]["Assign"] = {name: {"v": WIDE}}
    ended, _ = outcome(states)
    assert ended.error == "States.QueryEvaluationError" and f"reads the number {WIDE}" in ended.cause


def test_null_and_nothing_are_told_apart_by_the_draw_that_was_made():
    """A second evaluation, with the draws that follow, had judged the first."""
    both = passing("{% $random() < 0.5 ? null : 1 %}")
    machine = Machine({"StartAt": "Give", "States": both}, {}, ABOUT)
    ends = [machine.run({}, f"run/{index}", index) for index in range(200)]
    assert {end.error for end in ends} == {None} and {end.output for end in ends} == {None, 1}
    nothing = passing("{% $random() < 0.5 ? $states.input.x : null %}")
    machines = [
        Machine({"StartAt": "Give", "States": states}, {}, ABOUT)
        for states in (nothing, passing("{% $random() < 0.5 ? 'none' : 'null' %}"))
    ]
    ends = [[machine.run({}, f"run/{index}", index) for machine in machines] for index in range(100)]
    assert len({end.error for end, _ in ends}) == 2


def test_keys_of_other_states_turns_items_and_runs_are_others():
    about = About("r", "m", "", 0, "t")
    keys = [about.key(0, "S"), about.key(0, "S", 2), about.key(0, "S/2"), about.key(0, "S#2"), about.key(0, "S%232"),
            about.key(1, "2/S"), About("r/1", "m", "", 0, "t").key(2, "S"), about.key(None, "S"), about.key(2, "S"),
            about.key(1), About("r", "m", "", 0, "u").key(0, "S")]  # fmt: skip
    assert len(set(keys)) == len(keys) and keys[:2] == ["t/r/0/S", "t/r/0/S#2"]


def test_a_comment_may_look_like_an_expression():
    states = passing("{% 1 %}")
    states["Give"]["Comment"] = "{% oops ( %}"
    assert outcome(states)[0].output == 1
