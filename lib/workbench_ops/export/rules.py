"""Rules on code: magics, imports, features of versions, functions bound to this machine, processes, plots."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from workbench_ops.export import asking, magics, versions, wheel
from workbench_ops.export import cells as code
from workbench_ops.export.findings import Finding
from workbench_ops.export.versions import CANNOT_RUN, DIFFERS, table

PROCESSES = re.compile(
    r"(subprocess|multiprocessing|pty)\.\w.*|concurrent\.futures\.ProcessPoolExecutor"
    r"|os\.(system|popen|fork\w*|kill\w*|exec\w+|spawn\w+|posix_spawn\w*)"
)
SERVERS = re.compile(r"http\.server\.\w*Server|socketserver\.\w+|socket\.create_server|asyncio\.start_server")
PLOTS = re.compile(r"(workbench\.plots|matplotlib|seaborn|plotly)\.(\w+\.)*[a-z]\w*")
ABOVE = "put it above the first cell with code"
Names = code.Names
WRITTEN = "put it into the first cell of the file that is written"
Where = tuple[int, int, str]
CATCHING = {"ImportError", "ModuleNotFoundError", "Exception", None}
SHELL = ("display", "get_ipython")  # IPython gives them to each cell; Glue's sessions and jobs have none
DISTRIBUTIONS = {"google": "protobuf"}  # import names that several distributions share


def misplaced(cells: list[code.Cell]) -> Iterator[Finding]:
    """Yield a finding for each magic that the Glue kernel would not take, or would take without effect."""
    begun, exported = False, any(cell.exported for cell in cells)
    for cell in cells:
        for magic in cell.magics:
            if finding := _magic(cell, magic, begun, exported):
                yield finding
        if cell.nodes is None:
            why = "neither Python nor a magic that the kernel takes"
            yield Finding(cell.number, 1, "magic", CANNOT_RUN, "the cell", why, "write it in Python")
        begun = begun or asking.begins(cell)


def overtaken(cells: list[code.Cell], written: dict[str, str]) -> Iterator[Finding]:
    """Yield a finding for each magic that would set the session and is lost, as an export begins it before.

    Nothing is lost where the export writes the same value, or takes the value over, which it does with all but
    another version, magics of a whole cell, and values that the kernel would refuse. Of magics that come too late
    in the notebook itself `misplaced` has findings, and of all magics where an exported notebook is checked.

    Args:
        cells: of the notebook.
        written: magics with one value that the exported notebook begins with, name to value.
    """
    if any(cell.exported for cell in cells):
        return
    taken = asking.asked(cells)
    for cell in cells:
        for magic in cell.magics:
            if not magic.at_top or magic.name not in magics.SESSION or magic.name in magics.TAKEN_OVER:
                continue
            if magic.name == "configure":
                yield from _unconfigured(cell, magic, taken, written)
            elif not _has(magic.name, magic.value.strip("'\""), taken, written):
                yield _overtaken(cell, magic, written)
        if asking.begins(cell):
            return


def _has(name: str, value: str, taken: asking.Asked, written: Mapping[str, str]) -> bool:
    """Say whether the exported notebook has the value of a magic, or a later one of the same name."""
    if name == "spark_conf":
        return bool(taken.conf)
    return name in taken.lines or written.get(name) == value


def _overtaken(cell: code.Cell, magic: magics.Magic, written: Mapping[str, str]) -> Finding:
    """Return the finding for a magic whose value the exported notebook does not have."""
    text = f"{'%%' if magic.whole_cell else '%'}{magic.name} {'' if magic.whole_cell else magic.value}".strip()
    other = f", with %{magic.name} {written[magic.name]}" if magic.name in written else ""
    why = f"the exported notebook begins its session before this cell{other}, so it is lost"
    instead = WRITTEN
    if magic.name == "glue_version":
        known = magic.value in versions.names()
        instead = (
            f"give --version {magic.value}"
            if known
            else f"leave it out ({' and '.join(versions.names())} are known)"
        )
    return Finding(cell.number, magic.line, "magic", DIFFERS, text, why, instead)


def _unconfigured(
    cell: code.Cell, magic: magics.Magic, taken: asking.Asked, written: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield a finding for each argument of %%configure that the exported notebook does not have."""
    asked = asking.configured(magic.value)
    why = "the exported notebook begins its session before this cell, with a %%configure of its own, so it is lost"
    instead = "put it into the second cell of the file that is written"
    for name, value in ({"": None} if asked is None else asked).items():
        if name in taken.taken or (name in written and written[name] == str(value)):
            continue
        yield Finding(cell.number, magic.line, "magic", DIFFERS, f"%%configure {name}".strip(), why, instead)


