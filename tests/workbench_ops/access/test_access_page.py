"""The page: who gets in, what is seen, and that nothing hidden is in any answer. A real server, a real client."""

import dataclasses
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pyarrow as pa
import pytest
from access_pages import PASSWORDS, access_cases

from workbench import access
from workbench_ops.access import current
from workbench_ops.access.page import app, cursors, rows, sessions, sharing, users
from workbench_ops.access.page.serving import serve

pytest_plugins = ["access_pages"]
HIDDEN = (  # long enough to be no part of a random token by chance
    "Bodhild", "Carrington", "Cyprian", "Dunnigan", "Dionysia",
    "1 Mill Lane", "2 Rue Haute", "3 Havnegata", "4 High Street",
)  # fmt: skip


def csrf_of(text):
    return re.search(r'name="csrf" value="([^"]+)"', text)[1]


def logged_in(address, name):
    client = httpx.Client(timeout=120, base_url=address, follow_redirects=True)
    form = client.get("/")
    values = {"name": name, "password": PASSWORDS.get(name, PASSWORDS["bob"]), "csrf": csrf_of(form.text)}
    answer = client.post("/log-in", data=values)
    assert answer.status_code == 200
    client.headers["X-CSRF"] = csrf_of(answer.text)
    return client


def ask(client, query, **variables):
    return client.post("/graphql", json={"query": query, "variables": variables})


ROWS = """query ($order: [OrderBy!], $first: Int! = 20, $after: String, $complete: Boolean! = false) {
  table(name: "people.users") { rows(orderBy: $order, first: $first, after: $after, complete: $complete) {
    total next rows { cells { column text hidden } } } } }"""


def cells(answer):
    return [
        {cell["column"]: "hidden" if cell["hidden"] else cell["text"] for cell in row["cells"]}
        for row in answer.json()["data"]["table"]["rows"]["rows"]
    ]


def test_a_reader_sees_cells_and_the_reasons(address):
    client = logged_in(address, "ann")
    page = client.get("/table", params={"name": "people.users", "order": "uid"})
    assert page.status_code == 200
    assert page.text.count("<details>") == 6
    assert "name is shown to you where &#34;state&#34; = &#39;united kingdom&#39;" in page.text
    assert "6 of 24 cells are hidden from you" in page.text
    assert not [value for value in HIDDEN if value in page.text]
    assert "address" not in page.text


def test_the_rows_of_graphql_are_those_of_the_policy(address):
    answer = ask(logged_in(address, "ann"), ROWS, order=[{"column": "uid", "descending": True}])
    assert cells(answer) == [
        {"uid": "4", "name": "hidden", "surname": "hidden", "state": "united kingdom ", "city": "bath", "born_year": "1990"},
        {"uid": "3", "name": "hidden", "surname": "hidden", "state": None, "city": "oslo", "born_year": None},
        {"uid": "2", "name": "hidden", "surname": "hidden", "state": "france", "city": "lyon", "born_year": "1981"},
        {"uid": "1", "name": "Ann", "surname": "Bell", "state": "united kingdom", "city": "leeds", "born_year": "1970"},
    ]  # fmt: skip
    assert not [value for value in HIDDEN if value in answer.text]


def test_a_question_loads_a_table_once(shared):
    loads = []

    def counted():
        catalog = shared.catalog()
        load = catalog.load_table
        catalog.load_table = lambda name: loads.append(name) or load(name)
        return catalog

    with serve(dataclasses.replace(shared, catalog=counted)) as address:
        client = logged_in(address, "ann")
        question = (
            '{ table(name: "people.users") { columns { name } a: rows { total } b: rows(first: 1) { total } } }'
        )
        answer = ask(client, question).json()["data"]["table"]
        assert (answer["a"], answer["b"], len(answer["columns"])) == ({"total": 4}, {"total": 4}, 6)
        assert loads == [("people", "users")]
        client.get("/table", params={"name": "people.users"})
        assert len(loads) == 2


