"""What makes a part out of date: a line of code that it reaches, and nothing else."""

import shutil
import subprocess

import pytest
from conftest import ROOT

from prove import depends, parts, pins


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project's files in a folder of the test's own, and the parts' checksums there."""
    root = tmp_path_factory.mktemp("house")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "lib", "tests", "notebooks", "params", "locks", "docs/*.md", "docs/site", "pyproject.toml"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in filter(lambda name: (ROOT / name).is_file(), listed):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    return root, digests(root)


def digests(root, of=None):
    """Return the checksums of all parts, or of those that are named."""
    house = depends.House(root)
    return {
        name: depends.digest(depends.contents(house, depends.files(house, **part.reach())), part.runs())
        for name, part in parts.read(root).items()
        if of is None or name in of
    }


@pytest.fixture
def changed(copy):
    """A function that changes files and returns the parts that are out of date, of all or of those that are named.

    The files are put back.
    """
    root, before = copy
    kept = {}

    def change(*changes, of=None):
        for name, old, new in changes:
            path = root / name
            text = path.read_text(encoding="utf-8")
            kept.setdefault(path, text)
            assert old in text
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
        now = digests(root, of)
        assert of is None or set(now) == of
        return {part for part in now if now[part] != before[part]}

    yield change
    for path, text in kept.items():
        path.write_text(text, encoding="utf-8")


STREAMS = {
    "ground", "types",  # what the import of all capabilities costs, and code as users write it
    "streams", "publication-rest", "earlier", "streams-kinesis-kills", "streams-kafka-kills", "export", "releases", "cluster",
    "checks-of-notebooks", "kafka", "literals", "names", "proof", "rights",  # they run or name notebooks that ingest
    *(f"{kind}-{name}" for kind in ("values", "faults") for name in
      ("10_ingest_stream", "11_survive_kills", "12_ingest_kafka", "16_secure_a_topic")),
    *(f"home-{name}" for name in ("s3", "rest", "aws-glue", "cluster", "glue-6.0", "glue-5.1", "spark-3.5")),
}  # fmt: skip


def test_a_line_of_streams_is_seen_by_what_reaches_it_and_nothing_else(changed):
    assert changed(("lib/workbench/streams/loop.py", "begun, 3)", "begun, 4)")) == STREAMS


def test_a_line_that_nearly_everything_stands_on(changed):
    every = set(parts.read())
    line = "lib/workbench/_base/identifiers.py", "\nimport re\n", "\nimport re as re\n"
    assert len(changed(line)) > 0.7 * len(every)


REQUIRED = pytest.mark.proof(
    "test_a_package_is_in_the_parts_that_can_load_it has a package that another one requires"
)


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("locks/project.lock", "\npyspark=="),
        pytest.param("locks/project.lock", "\npy4j==", marks=REQUIRED),  # required by PySpark
        ("lib/workbench/_base/jars.toml", "iceberg-spark-runtime-4.1_2.13:1"),
    ],
)
def test_what_every_session_loads_is_in_every_part(changed, name, old):
    assert changed((name, old, f"{old}0")) == set(parts.read())


@pytest.mark.parametrize(
    ("package", "with_it", "without"),
    [
        ("duckdb-extension-avro", "light", "wap"),  # named by the beginning of a text
        ("polars-runtime-32", "light", "wap"),  # required by a package that is named
    ],
)
def test_a_package_is_in_the_parts_that_can_load_it(changed, package, with_it, without):
    change = "locks/project.lock", f"\n{package}==", f"\n{package}==0"
    assert changed(change, of={with_it, without}) == {with_it}


def test_packages_that_share_a_top_module_are_told_apart():
    """`google` is of six packages of the lock file: which of them are installed must not count."""
    lock = (ROOT / depends.LOCK).read_text(encoding="utf-8")
    mentioned = pins.mentioned(lock, frozenset({"google.protobuf.message"}), frozenset({"a text of protobuf"}))
    assert "protobuf" in mentioned
    assert not mentioned & {"google-auth", "google-api-core", "google-analytics-data", "proto-plus"}
    assert "google-auth" in pins.mentioned(lock, frozenset({"google.auth.transport.requests"}), frozenset())


def test_a_package_that_nothing_else_names_is_in_no_other_part(changed):
    new = "new-package==1.0 \\\n    --hash=sha256:00\n    # via iceberg-workbench (pyproject.toml)\n"
    change = "locks/project.lock", "\nzipp==", f"\n{new}zipp=="
    assert changed(change) == {"proof"}  # of this test, which names it


@pytest.mark.parametrize(
    ("old", "new", "with_it", "without"),
    [
        ("antlr4:4.13.2", "antlr4:4.13.3", "quality", "wap"),
        (
            "[jars.iceberg]",
            '[jars.new-jar]\ncoordinate = "a:b:1"\nsha256 = "00"\n\n[jars.iceberg]',
            "proof",
            "wap",
        ),
    ],
)
def test_a_jar_is_in_the_parts_that_name_it(changed, old, new, with_it, without):
    change = "lib/workbench/_base/jars.toml", old, new
    assert changed(change, of={with_it, without}) == {with_it}


