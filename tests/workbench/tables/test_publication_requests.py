"""A publication on a REST catalog: how often it asks for the table, and what the catalog itself refuses.

It needs the environment `rest`, whose catalog is asked through a proxy that counts and holds requests.
"""

import threading

import pytest
from bench import proxied
from bench import publication as counting
from conftest import ENVIRONMENT

from workbench.tables import commits, publication
from workbench_standins import kinesis, proxy

pytestmark = pytest.mark.skipif(ENVIRONMENT != "rest", reason="the part publication-rest sets the environment")


@pytest.fixture(scope="module")
def behind():
    """A session whose catalog is asked through a proxy, and the proxy."""
    with proxied.behind("rest", "uri") as through:
        yield through


def test_an_idle_table_is_loaded_four_times_at_most(behind):
    spark, catalog = behind
    with kinesis.serve(limits=kinesis.UNLIMITED) as server:
        figures = counting.count(spark, catalog, server)
    loads = {name: [requests["loads"] for requests in rounds] for name, rounds in figures.items()}
    assert {name: max(counts) for name, counts in loads.items()} == {
        "wap.run": 4, "streams.ingest, the second batch of a run": 4, "history.build": 4,
    }  # fmt: skip


@pytest.mark.parametrize("other", ["main", "the branch", "a property"])
def test_what_moves_between_the_look_and_the_commit(behind, spark, other):
    """The commit that moves main stands before the catalog while another session commits to the same table."""
    through, catalog = behind
    table = f"bench.race_{other.replace(' ', '_')}"
    through.sql(f"CREATE TABLE {table} (id BIGINT)")
    through.sql(f"INSERT INTO {table} VALUES (1)")
    base = publication.stage(through, table, "b").base_snapshot_id
    through.sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    to = commits.head(commits.load(through, table), "b")
    outcome = []

    def publish():
        try:
            outcome.append(
                commits.fast_forward(through, table, to=to, expected=base, branch="b", known=True).value
            )
        except Exception as error:
            outcome.append(error)

    statement = {
        "main": f"INSERT INTO {table} VALUES (3)",
        "the branch": f"INSERT INTO {table}.branch_b VALUES (3)",
        "a property": f"ALTER TABLE {table} SET TBLPROPERTIES ('a' = 'b')",
    }[other]
    with catalog.hold(None, proxy.Match(method="POST", path=f"/**/tables/{table.split('.')[1]}")) as held:
        thread = threading.Thread(target=publish)
        thread.start()
        held.wait()
        spark.sql(statement)  # not through the proxy
    thread.join()
    spark.sql(f"REFRESH TABLE {table}")
    rows = sorted(row.id for row in spark.table(table).collect())
    if other == "a property":
        assert (outcome, rows) == ([to], [1, 2])
    elif other == "main":
        assert type(outcome[0]) is commits.MainMoved and rows == [1, 3]
    else:
        assert type(outcome[0]) is commits.BranchMoved and rows == [1]
        assert commits.head(commits.load(spark, table), "b") not in (None, to)