def test_complete_rows_are_those_without_hidden_cells_and_null_is_not_hidden(address):
    of_user1 = cells(ask(logged_in(address, "ann"), ROWS, complete=True))
    assert [row["uid"] for row in of_user1] == ["1"]
    of_user2 = cells(ask(logged_in(address, "bob"), ROWS, complete=True))
    assert [row["uid"] for row in of_user2] == ["1", "2", "3", "4"]


def test_pages_read_one_version_whatever_is_written_meanwhile(address, shared):
    client = logged_in(address, "bob")
    first = ask(client, ROWS, first=3).json()["data"]["table"]["rows"]
    shared.catalog().load_table("people.users").append(
        pa.Table.from_pylist([{"uid": 0, "name": "New"}], access_cases.USER_TYPES)
    )
    second = ask(client, ROWS, first=3, after=first["next"]).json()["data"]["table"]["rows"]
    uids = [row["cells"][0]["text"] for row in first["rows"] + second["rows"]]
    assert (uids, second["next"], second["total"]) == (["1", "2", "3", "4"], None, 4)
    assert len(cells(ask(client, ROWS))) == 5


def test_an_order_by_hidden_cells_tells_nothing_of_them(address):
    ordered = cells(ask(logged_in(address, "ann"), ROWS, order=[{"column": "name"}]))
    assert [row["uid"] for row in ordered] == ["2", "3", "4", "1"]  # hidden as NULL, then by uid


@pytest.mark.parametrize("column", ["address", "_hidden", "place", "no such column", '"; DROP TABLE governed'])
def test_an_order_by_what_a_reader_does_not_see_is_refused_alike(address, column):
    answer = ask(logged_in(address, "ann"), ROWS, order=[{"column": column}]).json()
    assert answer["errors"][0]["message"] == (
        f"{column!r} is not a column to order by; columns are uid, name, surname, state, city, born_year"
    )


def test_a_hidden_table_and_a_missing_one_are_refused_by_the_same_words(address):
    client = logged_in(address, "ann")
    for name in ("sales.customer", "no.such", 'x"y', "people.users.files", "../etc"):
        page = client.get("/table", params={"name": name})
        assert page.status_code == 404
        question = ask(client, "query ($name: String!) { table(name: $name) { columns { name } } }", name=name)
        assert question.json()["errors"][0]["message"] == f"there is no table {name} that user1 may read"
    assert ask(client, "{ tables { name } }").json()["data"]["tables"] == [{"name": "people.users"}]
    assert ask(logged_in(address, "none"), "{ tables { name } }").json()["data"]["tables"] == []


def test_nobody_gets_in_without_a_session(address):
    client = httpx.Client(timeout=120, base_url=address)
    assert client.get("/table", params={"name": "people.users"}).status_code == 403
    assert ask(client, ROWS).status_code == 403
    client.cookies.set(app.COOKIE, "forged")
    assert client.get("/table", params={"name": "people.users"}).status_code == 403


def test_a_log_in_needs_its_form_and_the_right_password(address):
    client = httpx.Client(timeout=120, base_url=address)
    csrf = csrf_of(client.get("/").text)
    right = {"name": "ann", "password": PASSWORDS["ann"]}
    without = client.post("/log-in", data=right | {"csrf": csrf[::-1]})
    assert without.status_code == 403
    wrong = client.post("/log-in", data=right | {"password": "wrong" * 4, "csrf": csrf_of(without.text)})
    unknown = client.post("/log-in", data=right | {"name": "eve", "csrf": csrf_of(wrong.text)})
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert app.WRONG in wrong.text
    assert app.WRONG in unknown.text


