"""Progress that outlives a process: killed, raced for, damaged, on a full disk, and of the version before."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest
from conftest import PROVE
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench._base import worklist

ERRANDS = worklist.Form(
    name="file of errands", user="errand", table="errands", key=("shop", "thing"),
    columns={"shop": "TEXT NOT NULL", "thing": "TEXT NOT NULL", "state": "TEXT", "amount": "INTEGER"},
)  # fmt: skip
BEGIN = f"""
import os, signal, sys
from workbench._base import worklist
ERRANDS = worklist.{ERRANDS!r}
"""


def errand(thing, state="planned", amount=None, shop="corner"):
    return {"shop": shop, "thing": thing, "state": state, "amount": amount}


def child(code, *arguments):
    """Begin a process that runs code with ERRANDS and arguments, and tells by lines."""
    command = [sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rows_of(path):
    with worklist.opened(path, ERRANDS) as errands:
        return errands.rows()


KEYS = st.tuples(st.sampled_from("ab"), st.sampled_from("cde"))
STEPS = st.one_of(
    st.tuples(st.just("put"), st.dictionaries(KEYS, st.none() | st.integers(0, 9), max_size=4)),
    st.tuples(st.just("remove"), st.sets(KEYS, max_size=3)),
    st.tuples(st.just("open anew"), st.none()),
)


@settings(max_examples=300 if PROVE else 30)
@given(st.lists(STEPS, max_size=12))
def test_a_list_holds_what_a_dictionary_does(tmp_path_factory, steps):
    path, model = tmp_path_factory.mktemp("list") / "errands.db", {}
    pending = list(steps)
    while pending:
        with worklist.opened(path, ERRANDS) as errands:
            while pending:
                step, argument = pending.pop(0)
                if step == "open anew":
                    break
                if step == "put":
                    errands.put(
                        {"shop": shop, "thing": thing, "amount": n} for (shop, thing), n in argument.items()
                    )
                    model |= argument
                else:
                    errands.remove(argument)
                    model = {key: n for key, n in model.items() if key not in argument}
            few = [(row["shop"], row["thing"]) for row in errands.rows(amount=[1, 2, 3], shop=["a"])]
            assert few == [key for key, n in model.items() if n in (1, 2, 3) and key[0] == "a"]
    expected = [{"shop": shop, "thing": thing, "state": None, "amount": n} for (shop, thing), n in model.items()]
    assert rows_of(path) == expected


KILLED_BEFORE_THE_ANSWER = """
path, counter = sys.argv[1:]
with worklist.opened(path, ERRANDS) as errands:
    todo = errands.rows(state=["planned"])
    for number, row in enumerate(todo, 1):
        errands.put([row | {"state": "asking"}])
        with open(counter, "a") as asked:
            asked.write(row["thing"] + "\\n")
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        errands.put([row | {"state": "asked"}])
"""


def test_what_was_asked_before_a_kill_is_known_and_not_asked_again(tmp_path):
    path, counter = tmp_path / "errands.db", tmp_path / "asked"
    with worklist.opened(path, ERRANDS) as errands:
        errands.put(errand(thing) for thing in ("bread", "milk", "salt", "tea"))
    for code, asked, states in (
        (-signal.SIGKILL, ["bread", "milk"], ["asked", "asking", "planned", "planned"]),
        (-signal.SIGKILL, ["bread", "milk", "salt", "tea"], ["asked", "asking", "asked", "asking"]),
        (0, ["bread", "milk", "salt", "tea"], ["asked", "asking", "asked", "asking"]),
    ):
        process = child(KILLED_BEFORE_THE_ANSWER, path, counter)
        _, error = process.communicate(timeout=60)
        assert process.returncode == code, error
        assert counter.read_text().split() == asked
        assert [row["state"] for row in rows_of(path)] == states


ROUNDS = """
with worklist.opened(sys.argv[1], ERRANDS) as errands:
    for amount in range(10**9):
        errands.put({"shop": "corner", "thing": f"{n}", "amount": amount} for n in range(500))
        print(amount, flush=True)
