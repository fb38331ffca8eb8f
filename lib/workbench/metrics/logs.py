"""Lines of an event log: a file or the parts of a rolling one, plain or zstd, whole or cut off."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from workbench._base.errors import ArgumentError, MissingPackageError

_PART = re.compile(r"events_(\d+)_.+")
_UNFINISHED = ".inprogress"
_COMPACT = ".compact"
_CHUNK_BYTES = 1 << 18
_OTHER_CODECS = (".lz4", ".lzf", ".snappy")
BESIDE = (".log", ".json", ".txt", ".crc", ".jfr", ".prom")  # of files in a watched folder that are no event logs


class Lines:
    """The lines of a log, read once.

    Attributes:
        cut_off: after reading, whether the end is missing.
        compacted: whether Spark dropped older events of it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts = _parts(path)
        self.compacted = any(_COMPACT in part.name for part in self.parts)
        self.cut_off = False

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield (where it stands, line) without line ends; what is behind the last line end comes too."""
        for part in self.parts:
            number = 0
            rest = b""
            for chunk in self._chunks(part):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    number += 1
                    yield f"{part.name}, line {number}", line.decode("utf-8", "replace")
            if rest:
                self.cut_off = self.cut_off or part == self.parts[-1]
                yield f"{part.name}, line {number + 1}", rest.decode("utf-8", "replace")

    def _chunks(self, part: Path) -> Iterator[bytes]:
        try:
            if ".zstd" not in part.suffixes[-2:]:
                with part.open("rb") as file:
                    while chunk := file.read(_CHUNK_BYTES):
                        yield chunk
                return
            yield from self._decompressed(part)
        except OSError as error:
            raise ArgumentError(f"{part} cannot be read: {error.strerror or error}") from None

    def _decompressed(self, part: Path) -> Iterator[bytes]:
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise MissingPackageError(
                f"{part.name} is compressed by zstd, which PyArrow reads: pip install 'iceberg-workbench[spark]'"
            ) from None
        if not part.stat().st_size:
            self.cut_off = True
            return
        good = 0
        try:
            with pa.CompressedInputStream(pa.OSFile(str(part)), "zstd") as stream:
                while chunk := stream.read(_CHUNK_BYTES):
                    good += len(chunk)
                    yield chunk
        except OSError as error:
            if "Truncated" not in str(error):
                raise ArgumentError(f"{part} is damaged: {error}") from None
            self.cut_off = True
            yield _rest(part, good)


def _rest(part: Path, good: int) -> bytes:
    """Return what a cut-off file holds behind its first bytes.

    A read that meets the end of a cut-off file gives nothing, also of what it had until there: smaller and smaller
    reads are tried, each from the beginning.
    """
    import pyarrow as pa

    rest, size = b"", _CHUNK_BYTES // 2
    while size:
        with pa.CompressedInputStream(pa.OSFile(str(part)), "zstd") as stream:
            skipped = 0
            while skipped < good + len(rest):
                skipped += len(stream.read(min(_CHUNK_BYTES, good + len(rest) - skipped)))
            with suppress(OSError):
                rest += stream.read(size)
        size //= 2
    return rest


def _parts(path: Path) -> list[Path]:
    """Return the files of a log in their order."""
    if path.is_dir() and not path.name.startswith("eventlog_v2_"):
        path = _only(path)
    if not path.exists():
        raise ArgumentError(f"there is no event log {path}")
    files = [path]
    if path.is_dir():
        files = _rolled(path)
    if other := [file for file in files if _codec(file) in _OTHER_CODECS]:
        raise ArgumentError(
            f"{other[0]} is compressed by Java's own form of {_codec(other[0])[1:]}, which is not read here; set "
            "spark.eventLog.compression.codec=zstd"
        )
    return files


def _codec(file: Path) -> str:
    name = file.name.removesuffix(_UNFINISHED).removesuffix(_COMPACT)
    return Path(name).suffix


def _only(folder: Path) -> Path:
    """Return the one event log in a folder."""
    logs = sorted(
        entry
        for entry in folder.iterdir()
        if not entry.name.startswith(".")
        and entry.suffix not in BESIDE
        and (entry.is_file() or entry.name.startswith("eventlog_v2_"))
    )
    if not logs:
        raise ArgumentError(f"there is no event log in {folder}")
    if len(logs) > 1:
        names = ", ".join(log.name for log in logs[:10])
        raise ArgumentError(f"{folder} holds {len(logs)} event logs; name one of them: {names}")
    return logs[0]


def _rolled(folder: Path) -> list[Path]:
    """Return the parts of a rolling log: the last compacted one, and those after it."""
    numbered = sorted((int(part[1]), file) for file in folder.iterdir() if (part := _PART.fullmatch(file.name)))
    if not numbered:
        raise ArgumentError(f"{folder} has no part of a rolling event log, events_1_… and so on")
    compacted = [number for number, file in numbered if _COMPACT in file.name]
    if compacted:
        last = compacted[-1]
        numbered = [(n, file) for n, file in numbered if n > last or (n == last and _COMPACT in file.name)]
    numbers = [number for number, _ in numbered]
    first = numbers[0] if compacted else 1
    if missing := sorted(set(range(first, numbers[-1] + 1)) - set(numbers)):
        raise ArgumentError(
            f"{folder} lacks part {missing[0]} of a rolling event log that has {len(numbers)} others"
        )
    return [file for _, file in numbered]