def test_the_cookie_is_another_after_the_log_in_and_no_script_reads_it(address):
    client = httpx.Client(timeout=120, base_url=address)
    form = client.get("/")
    before = client.cookies[app.COOKIE]
    answer = client.post("/log-in", data={"name": "ann", "password": PASSWORDS["ann"], "csrf": csrf_of(form.text)})
    assert client.cookies[app.COOKIE] != before
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    client.cookies.clear()
    client.cookies.set(app.COOKIE, before)
    assert client.get("/table", params={"name": "people.users"}).status_code == 403


def test_after_five_wrong_passwords_a_name_waits(address):
    client = httpx.Client(timeout=120, base_url=address)
    text = client.get("/").text
    for _ in range(sessions.TRIES):
        text = client.post("/log-in", data={"name": "ann", "password": "no", "csrf": csrf_of(text)}).text
    late = client.post("/log-in", data={"name": "ann", "password": PASSWORDS["ann"], "csrf": csrf_of(text)})
    assert late.status_code == 429
    assert "too many wrong passwords" in late.text


def test_many_tries_at_once_are_no_more_than_one_by_one(address):
    client = httpx.Client(timeout=120, base_url=address)
    form = csrf_of(client.get("/").text)
    wrong = {"name": "ann", "password": "no", "csrf": form}
    cookies = dict(client.cookies)
    with ThreadPoolExecutor(3 * sessions.TRIES) as pool:
        tries = [pool.submit(httpx.post, f"{address}/log-in", data=wrong, cookies=cookies, timeout=120)
                 for _ in range(3 * sessions.TRIES)]  # fmt: skip
        codes = [each.result().status_code for each in tries]
    assert (codes.count(401), codes.count(429)) == (sessions.TRIES, 2 * sessions.TRIES)


def test_who_asks_for_many_forms_ends_no_readers_session(monkeypatch):
    monkeypatch.setattr(sessions, "MOST", 3)
    kept = sessions.Sessions()
    token, _ = kept.begin("ann", "kept")
    forms = [kept.begin()[0] for _ in range(5)]
    assert kept.find(token).user == "ann"
    assert [kept.find(form) is not None for form in forms] == [False, False, True, True, True]


def test_a_log_out_ends_the_session_at_the_server(address):
    client = logged_in(address, "ann")
    stolen = client.cookies[app.COOKIE]
    assert client.post("/log-out", data={"csrf": "another"}).status_code == 403
    client.post("/log-out", data={"csrf": client.headers["X-CSRF"]})
    client.cookies.set(app.COOKIE, stolen)
    assert client.get("/table", params={"name": "people.users"}).status_code == 403


def test_questions_of_another_page_are_refused(address):
    client = logged_in(address, "ann")
    assert ask(client, ROWS).status_code == 200
    other = client.post("/graphql", json={"query": ROWS}, headers={"Origin": "http://elsewhere.example"})
    without = httpx.Client(timeout=120, base_url=address, cookies=client.cookies).post(
        "/graphql", json={"query": ROWS}
    )
    assert (other.status_code, without.status_code) == (403, 403)
    assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400


@pytest.mark.parametrize(
    "change",
    [
        lambda shared: users.remove(shared.users, "ann"),
        lambda shared: users.add(shared.users, "ann", principal="user1", password="another password now"),
    ],
)
def test_a_user_who_is_gone_or_has_another_password_is_out_with_the_next_request(address, shared, change):
    client = logged_in(address, "ann")
    change(shared)
    assert client.get("/table", params={"name": "people.users"}).status_code == 403


def test_a_grant_that_is_taken_away_is_gone_with_the_next_page(address, shared):
    client = logged_in(address, "ann")
    place = ask(client, ROWS, first=2).json()["data"]["table"]["rows"]["next"]
    text = access_cases.POLICY.replace("all_but: [address], filter: uk", "columns: [uid]")
    shared.policy.write_text(text)
    assert [sorted(row) for row in cells(ask(client, ROWS, after=place))] == [
        ["born_year", "city", "state", "uid"]
    ] * 2


