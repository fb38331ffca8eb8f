"""Which pinned packages and jars a part depends on, so that a new capability's do not make every part out of date.

A package counts where the project needs it everywhere, where a file of the part imports or names it, and where such a
package requires it (the lock file says so itself). A jar counts where a pair of Spark and Iceberg has it, or a file of the
part names it.
"""

import functools
import importlib.metadata
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection

PROJECT = "iceberg-workbench"
EVERYWHERE = ("spark", "catalog", "notebooks")  # extras without which hardly a part runs
OF_TESTS = {"pytest", "pytest-xdist", "hypothesis", "nbval"}
SHORTEST_PREFIX = 4  # of a text that begins names, as in f"duckdb_extension_{name}"


def packages(lock: str, project: str, named: Collection[str]) -> list[str]:
    """Return the pins that count, each with its checksums, as the lock file has them.

    Args:
        lock: text of the lock file.
        project: text of pyproject.toml.
        named: names of packages that files of the part import or name (`mentioned`).
    """
    pins, requires = _lock(lock)
    reached, waiting = set(), [name for name in (*_everywhere(project), *named) if name in pins]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += requires[name]
    return [pins[name] for name in sorted(reached)]


@functools.cache
def mentioned(lock: str, imported: frozenset[str], texts: frozenset[str]) -> set[str]:
    """Return the packages of a lock file that code imports, or whose name stands in its texts."""
    pins, _ = _lock(lock)
    tops = {".".join(name.split(".")[:depth]) for name in imported for depth in (1, 2)}
    joined = "\n".join(texts)
    words = set(re.findall(r"[A-Za-z0-9_]+", joined))
    beginnings = tuple(text for text in texts if len(text) > SHORTEST_PREFIX and text.endswith(("_", "-")))
    return {
        package
        for package, modules in _modules(tuple(pins)).items()
        if modules & tops
        or any(_stands(name, joined, words) or name.startswith(beginnings) for name in (package, *modules))
    }


def _stands(name, joined, words):
    """Say whether a name stands in a text: as a word, so that `protobuf` does not name the module `proto`."""
    return name in words if name.isidentifier() else name in joined


def jars(table: str, words: Collection[str]) -> str:
    """Return what counts of the table of jars, as JSON: the pairs, their jars, and those whose name is among words."""
    content = tomllib.loads(table)
    names = set(_texts(content.get("pairs", {}))) | set(words)
    content["jars"] = {name: jar for name, jar in content.get("jars", {}).items() if name in names}
    return json.dumps(content, sort_keys=True)


@functools.cache
def _lock(text):
    """Return the pins of a lock file, {package: its lines without comments}, and what each package requires."""
    pins, requires, package, via = {}, defaultdict(set), None, False
    for line in text.splitlines():
        if pinned := re.match(r"([A-Za-z0-9._-]+)==", line):
            package, via = _normal(pinned[1]), False
            pins[package] = line
        elif line.startswith("    --hash"):
            pins[package] += f"\n{line}"
        elif package and (comment := re.match(r"    # (via)?\s*(\S*)", line)):
            via = via or bool(comment[1])
            if via and comment[2]:
                requires[_normal(comment[2])].add(package)
    return pins, requires


@functools.cache
def _everywhere(project):
    """Return the packages that the project needs everywhere, without what they require."""
    table = tomllib.loads(project).get("project", {})
    extras = table.get("optional-dependencies", {})
    lines = [*table.get("dependencies", []), *(line for extra in EVERYWHERE for line in extras.get(extra, []))]
    return OF_TESTS | {_normal(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in lines}


@functools.cache
def _modules(packages):
    """Return the top modules of packages, {package: modules}; of one that is not installed its name as a module's.

    Where several packages share a top module, as `google`, it is the module below: else who imports one depends on all,
    and whether they are installed here would count.
    """
    modules = {package: {package.replace("-", "_")} for package in packages}
    owners = importlib.metadata.packages_distributions()
    for distribution in importlib.metadata.distributions():
        if (package := _normal(distribution.metadata["Name"])) in modules:
            for path in distribution.files or ():
                top, *below = path.parts
                shared = len(set(owners.get(top, ()))) > 1 and len(below) > 1
                name = f"{top}.{below[0]}" if shared else top.removesuffix(".py")
                if not below and not top.endswith(".py"):
                    continue
                if re.fullmatch(r"[A-Za-z]\w*(\.[A-Za-z]\w*)?", name):
                    modules[package].add(name)
    return modules


def _normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _texts(value):
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []
