"""Notebooks run side by side: their order, their bound, every way to be stopped, and what a person sees."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from itertools import accumulate

import psutil
import pytest
from conftest import COMMAND, shown_on, workbench, write_notebook
from waiting import until

from workbench._base import hardware
from workbench_ops.run import batch

SPAN = """
import time
from pathlib import Path
begin = time.time()
time.sleep(0.7)
Path({path!r}).write_text(f"{{begin}} {{time.time()}}")
"""
WAIT = "import time\nfrom pathlib import Path\nPath({path!r}).touch()\ntime.sleep(120)"
UNTIL_REPORTED = """
import time
from pathlib import Path
while not list(Path({runs!r}).glob("02_y/*/report.html")):
    time.sleep(0.1)
time.sleep(1.5)
"""
KILL = "import os, signal, psutil\nos.kill(psutil.Process(os.getppid()).ppid(), signal.SIGKILL)"


def write(project, name, *cells, takes=None, **options):
    """Write a notebook; `{path!r}` in a cell is a file of its own."""
    title = f"# Title of {name}" + (f"\n\n*Takes* {takes} s" if takes else "")
    cells = [cell.format(path=str(project / f"{name}.txt"), runs=str(project / "runs")) for cell in cells]
    write_notebook(project / "notebooks" / f"{name}.ipynb", title, *cells, **options)


def start(project, *arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([COMMAND, "run", *arguments], cwd=project, **options)


def living(project):
    """Return the processes that were started for this project: runners, what executes notebooks, kernels."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("WORKBENCH_HOME") == str(project):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def statuses(project):
    texts = [path.read_text() for path in sorted((project / "runs").glob("*/*/run.json"))]
    return {record["notebook"]: (record["status"], record["reason"]) for record in map(json.loads, texts)}


def test_all_run_in_their_order_and_the_first_by_name_decides_the_exit_code(project):
    write(project, "01_bad", SPAN, "1 / 0", takes=3)
    write(project, "03_refused", "1", parameters="N = 1 + 1", takes=2)
    write(project, "04_short", SPAN + "(Path.cwd() / '06_gone.ipynb').unlink()", takes=1)
    write(project, "05_long", SPAN, KILL, "time.sleep(120)", takes=8)
    write(project, "06_gone", "1", takes=1.5)
    running = start(project, "--jobs", "2", "--json", "--on-failure", "nobody-there")
    lines = []
    for line in running.stderr:
        lines.append(line)
        if line.startswith("04_short  passed"):  # told at once, while others have not begun
            assert not (project / "01_bad.txt").exists()
    output = running.stdout.read().splitlines()
    assert running.wait() == 1  # of 01_bad: neither of the first that ended, nor the greatest

    told = [line.split() for line in lines if re.match(r"0\d_", line)]
    order = [words[0] for words in told if words[1] == "started"]
    assert order == ["04_short", "05_long", "01_bad", "03_refused", "06_gone"]
    assert max(accumulate(1 if words[1] == "started" else -1 for words in told)) == 2
    assert sum("--on-failure could not be called" in line for line in lines) == 2  # a killed runner calls nobody
    assert "  ZeroDivisionError: division by zero\n" in lines

    records = {record["notebook"]: record for record in json.loads(output[-1])}
    assert [(name, record["status"], record["exit_code"]) for name, record in records.items()] == [
        ("01_bad", "failed", 1),
        ("03_refused", "refused", 2),
        ("04_short", "passed", 0),
        ("05_long", "interrupted", 143),
    ]
    verdicts = {words[0]: words[1] for words in told if words[1] != "started"}
    assert verdicts == {name: record["status"] for name, record in records.items()} | {"06_gone": "ended"}
    assert any(line.startswith("workbench: no notebook") for line in lines)
    assert output[5].split() == ["06_gone", "not", "recorded"]
    rows = [line.split() for line in output[1:5]]
    assert [row[:2] for row in rows] == [[name, record["status"]] for name, record in records.items()]
    index = (project / "runs" / "index.html").read_text()
    assert all((project / row[3]).is_file() and row[3].removeprefix("runs/") in index for row in rows)

    spans = [tuple(map(float, path.read_text().split())) for path in project.glob("0*.txt")]
    assert len(spans) == 3
    assert max(sum(begin <= moment < end for begin, end in spans) for moment, _ in spans) <= 2
    assert len(list((project / ".workbench" / "lake" / "workbench" / "runs" / "data").glob("*.parquet"))) == 1
    until(lambda: not living(project))
    lakes = list((project / ".workbench" / "scratch").glob("run-*"))
    assert len(lakes) <= 1  # each had its own and removed it; the killed one's goes at the next start


