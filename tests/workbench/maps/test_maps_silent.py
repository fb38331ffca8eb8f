"""What lost or doubled items, or took another answer for a run's, and said nothing: each is right, or refused."""

import gzip
import json
import os
import threading

import machines
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PROVE
from machines import Noted, calling, flow, jsonl, passing

from workbench import maps
from workbench.maps import whole
from workbench.tables import publication

SPLIT = "spark.sql.files.maxPartitionBytes"
MORE = pytest.mark.proof("the rollback shows that a run whose end is not in main's history is not believed")
NAMED = pytest.mark.proof("one other name and one link show that the file itself is looked at")
TURNS = 3 if PROVE else 1
MANIFEST = {"InputType": "JSONL", "ManifestType": "ATHENA_DATA"}


def run(spark, namespace, definition, folder, *, run_id="r", table="t", **options):
    return maps.run(
        spark, definition, f"{namespace}.{table}", run_id=run_id, buckets={"lake": str(folder)}, **options
    )


def numbers(spark, namespace, *, run_id="r", table="t"):
    rows = maps.results(spark, f"{namespace}.{table}", run_id=run_id).orderBy("_index").collect()
    return [json.loads(row["_output"])["n"] for row in rows]


def test_runs_at_once_in_one_session_are_each_whole(spark, namespace, tmp_path):
    """Each had set the split size of its own files for all: a file was read in pieces that each began at item 0."""
    before = spark.conf.get(SPLIT, None)
    sizes = {"few": 3, "many": 4000, "some": 200}
    failures = []
    for name, size in sizes.items():
        (tmp_path / name).mkdir()
        jsonl(tmp_path / name, [{"n": n, "text": "x" * 40} for n in range(size)])

    def work(name):
        try:
            for turn in range(TURNS):
                done = run(
                    spark,
                    namespace,
                    flow(passing(), tmp_path / name),
                    tmp_path / name,
                    run_id=f"r{turn}",
                    table=name,
                )
                assert done.state == "succeeded"
        except Exception as error:
            failures.append((name, error))

    threads = [threading.Thread(target=work, args=(name,)) for name in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for name, size in sizes.items():
        for turn in range(TURNS):
            assert numbers(spark, namespace, run_id=f"r{turn}", table=name) == list(range(size))
    assert spark.conf.get(SPLIT, None) == before and not whole._USERS


def test_the_last_of_several_gives_the_setting_back(spark):
    before, inside = spark.conf.get(SPLIT, None), []
    with whole.files(spark):
        with whole.files(spark):
            inside.append(spark.conf.get(SPLIT))
        inside.append(spark.conf.get(SPLIT))
    assert inside == [str(whole.MOST_BYTES)] * 2 and spark.conf.get(SPLIT, None) == before


def test_a_file_that_is_read_in_pieces_is_not_published(spark, namespace, tmp_path, monkeypatch):
    jsonl(tmp_path, [{"n": n} for n in range(100)])
    definition, stage = flow(passing(), tmp_path), publication.stage

    def staged(*given, **options):
        spark.conf.set(SPLIT, 200)  # as something else in the session might do
        return stage(*given, **options)

    with monkeypatch.context() as patch:
        patch.setattr("workbench.maps.publish.publication.stage", staged)
        with pytest.raises(maps.FilesSplit, match=r"items.jsonl was read in pieces: something else"):
            run(spark, namespace, definition, tmp_path)
    spark.conf.unset(SPLIT)
    assert numbers(spark, namespace) == []
    assert run(spark, namespace, definition, tmp_path).state == "succeeded"
    assert numbers(spark, namespace) == list(range(100))


@pytest.mark.parametrize(
    "second",
    [
        "s3://lake/a//b.jsonl",
        *(pytest.param(name, marks=NAMED) for name in ("s3://other/b.jsonl", "s3://lake/a/../a/b.jsonl")),
    ],
)
def test_one_file_by_two_names_is_refused(spark, namespace, tmp_path, second):
    (tmp_path / "a").mkdir()
    jsonl(tmp_path / "a", [{"n": 1}, {"n": 2}], "b.jsonl")
    (tmp_path / "m.csv").write_text(f"s3://lake/a/b.jsonl\n{second}\n")
    buckets = {"lake": str(tmp_path), "other": f"{tmp_path}/a"}
    with pytest.raises(ValueError, match=f"s3://lake/a/b.jsonl and {second} are one file, .*; name it once"):
        maps.run(
            spark,
            flow(passing(), tmp_path, config=MANIFEST, key="m.csv"),
            f"{namespace}.t",
            run_id="r",
            buckets=buckets,
        )


@pytest.mark.parametrize("kind", ["symbolic", *(pytest.param(kind, marks=NAMED) for kind in ("hard", "folder"))])
def test_one_file_by_a_link_is_refused(spark, namespace, tmp_path, kind):
    lake = tmp_path / "lake"
    lake.mkdir()
    jsonl(lake, [{"n": 1}], "a.jsonl")
    if kind == "folder":
        (tmp_path / "same").symlink_to(lake)
    else:
        (os.symlink if kind == "symbolic" else os.link)(lake / "a.jsonl", lake / "b.jsonl")
    (lake / "m.csv").write_text(f"s3://lake/a.jsonl\ns3://{'same/a' if kind == 'folder' else 'lake/b'}.jsonl\n")
    definition = flow(passing(), lake, config=MANIFEST, key="m.csv")
    with pytest.raises(ValueError, match="are one file, .*; name it once"):
        maps.run(
            spark,
            definition,
            f"{namespace}.t",
            run_id="r",
            buckets={"lake": str(lake), "same": str(tmp_path / "same")},
        )


def test_a_file_whose_name_is_that_of_a_compressed_one(spark, namespace, tmp_path):
    name = "plain.jsonl.gz"
    jsonl(tmp_path, [{"n": 1}], name)
    definition = flow(passing(), tmp_path, key=name)
    with pytest.raises(ValueError, match="plain.jsonl.gz cannot be read: .* is that of a compressed file"):
        run(spark, namespace, definition, tmp_path)
    with gzip.open(tmp_path / name, "wt") as file:
        file.write('{"n": 1}\n{"n": 2}\n')
    assert run(spark, namespace, definition, tmp_path).state == "succeeded"
    assert numbers(spark, namespace) == [1, 2]


def test_a_column_with_a_name_of_sparks_own_is_refused(spark, namespace, tmp_path):
    pq.write_table(pa.table({"n": [1], "_Metadata": ["x"]}), tmp_path / "a.parquet")
    definition = flow(passing(), tmp_path, config={"InputType": "PARQUET"}, key="a.parquet")
    with pytest.raises(ValueError, match="a.parquet has the column _metadata, a name that Spark keeps for itself"):
        run(spark, namespace, definition, tmp_path)


@pytest.mark.proof("test_a_run_that_is_over_is_believed_where_its_rows_are rolls back where the history is there")
def test_a_run_that_was_rolled_back_is_not_believed_where_the_history_is_cut(spark, namespace, tmp_path):
    """Metadata that is deleted soon: of the run that was rolled back nothing but its own entry was left."""
    jsonl(tmp_path, [{"n": 1}, {"n": 2}])
    definition, table = flow(passing(), tmp_path), f"{namespace}.t"
    run(spark, namespace, definition, tmp_path, run_id="first")
    spark.sql(
        f"ALTER TABLE {table} SET TBLPROPERTIES ('write.metadata.delete-after-commit.enabled' = 'true', "
        "'write.metadata.previous-versions-max' = '2')"
    )
    (before,) = spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").first()
    run(spark, namespace, definition, tmp_path)
    spark.sql(f"CALL lake.system.rollback_to_snapshot('{table}', {before})")
    run(spark, namespace, definition, tmp_path, run_id="later")
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01', retain_last => 1)"
    )
    run(spark, namespace, definition, tmp_path, run_id="last")
    with pytest.raises(maps.AnotherWriter, match="or rows of the run were deleted"):
        maps.describe(spark, table, run_id="r")
    for run_id in ("first", "later", "last"):
        assert maps.describe(spark, table, run_id=run_id).state == "succeeded"


