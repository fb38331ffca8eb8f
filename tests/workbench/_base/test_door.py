"""The door of a function: what its annotations do not allow is refused by a sentence, and nothing is done."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

import annotated_types
import numpy as np
import pytest
from annotated_types import Ge, Gt, Le, MinLen

from workbench._base import bounds
from workbench._base.door import checked, described
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench._base.typing import DataFrame, SparkSession


@dataclass(frozen=True)
class Policy:
    """A value of ours."""


called = []


@checked
def work(
    spark: SparkSession,
    table: str,
    *,
    tries: Annotated[int, Ge(1)] = 5,
    share: Annotated[float, Ge(0), Le(1)] = 0.5,
    how: Literal["copy", "move"] = "copy",
    key: str | Sequence[str] = "id",
    ids: Sequence[Annotated[int, Gt(0)]] = (),
    texts: Mapping[str, str] | None = None,
    on_step: Callable[[str], None] | None = None,
    flag: bool = False,
    policy: Policy | None = None,
    frame: DataFrame = None,
    anything: Any = None,
) -> str:
    """Say that it was called."""
    called.append(table)
    return table


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"table": 3}, "table must be a text, found 3"),
        ({"tries": True}, "tries must be an integer of at least 1, found True"),
        ({"tries": "3"}, "tries must be an integer of at least 1, found '3'"),
        ({"tries": 3.0}, "tries must be an integer of at least 1, found 3.0"),
        ({"tries": 0}, "tries must be an integer of at least 1, found 0"),
        ({"tries": np.int64(0)}, "tries must be an integer of at least 1, found 0"),
        ({"tries": None}, "tries must be an integer of at least 1, found None"),
        ({"share": math.nan}, "share must be a number of at least 0 and of at most 1, found nan"),
        ({"share": math.inf}, "share must be a number of at least 0 and of at most 1, found inf"),
        ({"share": True}, "share must be a number of at least 0 and of at most 1, found True"),
        ({"how": "Copy"}, "how must be 'copy' or 'move', found 'Copy'"),
        ({"key": 3}, "key must be a text or a list of texts, found 3"),
        ({"key": ["a", 2]}, "key must be a text or a list of texts, found ['a', 2]"),
        ({"ids": "123"}, "ids must be a list of integers above 0, found '123'"),
        ({"ids": [1, "2"]}, "ids must be a list of integers above 0, found '2' in it"),
        ({"ids": [1, 0]}, "ids must be a list of integers above 0, found 0 in it"),
        ({"ids": {1}}, "ids must be a list of integers above 0, found {1}"),
        ({"texts": ["a"]}, "texts must be a dict of texts to texts or None, found ['a']"),
        ({"texts": {"a": 1}}, "texts must be a dict of texts to texts or None, found 1 in it"),
        ({"on_step": "print"}, "on_step must be a function or None, found 'print'"),
        ({"flag": 1}, "flag must be True or False, found 1"),
        ({"policy": {}}, "policy must be Policy or None, found {}"),
        ({"trys": 3}, "work has no argument trys; it has spark, table, tries"),
        ({"table": "x" * 500 + "y", "tries": 0}, "tries must be"),
    ],
)  # fmt: skip
def test_what_annotations_do_not_allow(given, sentence):
    called.clear()
    with pytest.raises(ArgumentError) as error:
        work(None, **({"table": "t"} | given))
    assert str(error.value).startswith(sentence) and not called, error.value
    assert isinstance(error.value, ValueError) and isinstance(error.value, WorkbenchError)


@pytest.mark.parametrize(
    ("arguments", "named", "sentence"),
    [
        ((), {}, "spark is missing: it must be "),
        ((None,), {}, "table is missing: it must be a text"),
        ((None, "t", 3), {}, "work was given too many arguments without a name; it has spark, table"),
        ((None, "t"), {"table": "u"}, "table was given twice"),
    ],
)
def test_arguments_that_do_not_fit_the_function(arguments, named, sentence):
    with pytest.raises(ArgumentError) as error:
        work(*arguments, **named)
    assert str(error.value).startswith(sentence)


def test_any_of_several_arguments_without_a_name():
    @checked
    def several(first: str, *others: str, last: int = 0) -> None:
        """Take any number."""

    several("a", "b", "c", last=1)
    for others in ((3,), ("b", 3), ("b", "c", 3)):
        with pytest.raises(ArgumentError, match=r"^others must be a text, found 3 in it$"):
            several("a", *others)


def test_what_they_allow_is_passed_on_as_it_was_given():
    key, texts = ["a", "b"], {"a": "b"}
    got = {}

    @checked
    def same(key: Sequence[str], texts: Mapping[str, str], count: int, share: float, rows: Any) -> None:
        """Note what came."""
        got.update(key=key, texts=texts, count=count, share=share, rows=rows)

    rows = (row for row in [1])
    for share in (np.float32(1), np.int64(1), 1):
        same(key, texts, np.int64(3), share, rows)
        assert got["share"] is share
    assert got["key"] is key and got["texts"] is texts and got["rows"] is rows
    assert type(got["count"]) is np.int64
    assert list(rows) == [1]


def test_a_mapping_that_is_read_only_is_a_mapping():
    texts = MappingProxyType({"a": "b"})

    @checked
    def first(texts: Mapping[str, str]) -> Mapping[str, str]:
        """Return what came."""
        return texts

    assert first(texts) is texts
    with pytest.raises(ArgumentError, match="texts must be a dict of texts to texts, found 1 in it"):
        first(MappingProxyType({"a": 1}))


def test_an_error_of_pydantic_within_is_not_taken_for_ours():
    import pydantic

    class Model(pydantic.BaseModel):
        table: int

    @checked
    def inner(table: str) -> None:
        """Fail within."""
        Model(table=table)

    with pytest.raises(pydantic.ValidationError):
        inner("no number")


def test_a_dict_is_not_a_model():
    import pydantic

    class Model(pydantic.BaseModel):
        table: str = "t"

    @checked
    def work(model: pydantic.InstanceOf[Model] | None) -> None:
        """Take a model."""

    work(Model())
    with pytest.raises(ArgumentError, match=r"^model must be Model or None, found {}$"):
        work({})


def test_a_long_value_is_cut():
    with pytest.raises(ArgumentError) as error:
        work(None, ["x" * 1000])
    assert str(error.value).endswith("… (list)") and len(str(error.value)) < 200


def test_nothing_is_built_at_import():
    @checked
    def later(value: "Unknown") -> None:  # noqa: F821
        """Cannot be checked."""

    with pytest.raises(Exception, match="Unknown"):
        later(1)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (bytes, "bytes"),
        (list[int], "a list of integers"),
        (Mapping[str, int], "a dict of texts to integers"),
        (Annotated[int, Ge(1), Le(9)] | None, "an integer of at least 1 and of at most 9 or None"),
        (Literal[1, 2, 3], "1, 2 or 3"),
        (Sequence[Policy], "a list of Policy"),
        (Annotated[str, MinLen(1)], "a text of at least 1 character"),
        (Mapping[Annotated[str, MinLen(2)], str], "a dict of texts of at least 2 characters to texts"),
        (Sequence[Literal["a", "b"]], "a list of 'a' or 'b'"),
        (str | Iterable[Any], "a text or several values"),
        (Mapping[str, str | None], "a dict of texts to texts or None"),
    ],
)
def test_types_in_words(kind, words):
    assert described(kind) == words


@pytest.mark.parametrize(
    ("bound", "inside", "outside"),
    [
        (bounds.Ge(1), 1, 0), (bounds.Gt(1), 2, 1), (bounds.Le(1), 1, 2), (bounds.Lt(1), 0, 1),
        (bounds.MinLen(2), "ab", "a"),
    ],
    ids=repr,
)  # fmt: skip
def test_our_bounds_are_those_of_annotated_types(bound, inside, outside):
    theirs = getattr(annotated_types, type(bound).__name__)(bound.value)
    assert [*bound] == [theirs]

    def function(value):
        return value

    kind = str if isinstance(inside, str) else int
    messages = []
    for metadata in (bound, theirs):
        function.__annotations__ = {"value": Annotated[kind, metadata]}
        call = checked(function)
        assert call(inside) == inside
        with pytest.raises(ArgumentError) as caught:
            call(outside)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_nothing_that_checks_is_imported_with_us():
    code = "import sys\nfrom workbench import wap, quality, history, streams, archive, tables\n"
    code += "print([name for name in ('pydantic', 'annotated_types', 'typing_extensions') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
