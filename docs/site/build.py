"""Build the site: notebooks as they ran, pages, the reference, and the evidence; `make site`.

    python docs/site/build.py [FOLDER]      # .workbench/site by default

The sources are laid out in a folder of their own as they lie in the project, so that links hold in both places.
A warning of Sphinx, a link to nothing and a request to another host fail the build.
"""

import importlib
import inspect
import json
import pkgutil
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat
from sphinx.cmd.build import main as sphinx

from workbench._base import yaml_files
from workbench.errata import CALL

ROOT = Path(__file__).resolve().parents[2]
MOST_ROWS = 60  # of a table made from evidence; the file itself has all
ERRATUM = re.compile(r"^erratum (\d+): (the text says .+)$", re.MULTILINE)  # as errata.show prints it
ASSETS = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']([^"']+)["']""")
LINKS = re.compile(r"""<a\b[^>]*?\bhref=["']([^"']+)["']""")


def main(folder: Path) -> int:
    """Build the site into a folder and return an exit code."""
    sources, html = folder / "sources", folder / "html"
    for stale in (sources, html):
        shutil.rmtree(stale, ignore_errors=True)
    lay_out(sources)
    doctrees = str(folder / "doctrees")
    if code := sphinx(
        ["-b", "html", "-W", "--keep-going", "-q", "-j", "auto", "-d", doctrees, str(sources), str(html)]
    ):
        return code
    wrong = [*broken_links(html), *outside_requests(html)]
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"the site: {html / 'index.html'}")
    return int(bool(wrong))


def lay_out(sources: Path) -> None:
    """Copy and make the sources of all pages."""
    for name in ("docs", "notebooks"):
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("site", ".ipynb_checkpoints"))
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, sources / name)
    shutil.copytree(ROOT / "params" / "environments", sources / "params" / "environments")
    shutil.copy(ROOT / "docs" / "site" / "conf.py", sources / "conf.py")
    for path in sorted((sources / "notebooks").glob("*.ipynb")):
        titled(path)
    order = yaml_files.read(ROOT / "docs" / "site" / "order.yml")
    (sources / "reference").mkdir()
    order["reference"] = [*order["reference"], *reference(sources / "reference")]
    if found := list(errata(sources / "notebooks")):
        text = errata_page(found)
        (sources / "errata.md").write_text(text, encoding="utf-8")
        order["measure"] = [*order["measure"], "errata"]
    (sources / "evidence").mkdir()
    order["evidence"] = list(evidence(sources / "evidence"))
    (sources / "index.md").write_text(index(order), encoding="utf-8")


def titled(path: Path) -> None:
    """Take what no reader needs out of a notebook: ids and metadata that Sphinx would warn of."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.write(notebook, path)


def index(order: Mapping[str, list[str]]) -> str:
    """Return the first page: the README, and the table of all pages."""
    parts = [
        f"```{{toctree}}\n:caption: {caption.capitalize()}\n:maxdepth: 1\n:hidden:\n\n"
        + "\n".join(pages)
        + "\n```"
        for caption, pages in order.items()
    ]
    return "```{include} README.md\n```\n\n" + "\n\n".join(parts) + "\n"


def errata(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the errata that the notebooks of a folder show: `notebook`, its `title`, `number` and `sentence`.

    Raises:
        ValueError: a notebook has two of one number, or calls `errata.show` in a cell whose outputs show none.
    """
    for path in sorted(folder.glob("*.ipynb")):
        cells, numbers = nbformat.read(path, as_version=4).cells, set()
        for each in cells:
            if each.cell_type != "code" or f"{CALL}(" not in each.source:
                continue
            lines = ERRATUM.findall("".join(output.get("text", "") for output in each.outputs))
            if not lines:
                raise ValueError(f"{path.name} calls {CALL} in cell {each.id}, whose outputs show no erratum")
            for number, sentence in lines:
                if number in numbers:
                    raise ValueError(f"{path.name} shows two errata of number {number}")
                numbers.add(number)
                title = cells[0].source.partition("\n")[0].lstrip("# ")
                yield {"notebook": path.stem, "title": title, "number": int(number), "sentence": sentence}


def errata_page(found: list[dict[str, Any]]) -> str:
    """Return the page that lists errata with their notebooks."""
    parts = [
        "# Errata of the published texts",
        "What a walkthrough says and what came out when its notebook was executed. A notebook fails when the two "
        "agree, so that an erratum that was put right does not stay here.",
    ]
    for name in dict.fromkeys(each["notebook"] for each in found):
        mine = [each for each in found if each["notebook"] == name]
        parts.append(f"## {mine[0]['title']}\n\nIn [{name}](notebooks/{name}.ipynb):")
        parts.append("\n".join(f"- {each['number']}: {cell(each['sentence'])}" for each in mine))
    return "\n\n".join(parts) + "\n"


