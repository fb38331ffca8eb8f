"""Make the parser again from the official grammar: `python -m workbench.quality.dqdl.generate`.

The grammar is that of the jar, with labels added: the language has them since March 2026 (awslabs/dqdl#18), and no
jar of that version can be had. They follow the AWS Glue User Guide (DQDL reference, Labels), which writes a rule's
labels behind its `with threshold`, and the grammar of awslabs, which takes them before it: both are read.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from workbench._base import jars, java
from workbench._base.errors import ArgumentError

GENERATOR = ("antlr", "antlr-runtime", "antlr3-runtime", "stringtemplate", "treelayout", "icu4j")
GRAMMAR = ("CommonLexerRules.g4", "DataQualityDefinitionLanguage.g4")
EDITS = (  # of the grammar's text; each old text stands there once
    ("whereClause? tagWithCondition*;", "whereClause? labels? tagWithCondition* labels?;"),
    ("LPAREN topLevelRule RPAREN\n", "LPAREN topLevelRule RPAREN labels?\n"),
    ("variableDeclarations? rulesOrAnalyzers;", "variableDeclarations? defaultLabels? rulesOrAnalyzers;"),
)
LABELS = """
labelPair: quotedString EQUAL_TO quotedString;
labelList: LBRAC (labelPair (COMMA labelPair)*)? RBRAC;
labels: 'labels' EQUAL_TO labelList;
defaultLabels: 'DefaultLabels' EQUAL_TO labelList;
"""
GENERATED = ("DataQualityDefinitionLanguageLexer.py", "DataQualityDefinitionLanguageParser.py")


def generate(folder: Path) -> None:
    """Write the lexer and the parser into a folder, from the grammar in the jar by ANTLR's own tool.

    Args:
        folder: where the two Python files go; nothing else of the generator's output is kept.

    Raises:
        ValueError: a jar cannot be fetched, the grammar is another one, or the generator fails.
    """
    jars.fetch(jars.named("dqdl", *GENERATOR))
    classpath = ":".join(str(jars.path(name)) for name in GENERATOR)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(jars.path("dqdl")) as jar:
        for name in GRAMMAR:
            (Path(scratch) / name).write_bytes(jar.read(f"dqdl/{name}"))
        (Path(scratch) / GRAMMAR[1]).write_text(
            with_labels((Path(scratch) / GRAMMAR[1]).read_text("utf-8")), "utf-8"
        )
        # the path of the grammar becomes part of the generated text, so it is named from within its folder
        options = ["-Dlanguage=Python3", "-encoding", "UTF-8", "-no-listener", "-no-visitor"]
        command = [str(java.find()), "-cp", classpath, "org.antlr.v4.Tool", *options, GRAMMAR[1]]
        process = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if process.returncode:
            raise ArgumentError(f"ANTLR could not generate the parser: {process.stderr[:500]}")
        for name in GENERATED:
            (Path(folder) / name).write_bytes((Path(scratch) / name).read_bytes())


def with_labels(grammar: str) -> str:
    """Return the grammar's text with the labels of rules and of rulesets.

    Raises:
        ValueError: the edits were made for another text.
    """
    for old, new in EDITS:
        if grammar.count(old) != 1:
            raise ArgumentError(
                f"the grammar has {old!r} {grammar.count(old)} times, expected once: the edit must be revised"
            )
        grammar = grammar.replace(old, new)
    return grammar + LABELS


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
