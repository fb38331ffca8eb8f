"""What the verdict of a part follows from: the files that its tests and programs reach, found from the code itself.

Followed are imports, those inside functions and inside texts that are code (`python -c`), and full names of modules
in texts (`-m workbench_ops.run.child`, a setting of Spark's). Of the command count the subcommands that a test names:
`workbench run` does not load `workbench_ops.cli.commands.export`.

Of the lock file and the table of jars counts what the part can load (pins.py).

What does not count: comments, docstrings and empty lines of Python, the version that a release gives, the mark `proof` of a
test, which a part runs with it and without, texts and outputs of notebooks, and documentation pages, whose tests are
static and in every check.
"""

import ast
import functools
import hashlib
import io
import json
import re
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import Path

from prove import pins

LOCK, JARS = "locks/project.lock", "lib/workbench/_base/jars.toml"  # of every part, but not the whole of them
PROJECT = "pyproject.toml"  # says which packages the project needs everywhere
OF_TESTS = ("tests/conftest.py",)
DOTTED = re.compile(r"\b(?:workbench(?:_\w+)?|bench|soak)(?:\.[A-Za-z_]\w*)+")
MARKED = "tests/typed/"  # comments there say what checkers of types must find
# by which a test calls the command: as a process, or in its own
COMMAND = {
    ("conftest", "workbench"),
    ("conftest", "COMMAND"),
    ("workbench_ops", "cli"),
    ("workbench_ops.cli", "app"),
    ("inside", None),
}
OLD_NAMES = (
    "lib/workbench/_base/moved.py"  # its texts are names of modules that whoever imports them names himself
)
CLI, MODULE = "lib/workbench_ops/cli", "workbench_ops.cli"  # where it is, and its name for `python -m`


def files(house: "House", *, tests=(), programs=(), notebooks=(), environments=(), reads=()) -> set[str]:
    """Return the files that a part depends on, as paths from the project's folder.

    Args:
        house: the modules of the project's folder.
        tests: test files or folders of them.
        programs: names of modules that are run.
        notebooks: names of notebooks that are run headless.
        environments: names of environments that they are given beside their own.
        reads: glob patterns of further files.

    Raises:
        ValueError: a named file, module, notebook or pattern does not exist.
    """
    root = house.root
    start = [path for name in tests for path in _test_files(root, name)]
    start += [_required(house.module(name, root / "tests"), f"module {name}") for name in programs]
    for name in notebooks:
        start.append(_required(_existing(root / "notebooks" / f"{name}.ipynb"), f"notebook {name}"))
        start += [
            house.module(module, root)
            for module in ("workbench_ops.cli.commands.run", "workbench_ops.run.child", "workbench_ops.run.runner")
        ]
    for name in environments:
        start.append(_required(_existing(root / "params/environments" / f"{name}.yml"), f"environment {name}"))
    for pattern in reads:
        start += _required(sorted(path for path in root.glob(pattern) if path.is_file()), f"file {pattern}")
    start += [root / name for name in (LOCK, JARS, *(OF_TESTS if tests else ()))]
    reached = house.reached(start)
    return {str(path.relative_to(root)) for path in reached | house.data(reached)}


def contents(house: "House", names) -> dict[str, str]:
    """Return what counts of each file, as a checksum of eight digits: {path from the project's folder: checksum}."""
    return {name: house.checksum(name, names) for name in sorted(names)}


def digest(contents_of_files: dict[str, str], *further) -> str:
    """Return the checksum of a part: of what counts of its files, and of what else is given (what it runs)."""
    return hashlib.sha256(json.dumps([contents_of_files, *further], sort_keys=True).encode()).hexdigest()[:16]


def _existing(path):
    return path if path.is_file() else None


def _required(there, what):
    if not there:
        raise ValueError(f"a part of the proof names {what}, which does not exist")
    return there


def _test_files(root, name):
    path = root / name
    listed = sorted(path.rglob("test_*.py")) if path.is_dir() else [path] if path.is_file() else []
    return _required(listed, f"tests {name}")