def reference(folder: Path) -> Iterator[str]:
    """Write a page for each public package and module of `workbench`; yield their names."""
    import workbench

    described: set[int] = set()
    for room in sorted(pkgutil.iter_modules(workbench.__path__), key=lambda room: room.name):
        if room.name.startswith("_") or room.name == "daemon":
            continue
        module = importlib.import_module(f"workbench.{room.name}")
        blocks = [described_module(module, described)]
        if room.ispkg and not exported(module):  # a folder of packages: tables
            inner = [
                importlib.import_module(f"{module.__name__}.{part.name}")
                for part in pkgutil.iter_modules(module.__path__)
            ]
            blocks += [f"## {part.__name__}\n\n{described_module(part, described)}" for part in inner]
        (folder / f"{room.name}.md").write_text(
            f"# workbench.{room.name}\n\n" + "\n\n".join(blocks) + "\n", encoding="utf-8"
        )
        yield f"reference/{room.name}"


def exported(module: Any) -> list[str]:
    """Return the names of the functions and classes of ours that a module gives."""
    named = getattr(module, "__all__", None)
    names = named or [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    values = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return [
        name
        for name, value in values.items()
        if (inspect.isroutine(value) or inspect.isclass(value)) and value.__module__.startswith("workbench")
    ]


def described_module(module: Any, described: set[int]) -> str:
    """Return the directives for a module: its text, and what it gives, in the index where it is met first."""
    lines = [f".. automodule:: {module.__name__}", "   :no-members:", ""]
    for name in exported(module):
        value = getattr(module, name)
        kind = (
            "exception"
            if inspect.isclass(value) and issubclass(value, BaseException)
            else ("class" if inspect.isclass(value) else "function")
        )
        lines += [
            f".. auto{kind}:: {module.__name__}.{name}",
            *(["   :no-index:"] if id(value) in described else []),
            "",
        ]
        described.add(id(value))
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def evidence(folder: Path) -> Iterator[str]:
    """Write a page for each file of evidence; yield their names."""
    for path in sorted((ROOT / "docs" / "evidence").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        title = path.stem.replace("_", " ").capitalize()
        head = f"# {title}\n\nThe file: [{path.name}](../docs/evidence/{path.name}).\n"
        (folder / f"{path.stem}.md").write_text(head + "\n" + "\n\n".join(shown(found)) + "\n", encoding="utf-8")
        yield f"evidence/{path.stem}"


def shown(value: Any, depth: int = 2) -> Iterator[str]:
    """Yield Markdown for a value of evidence: its plain fields, then a table or a section for each other one."""
    if isinstance(value, list):
        yield table(value)
        return
    plain = {key: in_a_line(field) for key, field in value.items()}
    plain = {key: text for key, text in plain.items() if text is not None}
    if plain:
        yield "\n".join(f"- {cell(key.replace('_', ' '))}: {text}" for key, text in plain.items())
    for key, field in value.items():
        if key in plain or not field:
            continue
        yield f"{'#' * min(depth, 4)} {str(key).replace('_', ' ').replace('<', '&lt;')}"
        if isinstance(field, dict) and depth > 3:
            yield table([{"name": name, "value": inner} for name, inner in field.items()])
        else:
            yield from shown(field, depth + 1)


def in_a_line(value: Any) -> str | None:
    """Return a value as a line shows it, or None for what needs a table or a section."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if len(inside) > 12 or any(isinstance(inner, dict | list) for inner in inside):
        return None
    if isinstance(value, dict):
        return ", ".join(f"{cell(str(key))} {cell(inner)}" for key, inner in value.items())
    return ", ".join(map(cell, value)) if isinstance(value, list) else cell(value)


def table(rows: list[Any]) -> str:
    """Return a Markdown table of rows; what is no mapping is a column of its own."""
    rows, more = rows[:MOST_ROWS], len(rows) - MOST_ROWS
    mappings = [row if isinstance(row, dict) else {"value": row} for row in rows]
    names = list(dict.fromkeys(name for row in mappings for name in row))
    lines = ["| " + " | ".join(map(str, names)) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(cell(row.get(name, "")) for name in names) + " |" for row in mappings]
    return "\n".join(lines) + (f"\n\nand {more} more in the file." if more > 0 else "")


def cell(value: Any) -> str:
    """Return a value as the text of a table's cell."""
    text = value if isinstance(value, str) else json.dumps(value)
    text = text if len(text) <= 300 else text[:300] + " …"
    return re.sub(r"([\\`*_{}\[\]<>|$])", r"\\\1", text).replace("\n", " ")


def broken_links(html: Path) -> Iterator[str]:
    """Yield each link of a page to a file or an anchor that is not there."""
    pages = {path: path.read_text(encoding="utf-8") for path in html.rglob("*.html")}
    for path, text in pages.items():
        for link in LINKS.findall(text):
            target = urlsplit(link)
            if target.scheme or target.netloc or link in ("#",):
                continue
            file = (path.parent / unquote(target.path)).resolve() if target.path else path
            anchor = unquote(target.fragment)
            if not file.exists():
                yield f"{path.relative_to(html)}: {link} leads to no file"
            elif anchor and file in pages and f'id="{anchor}"' not in pages[file]:
                yield f"{path.relative_to(html)}: {link} leads to no place on its page"


def outside_requests(html: Path) -> Iterator[str]:
    """Yield each script, style, image or frame that a page would ask another host for."""
    for path in html.rglob("*.html"):
        for link in ASSETS.findall(path.read_text(encoding="utf-8")):
            if urlsplit(link).netloc:
                yield f"{path.relative_to(html)}: asks another host for {link}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".workbench" / "site")))
