"""No hidden value is in what the page answers and logs, whatever fails; and a value that is planted there is seen."""

import gzip
import json
import logging
import os

import canaries
import httpx
import pytest
from access_pages import PASSWORDS, access_cases
from test_access_page import csrf_of, logged_in

from workbench import access
from workbench._base.errors import ArgumentError
from workbench_ops.access.page import asking, rows, schema, sharing, users
from workbench_ops.access.page.serving import serve

NAMES = ("name", "surname", "address")
HIDDEN = canaries.words(9)  # of three people, two of whom are not of the United Kingdom
SEEN = canaries.words(2)


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A page whose hidden cells are words that are nowhere else."""
    monkeypatch.setattr(users, "N", 2**14)
    catalog = access_cases.catalog(tmp_path)
    people = [
        (1, *SEEN, "united kingdom", "leeds", HIDDEN[0], 1970),
        (2, *HIDDEN[1:3], "france", "lyon", HIDDEN[3], 1981),
        (3, *HIDDEN[4:6], None, "oslo", HIDDEN[6], None),
    ]
    access_cases.users(catalog, people)
    file = tmp_path / "users.yml"
    users.add(file, "ann", principal="user1", password=PASSWORDS["ann"])
    return sharing.Shared(access_cases.written(tmp_path), file, lambda: access_cases.catalog(tmp_path))


QUESTIONS = (
    "{ tables { name columns { name type visibleWhere } rows { total rows { cells { text hidden } } } } }",
    '{ table(name: "people.users") { rows(orderBy: [{column: "name"}]) { rows { cells { column text hidden } } } } }',
    '{ table(name: "people.users") { rows(orderBy: [{column: "address"}]) { total } } }',
    '{ table(name: "people.users") { rows(complete: true, first: 1) { total next } } }',
    '{ table(name: "people.users") { rows(first: 0) { total } } }',
    '{ table(name: "people.users") { rows(first: 99999999999) { total } } }',
    '{ table(name: "people.users") { rows(after: "x.y") { total } } }',
    '{ table(name: "people.none") { rows { total } } }',
    '{ table(name: "people.users\\u0000") { columns { name } } }',
    "{ table(name: 7) { columns { address } } }",
    "{ table",
    "{ __schema { types { name } } }",
)
PAGES = (
    {"name": "people.users"},
    {"name": "people.users", "order": "name", "down": "true", "size": "1"},
    {"name": "people.users", "order": "address"},
    {"name": "people.users", "complete": "true"},
    {"name": "people.users", "size": "0"},
    {"name": "people.users", "after": "AAAA.BBBB"},
    {"name": "people.none"},
    {"name": "sales.customer"},
    {},
)


def driven(address, *, name="ann"):
    """Everything that the page answers to a reader who asks right and wrong: status, headers and bodies."""
    answers = []
    with httpx.Client(base_url=address, follow_redirects=True, timeout=120) as stranger:
        answers += [stranger.get("/"), stranger.get("/table", params=PAGES[0]), stranger.get("/nowhere")]
        csrf = csrf_of(stranger.get("/").text)  # of the newest session
        answers += [stranger.post("/log-in", data={"name": name, "password": "wrong", "csrf": csrf})]
        answers += [stranger.post("/graphql", json={"query": QUESTIONS[0]})]
    client = logged_in(address, name)
    answers += [client.get("/"), client.get("/style.css")]
    answers += [client.get("/table", params=page) for page in PAGES]
    answers += [client.post("/graphql", json={"query": question}) for question in QUESTIONS]
    answers += [client.post("/graphql", content=body) for body in ("{", "[]", '{"query": 7}')]
    return answers


def texts(answers):
    return [f"{answer.status_code} {answer.headers} {answer.text}" for answer in answers]


def everything(answers, caplog, capfd, folder):
    """What was answered, logged and written, but for the table itself."""
    written = [path for path in folder.rglob("*") if path.is_file() and "warehouse" not in path.parts]
    output = capfd.readouterr()
    return [*texts(answers), caplog.text, output.out, output.err, *written]


@pytest.mark.parametrize("level", [1, logging.INFO, logging.ERROR])
def test_no_hidden_value_is_answered_or_logged(shared, tmp_path, caplog, capfd, level):
    with caplog.at_level(level), serve(shared) as address:
        answers = driven(address)
    assert {200, 400, 401, 403, 404, 422} <= {answer.status_code for answer in answers}
    held = everything(answers, caplog, capfd, tmp_path)
    assert canaries.found(HIDDEN, *held) == []
    assert {word for word, _ in canaries.found(SEEN, *held)} == set(SEEN)  # the search sees what is shown


def broken_file(shared, monkeypatch):
    """A data file that is cut off."""
    (task,) = shared.catalog().load_table("people.users").scan().plan_files()
    path = task.file.file_path.removeprefix("file://")
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 40)


def failing_order(shared, monkeypatch):
    """A library that quotes the cell at which it fails."""

    def failing(*_, **__):
        raise ValueError(f"could not convert string {HIDDEN[1]} to a number")

    monkeypatch.setattr(rows, "part", failing)


def failing_arrow(shared, monkeypatch):
    """The same in what reads, with a cause."""

    def failing(*_, **__):
        try:
            raise KeyError(HIDDEN[3])
        except KeyError as error:
            raise OSError(f"{HIDDEN[4]}: no such file") from error

    monkeypatch.setattr(access, "arrow", failing)


def broken_policy(shared, monkeypatch):
    """A file that is no policy any more."""
    shared.policy.write_text("principals: [")


@pytest.mark.parametrize("fault", [broken_file, failing_order, failing_arrow, broken_policy])
def test_no_failure_tells_a_hidden_value(shared, tmp_path, caplog, capfd, monkeypatch, fault):
    with caplog.at_level(1), serve(shared) as address:
        client = logged_in(address, "ann")
        fault(shared, monkeypatch)
        answers = [client.get("/table", params=PAGES[0])]
        answers += [client.post("/graphql", json={"query": question}) for question in QUESTIONS[:2]]
    assert answers[0].status_code in (500, 503)
    assert "tables cannot be opened at the moment" in answers[0].text and "errors" in answers[1].json()
    assert "nothing was answered: " in caplog.text
    assert canaries.found(HIDDEN, *everything(answers, caplog, capfd, tmp_path)) == []


def test_a_planted_leak_is_seen(shared, tmp_path, caplog, capfd, monkeypatch):
    """Each was red without what keeps it out: a log of errors' words, rows beside the visible ones, a packed file."""
    with caplog.at_level(1), serve(shared) as address:
        client = logged_in(address, "ann")
        failing_order(shared, monkeypatch)
        with monkeypatch.context() as patch:
            patch.setattr(schema, "owned", str)
            logged = [client.get("/table", params=PAGES[0])]
        assert {word for word, _ in canaries.found(HIDDEN, caplog.text, *texts(logged))} == {HIDDEN[1]}
    monkeypatch.undo()
    with serve(shared) as address:
        client = logged_in(address, "ann")
        text = access_cases.POLICY.replace("columns: [uid, state, city, born_year]", "all_but: [address]")
        access_cases.written(tmp_path, text)
        answer = client.post("/graphql", json={"query": QUESTIONS[1]})
    shown = {word for word, _ in canaries.found(HIDDEN, *texts([answer]))}
    assert shown == {HIDDEN[number] for number in (1, 2, 4, 5)}
    (tmp_path / "packed").write_bytes(gzip.compress(json.dumps({"a": HIDDEN[8]}).encode()))
    assert [word for word, _ in canaries.found(HIDDEN, tmp_path / "packed")] == [HIDDEN[8]]


def test_a_program_asks_by_a_name_and_a_password(shared):
    with serve(shared) as address:
        answer = asking.log_in(address, "ann", PASSWORDS["ann"])(QUESTIONS[1])
        assert [row["cells"][1] for row in answer["data"]["table"]["rows"]["rows"]][-1]["text"] == SEEN[0]
        with pytest.raises(ArgumentError, match="does not let ann in: status 401"):
            asking.log_in(address, "ann", "another password")