class House:
    """The modules of one project's folder, read once."""

    def __init__(self, root):
        self.root, self.followed, self.checksums, self.modules, self.outlines = root, {}, {}, {}, {}
        self.packages, self.named, self.mentioned = {}, {}, {}
        self.beside_code = {path: self._words(path) for path in data_files(root)}
        self.beside_tests = {path.stem: path for path in (root / "tests").rglob("*.py")}
        self.notebooks = {path.stem: path for path in (root / "notebooks").glob("*.ipynb")}
        self.environments = {path.stem: path for path in (root / "params/environments").glob("*.yml")}

    def module(self, name, folder):
        """Return the file of a module as it is imported from a folder, or None.

        Modules of tests have names of their own, so that one that a program finds by its path is found by its name.
        """
        if (name, folder) not in self.modules:
            self.modules[name, folder] = self._found(name, folder)
        return self.modules[name, folder]

    def _found(self, name, folder):
        for base in (folder, self.root / "tests", self.root / "lib"):
            path = base.joinpath(*name.split("."))
            for file in (path.with_suffix(".py"), path / "__init__.py"):
                if file.is_file():
                    return file
        return self.beside_tests.get(name)

    def outline(self, path):
        """Return the outline of a Python file."""
        if path not in self.outlines:
            self.outlines[path] = outline(path.read_text(encoding="utf-8"))
        return self.outlines[path]

    def checksum(self, name, of_part):
        """Return the checksum of what counts of a file for a part that has these files."""
        if name in (LOCK, JARS):
            return _short(self._pins(of_part) if name == LOCK else self._jars(of_part))
        if name not in self.checksums:
            suffix = "" if name.startswith(MARKED) else Path(name).suffix
            self.checksums[name] = _checksum((self.root / name).read_bytes(), suffix)
        return self.checksums[name]

    def _pins(self, names):
        packages = set().union(*(self._mentions(name)[0] for name in names))
        return "\n".join(pins.packages(self._text(LOCK), self._text(PROJECT), packages))

    def _jars(self, names):
        return pins.jars(self._text(JARS), set().union(*(self._mentions(name)[1] for name in names)))

    def _mentions(self, name):
        """Return the packages that a file imports or names, and the words in its texts, of which some name jars."""
        if name not in self.mentioned:
            imported, texts = self._read(name)
            words = set(re.findall(r"[\w-]+", "\n".join(texts)))
            self.mentioned[name] = pins.mentioned(self._text(LOCK), imported, texts), words
        return self.mentioned[name]

    def _read(self, name):
        """Return the modules that a file imports, and its texts; of a file of settings all of it."""
        path = self.root / name
        if name in (LOCK, JARS) or path.suffix not in {".py", ".ipynb", ".yml", ".toml"}:
            return frozenset(), frozenset()
        if path.suffix in {".yml", ".toml"}:
            return frozenset(), frozenset([self._text(name)])
        code = self.outline(path) if path.suffix == ".py" else outline(_code(self._text(name)))
        return frozenset(module for module, _ in code.deep), code.texts

    def _text(self, name):
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.is_file() else ""

    def reached(self, start):
        """Return the files that are reached from some, these included."""
        seen, waiting = set(), list(dict.fromkeys(start))
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                if path not in self.followed:
                    self.followed[path] = self.next(path)
                waiting += self.followed[path]
        return seen

    def next(self, path):
        """Return the files that a file leads to."""
        if path.suffix == ".ipynb":
            code = outline(_code(path.read_text(encoding="utf-8")))
            params = sorted((self.root / "params" / path.stem).glob("*.yml"))
            return [*params, *self._modules(code.deep, path.parent), *self._named(code.texts)]
        if path.suffix != ".py" or path == self.root / OLD_NAMES:
            return []
        code = self.outline(path)
        following = self._modules(code.deep, path.parent)
        in_tests = path.is_relative_to(self.root / "tests")
        if in_tests:
            following += self._named(code.texts)
        if (in_tests and code.deep & COMMAND) or MODULE in code.texts:
            following.append(self.root / CLI / "__init__.py")
            following += self._subcommands(code.words)
        return following

    def _named(self, texts):
        """Return the notebooks and environments whose names stand in texts."""
        words = {word for text in texts for word in re.findall(r"\d\d_[a-z0-9_]+", text)}
        found = [path for name, path in self.notebooks.items() if name in words]
        return found + [path for name, path in self.environments.items() if name in texts]

    def _subcommands(self, texts):
        """Return the subcommands that texts name: `run`, `schedule check`, `workbench ingest …`."""
        return [
            path
            for path in (self.root / CLI / "commands").glob("*.py")
            if any(re.match(rf"(.*\bworkbench )?{path.stem}( |$)", text, re.DOTALL) for text in texts)
        ]

    def _modules(self, imported, folder):
        """Return the files of what code in a folder imports: (module, name in it or None)."""
        files = []
        for module, attribute in imported:
            file = self.module(f"{module}.{attribute}", folder) if attribute else None
            file = file or self.module(module, folder)
            if file:
                files += [file, *self._packages(file)]
        return files

    def _packages(self, file):
        """Return the `__init__.py` of each package that a module is in."""
        if file.parent not in self.packages:
            above = [parent for parent in file.parents if parent.is_relative_to(self.root)]
            there = [parent / "__init__.py" for parent in above]
            self.packages[file.parent] = [init for init in there if init.is_file()]
        return self.packages[file.parent]

    def data(self, reached):
        """Return the files beside the code that reached modules name, or whose folder they name."""
        return set().union(*(self._beside(path) for path in reached if path.suffix == ".py"))

    def _beside(self, module):
        """Return the files beside the code that one module names: those of its own package, or of the tests."""
        if module not in self.named:
            text, owners = self.outline(module).joined, {str(parent) for parent in module.parents}
            self.named[module] = {
                path
                for path, (owner, words) in self.beside_code.items()
                if owner in owners and any(word in text for word in words)
            }
        return self.named[module]

    def _words(self, path):
        """Return the folder whose modules may name a file beside the code, and the words by which they do."""
        package = next(parent for parent in path.parents if any(parent.glob("*.py")))
        tests = self.root / "tests"
        words = {path.name, *path.relative_to(package).parts[:-1]}
        return str(tests if path.is_relative_to(tests) else package), words


