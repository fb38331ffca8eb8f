"""A definition is read whole, or refused with all reasons and their places."""

import json

import pytest
from published import ANALYSE, CHILD, DELIVER, FILE, GONE, MAP, NAMES, changed, written

from workbench import maps

READER = (*MAP, "ItemReader")
CONFIG = (*READER, "ReaderConfig")
STATES = ("States",)
# name: changes, the place of the reason, words of its sentence
FAULTS = {
    "StartAt names no state": ([(("StartAt",), "GetDay")], "StartAt", "names 'GetDay', which is no state here"),
    "Next names no state": ([((*STATES, "Today", "Next"), "Run")], "States.Today.Next", "names 'Run'"),
    "no Next and no End": ([((*DELIVER, "End"), GONE)], ".".join(DELIVER), "has neither Next nor End"),
    "a state that nothing leads to": ([((*STATES, "Alone"), {"Type": "Succeed"})], "States.Alone", "is reached from no state"),
    "a misspelt field": ([((*MAP, "MaxConcurency"), 50)], "States.EachReading.MaxConcurency", "is not a field of a Map state"),
    "an unknown type": ([((*STATES, "Today", "Type"), "Psas")], "States.Today.Type", "must be one of"),
    "a JSONPath field": ([((*ANALYSE, "Parameters"), {})], ".".join([*ANALYSE, "Parameters"]), "is JSONPath; only JSONata runs here"),
    "an expression that is not JSONata": ([((*ANALYSE, "Arguments", "Payload"), "{% $states.input. %}")], ".".join([*ANALYSE, "Arguments", "Payload"]), "is not JSONata"),
    "a negative MaxConcurrency": ([((*MAP, "MaxConcurrency"), -1)], "States.EachReading.MaxConcurrency", "of at least 0, found -1"),
    "a tolerance over 100": ([((*MAP, "ToleratedFailurePercentage"), 101)], "States.EachReading.ToleratedFailurePercentage", "from 0 to 100, found 101"),
    "a Retry without ErrorEquals": ([((*ANALYSE, "Retry"), [{"MaxAttempts": 2}])], ".".join([*ANALYSE, "Retry[0]"]), "has no ErrorEquals"),
    "a Catch that leads nowhere": ([((*ANALYSE, "Catch"), [{"ErrorEquals": ["States.ALL"], "Next": "Away"}])], ".".join([*ANALYSE, "Catch[0]", "Next"]), "names 'Away'"),
    "an unknown variable": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $string($analysis) %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "reads $analysis, which is no function"),
    "an unknown function": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $stringify($analysed) %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "reads $stringify, which is no function"),
    "a wrong InputType": ([((*CONFIG, "InputType"), "PARKET")], ".".join([*CONFIG, "InputType"]), "must be 'PARQUET', 'CSV' or 'JSONL', found 'PARKET'"),
    "a wrong ManifestType": ([((*CONFIG, "ManifestType"), "ATHENA")], ".".join([*CONFIG, "ManifestType"]), "must be 'ATHENA_DATA', found 'ATHENA'"),
    "ItemReader with INLINE": ([((*CHILD, "ProcessorConfig", "Mode"), "INLINE")], ".".join([*CHILD, "ProcessorConfig", "Mode"]), "is INLINE, which does not run here, and with ItemReader AWS does not take it"),
    "an empty ItemBatcher": ([((*MAP, "ItemBatcher"), {})], "States.EachReading.ItemBatcher", "must be an object with MaxItemsPerBatch"),
    "an outer variable in a child": ([((*STATES, "Today", "Assign"), {"day": "{% 'd' %}"}), ((*DELIVER, "Arguments", "Record", "Data"), "{% $day %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "reads $day, a variable of the states around: a child does not see it"),
    "a ${…} that is left": ([((*DELIVER, "Arguments", "DeliveryStreamName"), "${Stream}")], ".".join([*DELIVER, "Arguments", "DeliveryStreamName"]), "has ${Stream} left"),
    "a Choice without Choices": ([((*STATES, "Today"), {"Type": "Choice", "Choices": [], "Default": "Unload"})], "States.Today.Choices", "must be a list of at least one entry"),
}  # fmt: skip
REFUSED = {
    "Parallel": ([((*STATES, "Today", "Type"), "Parallel")], "States.Today.Type", "a Parallel state does not run here"),
    "Wait": ([((*STATES, "Today"), {"Type": "Wait", "Seconds": 1, "Next": "Unload"})], "States.Today.Type", "a Wait state does not run here"),
    "a Map in a Map": ([((*ANALYSE, "Type"), "Map")], ".".join([*ANALYSE, "Type"]), "a Map within the children of a Map"),
    ".waitForTaskToken": ([((*ANALYSE, "Resource"), "arn:aws:states:::sqs:sendMessage.waitForTaskToken")], ".".join([*ANALYSE, "Resource"]), "no token is awaited"),
    "S3_INVENTORY": ([((*CONFIG, "ManifestType"), "S3_INVENTORY")], ".".join([*CONFIG, "ManifestType"]), "found 'S3_INVENTORY'"),
    "JSON": ([((*CONFIG, "InputType"), "JSON")], ".".join([*CONFIG, "InputType"]), "found 'JSON'"),
    "listObjectsV2": ([((*READER, "Resource"), "arn:aws:states:::s3:listObjectsV2")], ".".join([*READER, "Resource"]), "must be arn:…:states:::s3:getObject"),
    "JSONPath": ([(("QueryLanguage",), GONE)], "the definition", "has no QueryLanguage, which means JSONPath"),
    "JSONPath in a state": ([((*ANALYSE, "QueryLanguage"), "JSONPath")], ".".join([*ANALYSE, "QueryLanguage"]), "must be 'JSONata'"),
    "TimeoutSeconds": ([((*ANALYSE, "TimeoutSeconds"), 5)], ".".join([*ANALYSE, "TimeoutSeconds"]), "no time limit is kept"),
    "a Retry of the Map": ([((*MAP, "Retry"), [{"ErrorEquals": ["States.ALL"]}])], "States.EachReading.Retry", "continued by redrive"),
    "WriterConfig": ([((*MAP, "ResultWriter", "WriterConfig"), {})], "States.EachReading.ResultWriter.WriterConfig", "does not run here"),
    "a state after the Map": ([((*MAP, "End"), GONE), ((*MAP, "Next"), "After"), ((*STATES, "After"), {"Type": "Pass", "End": True})], "States.EachReading.Next", "leads to After"),
    "$eval": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $eval('1') %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "calls $eval"),
    "a task token": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $states.context.Task.Token %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "reads $states.context.Task"),
    "a result in Arguments": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $string($states.result) %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "reads $states.result"),
    "a field without a variable": ([((*DELIVER, "Arguments", "Record", "Data"), "{% deviceid %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "$states.input"),
    "an expression without its end": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $string(1)")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "does not end with %}"),
    "CSV without a header": ([((*CONFIG, "InputType"), "CSV")], ".".join(CONFIG), "has no CSVHeaderLocation"),
    "a header that is not for Parquet": ([((*CONFIG, "CSVDelimiter"), "TAB")], ".".join([*CONFIG, "CSVDelimiter"]), "is for CSV"),
    "InvocationType Event": ([((*ANALYSE, "Arguments", "InvocationType"), "Event")], ".".join([*ANALYSE, "Arguments", "InvocationType"]), "must be RequestResponse"),
    "a Qualifier": ([((*ANALYSE, "Arguments", "Qualifier"), "2")], ".".join([*ANALYSE, "Arguments", "Qualifier"]), "the arguments are FunctionName and Payload"),
    "another argument of putRecord": ([((*DELIVER, "Arguments", "Records"), [])], ".".join([*DELIVER, "Arguments", "Records"]), "is not an argument of putRecord"),
    "another argument of ResultWriter": ([((*MAP, "ResultWriter", "Arguments", "Folder"), "f")], "States.EachReading.ResultWriter.Arguments.Folder", "the arguments are Bucket and Prefix"),
    "a function that ends later": ([((*ANALYSE, "Resource"), "arn:aws:states:::lambda:invoke.sync")], ".".join([*ANALYSE, "Resource"]), "lambda:invoke has no job that ends later"),
    "no ExecutionType": ([((*CHILD, "ProcessorConfig", "ExecutionType"), GONE)], ".".join([*CHILD, "ProcessorConfig"]), "has no ExecutionType"),
    "a space before an expression": ([((*DELIVER, "Arguments", "Record", "Data"), " {% $string(1) %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "has spaces around {% %}"),
    "a space behind an expression": ([((*DELIVER, "Arguments", "Record", "Data"), "{% $string(1) %} ")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "has spaces around {% %}"),
    "an expression without its begin": ([((*DELIVER, "Arguments", "Record", "Data"), "$string(1) %}")], ".".join([*DELIVER, "Arguments", "Record", "Data"]), "does not begin with {%"),
    "an error without a name": ([((*ANALYSE, "Retry"), [{"ErrorEquals": [""]}])], ".".join([*ANALYSE, "Retry[0]", "ErrorEquals"]), "must be a list of texts that are not empty, found ''"),
    "an error that AWS does not know": ([((*ANALYSE, "Retry"), [{"ErrorEquals": ["States.Timeouts"]}])], ".".join([*ANALYSE, "Retry[0]", "ErrorEquals"]), "has States.Timeouts, which is no error that AWS knows"),
    "a catch of States.Runtime": ([((*ANALYSE, "Catch"), [{"ErrorEquals": ["States.Runtime"], "Next": "Deliver"}])], ".".join([*ANALYSE, "Catch[0]", "ErrorEquals"]), "which nothing tries again or catches"),
    "a long name of a variable": ([((*ANALYSE, "Assign", "v" * 81), 1)], ".".join([*ANALYSE, "Assign"]), "a variable's name of 81 characters"),
    "a header with a name twice": ([(CONFIG, {"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a", "a"]})], ".".join([*CONFIG, "CSVHeaders"]), "has a name twice"),
    "an expression in a field Comment of a payload": ([((*ANALYSE, "Arguments", "Payload"), {"Comment": "{% $nowhere %}"})], ".".join([*ANALYSE, "Arguments", "Payload", "Comment"]), "reads $nowhere"),
}  # fmt: skip
ODD = [
    None, 5, -1, 1.5, True, "", [], {}, "x", ["x"], {"x": 1}, [None], [[]], "{% 1 %}", "{% ", "{%%}", " {% 1 %}",
    "{% 1 %} ", "{%}", 10**400,
]  # fmt: skip


def refusal(machine, folder, names=NAMES):
    with pytest.raises(maps.DefinitionRefused) as refused:
        maps.read(written(machine, folder), names=names)
    return refused.value


def used(machine):
    return {name: value for name, value in NAMES.items() if f"${{{name}}}" in json.dumps(machine)}


def test_the_published_definition_is_read():
    definition = maps.read(FILE, names=NAMES)
    assert (definition.name, definition.state) == ("published", "EachReading")
    assert definition.child["StartAt"] == "Analyse"
    assert definition.child["States"]["Analyse"]["Arguments"]["FunctionName"] == NAMES["AnalyseArn"]


@pytest.mark.parametrize("fault", [*FAULTS, *REFUSED])
def test_a_fault_is_refused_at_its_place(fault, tmp_path):
    changes, place, words = (FAULTS | REFUSED)[fault]
    machine = changed(*changes)
    refused = refusal(machine, tmp_path, used(machine))
    reason = next(reason for reason in refused.reasons if reason.place == place and words in reason.sentence)
    lines = (tmp_path / "machine.asl.json").read_text().splitlines()
    last = place.rpartition(".")[2].partition("[")[0]
    assert (
        place == "the definition" or f'"{last}"' in lines[reason.line - 1] or lines[reason.line - 1].strip() == "{"
    )
    assert str(reason) in str(refused)


def test_all_reasons_come_at_once(tmp_path):
    together = [
        change for changes, _, _ in list(FAULTS.values())[8:16] for change in changes if change[0][-1] != "Data"
    ]
    refused = refusal(changed(*together), tmp_path)
    places = [reason.place.rpartition(".")[2] for reason in refused.reasons]
    assert {
        "MaxConcurrency",
        "ToleratedFailurePercentage",
        "Retry[0]",
        "Next",
        "InputType",
        "ManifestType",
    } <= set(places)
    assert [reason.line for reason in refused.reasons] == sorted(reason.line for reason in refused.reasons)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"StartAt": "A",\n "States": {,}}', 2, "the name of a field, in double quotes, is expected"),
        ("", 1, "the text ends too early"),
        ("# a comment\n{}", 1, "where a value is expected"),
        ('{"a": 1}\n{"b": 2}', 2, "something follows the first value"),
        ('{"a": 1,\n"b": 1e999}', 2, "the number 1e999 is larger than any that is held"),
        ('{"a":\n' + "9" * 5000 + "}", 2, "a number cannot be read"),
        ('{"a":\n"\\ud800"}', 2, "a text has half a character"),
    ],
)
def test_what_is_not_json_is_refused_by_its_line(text, line, words, tmp_path):
    (reason,) = refusal(text, tmp_path, {}).reasons
    assert reason.line == line and words in reason.sentence


def test_a_field_that_is_there_twice_is_refused(tmp_path):
    text = FILE.read_text().replace('"MaxConcurrency": 50,', '"MaxConcurrency": 50,\n      "MaxConcurrency": 5,')
    (reason,) = refusal(text, tmp_path).reasons
    assert reason.place == "States.EachReading.MaxConcurrency" and "is there twice" in reason.sentence


def test_a_name_that_the_file_lacks_is_refused(tmp_path):
    (reason,) = refusal(changed(), tmp_path, NAMES | {"Region": "eu"}).reasons
    assert "has no ${Region}" in reason.sentence


def test_a_variable_is_known_behind_the_state_that_assigns_it(tmp_path):
    first = (*ANALYSE, "Arguments", "Payload")
    refused = refusal(changed((first, "{% $analysed %}")), tmp_path)
    assert "is assigned before" in refused.reasons[0].sentence
    loop = changed((first, "{% $exists($analysed) ? $analysed : 1 %}"), ((*DELIVER, "End"), GONE), ((*DELIVER, "Next"), "Again"), ((*CHILD, "States", "Again"), {"Type": "Choice", "Choices": [{"Condition": "{% false %}", "Next": "Analyse"}], "Default": "Done"}), ((*CHILD, "States", "Done"), {"Type": "Succeed"}))  # fmt: skip
    assert maps.read(written(loop, tmp_path), names=NAMES).state == "EachReading"


def test_the_digest_is_of_the_meaning(tmp_path):
    digest = maps.read(FILE, names=NAMES).digest
    assert maps.read(written(changed((("Comment",), "another")), tmp_path), names=NAMES).digest == digest
    assert maps.read(written(changed(((*MAP, "MaxConcurrency"), 7)), tmp_path), names=NAMES).digest != digest
    commented = changed(*(((*place, "Comment"), "another") for place in (MAP, CHILD, ANALYSE)))
    assert maps.read(written(commented, tmp_path), names=NAMES).digest == digest
    # a field of that name in a payload is one as any other, and so is a state
    payloads = [changed(((*ANALYSE, "Arguments", "Payload"), {"Comment": comment})) for comment in ("a", "b")]
    assert len({maps.read(written(payload, tmp_path), names=NAMES).digest for payload in payloads}) == 2
    named = changed(
        ((*CHILD, "StartAt"), "Comment"), ((*CHILD, "States", "Comment"), {"Type": "Pass", "Next": "Analyse"})
    )
    assert maps.read(written(named, tmp_path), names=NAMES).digest != digest


def test_each_field_that_runs_is_read(tmp_path):
    """Label was refused, for statelint does not know it."""
    entry = {"ErrorEquals": ["A"], "IntervalSeconds": 1, "MaxAttempts": 2, "BackoffRate": 1.5, "MaxDelaySeconds": 9,
             "JitterStrategy": "FULL", "Comment": "c"}  # fmt: skip
    caught = {"ErrorEquals": ["States.ALL"], "Next": "Bad", "Output": 1, "Assign": {"e": 1}, "Comment": "c"}
    choice = {"Condition": "{% true %}", "Next": "Bad", "Output": 1, "Assign": {"g": 1}, "Comment": "c"}
    child = {
        "If": {"Type": "Choice", "Choices": [choice], "Default": "Give", "Output": 2, "Assign": {"g": 2}},
        "Give": {"Type": "Pass", "Output": 1, "Assign": {"p": 1}, "Next": "Well"},
        "Well": {"Type": "Succeed", "Output": 1},
        "Bad": {"Type": "Fail", "Error": "E", "Cause": "C"},
    }
    everything = changed(
        (("Version",), "1.0"),
        ((*MAP, "Label"), "EachReading"),
        ((*MAP, "ToleratedFailureCount"), 1),
        ((*MAP, "ToleratedFailurePercentage"), 1),
        ((*MAP, "ItemSelector"), {"name": "{% $states.context.State.Name %}"}),
        ((*MAP, "ItemBatcher"), {"MaxItemsPerBatch": 2, "MaxInputBytesPerBatch": 1000, "BatchInput": {}}),
        ((*CONFIG, "MaxItems"), 5),
        ((*CHILD, "Comment"), "c"),
        ((*ANALYSE, "Retry"), [entry]),
        ((*ANALYSE, "Catch"), [caught]),
        ((*DELIVER, "End"), GONE),
        ((*DELIVER, "Next"), "If"),
        *(((*CHILD, "States", name), state) for name, state in child.items()),
    )
    assert maps.read(written(everything, tmp_path), names=NAMES).state == "EachReading"


def test_whatever_stands_in_a_field_the_definition_is_read_or_refused(tmp_path):
    """A list as a Type, an object as StartAt and the like ended in errors of Python."""
    machine = changed(
        ((*ANALYSE, "Retry"), [{"ErrorEquals": ["A"], "MaxAttempts": 2}]),
        ((*ANALYSE, "Catch"), [{"ErrorEquals": ["States.ALL"], "Next": "Deliver"}]),
    )
    read = refused = 0
    for place, path in enumerate(paths(machine)):
        for value in ODD[place % 4 :: 4]:
            try:
                maps.read(written(changed_at(machine, path, value), tmp_path), names=used_in(machine, path, value))
                read += 1
            except maps.DefinitionRefused:
                refused += 1
    assert read > 25 and refused > 125


def paths(value, path=()):
    yield path
    for name, member in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from paths(member, (*path, name))


def changed_at(machine, path, value):
    if not path:
        return value
    return type(machine)(
        {
            name: changed_at(member, path[1:], value) if name == path[0] else member
            for name, member in machine.items()
        }
        if isinstance(machine, dict)
        else [changed_at(member, path[1:], value) if n == path[0] else member for n, member in enumerate(machine)]
    )


def used_in(machine, path, value):
    return used(changed_at(machine, path, value))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        maps.read(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"Comment": "\xe9"}')
    with pytest.raises(ValueError, match="is not UTF-8: byte 13"):
        maps.read(tmp_path / "latin.json")


def test_statelint_is_asked_where_our_checks_are_silent(tmp_path, monkeypatch):
    from workbench.maps import checking

    monkeypatch.setattr(checking, "_transitions", lambda *_: None)  # a check that we might lack
    refused = refusal(changed((("StartAt",), "GetDay")), tmp_path)
    assert any("is refused by statelint: StartAt value GetDay" in reason.sentence for reason in refused.reasons)
