"""Tables, other engines and the gate on the environments `s3` and `rest`, a session each; nothing is left of it."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from conftest import PROVE, ROOT
from waiting import until

from workbench import session
from workbench._base import settings
from workbench.session import services as stand_ins

# a few of the gate's tests, each of which is run with a local catalog, too
GATE = (
    "passed_audit_publishes or failed_audit_leaves_main or main_moves_and_the_write or committed_to_the_branch_during "
    "or id_is_published_once or column_added_while"
    if PROVE
    else "passed_audit_publishes"
)
PASSED = "28 passed" if PROVE else "13 passed"
BEGIN = "session.start(sys.argv[1]).sql('CREATE NAMESPACE IF NOT EXISTS n')\n" if PROVE else ""
START = (
    f"import sys; from workbench import session\n{BEGIN}print(session.stand_in(sys.argv[1]).folder, flush=True)\n"
)


def of_home(home):
    """The living processes of SeaweedFS whose data are below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = process.info["cmdline"] or []
        if process.info["status"] != psutil.STATUS_ZOMBIE and any(f"-dir={home}" in one for one in line):
            found.append(process)
    return found


LONG = pytest.mark.proof(
    "the case of rest runs these tests on files in S3, and nbval the notebook 22_race_writers on s3 itself"
)


@pytest.mark.parametrize("environment", [pytest.param("s3", marks=LONG), "rest"])
def test_tables_and_the_gate(project, environment):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/environment_cases.py", "tests/workbench/test_wap.py",
         "-k", f"environment_cases or {GATE}"],
        cwd=ROOT, env=os.environ | {"WORKBENCH_TEST_ENVIRONMENT": environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1]
    assert (done.returncode, last.split(", ")[0]) == (0, PASSED), done.stdout[-6000:]
    assert of_home(project) == [] and list((project / ".workbench" / "scratch").glob("run-*")) == []


NAMED = pytest.mark.proof(
    "the case of rest keeps its lake, and test_s3_server.py what a named folder holds over an end and a kill"
)


@pytest.mark.parametrize("environment", [pytest.param("s3", marks=NAMED), "rest"])
def test_a_named_folder_keeps_the_lake(project, environment):
    """By PyIceberg, which starts no JVM: what a session writes is the same."""
    shipped = (ROOT / "params" / "environments" / f"{environment}.yml").read_text()
    file = project / "mine.yml"
    file.write_text(shipped.replace("\nfolder: scratch", "\nfolder: .workbench/s3"))
    code = (
        "import sys, pyarrow as pa; from workbench import session; catalog = session.catalog(sys.argv[1])\n"
        "catalog.create_namespace_if_not_exists('n'); rows = pa.table({'id': [1, 2]})\n"
        "table = catalog.create_table_if_not_exists('n.t', rows.schema); table.append(rows)\n"
        "print(table.scan().to_arrow().num_rows)"
    )
    for rows in ("2\n", "4\n") if PROVE else ("2\n",):  # what stays is found again: test_s3_server.py
        said = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=False)
        assert (said.stdout, said.stderr) == (rows, "")
        assert of_home(project) == []
    folder = project / ".workbench" / "s3"
    assert (folder / "s3.json").is_file() and any((folder / "data").iterdir())


@pytest.mark.proof("test_it_ends_with_a_process_that_is_killed shows it for the server that the session starts")
def test_nothing_runs_on_after_a_kill(project):
    with subprocess.Popen(
        [sys.executable, "-c", START + "input()", "s3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:
        folder = one.stdout.readline().decode().strip()
        assert folder.startswith(str(project)) and len(of_home(project)) == 1
        one.send_signal(signal.SIGKILL)
    until(lambda: not of_home(project))


def test_the_keys_are_references_to_variables(monkeypatch, tmp_path):
    """Settings of a session hold no key: what Spark gets is resolved inside it."""
    from workbench_standins.s3 import Server

    server = Server("http://127.0.0.1:1", "http://127.0.0.1:2", tmp_path, "the-key", "the-secret")
    stand_ins.hand_on("scratch", server)
    try:
        env = settings.environment("rest")
        found = stand_ins.properties_of(env)
        assert not {"the-key", "the-secret", "the-key:the-secret"} & set(found.values())
        resolved = {key: session.secrets.resolve(value) for key, value in found.items()}
        assert resolved == server.properties("rest")
        other = Server("http://127.0.0.1:3", "http://127.0.0.1:4", tmp_path, "its-key", "its-secret")
        stand_ins.hand_on("scratch", other)  # behind one that this process used
        assert stand_ins.of(env) == other
    finally:
        stand_ins._kept.pop("WORKBENCH_S3_SCRATCH", None)
        for name in [one for one in os.environ if one.startswith("WORKBENCH_S3_SCRATCH")]:
            del os.environ[name]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"stand_in": "s3", "catalog": {"type": "rest", "uri": "http://x"}}, "keeps an embedded catalog"),
        ({"stand_in": "s3", "catalog": {"type": "embedded", "folder": "lake"}}, "keeps an embedded catalog"),
        ({"stand_in": "rest"}, "the stand-in rest is a catalog of type rest"),
        ({"stand_in": "rest", "catalog": {"type": "rest", "uri": "http://x"}}, "with its own uri and warehouse"),
        ({"folder": "mine"}, "folder is only for the stand-ins s3 and rest"),
        ({"stand_in": "s3", "folder": "/somewhere"}, "folder is a path below home"),
        ({"stand_in": "s3", "folder": "../mine"}, "folder is a path below home"),
    ],
)
def test_what_does_not_go_together_is_refused(change, sentence):
    with pytest.raises(ValueError, match="own.yml: ") as caught:
        settings.parse({"description": "d", "catalog": {"type": "embedded"}} | change, "own.yml")
    assert sentence in str(caught.value)
