"""What a worker of Spark does with a wave: items out of files, children run, rows for the table."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from workbench.maps import expressions, jsons, lines, resources, states
from workbench.maps.expressions import MOST_BYTES, EvaluationError, Scope, Template
from workbench.maps.resources import Delivery, Function
from workbench.maps.states import TOO_LARGE, About, Machine, Outcome
from workbench.records.parsing import Parser

CHUNK = 1000  # children whose rows make one Arrow batch
READER = "States.ItemReaderFailed"
FIXED = {
    "_run": "string", "_redrive": "int", "_index": "bigint", "_items": "int", "_source": "string",
    "_row": "bigint", "_record": "int", "_attempts": "int", "_error": "string", "_cause": "string",
}  # fmt: skip
OUTPUT = "_output"
LONGEST_CAUSE = 32_768  # characters, as Step Functions has it
_NONE: list[int | None] = [None]  # the one row of a child that delivered nothing


@dataclass(frozen=True)
class Source:
    """A file of a wave, as a worker needs it.

    Attributes:
        name: an item's source.
        first: index of its first item.
        rows: how many of its items are run; further ones are passed over.
        chosen: indexes of the children that are run; None for all.
    """

    name: str
    first: int
    rows: int
    chosen: frozenset[int] | None = None


@dataclass(frozen=True)
class Reader:
    """How items are read.

    Attributes:
        kind: PARQUET, CSV or JSONL.
        headers: of a CSV file; None where its first line has them.
        delimiter: of its fields.
    """

    kind: str
    headers: list[str] | None = None
    delimiter: str = ","


@dataclass(frozen=True)
class Batches:
    """How items are put into batches.

    Attributes:
        most_items: in one.
        most_bytes: of a child's input.
        input: BatchInput, evaluated; None for none.
    """

    most_items: int
    most_bytes: int
    input: Any = None


@dataclass(frozen=True)
class Child:
    """An item, or a batch of them, that is run.

    Attributes:
        index: of its first item.
        items: how many.
        source: name of the file.
        row: of the first item within it.
        input: of its states.
        wrong: error and cause where it has no input.
        text: the input as JSON.
    """

    index: int
    items: int
    source: str
    row: int
    input: Any = None
    wrong: tuple[str, str] | None = None
    text: str | None = None


@dataclass(frozen=True)
class Work:
    """A wave's work, as it goes to the workers.

    Attributes:
        machine: the child's definition.
        state: name of the Map state.
        bound: name of a Task state to what it calls.
        about: the run.
        redrive: its number.
        sources: path to Source.
        reader: Reader.
        selector: ItemSelector; None for none.
        states_input: of the Map state.
        variables: of the states around.
        batches: Batches; None where each item is a child.
        threads: children that run at once in a task.
        output: whether the child's output is kept.
        parser: of the delivered records; None for none.
    """

    machine: Mapping[str, Any]
    state: str
    bound: Mapping[str, Function | Delivery]
    about: About
    redrive: int
    sources: Mapping[str, Source]
    reader: Reader
    selector: Any
    states_input: Any
    variables: Mapping[str, Any]
    batches: Batches | None
    threads: int
    output: bool
    parser: Parser | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of the table's rows for batches of `_file` and a row or a line."""
        machine = Machine(self.machine, self.bound, self.about)
        children = self.children(batches)

        def run(child: Child) -> tuple[Child, Outcome]:
            if child.wrong is not None:
                return child, Outcome(error=child.wrong[0], cause=child.wrong[1])
            key = f"{self.about.run_id}/{child.index}"
            return child, machine.run(child.input, key, child.index, text=child.text)

        if self.threads == 1:
            while chunk := list(itertools.islice(children, CHUNK)):
                yield self._rows([run(child) for child in chunk])
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                while chunk := list(itertools.islice(children, CHUNK)):
                    yield self._rows(list(pool.map(run, chunk)))

    def counted(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of `_file`, `rows` and `unclosed`, of files of lines.

        They are how many items each has, and the line of a quote that is never closed; null where there is none.
        """
        import pyarrow as pa

        for path, lines_of in _by_file(batches):
            rows, unclosed = 0, None
            try:
                for _ in self._items(lines_of):
                    rows += 1
            except lines.Unclosed as error:
                unclosed = error.line
            arrays = [pa.array([path]), pa.array([rows], pa.int64()), pa.array([unclosed], pa.int64())]
            yield pa.RecordBatch.from_arrays(arrays, ["_file", "rows", "unclosed"])

    def children(self, batches: Iterable[Any]) -> Iterator[Child]:
        """Yield what is run, in order within each file."""
        every = self._batched(self._each(batches)) if self.batches else self._each(batches)
        by_name = {source.name: source.chosen for source in self.sources.values()}
        for child in every:
            chosen = by_name[child.source]
            if chosen is None or child.index in chosen:
                yield child

    def _each(self, batches: Iterable[Any]) -> Iterator[Child]:
        """Yield each item as a child of its own."""
        select = Template(self.selector, ("ItemSelector",)) if self.selector is not None else None
        if self.reader.kind == "PARQUET":
            numbered = _rows_of_parquet(batches)
        else:
            numbered = (
                (path, row, item)
                for path, lines_of in _by_file(batches)
                for row, item in enumerate(self._items(lines_of))
            )
        for path, row, item in numbered:
            source = self.sources[path]
            if row >= source.rows:
                continue
            child = Child(source.first + row, 1, source.name, row, item)
            yield self._selected(child, select)

    def _selected(self, child: Child, select: Template | None) -> Child:
        """Return an item's child with the input that ItemSelector gives, or with what is wrong with it."""
        if isinstance(child.input, lines.Unreadable):
            return replace(child, input=None, wrong=(READER, str(child.input)))
        fit = _with_input(child, child.input)
        if select is None or fit.text is None:
            return fit
        key = self.about.key(child.index)
        item = {"Index": child.index, "Value": child.input, "Source": child.source}
        context = states.context(self.about, self.about.run_id, self.states_input, self.state)
        context["Map"] = {"Item": item}
        bindings = {**self.variables, "states": {"input": self.states_input, "context": context}}
        try:
            value = select.evaluate(Scope(bindings, key, self.about.now, self.wide or expressions.wide(fit.text)))
        except EvaluationError as error:
            name = TOO_LARGE if error.too_large else expressions.ERROR
            return replace(child, input=None, wrong=(name, str(error)))
        return _with_input(child, value)

    @cached_property
    def wide(self) -> bool:
        """Whether what a selector reads beside the item may hold a whole number that JSONata does not."""
        return expressions.wide(jsons.text([self.states_input, self.variables]))

    def _items(self, lines_of: Iterable[str]) -> Iterator[Any]:
        if self.reader.kind == "CSV":
            return lines.csv_items(lines_of, self.reader.headers, self.reader.delimiter)
        return lines.json_items(lines_of)

    def _batched(self, children: Iterable[Child]) -> Iterator[Child]:
        """Yield batches of items that follow each other in a file; one that cannot be read is alone."""
        limits = self.batches
        assert limits is not None
        empty = len(jsons.text(_batch([], limits.input)).encode())
        together: list[Child] = []
        batch_bytes = empty
        for child in children:
            size = 0 if child.text is None else len(child.text.encode()) + 1
            full = len(together) >= limits.most_items or batch_bytes + size > limits.most_bytes
            if together and (full or child.wrong or child.source != together[0].source):
                yield _joined(together, limits)
                together, batch_bytes = [], empty
            if child.wrong:
                yield child
                continue
            together.append(child)
            batch_bytes += size
        if together:
            yield _joined(together, limits)

    def _rows(self, ran: list[tuple[Child, Outcome]]) -> Any:
        """Return the Arrow batch of a chunk of children: a row each, or one a record that it delivered."""
        import pyarrow as pa

        delivered, outcomes, parsed = self._delivered(ran)
        rows = [
            (child, outcome, number if its else 0, place)
            for (child, _), outcome, its in zip(ran, outcomes, delivered, strict=True)
            for number, place in enumerate(its or _NONE, 1)
        ]
        children, ended, numbers, places = zip(*rows, strict=True)
        columns: dict[str, list[Any]] = {
            "_run": [self.about.run_id] * len(rows),
            "_redrive": [self.redrive] * len(rows),
            "_index": [child.index for child in children],
            "_items": [child.items for child in children],
            "_source": [child.source for child in children],
            "_row": [child.row for child in children],
            "_record": list(numbers),
            "_attempts": [outcome.tries for outcome in ended],
            "_error": [outcome.error and resources.encodable(outcome.error) for outcome in ended],
            "_cause": [None if outcome.error is None else _cause(outcome) for outcome in ended],
        }
        if self.output:
            columns[OUTPUT] = [
                outcome.text if outcome.error is None and number <= 1 else None
                for outcome, number in zip(ended, numbers, strict=True)
            ]
        types = {"string": pa.string(), "int": pa.int32(), "bigint": pa.int64()}
        arrays = [pa.array(values, types[FIXED.get(name, "string")]) for name, values in columns.items()]
        names = list(columns)
        if parsed is not None:
            taken = parsed.take(pa.array(places, pa.int64()))
            arrays += taken.columns
            names += taken.schema.names
        return pa.RecordBatch.from_arrays(arrays, names)

    def _delivered(self, ran: list[tuple[Child, Outcome]]) -> tuple[list[list[int]], list[Outcome], Any]:
        """Return the places of each child's records among the parsed ones, the outcomes, and the parsed ones.

        A child with a record that is not as declared fails, and delivers nothing.
        """
        outcomes = [outcome for _, outcome in ran]
        if self.parser is None:
            return [[] for _ in ran], outcomes, None
        texts = [(n, text) for n, outcome in enumerate(outcomes) for text in outcome.records]
        parsed = self.parser([text.encode("utf-8", "surrogatepass") for _, text in texts])
        for place, reason, message in parsed.dead:
            n = texts[place][0]
            if outcomes[n].error is None:
                outcomes[n] = Outcome(
                    error=f"Delivery.{reason}", cause=f"the record is not as declared: {message}",
                    tries=outcomes[n].tries,
                )  # fmt: skip
        delivered: list[list[int]] = [[] for _ in ran]
        for row, place in enumerate(parsed.good):
            n = texts[place][0]
            if outcomes[n].error is None:
                delivered[n].append(row)
        return delivered, outcomes, parsed.rows


def _rows_of_parquet(batches: Iterable[Any]) -> Iterator[tuple[str, int, Any]]:
    for batch in batches:
        paths, rows = batch.column("_file").to_pylist(), batch.column("_row").to_pylist()
        yield from zip(map(_path, paths), rows, _values(batch.column("item")), strict=True)


def _values(column: Any) -> list[Any]:
    """Return the values of a column, maps as objects; Unreadable in the place of one with a key twice."""
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    except (KeyError, ValueError):  # of a map within a struct
        return [_value(value) for value in column]
    return values


def _value(value: Any) -> Any:
    try:
        return value.as_py(maps_as_pydicts="strict")
    except (KeyError, ValueError):  # of a map within a struct
        return lines.Unreadable("it has a map with a key twice")


def _by_file(batches: Iterable[Any]) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield each file's path and its lines; a task has whole files, one after the other."""
    pairs = (
        pair
        for batch in batches
        for pair in zip(batch.column("_file").to_pylist(), batch.column("line").to_pylist(), strict=True)
    )
    for path, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
        # a byte that is not UTF-8 stays as half a character, by which its record alone is unreadable
        yield _path(path), (line.decode("utf-8", "surrogateescape") for _, line in group)


@lru_cache(1000)  # each row names its file
def _path(text: str) -> str:
    from workbench.maps.files import path_of

    return path_of(text)


def _with_input(child: Child, value: Any) -> Child:
    """Return a child with an input, or with error and cause where no state machine takes it."""
    try:
        text = jsons.text(value)
        size = len(text.encode())
    except (ValueError, RecursionError) as error:
        return replace(child, input=None, wrong=(READER, f"the item has no form in JSON: {error}"))
    if size > MOST_BYTES:
        wrong = TOO_LARGE, f"the input has {size:,} bytes; at most {MOST_BYTES:,} are taken"
        return replace(child, input=None, wrong=wrong)
    return Child(child.index, child.items, child.source, child.row, value, None, text)


def _cause(outcome: Outcome) -> str:
    return resources.encodable((outcome.cause or "")[:LONGEST_CAUSE])


def _batch(items: list[Any], given: Any) -> dict[str, Any]:
    return {"Items": items} if given is None else {"BatchInput": given, "Items": items}


def _joined(children: list[Child], limits: Batches) -> Child:
    first = children[0]
    batch = Child(first.index, len(children), first.source, first.row)
    return _with_input(batch, _batch([child.input for child in children], limits.input))