"""


@pytest.mark.parametrize(("rounds", "outlives_power"), [(1, True), (2, True), (7, True), (7, False)])
def test_a_kill_leaves_all_rows_of_a_put_or_none(tmp_path, rounds, outlives_power):
    path = tmp_path / "errands.db"
    form = f"from dataclasses import replace; ERRANDS = replace(ERRANDS, outlives_power={outlives_power})\n"
    with child(form + ROUNDS, path) as process:
        put = [int(process.stdout.readline()) for _ in range(rounds)]
        process.kill()
        put += [int(line) for line in process.stdout]
    amounts = Counter(row["amount"] for row in rows_of(path))
    assert set(amounts.values()) == {500} and len(amounts) == 1
    assert max(amounts) in (put[-1], put[-1] + 1)  # what `put` returned from is there


TAKE = """
path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
while True:
    with worklist.opened(path, ERRANDS, seconds=60) as errands:
        todo = errands.rows(state=["planned"])
        if not todo:
            break
        errands.put([todo[0] | {"state": name}])
    print(todo[0]["thing"], flush=True)
"""


def test_processes_that_take_units_at_once_never_take_the_same(tmp_path):
    path, things = tmp_path / "errands.db", [f"{n:02}" for n in range(40)]
    with worklist.opened(path, ERRANDS) as errands:
        errands.put(errand(thing) for thing in things)
    command = [sys.executable, "-c", BEGIN + TAKE, str(path)]
    takers = {
        name: subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("Ann", "Bob", "Eve")
    }
    for process in takers.values():
        assert process.stdout.readline() == "ready\n"
    for process in takers.values():
        process.stdin.write("\n")
        process.stdin.flush()
    taken = {name: process.communicate(timeout=120)[0].split() for name, process in takers.items()}
    assert sorted(thing for each in taken.values() for thing in each) == things
    assert {row["thing"]: row["state"] for row in rows_of(path)} == {
        thing: name for name, each in taken.items() for thing in each
    }


def test_a_second_process_is_told_who_has_the_list_open(tmp_path):
    path = tmp_path / "errands.db"
    with worklist.opened(path, ERRANDS):
        process = child("with worklist.opened(sys.argv[1], ERRANDS): pass", path)
        _, error = process.communicate(timeout=60)
    assert (
        error.splitlines()[-1]
        == f"workbench._base.errors.ArgumentError: another errand has the file of errands {path} open"
    )
    assert rows_of(path) == []


def test_rows_of_the_version_before_are_taken_over_once(tmp_path):
    path, asked = tmp_path / "errands.db", []

    def earlier(*, damaged=False):
        asked.append(damaged)
        yield errand("bread", "done")
        if damaged:
            raise ValueError("line 2 holds no errand")
        yield errand("milk", "done")

    with (
        pytest.raises(ValueError, match="line 2"),
        worklist.opened(path, ERRANDS, earlier=lambda: earlier(damaged=True)),
    ):
        pass
    with worklist.opened(path, ERRANDS, earlier=earlier) as errands:
        assert errands.rows() == [errand("bread", "done"), errand("milk", "done")]
        errands.remove([("corner", "bread"), ("corner", "milk")])
    with worklist.opened(path, ERRANDS, earlier=earlier) as errands:
        assert (errands.rows(), asked) == ([], [True, False])


OTHERS = {
    "another table": ["CREATE TABLE orders (id)"],
    "another column": [f"CREATE TABLE {ERRANDS.definition}".replace("amount INTEGER", "price INTEGER")],
    "another type": [f"CREATE TABLE {ERRANDS.definition}".replace("amount INTEGER", "amount TEXT")],
    "another key": [f"CREATE TABLE {ERRANDS.definition}".replace("(shop, thing)", "(shop)")],
    "a table more": [f"CREATE TABLE {ERRANDS.definition}", "CREATE TABLE orders (id)"],
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path, statements):
    path = tmp_path / "errands.db"
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        names = sorted(name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE sql NOT NULL"))
    before = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises(ValueError) as caught, worklist.opened(path, ERRANDS):
        pass
    assert str(caught.value) == f"{path} is not a file of errands: it is a database with {', '.join(names)}"
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before and list(tmp_path.iterdir()) == [path]


def killed_in_a_transaction(path, *statements):
    """Leave what a kill leaves at the end of a transaction: its pages, and the journal by which they are undone."""
    with closing(sqlite3.connect(path.with_name("alive.db"), isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")  # so that the journal is written before the end
        for statement in statements:
            database.execute(statement)
        shutil.copy(path.with_name("alive.db-journal"), path.with_name(f"{path.name}-journal"))
        database.execute("COMMIT")
    path.with_name("alive.db").rename(path)


MANY = (
    "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100) "
    "INSERT INTO errands SELECT printf('%0200d', n), '', '', 1 FROM many"
)


def test_a_list_whose_maker_was_killed_is_made_anew(tmp_path):
    path = tmp_path / "errands.db"
    killed_in_a_transaction(path, "BEGIN", f"CREATE TABLE {ERRANDS.definition}", MANY)
    path.with_name("errands.db.lock").touch()
    with worklist.opened(path, ERRANDS, earlier=lambda: [errand("bread")]) as errands:
        assert errands.rows() == [errand("bread")]


def test_half_a_transaction_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "errands.db"
    killed_in_a_transaction(path, "BEGIN", f"CREATE TABLE {ERRANDS.definition}".replace("amount", "price"), MANY)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="it is a database with errands"), worklist.opened(path, ERRANDS):
        pass
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_another_program_that_was_killed_as_it_dropped_its_table_keeps_it(tmp_path):
    path = tmp_path / "errands.db"
    theirs = f"CREATE TABLE {ERRANDS.definition}".replace("amount", "price")
    killed_in_a_transaction(path, theirs, MANY, "BEGIN", "DELETE FROM errands", "DROP TABLE errands")
    with pytest.raises(ValueError, match="it is a database with errands"), worklist.opened(path, ERRANDS):
        pass
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(price) FROM errands").fetchone() == (100,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def damaged(content, how):
    """Return the bytes of a list with its begin, or its middle, written over; or cut off."""
    if how == "cut off":
        return content[: len(content) // 2]
    at = 0 if how == "begin" else 8192
    return content[:at] + b"\xa5" * 8192 + content[at + 8192 :]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("begin", "file is not a database"),
        ("middle", "database disk image is malformed"),
        ("cut off", "database disk image is malformed"),
    ],
)
def test_a_damaged_list_is_said_and_not_written_over(tmp_path, how, sentence):
    path = tmp_path / "errands.db"
    with worklist.opened(path, ERRANDS) as errands:
        errands.put(errand(f"{n:05}", "x" * 200) for n in range(1000))
    path.write_bytes(before := damaged(path.read_bytes(), how))
    with pytest.raises(ValueError) as caught, worklist.opened(path, ERRANDS) as errands:
        errands.rows()
    assert str(caught.value) == f"{path} is not a file of errands: {sentence}"
    assert path.read_bytes() == before


ON_A_FULL_DISK = """
import resource
with worklist.opened(sys.argv[1], ERRANDS) as errands:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a file that cannot grow, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    try:
        errands.put({"shop": "corner", "thing": "x" * 100 + f"{n}"} for n in range(20_000))
    except OSError as error:
        print(error)
    print([row["thing"] for row in errands.rows()])
    errands.put([{"shop": "corner", "thing": "milk"}])
