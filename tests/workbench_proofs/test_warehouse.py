"""Revenue by segment by Spark, DuckDB and a real PostgreSQL: the walkthrough's question, equal to the cent."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
import sqlglot
from conftest import ROOT
from google.auth.transport.requests import AuthorizedSession
from google.oauth2 import service_account

from workbench import pulls
from workbench.pulls import sheets
from workbench_proofs import segments, tpch, warehouse
from workbench_standins import google

SCALE, SEED, SPACE = 0.01, 1, "pull_a_sheet"
SEGMENTS = {"n_nationkey": "INT PRIMARY KEY", "n_marketsegment": "VARCHAR(255)"}
WITNESS = "notebook 15 asks Spark and DuckDB for the same revenue"


def statement():
    """The walkthrough's question, in Redshift's SQL, as notebook 15 has it."""
    cells = json.loads((ROOT / "notebooks" / "15_pull_a_sheet.ipynb").read_text(encoding="utf-8"))["cells"]
    asked = [source for cell in cells if (source := "".join(cell["source"])).startswith('STATEMENT = """')]
    assert len(asked) == 1
    return asked[0].split('"""')[1]


def in_dialect(engine):
    return sqlglot.transpile(statement(), read="redshift", write=engine, pretty=True)[0]


def test_the_page_shows_the_statement_as_it_is_asked():
    page = (Path(ROOT) / "docs" / "pulls.md").read_text(encoding="utf-8")
    assert in_dialect("postgres") in page


def planted(rows):
    return [(row["n_nationkey"], row["n_marketsegment"]) for row in rows]


def by_spark(spark, namespace, data, rows):
    """Revenue from a table that was pulled from a sheet."""
    spark.sql(
        f"CREATE TABLE {namespace}.nation_segments (n_nationkey INT, n_name STRING, n_regionkey INT, "
        "n_marketsegment STRING, since DATE, budget DECIMAL(12,2)) USING iceberg"
    )
    with google.serve() as server:
        server.set_book("nations", {segments.TITLE: segments.tab(rows)})
        known = service_account.Credentials.from_service_account_info(server.credentials(), scopes=[sheets.SCOPE])
        ask = sheets.tab(
            AuthorizedSession(known), "nations", segments.TITLE, segments.COLUMNS, endpoint=server.endpoint
        )
        pulls.whole(spark, f"{namespace}.nation_segments", source="nations", ask=ask, key=["n_nationkey"])
    tpch.load(spark, data, namespace)
    return dict(spark.sql(in_dialect("spark").replace(SPACE, namespace)).collect())


def by_duckdb(data, rows):
    with tpch.connect(data, schema=SPACE) as duck:
        duck.execute(f"CREATE TABLE {SPACE}.nation_segments (n_nationkey INT, n_marketsegment VARCHAR)")
        duck.executemany(f"INSERT INTO {SPACE}.nation_segments VALUES (?, ?)", planted(rows))
        return dict(duck.execute(in_dialect("duckdb")).fetchall())


def by_postgres(postgres):
    return {segment: Decimal(revenue) for segment, revenue in postgres.query(in_dialect("postgres"))}


@pytest.mark.proof(WITNESS)
def test_three_engines_to_the_cent(spark, namespace):
    data, rows = tpch.generate(SCALE), segments.rows(seed=SEED)
    asked = by_spark(spark, namespace, data, rows)
    with warehouse.serve() as postgres:
        warehouse.load_tpch(postgres, data, schema=SPACE)
        postgres.load(f"{SPACE}.nation_segments", SEGMENTS, planted(rows))
        answered = by_postgres(postgres)
        assert answered == asked == by_duckdb(data, rows)
        assert len(answered) == 5 and all(revenue.as_tuple().exponent == -4 for revenue in answered.values())
        totals = postgres.query(f"SELECT sum(l_extendedprice * (1 - l_discount)) FROM {SPACE}.lineitem")
        assert Decimal(totals[0][0]) == sum(answered.values())
        a_nation_twice(postgres, rows, asked)
        assert postgres.query("SHOW server_version")[0][0].startswith("18.")
    assert not Path(postgres.uri.partition("host=")[2]).exists()


def a_nation_twice(postgres, rows, asked):
    """The planted fault: PostgreSQL refuses the key, Redshift does not; without it the revenue is another one."""
    twice = [*planted(rows), planted(rows)[3]]
    with pytest.raises(ChildProcessError, match="duplicate key value violates unique constraint"):
        postgres.load(f"{SPACE}.held", SEGMENTS, twice)
    assert postgres.query("SELECT to_regclass('pull_a_sheet.held')") == [("",)]
    postgres.query(f"DROP TABLE {SPACE}.nation_segments")
    postgres.load(f"{SPACE}.nation_segments", {"n_nationkey": "INT", "n_marketsegment": "VARCHAR(255)"}, twice)
    doubled = by_postgres(postgres)
    assert [name for name in asked if doubled[name] != asked[name]] == [twice[-1][1]]


@pytest.mark.proof(WITNESS)
def test_what_postgres_refuses_is_a_sentence():
    with warehouse.serve() as postgres:
        with pytest.raises(ChildProcessError, match="PostgreSQL refused 'SELECT nothing': .*does not exist"):
            postgres.query("SELECT nothing")
        postgres.load("texts", {"n": "INT", "t": "TEXT"}, [(1, 'CÔTE "D’IVOIRE", 7'), (2, None)])
        assert postgres.query("TABLE texts ORDER BY n") == [("1", 'CÔTE "D’IVOIRE", 7'), ("2", "")]
