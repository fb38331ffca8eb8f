"""`workbench doctor table`: sentences and exit codes, in the session that is there."""

from pathlib import Path

import pytest
from conftest import ENVIRONMENT, PROVE
from typer.testing import CliRunner

from workbench.data import sick
from workbench.tables import commits, doctor
from workbench.tables.doctor import pointers, versions
from workbench.tables.snapshots import TableNotFound
from workbench_ops.cli import app


def call(*arguments, answer=None):
    said = CliRunner().invoke(app, ["doctor", *map(str, arguments)], input=answer)
    if said.exception and not isinstance(said.exception, SystemExit):
        raise said.exception
    return said.exit_code, said.output


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yml"
    path.write_text(f"target_file_bytes: {sick.TARGET_FILE_BYTES}\n")
    return path


@pytest.mark.proof("test_a_pointer_from_an_old_copy_is_said begins and ends with the sentence on a healthy table")
def test_a_healthy_table(spark, namespace, policy):
    made = sick.healthy(spark, namespace, rows=1000)
    options = ("table", made.name, "--environment", ENVIRONMENT, "--policy", policy)
    assert call(*options) == (0, f"{made.name} is healthy\n")
    assert call(*options, "--cure", "--yes") == (0, f"{made.name} is healthy\n")


def test_a_sick_table_is_cured_when_told(spark, namespace, policy):
    made = sick.dripped(spark, namespace, rows=500, drips=5)
    options = ("table", made.name, "--environment", ENVIRONMENT, "--policy", policy)
    code, text = call(*options)
    assert code == 1 and text.startswith("middle small_files: 5 of 5 data files are small")
    assert "by maintenance: compact_data" in text
    code, text = call(*options, "--cure", answer="n\n")
    assert code == 1 and "Cure small_files? [y/N]: n" in text and "done" not in text
    code, text = call(*options, "--cure", "--yes")
    assert code == 0 and text.endswith(
        f"done   compact_data: 5 files became 1, 1 commits\n{made.name} is healthy\n"
    )


def test_what_a_cure_would_bring_on_queries(spark, namespace, policy, tmp_path):
    made = sick.dripped(spark, namespace, rows=500, drips=6)
    space, name = made.name.split(".")
    named = [  # in ways in which a query may name its table
        f"SELECT sum(customer) FROM `{space}`.`{name}` AS x",
        f"SELECT '{made.name}' AS text, id FROM lake.{space}.{name} /* {made.name} */",
        f"SELECT 1.5D * id AS f FROM {made.name} WHERE id IN (SELECT id + 1 FROM {made.name})",
    ]
    named = named if PROVE else named[1:2]
    (tmp_path / "q.sql").write_text(
        f"-- two\nSELECT sum(id)\nFROM {made.name};\nSELECT id FROM {made.name};\n" + ";\n".join(named)
    )
    options = ("--environment", ENVIRONMENT, "--policy", policy, "--queries", tmp_path / "q.sql")
    code, text = call("table", made.name, *options)
    assert code == 1 and text.count("opens 6 files, cured 1; ") == 2 + len(named)
    assert "query 2: " in text and text.count("the answer is the same") == 2 + len(named)


def test_a_damaged_pointer_is_said(spark, namespace):
    made = sick.dripped(spark, namespace, rows=20, drips=2)
    place = commits.load(spark, made.name).operations().current().metadataFileLocation()
    Path(place.removeprefix("file:").replace("//", "/")).unlink()
    commits.forget(spark, made.name)  # as a process of its own would not know it
    code, text = call("table", made.name, "--environment", ENVIRONMENT)
    assert code == 1 and text.startswith("high   damaged_pointer: the catalog names ")
    assert "10 rows: good" in text and "by owner: doctor.pointers.restore(spark, " in text
    pointers.restore(spark, made.name, to=pointers.look(spark, made.name).offered.location)


def test_a_pointer_from_an_old_copy_is_said(spark, namespace, policy):
    """The table can be read, and what was committed since is not in it."""
    made = sick.healthy(spark, namespace, rows=1000)
    options = ("table", made.name, "--environment", ENVIRONMENT, "--policy", policy)
    places = [_place(spark, made.name)]
    for n in range(2):
        spark.sql(f"INSERT INTO {made.name} SELECT * FROM {made.name} LIMIT {n + 1}")
        places.append(_place(spark, made.name))
    swap = (spark.conf.get("spark.sql.defaultCatalog"), *made.name.split("."))
    versions.swap_in_jdbc(spark, *swap, seen=places[2], to=places[1], before=places[0])
    commits.forget(spark, made.name)
    # one newer, of which nobody knows: it may be a commit under way, or the remains of one
    assert call(*options) == (0, f"{made.name} is healthy\n")
    versions.swap_in_jdbc(spark, *swap, seen=places[1], to=places[0], before=None)
    commits.forget(spark, made.name)
    code, text = call(*options, "--cure", "--yes")
    last = places[1].rpartition("/")[2]
    said = f"the catalog names {places[0]}, and 1 that were committed after it lie beside it, up to {last}: it came back"
    assert code == 1 and text.startswith(f"high   doubtful_pointer: {said}") and "is healthy" not in text
    assert text.endswith("left   nothing is cured: a commit would go on from where the pointer is\n")
    with pytest.raises(ValueError, match="nothing is cured, because a commit .* it came back from an old copy"):
        doctor.cure(spark, doctor.diagnose(spark, made.name))
    versions.swap_in_jdbc(spark, *swap, seen=places[0], to=places[2], before=places[1])
    commits.forget(spark, made.name)
    assert call(*options) == (0, f"{made.name} is healthy\n")