@pytest.mark.parametrize(
    "text", ["principals: {", "", access_cases.POLICY.replace("to: user1", "to: nobody_known")]
)
def test_a_broken_policy_opens_nothing_and_says_nothing(address, shared, text):
    client = logged_in(address, "ann")
    shared.policy.write_text(text)
    page = client.get("/table", params={"name": "people.users"})
    assert page.status_code == 503
    assert "tables cannot be opened at the moment; ask their owner" in page.text
    assert "people" not in page.text
    assert (
        ask(client, ROWS).json()["errors"][0]["message"]
        == "tables cannot be opened at the moment; ask their owner"
    )


def test_a_column_that_takes_the_name_of_a_visible_one_stays_hidden(address, shared):
    table = shared.catalog().load_table("people.users")
    with table.update_schema() as update:
        update.rename_column("city", "town")
    with table.update_schema() as update:
        update.rename_column("address", "city")
    client = logged_in(address, "ann")
    page = client.get("/table", params={"name": "people.users"})
    assert "leeds" in page.text
    assert not [value for value in HIDDEN if value in page.text]


def test_a_column_that_was_dropped_is_gone_though_no_snapshot_came(address, shared):
    client = logged_in(address, "bob")
    place = ask(client, ROWS, first=2).json()["data"]["table"]["rows"]["next"]
    with shared.catalog().load_table("people.users").update_schema() as update:
        update.delete_column("address")
    for answer in (ask(client, ROWS), ask(client, ROWS, after=place)):
        assert "Lane" not in answer.text
        assert {cell["column"] for cell in answer.json()["data"]["table"]["rows"]["rows"][0]["cells"]} == {
            "uid", "name", "surname", "state", "city", "born_year"
        }  # fmt: skip


def test_a_table_that_is_too_large_by_hidden_rows_is_not_told_to_be(address, shared, monkeypatch):
    """Four rows, of which a reader sees as many as the filter lets through: the limit counts all."""
    monkeypatch.setattr(rows, "LARGEST", 3)
    whole = ask(logged_in(address, "bob"), ROWS).json()["errors"][0]["message"]
    assert whole == "the page reads tables of at most 3 rows; ask this one through the front"
    text = access_cases.POLICY.replace(
        "  - {to: user1, by: owner, table: people.users, columns: [uid, state, city, born_year]}\n", ""
    )
    shared.policy.write_text(text)
    part = ask(logged_in(address, "ann"), ROWS).json()["errors"][0]["message"]
    assert part == "tables cannot be opened at the moment; ask their owner"


def test_a_policy_that_is_written_while_it_is_read_is_not_kept(shared, monkeypatch):
    first = shared.policy.read_text()
    plain = access.read

    def late(path):
        shared.policy.write_text(first.replace("all_but: [address]", "all_but: [uid]"))
        return plain(path)

    monkeypatch.setattr(access, "read", late)
    with pytest.raises(ValueError, match="was written while it was read"):
        current.policy(shared.policy)
    monkeypatch.setattr(access, "read", plain)
    shared.policy.write_text(first)
    assert current.policy(shared.policy).grants[-2].all_but == ("address",)


def test_rows_are_numbered_beside_columns_of_any_name():
    names = ["Place", "place_", "_hidden"]
    governed = pa.table([pa.array([2, 1]), pa.array(["b", "a"]), pa.array([[], []], pa.list_(pa.string()))], names)
    assert rows._places(governed, ['"Place" ASC NULLS FIRST'], 5, 0, False) == ([1, 0], 2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{ __schema { types { name } } }", "introspection"),
        ("{ tables { rows { rows { cells { column { a { b } } } } } } }", "selection|depth"),
        ("{ " + " ".join(f"a{i}: tables {{ name }}" for i in range(6)) + " }", "alias"),
        ("{ " + " ".join(["tables { name }"] * 200) + " }", "token"),
        ("{ tables { name ", "Syntax Error"),
    ],
)  # fmt: skip
def test_questions_that_are_too_deep_too_many_or_no_questions(address, query, message):
    answer = ask(logged_in(address, "ann"), query)
    assert re.search(message, answer.json()["errors"][0]["message"], re.I), answer.text


