"""Fields of a definition: those that run here, and why the others do not."""

from dataclasses import dataclass
from typing import Any

from workbench.maps import expressions

RUNS: dict[str, frozenset[str]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "machine": "Comment StartAt States QueryLanguage Version",
        "child": "StartAt States ProcessorConfig QueryLanguage Comment",
        "Pass": "Type Comment QueryLanguage Output Assign Next End",
        "Task": "Type Comment QueryLanguage Resource Arguments Output Assign Retry Catch Next End",
        "Choice": "Type Comment QueryLanguage Choices Default Output Assign",
        "Succeed": "Type Comment QueryLanguage Output",
        "Fail": "Type Comment QueryLanguage Error Cause",
        "Map": "Type Comment QueryLanguage ItemProcessor ItemReader ItemSelector ItemBatcher MaxConcurrency "
        "ToleratedFailureCount ToleratedFailurePercentage ResultWriter Label Next End",
        "choice": "Condition Next Output Assign Comment",
        "retry": "ErrorEquals IntervalSeconds MaxAttempts BackoffRate MaxDelaySeconds JitterStrategy Comment",
        "catch": "ErrorEquals Next Output Assign Comment",
        "ProcessorConfig": "Mode ExecutionType",
        "ItemReader": "Resource ReaderConfig Arguments",
        "ReaderConfig": "InputType ManifestType CSVHeaderLocation CSVHeaders CSVDelimiter MaxItems",
        "ItemBatcher": "MaxItemsPerBatch MaxInputBytesPerBatch BatchInput",
        "ResultWriter": "Resource Arguments",
    }.items()
}
_PATH = "is JSONPath; only JSONata runs here"
REFUSED = {
    **dict.fromkeys(
        ("InputPath", "OutputPath", "ResultPath", "ResultSelector", "Parameters", "ItemsPath", "MaxItemsPath",
         "MaxConcurrencyPath", "ToleratedFailureCountPath", "ToleratedFailurePercentagePath",
         "MaxItemsPerBatchPath", "MaxInputBytesPerBatchPath", "TimeoutSecondsPath", "HeartbeatSecondsPath",
         "ErrorPath", "CausePath",
         "SecondsPath", "TimestampPath", "Variable", "Result"), _PATH),
    "TimeoutSeconds": "does not run here: no time limit is kept",
    "HeartbeatSeconds": "does not run here: no heartbeats are awaited",
    "Credentials": "does not run here: a resource is bound to a function, which has its own credentials",
    "Iterator": "is the old name of ItemProcessor, which runs here",
    "Items": "does not run here: items come from files, by ItemReader",
    "WriterConfig": "does not run here: results go to the table as they are",
}  # fmt: skip
REFUSED_IN = {
    ("Map", "Retry"): "does not run here: a failed run is continued by redrive",
    ("Map", "Catch"): "does not run here: a run that fails says so, and is continued by redrive",
    ("Map", "Output"): "does not run here: the map's results are in the table",
    ("Map", "Assign"): "does not run here: the map's results are in the table",
}
STATES = {"Pass", "Task", "Choice", "Succeed", "Fail", "Map"}
REFUSED_STATES = {
    "Wait": "a Wait state does not run here",
    "Parallel": "a Parallel state does not run here",
}
REQUIRED = {
    "machine": ("StartAt", "States"), "child": ("StartAt", "States", "ProcessorConfig"), "Task": ("Resource",),
    "Choice": ("Choices",), "Map": ("ItemProcessor", "ItemReader"), "choice": ("Condition", "Next"),
    "retry": ("ErrorEquals",), "catch": ("ErrorEquals", "Next"), "ProcessorConfig": ("Mode", "ExecutionType"),
    "ItemReader": ("Resource", "ReaderConfig", "Arguments"), "ReaderConfig": ("InputType",),
    "ResultWriter": ("Resource", "Arguments"),
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """What a field holds.

    Attributes:
        types: its types in Python.
        words: what it is, in words.
        least: the smallest number; None where it is no number.
        most: the greatest.
        dynamic: whether it may be an expression.
        choices: the texts that it may be; empty for any.
        filled: whether it may not be empty.
    """

    types: tuple[type, ...]
    words: str
    least: float | None = None
    most: float | None = None
    dynamic: bool = False
    choices: tuple[str, ...] = ()
    filled: bool = False

    def wrong(self, value: Any) -> str | None:
        """Say what is wrong with a value; None where nothing is."""
        if self.dynamic and expressions.is_expression(value):
            return None
        right = isinstance(value, self.types) and not (isinstance(value, bool) and bool not in self.types)
        if not right or (self.choices and value not in self.choices) or (self.filled and not value):
            return f"must be {self.words}, found {value!r}" if not isinstance(value, dict) or value == {} else (
                f"must be {self.words}, found an object"
            )  # fmt: skip
        low = self.least is not None and value < self.least
        if low or (self.most is not None and value > self.most):
            return f"must be {self.words}, found {value!r}"
        return None


def _whole(least: int, most: int | None = None, *, dynamic: bool = True) -> Kind:
    bound = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    return Kind((int,), f"a whole number {bound}", least, most, dynamic)


def _one_of(*choices: str) -> Kind:
    *most, last = (repr(choice) for choice in choices)
    return Kind((str,), f"{', '.join(most)} or {last}" if most else last, choices=choices)


_OBJECT, _LIST = Kind((dict,), "an object"), Kind((list,), "a list of at least one entry", filled=True)
_TEXT, _NAME = Kind((str,), "a text"), Kind((str,), "a text that is not empty", filled=True)
KINDS = {
    "Comment": _TEXT, "Version": _one_of("1.0"), "StartAt": _NAME, "Next": _NAME, "Default": _NAME,
    "States": Kind((dict,), "an object with at least one state", filled=True),
    "End": Kind((bool,), "true or false"), "QueryLanguage": _one_of("JSONata"), "Resource": _NAME,
    "Retry": _LIST, "Catch": _LIST, "Choices": _LIST, "ErrorEquals": _LIST, "Assign": _OBJECT,
    "Condition": Kind((bool,), "an expression or a boolean", dynamic=True), "Error": _TEXT, "Cause": _TEXT,
    "ItemProcessor": _OBJECT, "ProcessorConfig": _OBJECT, "ItemReader": _OBJECT, "ReaderConfig": _OBJECT,
    "ItemBatcher": Kind((dict,), "an object with MaxItemsPerBatch, MaxInputBytesPerBatch or both", filled=True),
    "ResultWriter": _OBJECT, "Label": Kind((str,), "a text that is not empty", filled=True),
    "Mode": _one_of("DISTRIBUTED"), "ExecutionType": _one_of("STANDARD", "EXPRESS"),
    "InputType": _one_of("PARQUET", "CSV", "JSONL"), "ManifestType": _one_of("ATHENA_DATA"),
    "CSVHeaderLocation": _one_of("FIRST_ROW", "GIVEN"), "CSVHeaders": _LIST,
    "CSVDelimiter": _one_of("COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"),
    "MaxItems": _whole(1, 100_000_000), "MaxItemsPerBatch": _whole(1),
    "MaxInputBytesPerBatch": _whole(1, 262_144), "MaxConcurrency": _whole(0),
    "ToleratedFailureCount": _whole(0),
    "ToleratedFailurePercentage": Kind((int, float), "a number from 0 to 100", 0, 100, dynamic=True),
    "IntervalSeconds": _whole(1, 99_999_999, dynamic=False),
    "MaxAttempts": _whole(0, 99_999_999, dynamic=False),
    "BackoffRate": Kind((int, float), "a number of at least 1", 1),
    "MaxDelaySeconds": _whole(1, 31_622_400, dynamic=False), "JitterStrategy": _one_of("FULL", "NONE"),
}  # fmt: skip