def test_a_file_that_is_replaced_by_as_many_items_is_not_published(spark, namespace, tmp_path):
    jsonl(tmp_path, [{"n": 1}, {"n": 2}])
    path = str(tmp_path / "items.jsonl")

    def replacing(item, call):
        with open(path, "w") as file:
            file.write('{"n": 7}\n{"n": 8}\n')
        os.utime(path, (1, 1))
        return item

    with pytest.raises(maps.ItemsChanged, match="s3://lake/items.jsonl was written anew while it was read"):
        run(spark, namespace, flow(calling(), tmp_path), tmp_path, resources={machines.FUNCTION: replacing})
    assert numbers(spark, namespace) == []


@pytest.mark.parametrize(
    "change",
    ["rolled back", "another run since", *(pytest.param(kind, marks=MORE) for kind in ("replaced", "expired"))],
)
def test_a_run_that_is_over_is_believed_where_its_rows_are(spark, namespace, tmp_path, change):
    jsonl(tmp_path, [{"n": 1}])
    definition, table = flow(passing(), tmp_path), f"{namespace}.t"
    run(spark, namespace, definition, tmp_path, run_id="first")
    (before,) = spark.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'").first()
    run(spark, namespace, definition, tmp_path)
    columns = f"{table} USING iceberg AS SELECT * FROM {table} WHERE _run = 'first'"
    if change == "rolled back":
        spark.sql(f"CALL lake.system.rollback_to_snapshot('{table}', {before})")
        run(spark, namespace, definition, tmp_path, run_id="later")
    elif change == "replaced":
        spark.sql(f"REPLACE TABLE {columns}")
    else:
        run(spark, namespace, definition, tmp_path, run_id="later")
        if change == "expired":
            spark.sql(
                f"CALL lake.system.expire_snapshots(table => '{table}', older_than => TIMESTAMP '2100-01-01')"
            )
        assert run(spark, namespace, definition, tmp_path).state == "succeeded"
        assert numbers(spark, namespace) == [1]
        return
    for call in (
        lambda: run(spark, namespace, definition, tmp_path),
        lambda: maps.describe(spark, table, run_id="r"),
        lambda: maps.results(spark, table, run_id="r"),
    ):
        with pytest.raises(
            maps.AnotherWriter, match="run r ended in .*, and main's history does not have its end"
        ):
            call()
    if change == "rolled back":
        assert maps.describe(spark, table, run_id="first").state == "succeeded"