@pytest.mark.parametrize(
    ("query", "variables", "message"),
    [
        ("{ ...zz }", {}, "this question cannot be read"),
        ("", {}, "this question cannot be read"),
        ("fragment a on Query { __typename }", {}, "this question cannot be read|never used"),
        ("{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }", {}, "Cannot spread fragment 'a' within"),
        ("query ($first: Int!) { tables { rows(first: $first) { total } } }", {"first": 1.5}, "non-integer value: 1.5"),
    ],
)  # fmt: skip
def test_a_question_that_is_none_is_told_so_and_not_that_tables_are_closed(address, query, variables, message):
    answer = ask(logged_in(address, "ann"), query, **variables)
    told = [error["message"] for error in answer.json()["errors"]]
    assert any(re.search(message, text) for text in told), told
    assert not any(text.startswith(("'", "tables cannot be opened")) for text in told)


def test_deep_fragments_are_refused(address):
    fragments = "fragment a on Table { rows { rows { ...b } } } fragment b on Row { cells { text } }"
    client = logged_in(address, "ann")
    fine = ask(client, '{ table(name: "people.users") { ...a } } ' + fragments)
    assert "errors" not in fine.json()


def test_fragments_that_double_are_refused_before_they_are_measured(address):
    """Each spreads the next one twice: of thirty, the depth alone would take days."""
    doubling = " ".join(f"fragment a{n} on Query {{ ...a{n + 1} ...a{n + 1} }}" for n in range(30))
    answer = ask(logged_in(address, "ann"), f"{{ ...a0 }} {doubling} fragment a30 on Query {{ __typename }}")
    assert answer.json()["errors"][0]["message"] == "a question has at most 10 fragments that are used"


def test_a_question_writes_no_line_of_the_owners_log(address, caplog):
    query = "query ($name: String!) { table(name: $name) { name } }"
    answer = ask(logged_in(address, "ann"), query, name="x\n2026-11-29 bob read people.users: snapshot 1")
    assert "may read" in answer.json()["errors"][0]["message"]
    assert not [record for record in caplog.records if "bob read" in record.getMessage()]


def test_half_of_a_pair_is_answered_as_it_was_asked(address):
    body = '{"query": "query ($n: String!) { table(name: $n) { name } }", "variables": {"n": "\\ud800"}}'
    answer = logged_in(address, "ann").post("/graphql", content=body)
    assert (answer.status_code, "\\ud800 that user1 may read" in answer.text) == (200, True)


def test_a_defect_is_a_page_as_others(address, monkeypatch):
    client = logged_in(address, "ann")
    monkeypatch.setattr(rows, "part", lambda *given, **more: 1 // 0)
    answer = client.get("/table", params={"name": "people.users"})
    assert answer.status_code == 503
    assert "tables cannot be opened at the moment; ask their owner" in answer.text
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", '{"query": 1}', "null", '{"query": "{ tables { name } }", "variables": []}',
        '{"query": ' + "[" * 50_000,
    ],
)  # fmt: skip
def test_what_is_not_a_question_is_refused(address, body):
    client = logged_in(address, "ann")
    answer = client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["message"]


def test_every_answer_forbids_scripts_frames_and_caches(address):
    client = logged_in(address, "ann")
    answers = [client.get("/"), client.get("/table", params={"name": "people.users"}), client.get("/nowhere")]
    answers += [client.get("/style.css"), ask(client, ROWS), client.post("/log-in", content="x" * 70_000)]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "no-store" in answer.headers["cache-control"]
    assert answers[-1].status_code == 413


