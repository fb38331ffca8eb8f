"""Rules on where things are: files of this machine, buckets, regions and addresses that are written down."""

import ast
import re
from collections.abc import Iterator

from workbench_ops.export import cells as code
from workbench_ops.export import magics
from workbench_ops.export.findings import Finding
from workbench_ops.export.versions import CANNOT_RUN, DIFFERS

READERS = ("csv", "json", "load", "orc", "parquet", "text", "textFile")  # of spark.read and spark.readStream
FORMATS = ("csv", "json", "orc", "parquet", "save", "start", "text")  # of DataFrame.write and writeStream
WRITERS = ("save", "to_csv", "to_excel", "to_feather", "to_json", "to_parquet", "to_pickle")
OPENERS = (
    "glob.glob", "glob.iglob", "io.open", "numpy.load", "numpy.loadtxt", "open", "os.chdir", "os.listdir",
    "os.scandir", "os.walk", "pathlib.Path", "pyarrow.parquet.read_table", "sqlite3.connect",
)  # fmt: skip
NAMED = ("database", "file", "filepath_or_buffer", "fname", "io", "path", "path_or_buf", "source")  # by keyword
TEMPORARY = ("gettempdir", "mkdtemp", "mkstemp", "NamedTemporaryFile", "TemporaryDirectory", "TemporaryFile")
STATEMENT = re.compile(
    r"\s*(alter|cache|copy|create|describe|explain|from|insert|load|merge|refresh|replace|select|with)\b", re.I
)
PLACES = re.compile(  # of a statement: a file as a table, or where one lies
    r"\b(?:from|join|table)\s+(?:avro|binaryfile|csv|json|orc|parquet|text|xml)\.`([^`]*[/.~][^`]*)"
    r"|\b(?:location|directory|inpath)\s+['\"]([^'\"]+)|\boptions\s*\([^)]*?\bpath\b['\"]?\s*=?\s*['\"]([^'\"]+)",
    re.I,
)
Names = code.Names
ELSEWHERE = re.compile(r"(?!file:)[a-z][a-z0-9+]*:|[{$%<]", re.I)  # a store, or known at run time only
BUCKET = re.compile(r"\bs3[an]?://([a-z0-9][a-z0-9.-]+)|\barn:aws[\w-]*:[\w-]+:[\w-]*:(\d{12}):")
REGION = re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx|cn)(-gov|-iso[a-z]?)?-[a-z]+-\d")
GAP = "\0"
ADDRESS = re.compile(r"(://|^)(127(\.\d+){3}|localhost|0\.0\.0\.0|\[::1\])([:/]|$)")