def imports(cells: list[code.Cell], glue: versions.Glue, folders: Iterable[Path] = ()) -> Iterator[Finding]:
    """Yield a finding for each module that is neither in Glue nor pinned; modules of `folders` are one's own."""
    caught = _caught(cells)
    for (cell, line, by), module, installed in missing(cells, code.imported(cells), glue):
        what = f"{module}, which {by.removeprefix('workbench.')} needs," if by else module
        what += f" is not in Glue {glue.name}"
        if module.startswith("."):
            what, why, grade = f"a relative import, {module!r}", "a notebook is in no package", CANNOT_RUN
            instead = "import it by its name, from a file in %extra_py_files"
        elif own := next(filter(None, (_file(folder, module) for folder in folders)), None):
            what, why = f"{module} is yours, {own}", "what is on this machine is not in Glue"
            grade = DIFFERS if module in caught else CANNOT_RUN
            instead = "put it into S3, a folder as a zip, and name it in %extra_py_files"
        elif module in glue.removed:
            why, grade = f"Python {glue.python} has removed it", CANNOT_RUN
            instead = "use what its documentation names in its place"
        elif installed is not None:
            why, grade = f"{installed!r} names no version, so another day brings another one", DIFFERS
            instead = f"pin it: {pin(module) or installed + '==VERSION'}"
        elif requirement := pin(module):
            why, grade = "a session installs it when it starts", DIFFERS
            instead = f"leave {requirement} in %additional_python_modules, where workbench export glue puts it"
        elif module in caught:
            why, grade = "nor installed here, so what follows except is run", DIFFERS
            instead = "name NAME==VERSION in %additional_python_modules where it is needed"
        else:
            why, grade = "and as it is not installed here either, there is no version to pin", CANNOT_RUN
            instead = "name NAME==VERSION in %additional_python_modules, or a file in %extra_py_files"
        yield Finding(cell, line, "import", grade, what, why, instead)


def missing(cells: list[code.Cell], names: Names, glue: versions.Glue) -> Iterator[tuple[Where, str, str | None]]:
    """Yield ((cell, line, by), module, requirement) of modules that Glue lacks and that no magic pins, each once.

    `by` is the function of this library that needs the module, "" where it is imported. The requirement is that of
    the magics where one names the module without a version, otherwise None.
    """
    known = {*wheel.PACKAGES, "__future__", *glue.modules}
    given = magics.requirements([magic for cell in cells for magic in cell.magics])
    for module, where in sorted(_used(cells, names).items(), key=lambda use: use[1][:2]):
        if module in known:
            continue
        requirement = given.get(module.lower()) or given.get(
            (distribution(module) or "").lower().replace("-", "_")
        )
        if not (requirement and magics.pinned(requirement)):
            yield where, module, requirement


def pin(module: str) -> str | None:
    """Return the requirement of the version that is installed here, `name==1.2`; None if none is installed."""
    name = distribution(module)
    return f"{name}=={metadata.version(name)}" if name else None


def distribution(module: str) -> str | None:
    """Return the name of the distribution that has a module; None if none is installed."""
    if module in DISTRIBUTIONS:
        return DISTRIBUTIONS[module]
    return next(iter(_installed().get(module, ())), None)


def features(cells: list[code.Cell], names: Names, glue: versions.Glue) -> Iterator[Finding]:
    """Yield a finding for each feature that the version lacks, once a cell."""
    for feature in glue.features:
        seen = set()
        for cell, line in sorted(_uses(cells, names, feature), key=lambda use: (use[0].number, use[1])):
            if cell.number not in seen:
                seen.add(cell.number)
                what, why, instead = feature.name, feature.why, f"{feature.instead} ({feature.source})"
                yield Finding(cell.number, line, "feature", feature.grade, what, why, instead)


