"""The zip of a Lambda: a folder's own modules, this library's, and the packages that they need, no ballast."""

import importlib.metadata
import platform
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from workbench._base import files
from workbench._base.door import checked
from workbench._base.errors import ArgumentError

LIMIT_BYTES = 250 * 2**20  # unpacked, layers included: AWS Lambda's quotas
NEEDED = ("pyiceberg", "pyiceberg-core", "boto3")
EXTRAS = {"pyiceberg": {"pyarrow", "glue"}}
OURS = ("workbench/__init__.py", "workbench/_base/*.py", "workbench/light/*")
# what no call of PyIceberg reaches; libarrow_substrait stays, since libarrow_python is linked with it
BALLAST = (
    "*/tests/*", "*/test/*", "*/testing/*", "*/include/*", "*/src/*", "*/examples/*", "*/__pycache__/*", "../*",
    "*libarrow_flight*", "*libarrow_python_flight*", "*/_flight*", "*.h", "*.hpp", "*.cc", "*.cpp", "*.cmake",
    "*.a", "*.pxd", "*.pxi", "*.pyx", "*.pyc", "*.pyi",
)  # fmt: skip
STAMP = (2020, 1, 1, 0, 0, 0)  # of each entry, so that equal contents are equal zips


@dataclass(frozen=True)
class Package:
    """A zip for Lambda.

    Attributes:
        path: of the zip.
        bytes: unpacked, which Lambda limits.
        packed_bytes: of the zip.
        runtime: of Lambda that it is for, as python3.11.
        architecture: x86_64 or arm64.
    """

    path: Path
    bytes: int
    packed_bytes: int
    runtime: str
    architecture: str


@checked
def package(
    folder: str | Path, zip_path: str | Path, *, packages: Sequence[str] = NEEDED, limit_bytes: int = LIMIT_BYTES
) -> Package:
    """Write the zip of a function: a folder's files, this library's, and installed packages with what they need.

    The packages are those installed here, so the zip is for the same Python and machine. Tests, headers and
    Arrow's flight library are left out.

    Args:
        folder: with the module of the handler.
        zip_path: of the zip; replaced.
        packages: names of distributions; those that they need come with them.
        limit_bytes: what it may have unpacked.

    Returns:
        Package.

    Raises:
        ValueError: there is no such folder, a package is not installed, or it is larger than allowed; nothing is
            written.
    """
    folder, zip_path = Path(folder), Path(zip_path)
    if not any(folder.glob("*.py")):
        raise ArgumentError(f"{folder} is not a folder with a module of a handler in it")
    if sys.platform != "linux":
        raise ArgumentError(f"packages of {sys.platform} do not run in Lambda, which is Linux: make the zip there")
    entries = dict(_own(folder)) | dict(_ours())
    sizes = {"your modules": _size(entries)}
    for name in sorted(_closure(packages)):
        installed = dict(_installed(name))
        sizes[name] = _size(installed)
        entries |= installed
    if (total := _size(entries)) > limit_bytes:
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
        named = ", ".join(f"{name} {size / 2**20:.0f} MiB" for name, size in largest)
        raise ArgumentError(
            f"the function has {total / 2**20:.0f} MiB unpacked, Lambda takes {limit_bytes / 2**20:.0f} MiB: "
            f"{named}"
        )
    with files.replacing(zip_path.absolute()) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, entries[name].read_bytes())
    runtime = f"python{sys.version_info.major}.{sys.version_info.minor}"
    architecture = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return Package(zip_path, total, zip_path.stat().st_size, runtime, architecture)


def _size(entries: Mapping[str, Path]) -> int:
    return sum(path.stat().st_size for path in entries.values())


def _own(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not _ballast(name):
            yield name, path


def _ours() -> Iterator[tuple[str, Path]]:
    root = Path(__file__).resolve().parents[3]
    for path in (root / "workbench").rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and any(fnmatch(name, pattern) for pattern in OURS) and not _ballast(name):
            yield name, path


def _ballast(name: str) -> bool:
    return any(fnmatch(f"/{name}" if pattern.startswith("*/") else name, pattern) for pattern in BALLAST)


def _closure(names: Iterable[str]) -> AbstractSet[str]:
    """Return the names of distributions with all that they need here."""
    from packaging.requirements import Requirement

    needs: dict[str, frozenset[str]] = {}  # extras by distribution
    open_names = [(name, frozenset(EXTRAS.get(_spelled(name), ()))) for name in names]
    while open_names:
        name, extras = open_names.pop()
        key = _spelled(name)
        if key in needs and extras <= needs[key]:
            continue
        needs[key] = needs.get(key, frozenset()) | extras
        for line in importlib.metadata.requires(_distribution(key).metadata["Name"]) or ():
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *needs[key])
            ):
                open_names.append((needed.name, frozenset(needed.extras)))
    return needs.keys()


def _spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _distribution(name: str) -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise ArgumentError(f"{name} is not installed here, and the function needs it") from None


def _installed(name: str) -> Iterator[tuple[str, Path]]:
    for file in _distribution(name).files or ():
        path = Path(str(file.locate()))
        if not _ballast(file.as_posix()) and path.is_file():
            yield file.as_posix(), path