@pytest.mark.proof("test_a_pointer_to_another_tables_metadata_is_said_and_taken_back shows it without the command")
def test_a_pointer_to_another_table_is_said(spark, namespace, policy):
    made, other = sick.healthy(spark, namespace, rows=1000), f"{namespace}.other"
    spark.sql(f"CREATE TABLE {other} (id BIGINT) USING iceberg")
    place = _place(spark, made.name)
    swap = (spark.conf.get("spark.sql.defaultCatalog"), *made.name.split("."))
    versions.swap_in_jdbc(spark, *swap, seen=place, to=_place(spark, other), before=place)
    commits.forget(spark, made.name)
    code, text = call("table", made.name, "--environment", ENVIRONMENT, "--policy", policy)
    assert code == 1 and text.startswith("high   doubtful_pointer: ") and "it is of another table" in text
    versions.swap_in_jdbc(spark, *swap, seen=_place(spark, other), to=place, before=None)
    commits.forget(spark, made.name)


@pytest.mark.proof(
    "test_nothing_is_done_while_the_pointer_is_in_doubt shows the same note of `workbench maintain`"
)
def test_a_pointer_that_cannot_be_doubted_is_said(spark, namespace, policy, monkeypatch):
    made = sick.healthy(spark, namespace, rows=1000)
    code, text = call("table", made.name, "--environment", ENVIRONMENT, "--policy", policy)

    def lists_nothing(io, location):
        raise PermissionError("s3:ListBucket is not allowed\nand more")

    monkeypatch.setattr(versions, "newer", lists_nothing)
    noted = "note   whether the pointer is an old one cannot be told: s3:ListBucket is not allowed\n"
    assert call("table", made.name, "--environment", ENVIRONMENT, "--policy", policy) == (code, noted + text)
    assert code == 0


def _place(spark, table):
    commits.forget(spark, table)
    return commits.load(spark, table).operations().current().metadataFileLocation()


@pytest.mark.proof(
    "the notebook 41_doctor_a_sick_table shows that the owner's causes are left, "
    "test_a_damaged_pointer_is_said the words of the command"
)
def test_what_is_the_owners_is_left(spark, namespace, policy):
    made = sick.shuffled(spark, namespace, rows=20_000)
    code, text = call("table", made.name, "--environment", ENVIRONMENT, "--policy", policy, "--cure", "--yes")
    assert code == 1 and "by owner: CALL `" in text and "done" not in text


def test_what_is_refused(spark, namespace, tmp_path):
    with pytest.raises(TableNotFound, match=f"no table {namespace}.x; {namespace} has none"):
        call("table", f"{namespace}.x", "--environment", ENVIRONMENT)
    away = {
        "": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": "jdbc:sqlite:file:/nowhere/c.db",
        ".warehouse": "/nowhere",
    }  # fmt: skip
    try:
        for name, text in away.items():
            spark.conf.set(f"spark.sql.catalog.away{name}", text)
        with pytest.raises(ValueError, match="away.a.b cannot be looked at: .*Failed to connect"):
            call("table", "away.a.b", "--environment", ENVIRONMENT)
    finally:
        for name in away:
            spark.conf.unset(f"spark.sql.catalog.away{name}")
    with pytest.raises(ValueError, match="'x' is not a table name"):
        call("table", "x", "--environment", ENVIRONMENT)
    with pytest.raises(ValueError, match="--yes answers the question of --cure"):
        call("table", "a.b", "--yes")
    with pytest.raises(ValueError, match="not.sql cannot be read: No such file"):
        call("table", "a.b", "--queries", tmp_path / "not.sql")
    (tmp_path / "empty.sql").write_text("-- nothing\n")
    with pytest.raises(ValueError, match=r"empty.sql has no query"):
        call("table", "a.b", "--queries", tmp_path / "empty.sql")
    with pytest.raises(ValueError, match="are not those of a table"):
        call("--fix", "table", "a.b")
