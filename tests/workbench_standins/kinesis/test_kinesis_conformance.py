"""One table of cases against this server and against npm's kinesis-local; the differences are those of the docs."""

import json
from dataclasses import replace
from pathlib import Path

import kinesis_local
import pytest
from kinesis_cases import CASES, Probe
from kinesis_clients import client

from workbench_standins import kinesis
from workbench_standins.kinesis.faults import KINDS

CALL_LIMITS = ("call_records_in", "call_bytes_in", "record_bytes")
NAMES = {case.name for case in CASES}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "kinesis.md"


@pytest.fixture(scope="module")
def ours():
    """Two endpoints: as the service is, and without what makes a client wait."""
    patient = replace(kinesis.UNLIMITED, **{name: getattr(kinesis.Limits(), name) for name in CALL_LIMITS})
    with (
        kinesis.serve(transition_seconds=0.02, in_thread=True) as strict,
        kinesis.serve(transition_seconds=0.02, limits=patient) as server,
    ):
        yield {True: strict.endpoint, False: server.endpoint}


@pytest.fixture(scope="module")
def theirs():
    if not kinesis_local.available():
        pytest.skip(kinesis_local.MISSING)
    with kinesis_local.running() as endpoint:
        yield endpoint


def found(case, endpoint):
    """A case's value, as plain as JSON: tuples and lists are the same."""
    probe = Probe(client(endpoint, attempts=12), client(endpoint), case.name)
    return plain(case.do(probe))


def plain(value):
    return json.loads(json.dumps(value, default=repr))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ours(case, ours):
    assert found(case, ours[case.limited]) == plain(case.expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kinesis_local(case, theirs):
    assert found(case, theirs) == plain(case.other if case.says else case.expected)


def test_the_page_lists_the_differences():
    listed = [
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `") and line[3:].split("`")[0] in NAMES
    ]
    assert listed == [f"| `{case.name}` | {case.says} |" for case in CASES if case.says]


def test_the_page_lists_the_kinds_of_fault():
    kinds = [
        line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    assert [kind for kind in kinds if kind not in NAMES] == list(KINDS)
