"""The live files of a Hudi table: of each file group the newest base file of a completed write.

As Hudi's own view of the file system has it (AbstractTableFileSystemView, HoodieFileGroup), a file counts when its
write is listed as completed, or is older than all that the timeline lists. Of several files of a listed write in
one file group that counts which the write names: attempts of tasks that were repeated leave others.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench._base.errors import ArgumentError
from workbench.formats.hudi import timeline as timelines
from workbench.formats.hudi.timeline import HOODIE, Timeline
from workbench.formats.inspection import File

_BASE = re.compile(r"([A-Za-z0-9-]+)_([A-Za-z0-9-]+)_(\d{14}|\d{17})\.(parquet|orc|hfile|lance)", re.ASCII)
_LOG = re.compile(r"\.([^_/.][^_/]*)_(\d{14}|\d{17})\.log\.\d+(?:_\d+-\d+-\d+)?(\.cdc)?", re.ASCII)
_EXTERNAL = "_hudiext"
_ENDINGS = (".parquet", ".orc", ".hfile", ".lance")
_MARKER = ".hoodie_partition_metadata"  # how the name of the file begins by which Hudi knows a partition
BOOTSTRAP = "00000000000001"  # the write of skeleton files, whose columns lie in the files of another table
_SOME = 3
Group = tuple[str, str]  # partition, id of the file group


@dataclass(frozen=True)
class Slices:
    """What is live.

    Attributes:
        files: {name: File}; without values of partition columns, which stand in the files.
        obstacles: sentences of what lies in the folder and is not in these files.
    """

    files: Mapping[str, File]
    obstacles: tuple[str, ...]


@dataclass(frozen=True)
class _Base:
    """A base file that counts."""

    time: str
    name: str
    size: int


def of(timeline: Timeline) -> Slices:
    """Return the live files at the timeline's version.

    Raises:
        ValueError: a file that must be there is gone, or two claim the same place.
    """
    tree = timeline.folder.tree(HOODIE)
    written = {path: size for commit in timeline.commits for path, size in commit.files.items()}
    replaced = {group for commit in timeline.commits for group in commit.replaced}
    partitions = _partitions(tree)
    base_files = [(group, base) for group, base in _base_files(timeline, tree, written) if group not in replaced]
    beside = [base.name for group, base in base_files if group[0] not in partitions]
    live, unnamed = _newest(timeline, [entry for entry in base_files if entry[0][0] in partitions], written)
    _refuse_gone(timeline, live, replaced, tree)
    shown = [base.name for group, base in unnamed if group not in live or live[group].time < base.time]
    behind = [base.name for base in live.values() if timeline.behind_savepoint(base.time)]
    odd = _odd(tree, written, partitions)
    odd |= {path for path in written if (of_write := time(path)) and not timeline.completed(of_write)}
    obstacles = (*_uncertain(shown, behind, beside, odd), *_obstacles(timeline, live, replaced, tree, written))
    return Slices({base.name: File(base.name, base.size, {}) for base in live.values()}, obstacles)


def _base_files(
    timeline: Timeline, tree: Mapping[str, int], written: Mapping[str, int]
) -> Iterator[tuple[Group, _Base]]:
    """Yield the base files of completed writes, and the file group of each."""
    for name, size in tree.items():
        of_write, group = time(name), _group(name)
        if group and of_write and timeline.completed(of_write):
            yield group, _Base(of_write, name, written.get(name) or size)


def _newest(
    timeline: Timeline, base_files: Iterable[tuple[Group, _Base]], written: Collection[str]
) -> tuple[dict[Group, _Base], list[tuple[Group, _Base]]]:
    """Return the newest of each file group; and those of listed writes that name no file of that group.

    Raises:
        ValueError: two claim the same place.
    """
    listed = {commit.instant.time for commit in timeline.commits}
    named = {(_group(path), time(path)) for path in written}
    live: dict[Group, _Base] = {}
    unnamed = []
    for group, base in base_files:
        if base.time in listed and base.name not in written:
            if (group, base.time) not in named:
                unnamed.append((group, base))
            continue
        other = live.get(group)
        if other and other.time == base.time:
            raise ArgumentError(
                f"{timeline.folder.location} has two files of one write in one file group, {other.name} and "
                f"{base.name}, and the write that says which counts was archived: write the partition anew"
            )
        if other is None or other.time < base.time:
            live[group] = base
    return live, unnamed


def _partitions(tree: Iterable[str]) -> set[str]:
    """Return the folders that Hudi takes for partitions: with its marker, and not within another one.

    That is how it lists them (FileSystemBackedTableMetadata); only below the table's own folder, which is that of
    a table without partitions, it looks further.
    """
    marked = {name.rpartition("/")[0] for name in tree if name.rpartition("/")[2].startswith(_MARKER)}
    return {folder for folder in marked if marked.isdisjoint(_above(folder))}


def _above(folder: str) -> Iterator[str]:
    parts = folder.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _odd(tree: Iterable[str], written: Iterable[str], partitions: Collection[str]) -> set[str]:
    """Return what may hold rows and is not named as Hudi names its files: in partitions, or named by a write."""
    lying = {
        name
        for name in tree
        if name.rpartition("/")[0] in partitions and any(ending in name for ending in _ENDINGS)
        if not name.endswith(".crc") and not name.rpartition("/")[2].startswith(_MARKER)
    }
    return {name for name in lying.union(written) if not _is_log(name) and not _group(name) and not _outer(name)}


def _uncertain(unnamed: list[str], behind: list[str], beside: list[str], odd: set[str]) -> Iterator[str]:
    """Yield the files that Hudi's readers may take for others than these do."""
    if unnamed:
        yield (
            f"{len(unnamed)} files are of completed writes that do not name them, {min(unnamed)} first, and Hudi "
            "may read them: delete them at the source, or write their rows anew"
        )
    if behind:
        yield (
            f"{len(behind)} files are of writes that were archived behind a savepoint, {min(behind)} first, which "
            "Hudi does not show everywhere: delete the savepoint, and let Hudi archive its write"
        )
    if beside:
        yield (
            f"{len(beside)} files lie in folders that are no partitions of Hudi's, {min(beside)} first: move them "
            f"away, or where they are rows of the table give each folder its {_MARKER}, by repair "
            "addpartitionmeta of hudi-cli"
        )
    if odd:
        yield (
            f"{len(odd)} files are not named as Hudi names its files, {min(odd)} first: move them away, or where "
            "they are rows of the table rewrite them at the source"
        )


