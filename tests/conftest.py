"""What several tests need: one Spark session a worker, throw-away projects, small notebooks, the command."""

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = os.environ.get("WORKBENCH_TEST_ENVIRONMENT", "local")  # another one for test_s3_environments.py
COMMAND = str(Path(sys.executable).parent / "workbench")
# `make prove` runs everything: the tests that are marked `proof`, and as many cases as a proof takes
PROVE = bool(os.environ.get("WORKBENCH_PROVE"))
# What the local servers accept. Before any session, because Spark's Python workers keep the environment of the first
# statement that needed one, whichever test that was
OURS = {
    "AWS_ACCESS_KEY_ID": "anybody",
    "AWS_SECRET_ACCESS_KEY": "anything",
    "AWS_EC2_METADATA_DISABLED": "true",
}
THEIRS = {
    name: value for name, value in os.environ.items() if OURS.get(name) != value
}  # what a notebook starts with
os.environ |= OURS

# The check is the same check every time; a proof draws anew. Here, because settings take from the profile when made
hypothesis_settings.register_profile(
    "check", derandomize=not PROVE, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a shared machine's pauses are no failure
)  # fmt: skip
hypothesis_settings.load_profile("check")


def pytest_configure(config):
    config.pluginmanager.register(Kernels(), "kernels")
    config.addinivalue_line(
        "markers",
        "proof(witness): run by `make prove` alone; the witness is what shows the promise in `make check`",
    )


class Kernels:
    """Starts the kernel of a notebook with the variables that the check was started with, without those of tests."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        if item.path.suffix != ".ipynb":
            return (yield)
        ours = dict(os.environ)
        os.environ.clear()
        os.environ.update(THEIRS)
        try:
            return (yield)
        finally:
            os.environ.clear()
            os.environ.update(ours)


def seconds_by_file():
    """The seconds that each test file and notebook took in the committed measurement of the check."""
    path = ROOT / "docs" / "evidence" / "check.json"
    return {row[0]: row[2] for row in json.loads(path.read_text(encoding="utf-8")).get("files", [])}


def pytest_addoption(parser):
    parser.addoption(
        "--file-order", default="longest", help="longest (first), reversed, or a number: shuffled by it as a seed"
    )


def together(name):
    """What one worker runs in one go: the files of a folder, so that what they share starts and warms up once."""
    folder = name.rpartition("/")[0]
    return folder if folder.startswith("tests/") and not name.endswith(".ipynb") else name


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist there is no such hook
def pytest_xdist_make_scheduler(config, log):
    """Give the files of a folder to one worker, where `--dist loadfile` gives it one file at a time."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class LoadFolderScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return together(super()._split_scope(nodeid))

    return LoadFolderScheduling(config, log)


def places(names, order):
    """The place of each file in an order; no test may live on what another file's left behind."""
    seconds, names = seconds_by_file(), list(dict.fromkeys(names))
    of_all = Counter()
    for name in names:
        of_all[together(name)] += seconds.get(name, 0)
    files = sorted(names, key=lambda name: (-of_all[together(name)], together(name), -seconds.get(name, 0)))
    if order == "reversed":
        files.reverse()
    elif order != "longest":
        random.Random(int(order)).shuffle(files)
    return {name: number for number, name in enumerate(files)}


def pytest_collection_modifyitems(config, items):
    """Leave what is marked `proof` to `make prove`, and begin with the file that takes longest."""
    place = places([item.nodeid.partition("::")[0] for item in items], config.getoption("file_order"))
    items.sort(key=lambda item: place[item.nodeid.partition("::")[0]])
    left_out = [] if PROVE else [item for item in items if item.get_closest_marker("proof")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("proof")]


@pytest.fixture(scope="session")
def spark():
    from workbench import session

    return session.start(ENVIRONMENT)


@pytest.fixture
def namespace(spark, request):
    """A namespace of the test's own, gone afterwards."""
    name = "t_" + "".join(c if c.isalnum() else "_" for c in request.node.name.lower())[:60].rstrip("_")
    with own_namespace(spark, name):
        yield name


@contextlib.contextmanager
def own_namespace(spark, name):
    """Make a namespace, named as SQL has it; behind the block it is gone with its tables."""
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name}")
    yield name
    drop_namespace(spark, name)