def test_a_key_is_of_its_table_and_of_its_turn_in_a_loop(spark, namespace, tmp_path):
    jsonl(tmp_path, [{"n": 1}])
    states = {
        "Set": {"Type": "Pass", "Assign": {"turn": 0}, "Next": "Call"},
        "Call": {
            **calling()["Call"],
            "Arguments": {"n": 1},
            "Assign": {"turn": "{% $turn + 1 %}"},
            "Next": "Again",
        },
        "Again": {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $turn < 3 %}", "Next": "Call"}],
            "Default": "End",
        },
        "End": {"Type": "Succeed"},
    }
    del states["Call"]["End"]
    noted = Noted(tmp_path / "noted")
    for table in ("t", "u"):
        run(spark, namespace, flow(states, tmp_path), tmp_path, table=table, resources={machines.FUNCTION: noted})
    keys = [line.partition(" ")[0] for line in noted.calls()]
    assert len(set(keys)) == 6
    assert [key.partition("/")[2] for key in keys] == ["r/0/Call", "r/0/Call#2", "r/0/Call#3"] * 2


def test_a_quote_that_is_never_closed_refuses_the_file(spark, namespace, tmp_path):
    """It had taken the rest of the file for one item."""
    (tmp_path / "items.csv").write_text('id,note\n1,a\n2,"b\n3,c\n')
    config = {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}
    definition = flow(passing(), tmp_path, config=config, key="items.csv")
    with pytest.raises(ValueError, match="items.csv cannot be read as CSV: the quote that line 3 opens is never"):
        run(spark, namespace, definition, tmp_path)
