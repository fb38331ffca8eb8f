"""Crontabs: read back as cron programs read them, executed by /bin/sh, with whatever stands in a path."""

import json
import re
import subprocess
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench_ops.schedules import crontab, entries
from workbench_ops.schedules.running import Place

PLACE = Place("/srv/workbench", "/srv/workbench/.venv/bin/workbench", {})
UTC = ("Etc/UTC", ZoneInfo("UTC"))
TEXT = """
load: {notebook: 01_first_table, cron: "15 2 * * 1-5"}
gate: {notebook: 20_write_audit_publish, after: load}
berlin: {notebook: 21_track_history, cron: "7 4 * * *", time_zone: Europe/Berlin}
"""
STUB = f"""#!{sys.executable}
import json, os, sys
print(json.dumps([os.getcwd(), sys.argv, os.environ.get("JAVA_HOME")]))
sys.exit(3)
"""


@pytest.fixture
def found(tmp_path):
    file = tmp_path / "schedules.yml"
    file.write_text(TEXT)
    return entries.read(file)


def test_a_whole_crontab(found):
    assert crontab.text(found, PLACE, daemon=UTC, year=2026) == (
        "# begin workbench schedules: written by `workbench schedule cron`; change params/schedules.yml instead\n"
        "# For crontab(1), and for a cron daemon in the time zone Etc/UTC.\n"
        "# load: 15 2 * * 1-5 (UTC); then gate\n"
        "15 2 * * 1-5 cd /srv/workbench && /bin/mkdir -p .workbench/schedules && exec "
        "/srv/workbench/.venv/bin/workbench schedule run load >>.workbench/schedules/load.log 2>&1\n"
        "# berlin: 7 4 * * * (Europe/Berlin), asked at its minutes of every hour\n"
        "7,22,37,52 * * * * cd /srv/workbench && /bin/mkdir -p .workbench/schedules && exec "
        "/srv/workbench/.venv/bin/workbench schedule run berlin "
        r'--due "$(/bin/date -u +\%Y-\%m-\%dT\%H:\%M)" >>.workbench/schedules/berlin.log 2>&1'
        "\n# end workbench schedules\n"
    )


def test_a_daemon_in_the_zone_of_the_entry_needs_not_ask(found):
    there = crontab.text(found, PLACE, daemon=("Europe/Berlin", ZoneInfo("Europe/Berlin")), year=2026)
    assert [line.split(" cd ")[0] for line in there.splitlines() if not line.startswith("#")] == [
        "0,15,30,45 * * * *", "7 4 * * *",
    ]  # fmt: skip


def vixie(command):
    r"""What Vixie's cron and cronie hand to the shell: up to the first bare %, and `\%` is a percent sign."""
    return re.split(r"(?<!\\)%", command)[0].replace(r"\%", "%")


def busybox(command):
    """What busybox hands to the shell."""
    return command


crons = pytest.mark.parametrize("cron", [vixie, busybox], ids=lambda cron: cron.__name__)


def sh(command, **options):
    return subprocess.run(
        ["/bin/sh", "-c", command], env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=60, **options
    )


@crons
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])
        | st.sampled_from(list("%\\'\"$`&|;<>*?[]{}()~#! "))
    )
)
def test_any_word_arrives(cron, word):
    said = sh(cron(f"printf '\\%s' {crontab.quoted(word)}".replace("'\\%s'", "\\%s")))
    assert (said.stdout.decode(), said.returncode) == (word, 0)


@pytest.mark.parametrize("word", ["a\nb", "a\rb", "a\x00b", "tab\t"])
def test_what_no_line_can_hold_is_refused(word):
    with pytest.raises(ValueError, match="a crontab cannot hold it"):
        crontab.quoted(word)


@crons
@pytest.mark.parametrize("asked", [False, True], ids=["plain", "asked"])
def test_a_line_does_what_it_says(tmp_path, cron, asked):
    """Odd folders, an empty environment, another working folder: arguments, log and exit code are right, twice."""
    home = tmp_path / 'it\'s 100% {here} "$HOME" \\'
    (home / "bin dir").mkdir(parents=True)
    stub = home / "bin dir" / "workbench"
    stub.write_text(STUB)
    stub.chmod(0o755)
    line = crontab.command("load", Place(str(home), str(stub), {"JAVA_HOME": "/opt/java 21%"}), asked=asked)
    for _ in range(2):
        said = sh(cron(line), cwd="/")
        assert (said.returncode, said.stdout, said.stderr) == (3, b"", b"")
    logged = [json.loads(one) for one in (home / ".workbench/schedules/load.log").read_text().splitlines()]
    assert len(logged) == 2
    for folder, arguments, java in logged:
        assert (folder, java) == (str(home), "/opt/java 21%")
        assert arguments[:4] == [str(stub), "schedule", "run", "load"]
        assert [*arguments[4:5]] == (["--due"] if asked else [])
        assert len(arguments) == (6 if asked else 4)
        assert all(datetime.fromisoformat(one) for one in arguments[5:])


def test_a_folder_that_is_gone_runs_nothing(tmp_path):
    said = sh(vixie(crontab.command("load", Place(str(tmp_path / "gone"), "/bin/echo", {}))), cwd=tmp_path)
    assert said.returncode != 0 and list(tmp_path.iterdir()) == []


def test_a_line_that_cron_would_cut_is_refused():
    with pytest.raises(ValueError, match=r"load: its line has \d+ bytes, cron reads 990; shorten the paths"):
        crontab.command("load", Place("/" + "long" * 250, "/bin/workbench", {}))


def test_the_logs_are_rotated_and_never_cut(tmp_path):
    home = tmp_path / "my bench"
    home.mkdir()
    assert crontab.logrotate(Place(str(home), "", {})) == (
        f'"{home}/.workbench/schedules/*.log" {{\n    su {home.owner()} {home.group()}\n    weekly\n    rotate 8\n'
        "    compress\n    delaycompress\n    missingok\n    notifempty\n    nocreate\n}\n"
    )
    with pytest.raises(ValueError, match="logrotate reads quotes"):
        crontab.logrotate(Place('/srv/"bench"', "", {}))
