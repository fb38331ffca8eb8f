"""Names of version 0.1: modules, arguments and fields that were renamed still work by their old names, and warn.

Goes with version 0.3.
"""

import functools
import importlib
import sys
import warnings
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# a name includes the modules below it, too; the longest name that fits decides
MOVED = {
    "workbench.conflicts": "workbench_proofs.conflicts",
    "workbench.tpcds": "workbench_proofs.tpcds",
    "workbench.tpcds.engines": "workbench.engines.profiles",
    "workbench.tpcds.installing": "workbench.engines.installing",
    "workbench.streams.kills": "workbench_proofs.kills",
    "workbench.streams.plain": "workbench_proofs.plain",
    "workbench.local": "workbench_standins",
    "workbench.local.stand_ins": "workbench.session.services",
    "workbench.doctor": "workbench_ops.machine",
    "workbench.run.report": "workbench_ops.pages.report",
    "workbench.run.markup": "workbench_ops.pages.markup",
    "workbench.run.tags": "workbench_ops.run.preparing",
    "workbench.export.checking": "workbench_ops.export",
    "workbench.export.trial": "workbench_ops.export.studio",
    "workbench.policies.databases": "workbench_ops.policies.calls",
    "workbench.schedules.place": "workbench_ops.schedules.running",
    **{f"workbench.{name}": f"workbench_ops.{name}" for name in
       ("account", "cli", "export", "policies", "run", "schedules")},
    **{f"workbench.{name}": f"workbench._base.{name}" for name in
       ("arguments", "children", "hardware", "identifiers", "jars", "java", "lake", "locks", "releases", "scratch",
        "secrets", "settings", "yaml_files")},
    **{f"workbench.streams.{name}": f"workbench.streams.readers.{name}" for name in
       ("reading", "reports", "shards", "sources", "topics")},
    **{f"workbench.streams.{name}": f"workbench.records.{name}" for name in
       ("avro", "avro_logical", "avro_resolution", "avro_values", "framing", "parsing", "protobuf", "schemas",
        "types", "varints")},
    # merged into another
    "workbench.quality.failures": "workbench.quality.evaluation",
    "workbench.streams.backlog": "workbench.streams.kinesis",
    "workbench.streams.protobuf_fields": "workbench.records.protobuf",
    "workbench.tables.maintenance.bounds": "workbench.tables.maintenance.arrow",
    "workbench.tables.maintenance.price": "workbench.tables.maintenance.planning",
    **{f"workbench.local.kinesis.{old}": f"workbench_standins.kinesis.{now}" for old, now in
       {"resharding": "control", "script": "faults", "shard": "stream"}.items()},
    **{f"workbench.local.{name}.command": "workbench_standins.by_hand" for name in ("cluster", "kafka", "s3")},
}  # fmt: skip


class Finder(MetaPathFinder, Loader):
    """Finds the old names; before others, who would load the files of a moved package once more under them."""

    def __init__(self) -> None:
        self.specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return a spec for an old name, None for any other."""
        return spec_from_loader(fullname, self) if now(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of today, with a FutureWarning."""
        name = now(spec.name) or spec.name
        warnings.warn(
            f"{spec.name} is now {name}; the old name goes with version 0.3", FutureWarning, stacklevel=2
        )
        module = importlib.import_module(name)
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is: the import system has given it the old name's spec."""
        assert module.__spec__  # for a type checker: the import system has just set it
        module.__spec__ = self.specs.pop(module.__spec__.name)


def now(name: str) -> str | None:
    """Return the name of today of a module; None where it did not move."""
    parts = name.split(".")
    for many in range(len(parts), 1, -1):
        if (old := ".".join(parts[:many])) in MOVED:
            return ".".join([MOVED[old], *parts[many:]])
    return None


def install() -> None:
    """Let the old names be imported; once a process."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def renamed(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let arguments be given by the names that they had, too, with a DeprecationWarning.

    Args:
        names: name of version 0.1 to that of today.
    """

    def with_old_names(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            for old in names.keys() & named.keys():
                if names[old] not in named:  # else the function says that it has no such argument
                    _warn(f"the argument {old} of {function.__name__} is now {names[old]}", of=3)
                    named[names[old]] = named.pop(old)
            return function(*arguments, **named)

        return call

    return with_old_names


def field(old: str, now: str) -> None:
    """Warn that a field is looked at which is gone, from the property that still answers for it."""
    _warn(f"the field {old} is gone; use {now}", of=4)


def _warn(sentence: str, of: int) -> None:
    """Warn whoever stands so many frames above."""
    warnings.warn(f"{sentence}; the old name goes with version 0.3", DeprecationWarning, stacklevel=of)
