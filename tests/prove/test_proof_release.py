"""`make release`: each thing that is not ready is refused by a sentence; what is ready is built and tagged here alone."""

import os
import subprocess

import pytest

from prove import __main__ as command
from prove import release, running

SECTION = "### Added\n- A door.\n\n### Removed\n- A window."
FILES = {
    "pyproject.toml": """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "iceberg-workbench"
dynamic = ["version"]
requires-python = ">=3.11"
[tool.hatch.version]
path = "lib/workbench/__init__.py"
[tool.hatch.build.targets.wheel]
packages = ["lib/workbench", "lib/workbench_ops", "lib/workbench_proofs", "lib/workbench_standins"]
""",
    "CHANGELOG.md": f"# Changelog\n\n## 0.2.0 - 2026-11-27\n\n{SECTION}\n\n## 0.1.0 - 2026-01-31\n\nThe first.\n",
    "Makefile": "check:\n\t@echo checked >> ../checked\n",
    ".gitignore": "dist/\n__pycache__/\n.workbench/\n.pytest_cache/\n",
    "lib/workbench/__init__.py": '__version__ = "0.2.0"\n',
    "lib/workbench/_base/jars.toml": "",
    **{f"lib/{package}/py.typed": "" for package in release.PACKAGES},
    **{f"lib/{package}/__init__.py": "" for package in release.PACKAGES if package != "workbench"},
    "locks/project.lock": "",
    "tests/prove/parts.yml": "first: {what: the first promise, programs: [first]}\n",
    "tests/first.py": "",
    "tests/test_wheel.py": "import os\nfrom pathlib import Path\n\ndef test_installed():\n"
    '    assert Path(os.environ["WORKBENCH_TEST_WHEEL"]).is_file() and os.environ["WORKBENCH_PROVE"] == "1"\n',
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout that is ready, beside a place that it could be pushed to."""
    for variable in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{variable}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{variable}_EMAIL", "somebody@example.org")
    monkeypatch.setattr(running, "WORKERS", ())
    monkeypatch.setattr(os, "nice", lambda by: None)
    root = tmp_path / "checkout"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "docs/evidence").mkdir(parents=True)
    assert command.main([], root) == 0
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "origin"], check=True)
    release.git(root, "init", "--quiet")
    release.git(root, "remote", "add", "origin", str(tmp_path / "origin"))
    commit(root)
    release.git(root, "push", "--quiet", "origin", "HEAD")
    return root


def commit(root):
    release.git(root, "add", "--all")
    release.git(root, "commit", "--quiet", "--message", "files")


def test_what_is_ready_is_checked_built_and_tagged_and_not_pushed(checkout, capfd):
    assert release.main(checkout) == 0
    assert (checkout.parent / "checked").read_text() == "checked\n"
    assert sorted(path.name for path in (checkout / "dist").iterdir()) == [
        "iceberg_workbench-0.2.0-py3-none-any.whl", "iceberg_workbench-0.2.0.tar.gz",
    ]  # fmt: skip
    contents = release.git(checkout, "for-each-ref", "--format=%(objecttype)%0a%(contents)", "refs/tags/v0.2.0")
    assert contents == f"tag\nIceberg Workbench 0.2.0\n\n{SECTION}"
    assert release.git(checkout.parent / "origin", "tag") == ""
    printed = capfd.readouterr().out
    assert "v0.2.0 is tagged at" in printed and "git push origin HEAD v0.2.0" in printed


def edited(name, old, new):
    def edit(root):
        path = root / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        commit(root)

    return edit


UNREADY = {
    "a change that no commit has": (
        lambda root: (root / "note.txt").touch(),
        "the tree has changes that no commit has: note.txt",
    ),
    "another version in pyproject.toml": (
        edited("pyproject.toml", 'dynamic = ["version"]', 'version = "0.3.0"'),
        "pyproject.toml has the version 0.3.0, and lib/workbench/__init__.py has 0.2.0",
    ),
    "an unreleased section": (
        edited("CHANGELOG.md", "## 0.2.0 - 2026-11-27", "## Unreleased (0.2.0)"),
        "the newest heading of CHANGELOG.md says unreleased: 'Unreleased (0.2.0)'; it must be '0.2.0 - YEAR-MONTH-DAY'",
    ),
    "a section without a date": (
        edited("CHANGELOG.md", "## 0.2.0 - 2026-11-27", "## 0.2.0"),
        "the newest heading of CHANGELOG.md must be '0.2.0 - YEAR-MONTH-DAY', found '0.2.0'",
    ),
    "a section of another version": (
        edited("CHANGELOG.md", "## 0.2.0 -", "## 0.2.1 -"),
        "the newest heading of CHANGELOG.md is of version 0.2.1, and lib/workbench/__init__.py has 0.2.0",
    ),
    "a tag": (
        lambda root: release.git(root, "tag", "v0.2.0"),
        "the tag v0.2.0 exists; a version is released once",
    ),
    "a part that is out of date": (
        edited("tests/first.py", "", "x = 1\n"),
        "1 of 1 parts of the proof do not hold (make prove): first",
    ),
}


@pytest.mark.parametrize("name", UNREADY)
def test_what_is_not_ready_is_refused_before_anything_runs(checkout, name, capfd):
    edit, sentence = UNREADY[name]
    edit(checkout)
    tags = release.git(checkout, "tag")
    assert release.main(checkout) == release.REFUSED
    assert capfd.readouterr().err == f"not released:\n- {sentence}\n"
    assert not (checkout.parent / "checked").exists() and not (checkout / "dist").exists()
    assert release.git(checkout, "tag") == tags


def test_all_that_is_not_ready_is_said_at_once(checkout):
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    release.git(checkout, "tag", "v0.2.0")
    assert [sentence.split()[1] for sentence in release.unready(checkout)] == ["tree", "newest", "tag"]


FAILING = {
    "a check that fails": ({"Makefile": "check:\n\t@exit 3\n"}, "not released: make check failed"),
    "a check that changes a file": (
        {"Makefile": "check:\n\t@touch note.txt\n"},
        "the tree has changes that no commit has: note.txt",
    ),
    "a wheel that does not run": (
        {"tests/test_wheel.py": "def test_installed(): assert 1 == 2\n"},
        "the wheel does not run in an empty environment",
    ),
    "a build that fails": ({"LICENSE": ""}, "it could not be built"),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_fails_is_not_tagged(checkout, name, capfd):
    files, sentence = FAILING[name]
    for file, text in files.items():
        (checkout / file).write_text(text)
    if name == "a build that fails":
        edited("pyproject.toml", "[tool.hatch.version]", "readme = 'nowhere.md'\n[tool.hatch.version]")(checkout)
    commit(checkout) if release.git(checkout, "status", "--porcelain") else None
    assert release.main(checkout) == 1
    assert sentence in capfd.readouterr().err
    assert release.git(checkout, "tag") == ""


@pytest.mark.parametrize("package", release.PACKAGES)
def test_a_package_without_types_is_found(checkout, package):
    (checkout / "lib" / package / "py.typed").unlink()
    subprocess.run([release.BIN / "hatchling", "build", "-d", "dist"], cwd=checkout, check=True)
    assert [*release.wrong_in(checkout / "dist", "0.2.0")] == [
        f"the wheel lacks {package}/py.typed", f"the source distribution lacks {package}/py.typed",
    ]  # fmt: skip
    assert [*release.wrong_in(checkout / "dist", "0.3.0")] == [
        "dist must have iceberg_workbench-0.3.0-py3-none-any.whl, iceberg_workbench-0.3.0.tar.gz, "
        "found iceberg_workbench-0.2.0-py3-none-any.whl, iceberg_workbench-0.2.0.tar.gz"
    ]