def library(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each function of this library that works only on one's own machine, once a cell."""
    seen = set()
    for cell, call, name in code.calls(cells, names):
        for entry in table()["library"]:
            if "why" in entry and _named(name, entry["name"]) and (cell.number, name) not in seen:
                seen.add((cell.number, name))
                short = name.removeprefix("workbench.")
                why, instead = entry["why"], entry["instead"]
                yield Finding(cell.number, call.lineno, "library", CANNOT_RUN, short, why, instead)


def processes(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each process that is started or signalled, and for each server, once a cell."""
    seen = set()
    for cell, call, name in code.calls(cells, names):
        kind = "process" if PROCESSES.fullmatch(name) else "server" if SERVERS.fullmatch(name) else None
        if kind is None or (cell.number, kind) in seen:
            continue
        seen.add((cell.number, kind))
        if kind == "process":
            why = "processes are the driver's alone, in a container that is not yours"
            yield Finding(cell.number, call.lineno, kind, DIFFERS, name, why, "do it before the job, or in Python")
        else:
            why = "it is on the driver, and Spark's executors are other machines"
            yield Finding(cell.number, call.lineno, kind, CANNOT_RUN, name, why, "use a service that AWS reaches")


def shell(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each cell that calls functions which only IPython has."""
    own, seen = code.bound(node for _, node in code.nodes(cells, ast.AST)), set()
    for cell, call, name in code.calls(cells, names):
        if name in SHELL and name not in own and (cell.number, name) not in seen:
            seen.add((cell.number, name))
            why, instead = "the session is plain Python and not IPython", "leave it out, or print"
            yield Finding(cell.number, call.lineno, "magic", CANNOT_RUN, name, why, instead)


def plots(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each cell that draws without %matplot or %plotly at its end."""
    seen = {cell.number for cell in cells if {magic.name for magic in cell.magics} & set(magics.AFTER_CODE)}
    for cell, call, name in code.calls(cells, names):
        if PLOTS.fullmatch(name) and cell.number not in seen:
            seen.add(cell.number)
            why = "the figure is drawn in the session and not sent; its text is"
            instead = "end the cell with %matplot plt where you need the picture"
            yield Finding(cell.number, call.lineno, "plot", DIFFERS, name.removeprefix("workbench."), why, instead)


@cache
def _installed() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _magic(cell: code.Cell, magic: magics.Magic, begun: bool, exported: bool) -> Finding | None:
    text = "a shell line" if magic.name == "!" else f"{'%%' if magic.whole_cell else '%'}{magic.name}"
    known = magic.name in (*magics.SESSION, *magics.ANY_TIME)
    grade = CANNOT_RUN
    if not magic.at_top and magic.name in magics.AFTER_CODE:
        return None
    if not magic.at_top:
        why = "the kernel takes magics at the top of a cell only, and the session gets this line as Python"
        instead = "put it into a cell of its own, above the first one with code"
    elif not known:
        why, grade = "the kernel runs it where the kernel is, not in the session", DIFFERS
        instead = "leave it out, or do it in Python"
    elif begun and magic.name in magics.SESSION:
        why, grade = "the session runs already, so it takes effect in the next one only", DIFFERS
        instead = ABOVE if exported or magic.name in magics.TAKEN_OVER else WRITTEN
    else:
        return None
    return Finding(cell.number, magic.line, "magic", grade, text, why, instead)


def _used(cells: list[code.Cell], names: Names) -> dict[str, Where]:
    """Return modules that are imported or that functions of ours need: name to its first (cell, line, by)."""
    uses: dict[str, Where] = {}
    for cell, node in code.imports(cells):
        for module in _modules(node):
            uses.setdefault(module, (cell.number, node.lineno, ""))
    for cell, call, name in code.calls(cells, names):
        for entry in table()["library"]:
            for module in entry.get("needs", ()) if _named(name, entry["name"]) else ():
                uses.setdefault(module, (cell.number, call.lineno, name))
    return uses


def _file(folder: Path, module: str) -> Path | None:
    """Return a module's file in a folder, or its folder of Python files; None without either."""
    alone, package = folder / f"{module}.py", folder / module
    if alone.is_file():
        return alone
    if not (package / "__init__.py").is_file() and (distribution(module) or not any(package.rglob("*.py"))):
        return None  # without the file an installed package of that name comes first
    return package


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the first names of the modules that an import names; of a relative one all of it."""
    if isinstance(node, ast.ImportFrom):
        return [code.origin(node) if node.level else code.origin(node).partition(".")[0]]
    return [alias.name.partition(".")[0] for alias in node.names]


def _caught(cells: list[code.Cell]) -> set[str]:
    """Return the modules that are imported only where an ImportError is caught."""
    inside = set()
    for _, node in code.nodes(cells, ast.Try):
        caught = (kind for handler in node.handlers for kind in getattr(handler.type, "elts", [handler.type]))
        if {code.dotted(kind, {}) for kind in caught} & CATCHING:
            inside |= {id(below) for statement in node.body for below in ast.walk(statement)}
    modules: dict[bool, set[str]] = {True: set(), False: set()}
    for _, imported in code.imports(cells):
        modules[id(imported) in inside].update(_modules(imported))
    return modules[True] - modules[False]


def _named(name: str, entry: str) -> bool:
    """Say whether a dotted name is that of an entry; one that ends in * has all functions below, no classes."""
    if not entry.endswith(".*"):
        return name == entry
    return name.startswith(entry[:-1]) and name.rpartition(".")[2].islower()


def _uses(cells: list[code.Cell], names: Names, feature: versions.Feature) -> Iterator[tuple[code.Cell, int]]:
    for cell, node in code.imports(cells):
        imported = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            imported = [f"{node.module}", *(f"{node.module}.{name}" for name in imported)]
        if any(f"{name}.".startswith(f"{module}.") for name in imported for module in feature.modules):
            yield cell, node.lineno
    functions = {*feature.library, *(f"pyspark.sql.functions.{name}" for name in feature.functions)}
    for cell, call, name in code.calls(cells, names):
        if name in functions:
            yield cell, call.lineno
    for cell, attribute in code.nodes(cells, ast.Attribute):
        if attribute.attr in feature.attributes:
            yield cell, attribute.lineno
    for cell, constant, text in code.texts(cells):
        if any(pattern.search(text) for pattern in feature.sql):
            yield cell, constant.lineno
