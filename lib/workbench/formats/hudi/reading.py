"""A Hudi table read by hudi-rs, which shares no code with the move, and what that reader would read wrongly.

hudi-rs 0.5 orders writes by their requests, and of tables before version 8 takes in files of writes that have not
completed. Where that matters it is a sentence here, never a comparison that fails for another reason than the
table.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from workbench._base.errors import ArgumentError, MissingPackageError
from workbench.formats import comparing, storage
from workbench.formats.comparing import Json, Sums
from workbench.formats.hudi import slices
from workbench.formats.hudi import timeline as timelines
from workbench.formats.hudi.timeline import Timeline


def summed(location: str, version: int, fields: list[Json]) -> Sums:
    """Return the sums of a table's rows at a version.

    Raises:
        ValueError: hudi-rs cannot read it, or would read it wrongly.
        MissingPackageError: hudi is not installed.
    """
    try:
        from hudi import HudiReadOptions, HudiTableBuilder
    except ModuleNotFoundError as error:
        raise MissingPackageError("hudi is not installed: pip install 'iceberg-workbench[formats]'") from error
    import pyarrow as pa

    folder = storage.opened(location)
    if reason := next(_misread(timelines.read(folder, version)), None):
        raise ArgumentError(reason)
    try:
        source = HudiTableBuilder.from_base_uri(location.removeprefix("file://")).build()
        options = HudiReadOptions().with_as_of_timestamp(str(version))
        return _summed(map(pa.record_batch, source.read_stream(options)), fields)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust, and no Exception
            raise
        raise ArgumentError(f"hudi-rs does not know a type of a column: {error}") from error


def _summed(batches: Iterator[Any], fields: list[Json]) -> Sums:
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return Sums(0, (0, 0), {field["name"]: 0 for field in fields})
    connection = comparing.connected()
    connection.register("rows", pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches)))
    return comparing.summed(fields, "rows", connection)


def _misread(timeline: Timeline) -> Iterator[str]:
    """Yield why hudi-rs would read other rows than the table has."""
    late = sorted(time for time in timeline.later if timelines.number(time) <= timeline.version)
    if late:
        yield (
            f"the write of {late[0]} was begun before that version and completed after it, and hudi-rs takes it "
            "in: follow to a newer version"
        )
    if not timeline.completions:
        of_files = {slices.time(name) for name in timeline.folder.tree(timelines.HOODIE)}
        for time in sorted(timeline.pending & of_files):
            if timelines.number(time) <= timeline.version:
                yield (
                    f"the write of {time} has not completed and left files, and hudi-rs takes them in: roll it "
                    "back or complete it at the source, then follow"
                )
