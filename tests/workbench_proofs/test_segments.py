"""Seventeen edits of a sheet: what must come of each is what comes of it, whatever rows are hit."""

import itertools

import pytest
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from workbench.pulls import AnswerRefused, sheets
from workbench_proofs import segments
from workbench_standins import google

WHOLE = (
    "emptied below its header",
    "money with a third decimal",
    "a nation twice",
)  # what a table refuses, not a tab


@pytest.fixture(scope="module")
def server():
    with google.serve() as running:
        yield running


@pytest.fixture(scope="module")
def ask(server):
    credentials = service_account.Credentials.from_service_account_info(
        server.credentials(), scopes=[sheets.SCOPE]
    )
    web = AuthorizedSession(credentials)
    return sheets.tab(
        web, "b", segments.TITLE, segments.COLUMNS, required=["n_nationkey"], endpoint=server.endpoint
    )


def test_the_rows_are_25_and_five_of_a_segment():
    rows = segments.rows(seed=3)
    assert rows == segments.rows(seed=3) != segments.rows(seed=4)
    assert [row["n_nationkey"] for row in rows] == list(range(25))
    by_segment = itertools.groupby(sorted(row["n_marketsegment"] for row in rows))
    assert [(name, len([*hits])) for name, hits in by_segment] == [(name, 5) for name in segments.SEGMENTS]


@pytest.mark.parametrize("seed", [0, 1, 2, 7, 12345, 2**63 - 1])
def test_what_is_planted_is_what_a_tab_says(server, ask, seed):
    rows = segments.rows(seed=seed)
    edits = segments.edits(rows, seed=seed)
    assert (len(edits), len({edit.what for edit in edits})) == (17, 17)
    for edit in edits:
        server.set_book("b", {segments.TITLE: edit.tab})
        if edit.refused and edit.what not in WHOLE:
            with pytest.raises(AnswerRefused) as refusal:
                ask()
            assert edit.refused in str(refusal.value), edit.what
            continue
        answer = ask()
        assert tuple(sorted(cell.address for cell in answer.dead)) == tuple(sorted(edit.dead)), edit.what
        found = [row | {"budget": float(row["budget"])} for row in answer.rows.to_pylist()]
        assert edit.what in WHOLE or found == [*edit.rows], edit.what


def test_a_refused_edit_leaves_the_rows_before_it():
    edits = segments.edits(segments.rows(seed=1), seed=1)
    after = segments.states(edits)
    assert [len(rows) for rows in after] == [25] * 9 + [24, 24, 24, 24, 23, 24, 25, 25]
    assert after[-1] == segments.rows(seed=1)