def test_values_are_never_markup(address, shared):
    row = {"uid": 9, "name": "<script>alert(1)</script>", "city": "</td><img src=x>"}
    shared.catalog().load_table("people.users").append(pa.Table.from_pylist([row], access_cases.USER_TYPES))
    page = logged_in(address, "bob").get("/table", params={"name": "people.users"})
    assert "<script" not in page.text
    assert "<img" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text


def test_places_are_the_servers_own(address):
    client = logged_in(address, "ann")
    place = ask(client, ROWS, first=1).json()["data"]["table"]["rows"]["next"]
    other = logged_in(address, "bob")
    said = ask(other, ROWS, after=place).json()["errors"][0]["message"]
    assert said == "this place in a table was given to somebody else; begin anew"
    for forged in (place[:-4] + "AAAA", "x", "", "é"):
        said = ask(client, ROWS, after=forged).json()["errors"][0]["message"]
        assert said == "this place in a table is not one that this server has given; begin anew"


def test_a_place_is_too_old_after_a_quarter_of_an_hour():
    now = [0.0]
    kept = cursors.Cursors(lambda: now[0])
    cursor = cursors.Cursor("people.users", 7, (("uid", True),), False, 20)
    text = kept.text(cursor, "ann")
    assert kept.read(text, "ann") == cursor
    now[0] = cursors.SECONDS + 1
    with pytest.raises(ValueError, match="too old"):
        kept.read(text, "ann")


def test_sessions_end_by_time_and_give_way():
    now = [0.0]
    kept = sessions.Sessions(lambda: now[0])
    token, _ = kept.begin("ann", "kept")
    for _ in range(3):
        now[0] += sessions.IDLE
        assert kept.find(token)
    now[0] += sessions.IDLE + 1
    assert kept.find(token) is None
    token, _ = kept.begin("ann", "kept")
    while now[0] < 20 * sessions.LONGEST and kept.find(token):
        now[0] += sessions.IDLE
    assert now[0] < 2 * sessions.LONGEST


def test_a_file_of_users_that_others_can_read_is_refused(shared):
    assert shared.users.stat().st_mode & 0o777 == 0o600
    assert not [password for password in PASSWORDS.values() if password in shared.users.read_text()]
    shared.users.chmod(0o640)
    with pytest.raises(sharing.Closed, match="can be read or written by others"):
        app.build(shared)


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [("", "long enough to be one", "is not a user's name"), ("a\nb", "long enough to be one", "is not a user's name"),
     ("ann", "short", "12 to 1024 characters, found 5")],
)  # fmt: skip
def test_bad_users_are_refused(tmp_path, name, password, sentence):
    with pytest.raises(ValueError, match=sentence):
        users.add(tmp_path / "users.yml", name, principal="user1", password=password)
    assert not (tmp_path / "users.yml").exists()


@pytest.mark.parametrize(
    "text",
    ["users: []", "people: {}", "users: {ann: {principal: user1}}", "users: {ann: {principal: user1, password: plain}}",
     "users: {ann: {principal: user1, password: 'scrypt$4$8$1$AAAA$AAAA'}}"],
)  # fmt: skip
def test_a_file_of_users_that_is_not_one_is_refused(tmp_path, text):
    path = tmp_path / "users.yml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ValueError, match=r"users\.yml: "):
        users.read(path)


def test_users_added_at_once_are_all_there(tmp_path):
    path = tmp_path / "users.yml"
    threads = [
        threading.Thread(
            target=users.add, args=(path, f"user{i}"), kwargs={"principal": "p", "password": "x" * 12}
        )
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(users.read(path)) == [f"user{i}" for i in range(8)]


def test_cells_lose_nothing():
    assert [rows.text(value) for value in (2**63 - 1, 0.1, float("nan"), True, b"\x00\xff", None, "", {"a": [1, None]})] == [
        "9223372036854775807", "0.1", "NaN", "true", "AP8=", None, "", '{"a": [1, null]}'
    ]  # fmt: skip
    assert json.loads(rows.text([{"at": b"\x01"}])) == [{"at": "AQ=="}]