def test_what_is_read_by_people_alone_makes_nothing_out_of_date(changed):
    read_by_people = [
        ("docs/streams.md", "\n", "\n<!-- a comment -->\n"),
        ("lib/workbench/streams/loop.py", '"""', '"""Another word. '),
        ("lib/workbench/streams/loop.py", "import", "# a comment\n\nimport"),
        ("lib/workbench/__init__.py", '__version__ = "', '__version__ = "9.'),
        ("notebooks/10_ingest_stream.ipynb", "# Ingest", "# Take in"),
        (
            "tests/workbench/test_wap.py",
            "\ndef test_",
            '\n@pytest.mark.proof("12_ingest_kafka, a broker")\ndef test_',
        ),
    ]
    assert changed(*read_by_people) == set()


def test_a_mark_that_leaves_a_test_to_the_proof_does_not_count():
    """Also one that has a name; all else of a decorator does."""
    plain = 'import pytest\n\n\n@pytest.mark.parametrize("a", [1])\ndef test_a(a): pass\n'
    named = 'LONG = pytest.mark.proof("22_race_writers shows it")\n\n\n@LONG\n@pytest.mark.parametrize'
    marked = [
        plain.replace("def", '@pytest.mark.proof(\n    "22_race_writers shows it"\n)\ndef'),
        plain.replace("\n\n\n@pytest.mark.parametrize", f"\n\n{named}"),
        plain.replace("\n\n\n@", '\n\npytestmark = pytest.mark.proof("22_race_writers shows it")\n\n@'),
    ]
    assert {depends._bare(text) for text in marked} == {depends._bare(plain)}
    assert all(depends.outline(text).texts == depends.outline(plain).texts for text in marked)
    assert depends._bare(plain.replace("[1]", "[2]")) != depends._bare(plain)


def test_a_subcommand_is_of_the_parts_that_call_it(changed):
    line = "lib/workbench_ops/cli/commands/ingest.py", "import json\n", "import json as json\n"
    others = {"wap", "policies", "schedules", "values-01_first_table"}
    assert changed(line, of={"streams", *others}) == {"streams"}


def test_a_key_that_is_a_subcommand_s_name_calls_nothing(changed):
    """The record of a run has the key `tables`."""
    line = "lib/workbench_ops/cli/commands/tables.py", "\nimport ", "\nimport json as _json\nimport "
    assert changed(line, of={"browse", "values-01_first_table"}) == {"browse"}


def test_a_new_subcommand_is_of_no_part_that_there_was(copy):
    root, before = copy
    new = root / "lib/workbench_ops/cli/commands/transmute.py"
    new.write_text("import json\n", encoding="utf-8")
    try:
        assert {part for part, now in digests(root).items() if now != before[part]} == {
            "types"
        }  # it reads the library
    finally:
        new.unlink()


def test_a_mark_of_what_checkers_of_types_must_find_counts(changed):
    assert changed(("tests/typed/user_wap.py", "# wrong: arg-type", "# wrong: arg"), of={"types"}) == {"types"}


def test_a_fault_is_its_notebooks_own(changed):
    assert changed(("tests/faults/10_ingest_stream.yml", "new:", "new: \n#")) == {"faults-10_ingest_stream"}


def test_a_text_that_is_code_and_a_module_that_is_named_are_followed(tmp_path):
    for name, text in {
        "tests/conftest.py": "",
        "tests/test_a.py": 'CODE = """\nfrom workbench import deep\n"""\nARGS = ["-m", "workbench.named"]\n',
        "lib/workbench/__init__.py": "",
        "lib/workbench/deep.py": 'def f():\n    """See workbench.unread."""\n    from workbench.inner import x\n',
        "lib/workbench/named.py": "import os\n",
        "lib/workbench/inner.py": "x = 1\n",
        "lib/workbench/unread.py": "",
        "lib/workbench/_base/jars.toml": "",
        "locks/project.lock": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    reached = depends.files(depends.House(tmp_path), tests=["tests/test_a.py"])
    assert {name for name in reached if name.startswith("lib")} == {
        f"lib/workbench/{name}" for name in ("__init__.py", "deep.py", "named.py", "inner.py", "_base/jars.toml")
    }


@pytest.mark.parametrize(
    ("reach", "sentence"),
    [
        ({"tests": ["tests/test_nothing.py"]}, "names tests tests/test_nothing.py, which does not exist"),
        ({"programs": ["soak.nothing"]}, "names module soak.nothing, which does not exist"),
        ({"notebooks": ["99_nothing"]}, "names notebook 99_nothing, which does not exist"),
        ({"reads": ["params/nothing.yml"]}, "names file params/nothing.yml, which does not exist"),
    ],
)
def test_what_does_not_exist_is_refused(reach, sentence):
    with pytest.raises(ValueError, match=sentence):
        depends.files(depends.House(ROOT), **reach)
