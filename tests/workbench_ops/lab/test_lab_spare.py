"""The spare JVM of `workbench lab`: for one kernel that is its like, gone with it, and with whoever else ends."""

import contextlib
import json
import os
import signal
import socket
import sys
import time
import urllib.error
from pathlib import Path

import labs
import psutil
import pytest

from workbench_ops.lab import spare
from workbench_ops.lab.spare import keeper, recipe, starting, taking, wire

GONE_SECONDS = 10  # in which no JVM is left, whoever was killed
START = "from workbench import session; spark = session.start({0!r})"
TAKEN = "print(type(spark.sparkContext._gateway.proc).__module__, spark.sparkContext._gateway.proc.pid)"
COUNT = "print(spark.table('sales.orders').count())"
SPARE, COLD = "workbench_ops.lab.spare.taking", "subprocess"
proof = pytest.mark.proof("test_a_keeper_ends_with_its_server starts the keeper, and the recipes are compared")


@pytest.fixture
def jar(tmp_path):
    path = tmp_path / "a b.jar"
    path.write_bytes(b"one")
    return path


def recipe_of(jar, **conf):
    found = recipe.of({"spark.driver.extraClassPath": str(jar), "spark.master": "local[2]"} | conf)
    return json.loads(json.dumps(found))


def changed_jar(jar, patch):
    jar.write_bytes(b"two, and longer")


def same_size(jar, patch):
    before = jar.stat()
    jar.unlink()
    jar.write_bytes(b"two")
    os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