def test_neither_a_signal_nor_a_kill_leaves_a_run_behind(tmp_path, monkeypatch):
    """Both at once, each in a home of its own: a signal is passed on, and a killed batch lets its runs know."""
    stopped, killed = tmp_path / "stopped", tmp_path / "killed"
    for project, names in ((stopped, ("01_x", "02_y", "03_z")), (killed, ("01_x",))):
        for name in names:
            write(project, name, WAIT)
    monkeypatch.delenv("WORKBENCH_SCRATCH", raising=False)
    first, second = (
        start(project, "--jobs", "2", env=os.environ | {"WORKBENCH_HOME": str(project)})
        for project in (stopped, killed)
    )
    until(lambda: (stopped / "01_x.txt").exists() and (stopped / "02_y.txt").exists())
    first.send_signal(signal.SIGTERM)
    until((killed / "01_x.txt").exists)
    second.kill()
    output, errors = first.communicate(timeout=120)
    second.communicate(timeout=120)
    until(lambda: not living(killed))

    assert first.returncode == 143, errors
    interrupted = ("interrupted", "stopped by SIGTERM")
    assert statuses(stopped) == {"01_x": interrupted, "02_y": interrupted}
    assert "01_x  interrupted" in errors and "03_z" not in errors
    assert output.splitlines()[3].split() == ["03_z", "not", "started"]
    assert living(stopped) == []
    assert statuses(killed) == {"01_x": interrupted}


def test_what_no_run_could_do_is_refused_before_any_starts(project):
    write(project, "01_good", SPAN)
    (project / "runs").write_text("a file in its place")
    said = workbench("run", cwd=project)
    assert said.returncode == 2 and said.stderr.startswith("workbench: the runs folder ")
    (project / "runs").unlink()
    (project / "notebooks" / "02_broken.ipynb").write_text("{")
    said = workbench("run", cwd=project)
    assert said.returncode == 2 and said.stderr.startswith("workbench: ")
    assert "02_broken.ipynb is not a notebook" in said.stderr
    assert not (project / "01_good.txt").exists()


def on_a_terminal(project, *arguments, columns, expected):
    """Return what is shown at any time on a terminal: its lines, without what moves the cursor."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "TERM")}
    running = start(
        project, *arguments, stdout=subprocess.DEVNULL, stderr=theirs, env=variables | {"TERM": "xterm"}
    )
    os.close(theirs)
    text = shown_on(ours)
    os.close(ours)
    assert running.wait() == expected
    return re.split(r"\r\n|\r|\n", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode()))


def test_a_terminal_has_a_line_a_run_and_verdicts_above(project):
    long = "## 1 Look at everything there is, and then look at it again"
    write(project, "01_x", SPAN, long, UNTIL_REPORTED, takes=60)
    write(project, "02_y", "1", parameters="N = 1 + 1", takes=50)
    lines = on_a_terminal(project, "--jobs", "2", columns=60, expected=2)
    shown = [line for line in lines if re.match(r"0\d_\w  (starting|cell)", line)]
    assert shown and max(map(len, shown)) <= 60
    assert any(re.fullmatch(r"01_x  cell 1 of 2  \d+ s  about \d+ s left  Title of 01_x", line) for line in shown)
    assert any(re.fullmatch(r"01_x  cell 2 of 2  \d+ s  about \d+ s left  1 Look.*…", line) for line in shown)
    assert any(re.fullmatch(r"02_y  starting  \d s  about 50 s left", line) for line in shown)
    assert any(re.fullmatch(r"0 of 2 have ended, about \d+ s left", line) for line in lines)
    assert any(re.fullmatch(r"1 of 2 have ended, 1 without passing, about \d+ s left", line) for line in lines)
    first = next(number for number, line in enumerate(lines) if line.startswith("02_y  refused  "))
    assert lines[first].endswith("because an injected value would not reach it")  # a verdict is whole
    assert any(line.startswith("01_x  cell") for line in lines[first:])  # it goes on below the verdict
    assert not any(line.endswith("started") for line in lines)


@pytest.mark.parametrize(("cores", "gib", "at_once"), [(2, 24, 2), (8, 24, 3), (4, 8, 1), (1, 2, 1), (16, 64, 9)])
def test_how_many_fit_a_machine(cores, gib, at_once, monkeypatch):
    monkeypatch.setattr(hardware, "cores", lambda: cores)
    monkeypatch.setattr(hardware, "memory_bytes", lambda: gib << 30)
    assert batch.fitting() == at_once
