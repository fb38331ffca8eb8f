"""How long the library is, by package, and how many of its names say nothing.

Lines, lines of code without blank ones, comments and docstrings, names that are given to values, arguments, functions
and classes, and those of them that do not say what they hold: `one`, `found`, `told` and the like.

    python -m bench.lines REVISION…      # each of them, and what is here now, into docs/evidence/lines.json

The generated parser is not counted. A revision before there were four packages is counted by what its rooms are now.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections import defaultdict

from bench import evidence

ROOMS = {
    **dict.fromkeys(("cli", "run", "schedules", "export", "policies", "account", "doctor"), "workbench_ops"),
    "local": "workbench_standins",
    **dict.fromkeys(("conflicts", "tpcds"), "workbench_proofs"),
}
GENERATED = "DataQualityDefinitionLanguage"
SAYING_NOTHING = {
    "one",
    "found",
    "told",
    "said",
    "there",
    "wanted",
    "left",
    "held",
    "made",
    "given",
    "thing",
    "it",
}
NOTHING = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def main(*revisions):
    """Count, print and keep."""
    counted = {revision: counts(revision) for revision in (*revisions, "HEAD")}
    evidence.write(
        "lines",
        what=__doc__.splitlines()[0],
        **{"now" if name == "HEAD" else name: rows for name, rows in counted.items()},
    )


def counts(revision):
    """Return the lines, lines of code and files of each package at a revision."""
    listed = git("ls-tree", "-r", "--name-only", revision, "lib").splitlines()
    files = [name for name in listed if name.endswith(".py") and GENERATED not in name]
    packages = defaultdict(lambda: {"lines": 0, "code": 0, "files": 0, "names": 0, "names_saying_nothing": 0})
    undivided = "lib/workbench_ops/__init__.py" not in files
    for name in files:
        _, package, room, *_ = [*name.removesuffix(".py").split("/"), ""]
        text = git("show", f"{revision}:{name}")
        row = packages[ROOMS.get(room, package) if undivided else package]
        row["lines"] += text.count("\n")
        row["code"] += code_lines(text)
        row["files"] += 1
        names = bound(text)
        row["names"] += len(names)
        row["names_saying_nothing"] += sum(name in SAYING_NOTHING for name in names)
    return dict(sorted(packages.items()))


def code_lines(text):
    """Return how many lines hold code."""
    strings = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            strings.update(range(node.lineno, node.end_lineno + 1))
    rows = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOTHING:
            rows.update(range(token.start[0], token.end[0] + 1))
    return len(rows - strings)


def bound(text):
    """Return the names that a module gives, one for each time that it gives it."""
    names = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                names.append(name)
            case ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.append(name)
    return names


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
