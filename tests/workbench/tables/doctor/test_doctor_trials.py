"""A trial says what a cure would bring, and leaves the table as it is, to the byte."""

from pathlib import Path

import pytest
from conftest import PROVE
from digests import digest
from doctor_cases import LATER, LONG, POLICY

from workbench.data import sick
from workbench.tables import commits, doctor

ROWS = 20_000


def state(spark, table):
    """The metadata file, and each file of the table with its bytes; on the local environment."""
    spark.sql(f"REFRESH TABLE {table}")
    loaded = commits.load(spark, table)
    folder = Path(loaded.location().removeprefix("file:").replace("//", "/"))
    files = {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return loaded.operations().current().metadataFileLocation(), files


def beside(spark, table):
    folder = Path(commits.load(spark, table).location().removeprefix("file:").replace("//", "/"))
    return sorted(path.name for path in folder.parent.iterdir())


LONG_ONES = [
    pytest.param(make, marks=LONG) for make in (sick.crossed_out, sick.forgotten, sick.dripped, sick.shredded)
]


@pytest.mark.parametrize("make", [sick.shuffled, *LONG_ONES])
def test_the_table_is_untouched_to_the_byte(spark, namespace, make):
    made = make(spark, namespace, rows=ROWS)
    # a table that deletes its old metadata with each commit would lose them to the twin's commits
    for n in range(2):
        more = {"write.metadata.delete-after-commit.enabled": "true", "write.metadata.previous-versions-max": "2"}
        commits.set_profile(spark, made.name, properties=more | {"n": str(n)})
    before, neighbours, rows = state(spark, made.name), beside(spark, made.name), digest(spark, made.name)
    query = f"SELECT customer, count(*) AS n, sum(amount) FROM {made.name} WHERE customer < 7 GROUP BY customer"
    agreed = [one for one in made.causes if one in doctor.OWNERS]
    files = f"SELECT input_file_name() AS file FROM {made.name}"  # an answer that a rewrite does not keep
    one, other = doctor.trial(spark, made.name, [query, files], policy=POLICY, now=LATER, agreed=agreed, repeats=1)
    assert other.equal == (make is sick.forgotten)
    assert one.equal and one.files_after <= one.files_before
    if make is not sick.forgotten:
        assert one.files_after < one.files_before or make is sick.crossed_out
    assert state(spark, made.name) == before
    assert beside(spark, made.name) == neighbours and digest(spark, made.name) == rows
    assert [key for key in spark.conf.getAll if key.startswith("spark.sql.catalog.twin_")] == []


@pytest.mark.proof("test_what_a_cure_would_bring_on_queries shows the same names on the command line")
def test_queries_name_their_table_in_many_ways(spark, namespace):
    made = sick.dripped(spark, namespace, rows=300, drips=6)
    space, name = made.name.split(".")
    queries = [
        f"SELECT sum(customer) FROM `{space}`.`{name}` AS x",
        f"SELECT '{made.name}' AS text, id FROM lake.{space}.{name} -- {made.name}",
        f"SELECT 1.5D * id AS f FROM {made.name} WHERE id IN (SELECT id + 1 FROM {made.name})",
    ]
    found = doctor.trial(spark, made.name, queries, policy=POLICY, repeats=1)
    assert [(one.equal, one.files_before, one.files_after) for one in found] == [
        (True, 6, 1), (True, 6, 1), (True, 6, 1),
    ]  # fmt: skip
    assert all(one.bytes_after < one.bytes_before and one.ratio > 0 for one in found)


def test_a_query_of_something_else_is_refused(spark, namespace):
    made = sick.dripped(spark, namespace, rows=300, drips=6 if PROVE else 1)
    for query in ("SELECT 1", f"SELECT '{made.name}'", f"SELECT * FROM {made.name}_2", f"TABLE x{made.name}"):
        with pytest.raises(ValueError, match="query 1 does not name"):
            doctor.trial(spark, made.name, [query])


@pytest.mark.proof("test_the_table_is_untouched_to_the_byte asks such a query of its shuffled table, too")
def test_different_answers_are_said(spark, namespace):
    made = sick.dripped(spark, namespace, rows=300, drips=6)
    query = f"SELECT input_file_name() AS file FROM {made.name}"  # an answer that no cure keeps
    (one,) = doctor.trial(spark, made.name, [query], policy=POLICY, repeats=1)
    assert not one.equal
