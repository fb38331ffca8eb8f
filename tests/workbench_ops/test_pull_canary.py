"""No token and no key in what a run leaves: notebook, report, record, results, log, index, ledger, tables."""

import json

import pytest
from conftest import ROOT, workbench, write_notebook

from workbench_standins import google

SETUP = """
import json, os
from datetime import date

from google.analytics.data_v1beta import BetaAnalyticsDataClient
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from workbench import checks, pulls, results, show
from workbench.pulls import analytics, asking, sheets

key, endpoint = json.loads(os.environ["GOOGLE_KEY"]), os.environ["GOOGLE_ENDPOINT"]
known = service_account.Credentials.from_service_account_info(key, scopes=[sheets.SCOPE])
readers = known.with_scopes([analytics.SCOPE])
client = BetaAnalyticsDataClient(credentials=readers, transport="rest", client_options={"api_endpoint": endpoint})
names = {"dimensions": {"day": "date"}, "metrics": {"users": "activeUsers"}}
"""
ASKED = """
tab = sheets.tab(AuthorizedSession(known), "b", "S", {"n": "integer"}, endpoint=endpoint)
rows = tab().rows.num_rows + analytics.report(client, "1", **names)(date(2026, 1, 1), date(2026, 1, 1)).rows.num_rows
checks.require("rows", rows, 2)
results.record(rows=rows)
print(known, readers, client, tab)
"""
REFUSED = """
forged = service_account.Credentials.from_service_account_info(json.loads(os.environ["FORGED_KEY"]), scopes=[sheets.SCOPE])
strange = service_account.Credentials.from_service_account_info(key | {"client_email": "nobody"}, scopes=[sheets.SCOPE])
for account, at in ((forged, endpoint), (strange, endpoint), (known, "http://127.0.0.1:9")):
    ask = sheets.tab(AuthorizedSession(account), "b", "S", {"n": "integer"}, endpoint=at, tries=1)
    show.error(ask, raises=pulls.AnswerRefused)
show.error(lambda: analytics.report(client, "99", **names), raises=pulls.AnswerRefused)
"""
FAILS = 'sheets.tab(AuthorizedSession(forged), "b", "S", {"n": "integer"}, endpoint=endpoint, tries=1)()'
LEAKS = "print(known.token)"


@pytest.fixture
def server():
    with google.serve() as running:
        running.set_book("b", {"S": {"rows": [["n"], [1]]}}, readers=[google.ACCOUNT])
        visit = {"day": "2026-01-01", "user": 1, "new": 0, "cents": 0, "dims": {}, "known": 0}
        running.add_visits("1", [visit])
        yield running


def leaks(folder, keys):
    """The files below a folder that have a token of the stand-in's, a signed assertion, or a part of a key."""
    parts = [b"ya29.", b"eyJhbGciOi", b"PRIVATE KEY"]
    parts += [line.encode() for key in keys for line in key.splitlines() if len(line) == 64]
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(part in path.read_bytes() for part in parts)
    )


def ran(project, server, *cells):
    """Run a notebook of these cells with a key and a forged one; return the process and the keys."""
    write_notebook(project / "notebooks" / "pull.ipynb", *cells, parameters='ENVIRONMENT: str = "local"  # where')
    with google.serve() as other:
        forged = other.credentials()["private_key"]
    key = server.credentials()
    own = {
        "GOOGLE_KEY": json.dumps(key), "GOOGLE_ENDPOINT": server.endpoint,
        "FORGED_KEY": json.dumps(key | {"private_key": forged}),
    }  # fmt: skip
    return workbench("run", "pull", "--json", cwd=project, env=own), (key["private_key"], forged)


def test_a_run_that_pulls_and_fails_leaves_no_secret(project, server):
    done, keys = ran(project, server, SETUP, ASKED, REFUSED, FAILS)
    assert done.returncode == 1, done.stderr
    record = json.loads(done.stdout.splitlines()[-1])
    assert record["failing_cell"]["error"] == "AnswerRefused", record["failing_cell"]
    assert record["results"] == {"rows": 2}
    assert server.calls()["token"] >= 3  # one was given, others refused
    assert (project / "runs" / "pull" / record["run_id"] / "report.html").exists()
    assert leaks(project, keys) == []
    assert not [part for part in ("ya29.", "PRIVATE KEY") if part in done.stdout + done.stderr]


@pytest.mark.proof("the test above has a run in which nothing leaks")
def test_a_leak_is_seen(project, server):
    """The planted fault: a cell that prints its token, which nobody can keep out of its own notebook."""
    done, keys = ran(project, server, SETUP, ASKED, LEAKS)
    assert done.returncode == 0, done.stderr
    assert {path.rpartition("/")[2] for path in leaks(project, keys)} >= {"notebook.ipynb", "report.html"}


@pytest.mark.proof("test_a_run_that_pulls_and_fails_leaves_no_secret is such a run")
@pytest.mark.parametrize("name", ["14_pull_from_saas", "15_pull_a_sheet"])
def test_a_notebook_leaves_no_secret(project, name):
    done = workbench("run", ROOT / "notebooks" / f"{name}.ipynb", "--json", cwd=project)
    assert done.returncode == 0, done.stderr
    assert leaks(project, ()) == []
