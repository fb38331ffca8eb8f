"""Make the parser again from the official grammar: `python -m workbench.quality.dqdl.generate`."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from workbench import jars, java

GENERATOR = ("antlr", "antlr-runtime", "antlr3-runtime", "stringtemplate", "treelayout", "icu4j")
GRAMMAR = ("CommonLexerRules.g4", "DataQualityDefinitionLanguage.g4")
GENERATED = ("DataQualityDefinitionLanguageLexer.py", "DataQualityDefinitionLanguageParser.py")


def generate(folder):
    """Write the lexer and the parser into a folder, from the grammar in the jar by ANTLR's own tool.

    Args:
        folder: where the two Python files go; nothing else of the generator's output is kept.

    Raises:
        ValueError: a jar cannot be had, or the generator fails.
    """
    jars.fetch(jars.named("dqdl", *GENERATOR))
    classpath = ":".join(str(jars.path(name)) for name in GENERATOR)
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(jars.path("dqdl")) as jar:
        for name in GRAMMAR:
            (Path(scratch) / name).write_bytes(jar.read(f"dqdl/{name}"))
        # the path of the grammar becomes part of the generated text, so it is named from within its folder
        options = ["-Dlanguage=Python3", "-encoding", "UTF-8", "-no-listener", "-no-visitor"]
        command = [str(java.find()), "-cp", classpath, "org.antlr.v4.Tool", *options, GRAMMAR[1]]
        said = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if said.returncode:
            raise ValueError(f"ANTLR could not generate the parser: {said.stderr[:500]}")
        for name in GENERATED:
            (Path(folder) / name).write_bytes((Path(scratch) / name).read_bytes())


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