def _refuse_gone(
    timeline: Timeline, live: Mapping[Group, _Base], replaced: set[Group], tree: Mapping[str, int]
) -> None:
    """Refuse a table that lacks files which its timeline says are live: an older file would stand in for each.

    Raises:
        ValueError: so it is.
    """
    newest: dict[Group, tuple[str, str]] = {}
    for commit in timeline.commits:
        for path in commit.files:
            partition, _, file = path.rpartition("/")
            if match := _BASE.fullmatch(file):
                group = (partition, match[1])
                newest[group] = max(newest.get(group, ("", "")), (match[3], path))
    gone = [path for group, (_, path) in newest.items() if group not in replaced and path not in tree]
    gone += _cleaned(timeline, live, replaced)
    if gone:
        raise ArgumentError(
            f"{len(gone)} files of {timeline.folder.location} are gone that its timeline names at version "
            f"{timeline.version}, {sorted(gone)[0]} first: the cleaner or somebody else removed them. Restore "
            "them, or take a newer version"
        )


def _cleaned(timeline: Timeline, live: Mapping[Group, _Base], replaced: set[Group]) -> Iterator[str]:
    """Yield what later writes took the place of and the cleaner removed since: only an older version lacks it."""
    if not timeline.later:
        return
    newest = timelines.read(timeline.folder)
    later = [commit for commit in newest.commits if commit.instant.time in timeline.later]
    born = {_group(path) for commit in later for path in commit.files if path not in commit.previous}
    for commit in later:
        for path, before in commit.previous.items():
            group = _group(path)
            if not group or group in replaced or not timeline.completed(before):
                continue
            if group not in live or live[group].time != before:
                yield f"{'/'.join(group)} of {before}"
        for group in commit.replaced - born - replaced:
            if group not in live:
                yield "/".join(group)


def _group(path: str) -> Group | None:
    """Return the file group of a base file; None of another file."""
    partition, _, file = path.rpartition("/")
    match = _BASE.fullmatch(file)
    return (partition, match[1]) if match else None


def _obstacles(
    timeline: Timeline,
    live: Mapping[Group, _Base],
    replaced: set[Group],
    tree: Collection[str],
    written: Collection[str],
) -> Iterator[str]:
    """Yield what lies in the folder or is named by the timeline and cannot be moved."""
    logs = [name for name in tree if _counts(timeline, name, live, replaced)]
    if logs:
        yield (
            f"{_names(logs)} of the latest file slices: their rows lie beside the Parquet files. Compact the "
            "table at the source, so that no log file is left behind a compaction"
        )
    if other := [base.name for base in live.values() if not base.name.endswith(".parquet")]:
        yield f"{len(other)} files are not Parquet, {sorted(other)[0]} first: rewrite them at the source"
    if skeletons := [base.name for base in live.values() if base.time.startswith(BOOTSTRAP)]:
        yield (
            f"{len(skeletons)} files are skeletons of a bootstrap, {sorted(skeletons)[0]} first, whose columns "
            "lie in another table: rewrite them at the source by an update or clustering"
        )
    if outer := [name for name in {*tree, *written} if _outer(name)]:
        yield (
            f"{len(outer)} files were registered and not written by Hudi, {min(outer)} first: move their own table"
        )
    if within := sorted(name for name in tree if f"/{HOODIE}/" in name):
        yield f"another Hudi table lies within this one, {within[0].partition(f'/{HOODIE}/')[0]}: move it away"


def _counts(timeline: Timeline, name: str, live: Mapping[Group, _Base], replaced: set[Group]) -> bool:
    """Say whether a file is a log file of a latest file slice; where that cannot be told, that it is.

    Before table version 8 a log file is named by the write of the base file that it belongs to. From 8 on it is
    named by its own write, and belongs to the newest base file that was requested before that one completed.
    """
    partition, _, file = name.rpartition("/")
    if not (match := _LOG.fullmatch(file)):
        return _is_log(name)
    if match[3] or (group := (partition, match[1])) in replaced:
        return False
    time, base = match[2], live.get(group)
    if not timeline.completions:
        return base is None or time >= base.time
    completed = {instant.time: instant.completed for instant in timeline.writes}
    if time in completed:
        return base is None or completed[time] >= base.time
    return timeline.completed(time)


def _is_log(name: str) -> bool:
    file = name.rpartition("/")[2]
    return file.startswith(".") and ".log." in file and not file.endswith(".crc")


def _outer(name: str) -> bool:
    return name.endswith(_EXTERNAL)


def _names(names: list[str]) -> str:
    return f"{len(names)} log file{'s' * (len(names) > 1)}, {', '.join(sorted(names)[:_SOME])},"


def time(name: str) -> str | None:
    """Return the time of the write that a base file is of; None of another file."""
    match = _BASE.fullmatch(name.rpartition("/")[2])
    return match[3] if match else None