def files(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each path of this machine that is written down, and for temporary files."""
    for cell, call, name in _calls(cells, names):
        last = name.rpartition(".")[2]
        if name.startswith("tempfile.") and last in TEMPORARY:
            why = "it is on the driver's disk, out of reach for executors and gone with the session"
            yield Finding(cell.number, call.lineno, "file", DIFFERS, name, why, "keep what must stay in S3")
        elif (path := _path(call, name, last)) is not None:
            opens = name in ("open", "io.open") and _mode(call)[:1] in ("w", "a", "x")
            writes = last in WRITERS or opens or _of(name, "write|writeStream")
            yield _file(cell, call.lineno, path, writes)
    for cell, begin, end, text in _statements(cells):
        lines = magics.lines_of(cell.source)[begin - 1 : end]
        for groups in PLACES.findall(re.sub(r"--[^\n]*", "", text)):
            path = "".join(groups).partition(GAP)[0]
            if path and not ELSEWHERE.match(path):
                offset = next((number for number, line in enumerate(lines) if path in line), 0)
                yield _file(cell, begin + offset, path, writes=False)


def buckets(cells: list[code.Cell]) -> Iterator[Finding]:
    """Yield a finding for each bucket, account, region or address of this machine in texts but parameters."""
    for cell, node, text in code.texts(cells):
        if cell.parameters:
            continue
        if bucket := BUCKET.search(text):
            what = f"a bucket or account that is written down, {bucket[1] or bucket[2]!r}"
            why = "in another account it is another one"
            yield Finding(cell.number, node.lineno, "bucket", DIFFERS, what, why, "make it a parameter")
        elif REGION.fullmatch(text):
            what, why = f"a region that is written down, {text!r}", "the session has its own, %region"
            yield Finding(cell.number, node.lineno, "region", DIFFERS, what, why, "make it a parameter")
        elif ADDRESS.search(text):
            what = f"an address of this machine, {text!r}"
            why = "in Glue nothing answers there, and executors are other machines"
            yield Finding(cell.number, node.lineno, "address", CANNOT_RUN, what, why, "make it a parameter")


def variables(cells: list[code.Cell], names: Names) -> Iterator[Finding]:
    """Yield a finding for each environment variable that is read and not set, and for a named profile of AWS."""
    reads = ("os.getenv", "os.environ.get", "os.environ.pop")
    own: set[str | None] = set()
    read: list[tuple[code.Cell, int, str | None]] = []
    for cell, node in code.nodes(cells, ast.Subscript):
        text = _constant(node.slice) if code.dotted(node.value, names) == "os.environ" else None
        if isinstance(node.ctx, ast.Store):
            own.add(text)
        elif isinstance(node.ctx, ast.Load):
            read.append((cell, node.lineno, text))
    for cell, call, name in code.calls(cells, names):
        given = _constant(call.args[0]) if call.args else None
        if name == "os.environ.setdefault":
            own.add(given)
        read += [(cell, call.lineno, given)] * (name in reads)
        if any(word.arg == "profile_name" and not _none(word.value) for word in call.keywords):
            why = "in Glue there are no profiles, the role of the session has the rights"
            what, instead = "a named profile of AWS", "leave profile_name out"
            yield Finding(cell.number, call.lineno, "variable", CANNOT_RUN, what, why, instead)
    for cell, line, text in read:
        if text and text not in own:
            what, why = f"an environment variable, {text!r}", "in Glue the variables of this machine are not set"
            yield Finding(cell.number, line, "variable", DIFFERS, what, why, "make it a parameter")


def _statements(cells: list[code.Cell]) -> Iterator[tuple[code.Cell, int, int, str]]:
    """Yield (cell, first line, last line, text) of texts that may be SQL; a value in an f-string is a GAP."""
    parts = set()
    for cell, node in code.nodes(cells, ast.JoinedStr):  # a node comes before those below it
        parts |= {id(part) for part in node.values}
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values)
        if STATEMENT.match(text):
            yield cell, node.lineno, node.end_lineno or node.lineno, text
    for cell, constant, text in code.texts(cells):
        if id(constant) not in parts and not cell.parameters and STATEMENT.match(text):
            yield cell, constant.lineno, constant.end_lineno or constant.lineno, text
    for cell in cells:
        for magic in cell.magics:
            if magic.name == "sql":
                yield cell, magic.line, magic.line + magic.value.count("\n") + 1, magic.value


def _file(cell: code.Cell, line: int, path: str, writes: bool) -> Finding:
    kind = "an absolute path" if path.startswith(("/", "file:")) else "a relative path"
    kind = "a path in your home folder" if path.startswith("~") else kind
    why = "in Glue the working folder is another and this machine's files are not there"
    if writes:
        why = "what is written to the driver's disk is gone with the session"
    grade, what = (DIFFERS if writes else CANNOT_RUN), f"{kind}, {path!r}"
    return Finding(cell.number, line, "file", grade, what, why, "put it into S3 and name it there")


def _none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _calls(cells: list[code.Cell], names: Names) -> Iterator[tuple[code.Cell, ast.Call, str]]:
    """Yield (cell, call, name), also of methods of unnamed objects, such as spark.read.option(…).csv(…)."""
    for cell, call in code.nodes(cells, ast.Call):
        name = code.dotted(call.func, names)
        if name is None and isinstance(call.func, ast.Attribute):
            name = f"{_first(call.func)}.{call.func.attr}"
        if name:
            yield cell, call, name


def _first(node: ast.expr) -> str:
    """Return the names at the beginning of a chain of calls: spark.read of spark.read.option(…).csv."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if (name := code.dotted(node, {})) is not None:
            return name
        node = node.func if isinstance(node, ast.Call) else node.value
    return "it"


def _path(call: ast.Call, name: str, last: str) -> str | None:
    """Return the path that a call is given as a constant, or the constant beginning of one; None without."""
    reads = last in READERS and _of(name, "read|readStream")
    spark = reads or (last in FORMATS and _of(name, "write|writeStream"))
    pandas = name.startswith("pandas.read_") and last not in ("read_sql", "read_sql_query", "read_clipboard")
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg in NAMED)]
    if not (spark or pandas or name in OPENERS or last in WRITERS) or not given:
        return None
    first = given[0].elts[0] if isinstance(given[0], ast.List | ast.Tuple) and given[0].elts else given[0]
    text = _constant(first)
    return text if text and text != ":memory:" and not ELSEWHERE.match(text) else None


def _of(name: str, words: str) -> bool:
    return re.search(rf"(^|\.)({words})(\.|$)", name) is not None


def _constant(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _mode(call: ast.Call) -> str:
    given = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    return (_constant(given[0]) or "r") if given else "r"