CHANGES = {
    "a jar written anew": changed_jar,
    "a jar of the same size": same_size,
    "a jar that is gone": lambda jar, patch: jar.unlink(),
    "a variable of AWS": lambda jar, patch: patch.setenv("AWS_REGION", "eu-west-9"),
    "a variable of ours": lambda jar, patch: patch.setenv("WORKBENCH_HOME", "/elsewhere"),
    "any other variable": lambda jar, patch: patch.setenv("PYTHONPATH", "/elsewhere"),
    "the folder": lambda jar, patch: patch.chdir(jar.parent),
    "the Python": lambda jar, patch: patch.setattr(sys, "executable", "/elsewhere/python"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_spare_is_for_its_like_alone(jar, monkeypatch, capsys, what):
    before = recipe_of(jar)
    kept = keeper.Keeper()
    kept.recipe, kept.jvm, kept.lifeline = before, {"port": 1}, os.open(os.devnull, os.O_RDONLY)
    assert kept.answer({"recipe": recipe_of(jar)}) == ({"port": 1}, [kept.lifeline])
    CHANGES[what](jar, monkeypatch)
    lifeline = kept.lifeline
    assert kept.answer({"recipe": recipe_of(jar)}) == ({}, [])
    with pytest.raises(OSError):
        os.fstat(lifeline)  # what nobody asks for any more is let go, and the JVM ends
    assert kept.recipe == recipe_of(jar) and kept.due is not None
    said = capsys.readouterr().err
    assert said.startswith("spare: a kernel starts a JVM of its own, it differs in ")
    assert "eu-west-9" not in said and "/elsewhere" not in said  # names alone: values may be secret


def test_a_setting_is_a_part_of_the_recipe_and_a_session_of_jupyter_is_not(jar, monkeypatch):
    before = recipe_of(jar)
    assert recipe_of(jar, **{"spark.sql.catalog.lake.uri": "other"}) != before
    addresses = {"spark.jars": f"{jar.as_uri()},/no/such.jar"}
    assert recipe_of(jar, **addresses)["files"] == before["files"] | {"/no/such.jar": None}
    monkeypatch.setenv("JPY_SESSION_NAME", "another.ipynb")
    monkeypatch.setenv("TERM", "dumb")
    assert recipe_of(jar) == before


def test_a_spare_works_on_a_lake_of_its_own(tmp_path):
    theirs = {"spark.sql.catalog.own": "C", "spark.sql.catalog.own.type": "rest", "spark.sql.catalog.own.uri": "u"}
    other = {
        "spark.sql.catalog.own.credential": "secret",
        "spark.sql.catalog.second": "C",
        "spark.master": "local[2]",
    }
    own = starting.training_conf(theirs | other | {"spark.sql.defaultCatalog": "own"}, tmp_path)
    assert own["spark.sql.catalog.own.type"] == "jdbc" and str(tmp_path) in own["spark.sql.catalog.own.uri"]
    assert "secret" not in own.values() and "spark.sql.catalog.second" not in own
    assert own["spark.master"] == "local[2]"
    assert "spark.sql.catalog.spark_catalog" not in starting.training_conf({"spark.master": "local"}, tmp_path)


def test_a_question_that_is_answered_at_once_is_no_error(monkeypatch):
    ours, theirs = socket.socketpair()
    send = socket.send_fds

    def answered(*arguments):
        sent = send(*arguments)
        wire.receive(theirs)
        theirs.close()
        return sent

    monkeypatch.setattr(socket, "send_fds", answered)
    with ours:
        wire.send(ours, {"recipe": {}})


def test_a_message_and_its_descriptor_arrive_whole_or_not_at_all():
    ours, theirs = socket.socketpair()
    reading, writing = os.pipe()
    message = {"recipe": "x" * 150_000, "name": "\udce4"}
    with ours, theirs:
        wire.send(ours, message, [writing])
        os.close(writing)
        answer, (descriptor,) = wire.receive(theirs)
        assert answer == message and not os.get_inheritable(descriptor)
        os.write(descriptor, b"alive")
        wire.send(ours, {}, [descriptor])
        os.close(descriptor)
        assert wire.receive(theirs)[0] == {}
        ours.sendall(b'{"half": ')
        ours.close()
        with pytest.raises(ValueError):
            wire.receive(theirs)
    assert os.read(reading, 10) == b"alive"
    os.close(reading)


def test_a_keeper_ends_with_its_server(tmp_path):
    with spare.kept(tmp_path):
        path = Path(os.environ[spare.VARIABLE])
        (process,) = keepers(psutil.Process())
        assert path.is_socket() and path.parent.stat().st_mode & 0o077 == 0  # nobody else's kernel gets in
        assert not taking.ready() and taken_nothing()
        with socket.socket(socket.AF_UNIX) as rude:
            rude.connect(str(path))
            rude.sendall(b"no JSON\n")
        assert taken_nothing()
    assert spare.VARIABLE not in os.environ and not path.exists()
    assert not living([process]) and taken_nothing()


def taken_nothing():
    return taking.taken(recipe.of({})) is None


@pytest.mark.parametrize(
    ("variable", "value"), [(spare.VARIABLE, None), ("WORKBENCH_RUN_DIR", "/somewhere")], ids=["plain", "a run"]
)
def test_elsewhere_than_in_lab_nothing_is_asked(monkeypatch, variable, value):
    monkeypatch.setenv(spare.VARIABLE, "/somewhere/keeper")
    monkeypatch.delenv("WORKBENCH_RUN_DIR", raising=False)
    monkeypatch.delitem(sys.modules, taking.MODULE, raising=False)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    if value is None:
        monkeypatch.delenv(variable)
    else:
        monkeypatch.setenv(variable, value)
    taking.install()
    assert not any(isinstance(each, taking.Finder) for each in sys.meta_path)


def living(processes):
    """Those that have not ended; one that nobody has waited for yet has."""
    return [each for each in processes if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]


def keepers(process):
    below = living(process.children(recursive=True))
    return [each for each in below if "spare import keeper" in " ".join(each.cmdline())]


def javas(processes):
    return [each for each in living(processes) if "java" in each.name()]


def await_end(processes, seconds=GONE_SECONDS):
    end = time.monotonic() + seconds
    while left := living(processes):
        assert time.monotonic() < end, f"still there after {seconds} seconds: {left}"
        time.sleep(0.1)


class Kernel(labs.Kernel):
    """A kernel that says whose JVM it has."""

    def start(self, environment="own"):
        """Begin a session; return (whose JVM it is, its process)."""
        assert self.run(START.format(environment)) == ""
        whose, pid = self.run(TAKEN).split()
        return whose, psutil.Process(int(pid))

    def process(self):
        return psutil.Process(int(self.run("import os; print(os.getpid())")))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with labs.running(labs.folder_of(tmp_path_factory.mktemp("lab")), spare=True) as running:
        yield running


@pytest.fixture
def kernel(lab):
    """A kernel that has had a session of `own`, begun anew when a spare like that is there."""
    kernel = Kernel(lab)
    kernel.start()
    kernel.await_spare()
    kernel.restart()
    yield kernel
    with contextlib.suppress(urllib.error.HTTPError):  # the test killed it
        kernel.end()


def log(lab):
    """What the server said; the keeper says there why a kernel got no spare."""
    return (lab.folder / "lab.log").read_text()[-3000:]


@proof
def test_the_first_kernel_has_a_spare_of_local(tmp_path):
    with labs.running(labs.folder_of(tmp_path), spare=True) as lab:
        kernel = Kernel(lab)
        kernel.await_spare()
        whose, java = kernel.start("local")
        assert whose == SPARE, log(lab)
        assert (
            kernel.run("print(spark.sql('SHOW NAMESPACES').count(), spark.conf.get('spark.app.name'))")
            == "0 workbench"
        )
        assert kernel.run("from workbench import session; session.stop(spark)") == ""
        await_end([java])


@proof
def test_a_restarted_kernel_has_a_jvm_in_which_nothing_is_left(lab, kernel):
    module = lab.folder / "notebooks" / "edited.py"
    module.write_text("def says(n):\n    return 'old'\n")
    udf = "import edited; from pyspark.sql.functions import udf; print(spark.range(1).select(udf(edited.says)('id')).collect())"
    whose, first = kernel.start()
    assert whose == SPARE and kernel.run(COUNT) == "5"
    said = kernel.run(udf)
    assert "old" in said
    kernel.run("spark.range(3).createGlobalTempView('left'); spark.catalog.cacheTable('sales.orders')")
    assert kernel.run("print(spark.table('global_temp.left').count())") == "3"
    kernel.await_spare()
    module.write_text("def says(n):\n    return 'new'\n")
    kernel.restart()
    whose, second = kernel.start()
    assert whose == SPARE and second.pid != first.pid
    await_end([first])
    assert "new" in kernel.run(udf)
    assert "TABLE_OR_VIEW_NOT_FOUND" in kernel.run("spark.table('global_temp.left')")
    assert kernel.run("print(spark.catalog.isCached('sales.orders'))") == "False"
    assert kernel.run("print(spark.sparkContext._jsc.getPersistentRDDs().size())") == "0"
    assert (
        kernel.run("import os; print([name for name in os.environ if name.startswith('PYSPARK_GATEWAY')])") == "[]"
    )


@proof
def test_a_killed_kernel_takes_its_jvm_and_its_stream_along(lab, kernel):
    written = lab.folder / "written"
    whose, java = kernel.start()
    assert whose == SPARE
    kernel.run(
        f"query = (spark.readStream.format('rate').load().writeStream.format('json')"
        f".option('checkpointLocation', '{lab.folder}/checkpoint').start('{written}'))"
    )
    # it outlives the kernel, whose group Jupyter ends, and keeps nothing of ours open
    kernel.run("import subprocess; child = subprocess.Popen(['sleep', '600'], start_new_session=True)")
    end = time.monotonic() + 120
    while not list(written.glob("*.json")):
        assert time.monotonic() < end
        time.sleep(0.2)
    child = psutil.Process(int(kernel.run("print(child.pid)")))
    workers = java.children(recursive=True)
    kernel.process().kill()
    await_end([java, *workers])
    files = sorted(written.rglob("*"))
    time.sleep(2)
    assert sorted(written.rglob("*")) == files
    assert living([child])
    child.kill()


@proof
def test_two_kernels_at_once_have_a_jvm_each(lab, kernel):
    other = Kernel(lab)
    whose, java = kernel.start()
    others, second = other.start()
    assert {whose, others} <= {SPARE, COLD} and whose == SPARE and java.pid != second.pid
    assert kernel.run(COUNT) == other.run(COUNT) == "5"
    kernel.process().kill()
    await_end([java])
    assert other.run(COUNT) == "5"
    other.end()


@proof
@pytest.mark.parametrize(
    "before",
    ["import os; os.environ['AWS_REGION'] = 'eu-west-9'", "import os; os.chdir('..')", "environment = 'lake'"],
    ids=["variable", "folder", "environment"],
)
def test_what_differs_starts_cold(lab, kernel, before):
    kernel.run(before)
    whose, _ = kernel.start("lake" if "lake" in before else "own")
    assert whose == COLD


@proof
def test_a_killed_keeper_takes_the_spare_and_no_kernel_along(tmp_path):
    with labs.running(labs.folder_of(tmp_path), spare=True) as lab:
        kernel = Kernel(lab)
        kernel.start()
        kernel.await_spare()
        kernel.restart()
        whose, java = kernel.start()
        assert whose == SPARE, log(lab)
        kernel.await_spare()
        (process,) = keepers(psutil.Process(lab.process.pid))
        below = process.children(recursive=True)
        assert len(javas(below)) == 2  # the kernel's, too: its starter has ended
        process.kill()
        await_end([each for each in below if each.pid != java.pid])
        assert kernel.run(COUNT) == "5"
        kernel.restart()
        whose, java = kernel.start()
        assert whose == COLD and kernel.run(COUNT) == "5"


@proof
def test_a_killed_server_leaves_nobody(tmp_path):
    with labs.running(labs.folder_of(tmp_path), spare=True) as lab:
        kernel = Kernel(lab)
        kernel.start()
        kernel.await_spare()
        everybody = psutil.Process(lab.process.pid).children(recursive=True)
        assert len(javas(everybody)) == 2
        os.kill(lab.process.pid, signal.SIGKILL)
        lab.process.wait(timeout=30)
        await_end(everybody)
