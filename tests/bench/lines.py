"""How long the library is, by package: lines, and lines of code without blank ones, comments and docstrings.

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
    packages = defaultdict(lambda: {"lines": 0, "code": 0, "files": 0})
    undivided = "lib/workbench_ops/__init__.py" not in files
    for name in files:
        _, package, room, *_ = [*name.removesuffix(".py").split("/"), ""]
        text = git("show", f"{revision}:{name}")
        row = packages[ROOMS.get(room, package) if undivided else package]
        row["lines"] += text.count("\n")
        row["code"] += code_lines(text)
        row["files"] += 1
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
    held = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOTHING:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - strings)


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