def data_files(root: Path) -> list[Path]:
    """Return the files beside the code of library and tests that code reads, but the planted faults."""
    return sorted(
        path
        for folder in ("lib", "tests")
        for path in (root / folder).rglob("*.*")
        if path.suffix in {".toml", ".yml", ".j2", ".css", ".txt", ".properties", ".cjs"}
        and path.parent != root / "tests" / "faults" and not any(part.endswith(".egg-info") for part in path.parts)
    )  # fmt: skip


@dataclass(frozen=True)
class Outline:
    """What a module has that leads to others.

    `deep` is what it imports, anywhere: (module, name in it or None). `texts` are its texts, those that are documentation
    excepted, whose places are `docstrings`: (first line, column, last line). `words` are texts that are no keys. `marks`
    are the lines of decorators and of names of them that only leave a test to `make prove`: (first, last).
    """

    deep: frozenset
    texts: frozenset
    words: frozenset
    docstrings: tuple
    marks: tuple

    @functools.cached_property
    def joined(self):
        return "\n".join(self.texts)


@functools.cache
def outline(text: str) -> Outline | None:
    """Return the outline of a text of Python code; None where it is no code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of texts that look like code
            tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    deep, texts, documents, keys = set(), [], {}, set()
    marks = _marks(tree)
    witnesses = {id(inner) for mark in marks for inner in ast.walk(mark)}
    for node in ast.walk(tree):
        if id(node) in witnesses:
            continue
        if isinstance(node, ast.Subscript):
            keys.add(id(node.slice))
        elif isinstance(node, ast.Dict):
            keys |= set(map(id, node.keys))
        if isinstance(node, ast.Import | ast.ImportFrom):
            deep |= _imported(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = getattr(node.body[0], "value", None)
            if (
                isinstance(node.body[0], ast.Expr)
                and isinstance(first, ast.Constant)
                and isinstance(first.value, str)
            ):
                documents[id(first)] = first.lineno, first.col_offset, first.end_lineno
    words = frozenset(node.value for node in texts if id(node) not in {*documents, *keys})
    texts = frozenset(node.value for node in texts if id(node) not in documents)
    for inner in tuple(texts):
        if "import " in inner and (code := outline(inner)):
            deep |= code.deep
            texts |= code.texts
            words |= code.words
        else:
            deep |= {(name, None) for name in DOTTED.findall(inner)}
    lines = tuple((mark.lineno, mark.end_lineno) for mark in marks)
    return Outline(frozenset(deep), texts, words, tuple(documents.values()), lines)


def _marks(tree):
    """Return what only leaves tests to `make prove`: decorators, and a module's names of such marks with their lines."""
    named = {
        node.targets[0].id: node
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _leaves_to_prove(node.value)
    }
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    decorators = [
        decorator
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for decorator in node.decorator_list
        if _leaves_to_prove(decorator) or getattr(decorator, "id", None) in named
    ]
    return [*named.values(), *decorators]


def _leaves_to_prove(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.proof"


def _imported(node):
    if isinstance(node, ast.Import):
        return {(alias.name, None) for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {(node.module, alias.name) for alias in node.names}
    return set()


@functools.cache
def _checksum(content, suffix):
    text = content.decode("utf-8", "surrogateescape")
    if suffix == ".ipynb":
        text = _code(text)
    elif suffix == ".py":
        text = _bare(text)
    return _short(text)


def _short(text):
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _code(text):
    """Return the code cells of a notebook with their tags."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return "\n".join(f"{''.join(cell['source'])}\n# {cell['metadata'].get('tags', [])}" for cell in cells)


def _bare(text):
    """Return Python without comments, docstrings, empty lines and its own version, the same by every Python."""
    code, lines = outline(text), text.split("\n")
    if code is None:
        return text
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, column, last in code.docstrings:
        if not lines[first - 1][:column].strip():  # else it is on the line of its function
            lines[first - 1 : last] = [""] * (last - first + 1)
    for first, last in code.marks:
        lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip() and not line.startswith("__version__ = "))
