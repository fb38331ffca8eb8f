"""Commits of two PyIceberg writers through the proxy against a real REST catalog: order, lost answers, failures."""

import concurrent.futures

import pyarrow as pa
import pytest
from proxy_upstreams import KEYS, SECRETS, weed

from workbench_standins import proxy
from workbench_standins.proxy import COMMIT, Rule


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with weed(tmp_path_factory.mktemp("weed")) as found:
        yield found


@pytest.fixture(scope="module")
def between(store):
    with proxy.between(store.catalog, clients=["a", "b"]) as found:
        yield found


@pytest.fixture(scope="module")
def catalogs(store, between):
    """A catalog for each writer, through its own port; data files go straight to S3."""
    from pyiceberg.catalog import load_catalog

    found = {
        name: load_catalog(
            "lake", type="rest", uri=between.endpoint_of(name), warehouse="s3://warehouse",
            credential=f"{KEYS[name]}:{SECRETS[name]}",
            **{"oauth2-server-uri": between.endpoint_of(name) + "/v1/oauth/tokens", "s3.endpoint": store.s3, "s3.access-key-id": KEYS[name], "s3.secret-access-key": SECRETS[name],
               "s3.region": "us-east-1", "s3.path-style-access": "true"},
        )
        for name in KEYS
    }  # fmt: skip
    found["a"].create_namespace("race")
    return found


@pytest.fixture
def tables(between, catalogs, request):
    """The same new table in the hands of both writers, with one row, x = 0."""
    between.play([])
    name = f"race.{request.node.name.partition('[')[0]}"
    made = catalogs["a"].create_table(name, rows(0).schema)
    made.append(rows(0))
    return {who: catalog.load_table(name) for who, catalog in catalogs.items()}


def rows(*values):
    return pa.table({"x": pa.array(values, pa.int64())})


def stored(table):
    return sorted(table.refresh().scan().to_arrow()["x"].to_pylist())


def commits(between, place):
    """The commits from a place of the log on: (client, what the catalog said)."""
    return [(one.client, one.status) for one in between.log[place:] if COMMIT.meets(None, one.method, one.path)]


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "a")])
def test_the_order_of_two_commits_is_the_one_that_was_asked_for(between, catalogs, first, second, request):
    catalogs["a"].create_table(f"race.order_{first}", rows(0).schema)
    tables = {who: catalog.load_table(f"race.order_{first}") for who, catalog in catalogs.items()}
    place = len(between.log)
    with concurrent.futures.ThreadPoolExecutor() as threads:
        with between.hold(second, COMMIT) as held:
            late = threads.submit(tables[second].append, rows(2))
            assert held.wait(90).method == "POST"
            tables[first].append(rows(1))
        late.result(90)
    # the second was refused, looked again and committed on top of the first
    assert commits(between, place) == [(first, 200), (second, 409), (second, 200)]
    history = [snapshot.summary["total-records"] for snapshot in tables[first].refresh().snapshots()]
    assert (history, stored(tables[first])) == (["1", "2"], [1, 2])
    newest = tables[first].scan(snapshot_id=tables[first].current_snapshot().parent_snapshot_id).to_arrow()
    assert newest["x"].to_pylist() == [1]


def test_a_commit_whose_answer_is_lost_took_effect(between, tables):
    from requests.exceptions import ConnectionError as Lost

    place = len(between.log)
    between.play([Rule("lose_answer", COMMIT.of("a"))])
    with pytest.raises(Lost):
        tables["a"].append(rows(1))
    assert (commits(between, place), stored(tables["b"])) == ([("a", 200)], [0, 1])


@pytest.mark.parametrize(("do", "there"), [("fail", [0]), ("fail_answer", [0, 1])])
def test_an_unknown_outcome_is_one(between, catalogs, do, there):
    """The catalog says 504 in both cases, and the writer cannot know which it was."""
    from pyiceberg.exceptions import CommitStateUnknownException

    between.play([])
    table = catalogs["a"].create_table(f"race.{do}", rows(0).schema)
    table.append(rows(0))
    between.play([Rule(do, COMMIT, status=504)])
    with pytest.raises(CommitStateUnknownException, match="504 by the script of the ordering proxy"):
        table.append(rows(1))
    assert stored(catalogs["b"].load_table(f"race.{do}")) == there


def test_a_commit_lands_after_its_writer_gave_up(between, tables):
    """The trap of looking for one's own marker: it is not there, and comes later."""
    import requests

    held = between.hold("a", COMMIT)
    session = tables["a"].catalog._session
    whole = session.send
    session.send = lambda request, **options: whole(request, **(options | {"timeout": 0.3}))
    try:
        with pytest.raises(requests.exceptions.ReadTimeout):
            tables["a"].append(rows(1))
    finally:
        del session.send
    assert stored(tables["b"]) == [0]
    held.release()
    assert [line.status for line in held.done(90)] == [200]
    assert stored(tables["b"]) == [0, 1]