"""


def test_a_full_disk_is_said_and_leaves_the_list_as_it_was(tmp_path):
    path = tmp_path / "errands.db"
    with worklist.opened(path, ERRANDS) as errands:
        errands.put([errand("bread")])
    process = child(ON_A_FULL_DISK, path)
    output, error = process.communicate(timeout=60)
    first, second = output.splitlines()
    assert first.startswith(f"the file of errands {path} cannot be read or written: "), error
    assert (second, process.returncode) == ("['bread']", 0), error
    assert [row["thing"] for row in rows_of(path)] == ["bread", "milk"]


def test_a_list_that_another_program_writes_is_said(tmp_path, monkeypatch):
    path = tmp_path / "errands.db"
    monkeypatch.setattr(worklist, "BUSY_SECONDS", 0.1)
    with worklist.opened(path, ERRANDS) as errands, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError) as caught:
            errands.put([errand("bread")])
        assert str(caught.value) == f"the file of errands {path} cannot be read or written: database is locked"
        other.rollback()
        errands.put([errand("bread")])
    assert rows_of(path) == [errand("bread")]


@pytest.mark.parametrize(("outlives_power", "synchronous"), [(True, 2), (False, 1)])
def test_rows_that_a_power_cut_must_not_take_wait_for_the_disk(tmp_path, outlives_power, synchronous):
    """As https://www.sqlite.org/pragma.html#pragma_synchronous numbers FULL and NORMAL."""
    form = replace(ERRANDS, outlives_power=outlives_power)
    with worklist.opened(tmp_path / "errands.db", form) as errands:
        assert errands.database.execute("PRAGMA synchronous").fetchone() == (synchronous,)


def test_a_defect_of_the_caller_shows_itself_as_one(tmp_path):
    with worklist.opened(tmp_path / "errands.db", ERRANDS) as errands:
        with pytest.raises(sqlite3.IntegrityError):
            errands.put([errand("bread"), errand(None)])
        assert errands.rows() == []
