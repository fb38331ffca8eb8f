"""`make release`: refuse what is not ready, run the check, build and look into what was built, tag it; push nothing.

The version is `workbench.__version__`, which the build reads too. What is proved is released, and nothing else: each part
of the proof must hold for the files as they are.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from prove import depends, parts, rows

BIN = Path(sys.executable).parent
PACKAGES = ("workbench", "workbench_ops", "workbench_proofs", "workbench_standins")
MODULE, CHANGELOG = "lib/workbench/__init__.py", "CHANGELOG.md"
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
DATED = re.compile(r"(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d")
SHOWN = 5  # names in a sentence
REFUSED = 2


def main(root: Path = parts.ROOT) -> int:
    """Release the version of a checkout; returns 2 when something is not ready, 1 when check or build failed."""
    refusals = [*unready(root)]
    if refusals:
        print("not released:", *refusals, sep="\n- ", file=sys.stderr)
        return REFUSED
    commit = git(root, "rev-parse", "HEAD")
    if subprocess.run(["make", "check"], cwd=root, check=False).returncode:
        print("not released: make check failed", file=sys.stderr)
        return 1
    shutil.rmtree(root / "dist", ignore_errors=True)
    build = [BIN / "hatchling", "build", "-d", "dist"]  # in this environment, which the locks made
    problems = ["it could not be built"] if subprocess.run(build, cwd=root, check=False).returncode else []
    problems = problems or [*wrong_in(root / "dist", version(root))]
    problems = problems or ([] if runs_installed(root) else ["the wheel does not run in an empty environment"])
    problems += [*changed(root)]
    if git(root, "rev-parse", "HEAD") != commit:
        problems.append(f"HEAD moved from {commit} while it was checked")
    if problems:
        print("not released:", *problems, sep="\n- ", file=sys.stderr)
        return 1
    tag = f"v{version(root)}"
    message = f"Iceberg Workbench {version(root)}\n\n{newest(root)[1]}\n"
    # verbatim: by default Git takes headings, which begin with #, for comments
    git(root, "tag", "--annotate", "--cleanup=verbatim", "--file=-", tag, commit, given=message)
    files = " ".join(str(path.relative_to(root)) for path in sorted((root / "dist").iterdir()))
    print(f"{tag} is tagged at {commit[:12]}, and nothing was pushed. What is left to do:")
    print(f"  git show {tag}                 # read what it says; git tag --delete {tag} takes it back")
    print(f"  git push origin HEAD {tag}     # make it known")
    print(f"  upload {files}")
    print(f"  begin `## Unreleased` in {CHANGELOG}, and the next version in {MODULE}")
    return 0


def unready(root: Path) -> Iterator[str]:
    """Return what keeps a checkout from being released, a sentence each."""
    yield from changed(root)
    here, heading = version(root), newest(root)[0]
    dated = DATED.fullmatch(heading)
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if "version" in project and project["version"] != here:
        yield f"pyproject.toml has the version {project['version']}, and {MODULE} has {here}"
    if "unreleased" in heading.lower():
        yield f"the newest heading of {CHANGELOG} says unreleased: {heading!r}; it must be '{here} - YEAR-MONTH-DAY'"
    elif not dated:
        yield f"the newest heading of {CHANGELOG} must be '{here} - YEAR-MONTH-DAY', found {heading!r}"
    elif dated[1] != here:
        yield f"the newest heading of {CHANGELOG} is of version {dated[1]}, and {MODULE} has {here}"
    if git(root, "tag", "--list", f"v{here}"):
        yield f"the tag v{here} exists; a version is released once"
    states = rows.states(parts.read(root).values(), depends.House(root), rows.read(root))
    if loose := [state.part.name for state in states if state.state != rows.HOLDS]:
        yield f"{len(loose)} of {len(states)} parts of the proof do not hold (make prove): {listed(loose)}"


def changed(root: Path) -> Iterator[str]:
    """Return the sentence that a tree with changes deserves, if it has any."""
    if files := git(root, "status", "--porcelain").splitlines():
        yield f"the tree has changes that no commit has: {listed([line[3:] for line in files])}"


def version(root: Path) -> str:
    """Return `workbench.__version__` of a checkout, which need not be the one that runs this."""
    return re.search(r'^__version__ = "(.+)"$', (root / MODULE).read_text(encoding="utf-8"), re.MULTILINE)[1]


def newest(root: Path) -> tuple[str, str]:
    """Return the newest section of the change log: its heading, and its text."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    _, heading, section = HEADING.split(text, maxsplit=1)
    return heading.strip(), HEADING.split(section, maxsplit=1)[0].strip()


def wrong_in(dist: Path, version: str) -> Iterator[str]:
    """Return what is wrong with the wheel and the source distribution of a version, a sentence each."""
    stem = f"iceberg_workbench-{version}"
    expected = {f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"}
    built = {path.name for path in dist.iterdir()}
    if built != expected:
        yield f"dist must have {listed(sorted(expected))}, found {listed(sorted(built))}"
        return
    typed = {f"{package}/py.typed" for package in PACKAGES}
    names = set(zipfile.ZipFile(dist / f"{stem}-py3-none-any.whl").namelist())
    if missing := typed - names:
        yield f"the wheel lacks {listed(sorted(missing))}"
    with tarfile.open(dist / f"{stem}.tar.gz") as archive:
        names = {name.removeprefix(f"{stem}/lib/") for name in archive.getnames()}
    if missing := typed - names:
        yield f"the source distribution lacks {listed(sorted(missing))}"


def runs_installed(root: Path) -> bool:
    """Return whether a notebook runs with the built wheel, installed in an environment of its own."""
    wheel = next((root / "dist").glob("*.whl"))
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_wheel.py"]
    env = os.environ | {"WORKBENCH_PROVE": "1", "WORKBENCH_TEST_WHEEL": str(wheel)}
    return subprocess.run(command, cwd=root, env=env, check=False).returncode == 0


def listed(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def git(root: Path, *arguments: str, given: str | None = None) -> str:
    """Run Git in a checkout and return what it prints; CalledProcessError, after its own words, where it fails."""
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=root, input=given, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main())