def drop_namespace(spark, name):
    """Drop a namespace with all its tables and their files."""
    for row in spark.sql(f"SHOW TABLES IN {name}").collect():
        spark.sql(f"DROP TABLE {name}.`{row.tableName}` PURGE")
    spark.sql(f"DROP NAMESPACE {name}")


@pytest.fixture(autouse=True)
def views_dropped(request):
    """Fail the test that leaves a view in the session that it shares, not the later one that stumbles over it."""
    spark = request.getfixturevalue("spark") if "spark" in request.fixturenames else None
    yield
    if spark is not None:
        assert views(spark) == []


def views(spark):
    """Return the names of a session's temporary views, its own and then the global ones."""
    own = spark._jsparkSession.sessionState().catalog().listLocalTempViews("*")
    everybodys = spark._jsparkSession.sharedState().globalTempViewManager().listViewNames("*")
    return [*own.mkString("\n").splitlines(), *everybodys.mkString("\n").splitlines()]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder that is home for this process and for those it starts."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.delenv("WORKBENCH_SCRATCH", raising=False)
    (tmp_path / "notebooks").mkdir()
    return tmp_path


@pytest.fixture
def account(monkeypatch):
    """An AWS account of the test's own, on a stand-in, whose variables this process and its children have."""
    import aws_stand_in

    try:
        aws_stand_in.require()
    except ModuleNotFoundError as missing:
        pytest.skip(str(missing))
    with aws_stand_in.account() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture
def taken_meanwhile(monkeypatch):
    """Let the first choice of ports give one to somebody else before it is bound; returns the list of choices."""
    from workbench_standins import ports

    whole, tried = ports.choose, []
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def start(name):
            def choose(names, wanted):
                found = whole(names, wanted)
                if not tried:
                    found[name] = taken.getsockname()[1]
                tried.append(found)
                return found

            monkeypatch.setattr(ports, "choose", choose)
            return tried

        yield start


def write_notebook(path, *cells, parameters=None):
    """Write a notebook: a text is a code cell, one that starts with # and a space before a capital is markdown."""
    nb = nbformat.v4.new_notebook()
    nb.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    if parameters is not None:
        nb.cells.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    for cell in cells:
        new = nbformat.v4.new_markdown_cell if cell.startswith(("# ", "## ")) else nbformat.v4.new_code_cell
        nb.cells.append(new(cell))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, path)
    return path


def workbench(*arguments, cwd=None, env=None, **options):
    """Call the command as a person does; returns the finished process with its text."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | (env or {}),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=900,
        check=False,
        **options,
    )


def shown_on(terminal):
    """All that is written to a terminal, by our end of it, until its other end is closed."""
    text = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(terminal, 4096):
            text += part
    return text


def execute(path, run_dir, *, parameters=None, fault=None):
    """Run a notebook's cells in this process and its session: quick, for what needs no kernel of its own.

    Args:
        path: the notebook.
        run_dir: folder that takes its results, as the runner's would.
        parameters: name to value, set behind the parameters cell as papermill does.
        fault: {"cell": number of the code cell, "old": text, "new": text} to plant first.

    Returns:
        The exception that stopped it, or None.
    """
    cells = [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
    if fault:
        cell = cells[fault["cell"] - 1]
        assert cell.source.count(fault["old"]) == 1
        cell.source = cell.source.replace(fault["old"], fault["new"])
    space, before = {}, os.environ.get("WORKBENCH_RUN_DIR")
    os.environ["WORKBENCH_RUN_DIR"] = str(run_dir)
    try:
        for cell in cells:
            exec(compile(cell.source, f"{path.stem}:{cell.id}", "exec"), space)
            if "parameters" in cell.metadata.get("tags", []):
                space |= parameters or {}
    except Exception as error:
        return error
    finally:
        os.environ.pop("WORKBENCH_RUN_DIR") if before is None else os.environ.update(WORKBENCH_RUN_DIR=before)
        for stack in (one for one in space.values() if isinstance(one, contextlib.ExitStack)):
            stack.close()  # what ends with a kernel: topics would stand in the next one's way
