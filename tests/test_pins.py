"""What is installed is pinned once, with hashes and without addresses, and the wheel stands alone."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

PACKAGES = ("workbench", "workbench_ops", "workbench_proofs", "workbench_standins")
LOCKS = sorted((ROOT / "locks").glob("*.lock"))


def pins(lock):
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock.read_text(), re.MULTILINE))


def wanted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = project["dependencies"] + [
        line for extra in project["optional-dependencies"].values() for line in extra
    ]
    return {re.match(r"[A-Za-z0-9-]+", line)[0].lower() for line in lines}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_locks_have_hashes_and_no_address(lock):
    text = lock.read_text()
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    blocks = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]
    assert blocks and all("--hash=sha256:" in block for block in blocks)


def test_conda_users_get_the_locked_versions():
    lock = pins(ROOT / "locks" / "project.lock")
    packages = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    by_pip = next(entry["pip"] for entry in packages if isinstance(entry, dict))
    assert by_pip.pop() == "--editable ."
    named = dict(re.fullmatch(r"([a-z0-9-]+)(?:\[.*\])?==(.+)", line).groups() for line in by_pip)
    assert named == {name: lock[name] for name in wanted()}
    assert {"python=3.11", "openjdk=21", "pip"} <= {entry for entry in packages if isinstance(entry, str)}


def test_the_packages_the_user_asked_for_are_there():
    asked = {"jupyterlab", "pyspark", "pyiceberg", "pandas", "matplotlib", "papermill", "nbval", "boto3"}
    assert asked <= wanted()


def test_every_jar_has_its_checksum():
    table = tomllib.loads((ROOT / "lib" / "workbench" / "_base" / "jars.toml").read_text())
    for jar in table["jars"].values():
        assert re.fullmatch(r"[\w.-]+:[\w.-]+:[\w.-]+", jar["coordinate"])
        assert re.fullmatch(r"[0-9a-f]{64}", jar["sha256"])
    made_for = {
        line: [table["jars"][pair.get("jars", {}).get(name, name)]["coordinate"] for name in ("iceberg", "aws")]
        for line, pair in table["pairs"].items()
    }
    spark, aws = "org.apache.iceberg:iceberg-spark-runtime", "org.apache.iceberg:iceberg-aws-bundle"
    assert made_for == {
        "4.1": [f"{spark}-4.1_2.13:1.12.0", f"{aws}:1.12.0"],
        "3.5": [f"{spark}-3.5_2.12:1.10.0", f"{aws}:1.10.0"],
    }
    assert {name for pair in table["pairs"].values() for name in pair.get("s3", ())} <= set(table["jars"])
    assert {line: pair["iceberg"] for line, pair in table["pairs"].items()} == {"4.1": "1.12.0", "3.5": "1.10.0"}


def test_no_file_names_an_address_of_a_registry_or_a_path_of_a_machine():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("not a git checkout")
    hosts = re.compile(rb"pypi\.org|pythonhosted|repo1?\.maven|maven\.org|registry\.npmjs|/root/|/home/[a-z]")
    found = [
        name
        for name in tracked.stdout.split("\n")
        if name
        and name != "tests/test_pins.py"
        and (ROOT / name).is_file()
        and hosts.search((ROOT / name).read_bytes())
    ]
    assert found == []


@pytest.fixture
def linked_library(tmp_path):
    """A link to the library in the folder of engines, as an engine's environment has one."""
    link = ROOT / ".workbench" / f"link-of-{tmp_path.name}"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(ROOT / "lib")
    yield
    link.unlink()


def built(kind, folder):
    """The names in a distribution of the checkout, and its file."""
    command = [Path(sys.executable).parent / "hatchling", "build", "-t", kind, "-d", folder]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return next(folder.iterdir())


@pytest.mark.usefixtures("linked_library")
def test_the_source_distribution_has_what_a_wheel_is_built_of(tmp_path):
    """Types too: without `py.typed` a checker takes all that a user imports for Any."""
    with tarfile.open(built("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"lib/{package}/py.typed" for package in PACKAGES} <= names
    assert {"pyproject.toml", "params/environments/local.yml", "locks/baseline.lock"} <= names
    assert not {name for name in names if name.startswith(("tests", "notebooks"))}


@pytest.mark.usefixtures("linked_library")
def test_the_wheel_stands_alone(tmp_path):
    """Installed without the checkout it has its environments, its pages and its jar table, and its types."""
    wheel = built("wheel", tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        "_base/jars.toml",
        "session/log4j2.properties",
        "environments/local.yml",
        "engines/spark41.yml",
        "engines/baseline.lock",
        "engines/spark35.yml",
        "engines/spark35.lock",
        "engines/dbt.lock",
        "engines/trino.lock",
        "engines/archives.toml",
        "engines/build.lock",
        "prices/s3.toml",
    }
    expected = {f"workbench/{name}" for name in expected} | {
        "workbench_ops/export/glue.toml", "workbench_ops/pages/templates/report.html.j2",
        "workbench_ops/policies/hook/sitecustomize.py", "workbench_proofs/tpcds/names.txt",
        "workbench_standins/kafka/jars.toml", "workbench_standins/hbase/jars.toml",
        "workbench_standins/hbase/java/Rows.java", "workbench/metrics/collectors/java/OpenLoop.java",
        *(f"{package}/py.typed" for package in PACKAGES),
    }  # fmt: skip
    assert expected <= names
    assert not {name for name in names if name.startswith(("tests", "notebooks", "lib/"))}
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    code = "import workbench; from workbench._base import settings; print(workbench.__file__, *settings.environments())"
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
    )
    assert said.stdout.decode().split() == [
        str(tmp_path / "installed/workbench/__init__.py"), "archive", "aws-glue", "aws-s3tables", "cluster", "emr", "formats", "glue-rest", "hudi",
        "lake", "local", "own-catalog", "rest", "s3",
    ]  # fmt: skip
