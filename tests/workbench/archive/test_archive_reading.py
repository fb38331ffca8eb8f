"""A directory by the three published modes: the walkthrough's six row counts, and nothing left out in silence."""

import warnings
from pathlib import Path

import pytest

from workbench import archive
from workbench_standins import archive as local

CLASSES = {2021: "DEEP_ARCHIVE", 2022: "GLACIER", 2023: "GLACIER_IR", 2024: "STANDARD"}
SIZES = {2021: 79, 2022: 80, 2023: 87, 2024: 19}
SCHEMA = "data STRING, year INT, month INT, day INT"


@pytest.fixture(scope="module")
def store():
    with local.serve() as found:
        yield found


@pytest.fixture
def t1(store, request):
    """The walkthrough's prefix: 8 objects of one row each and 8 folder keys, in four classes."""
    bucket, s3 = "t" + str(abs(hash(request.node.name)))[:20], store.client(max_pool_connections=32)
    s3.create_bucket(Bucket=bucket)
    for year, name in CLASSES.items():
        for key in (f"T1/year={year}/", f"T1/year={year}/month=1/"):
            s3.put_object(Bucket=bucket, Key=key, Body=b"")
        for day in (1, 2):
            text = f"{year}-{day} ".ljust(SIZES[year] - 1, "x") + "\n"
            s3.put_object(
                Bucket=bucket, Key=f"T1/year={year}/month=1/day={day}/a.txt", Body=text.encode(), StorageClass=name
            )
    return s3, f"s3://{bucket}/T1/"


def read(spark, t1, folder, mode):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = archive.read(t1[1], s3=t1[0], spark=spark, mode=mode, format="csv", schema=SCHEMA, copy_to=folder)
    return found, [str(one.message) for one in said if one.category is archive.ObjectsSkipped]


def counts(spark, t1, tmp_path, when):
    found = {}
    for mode in archive.MODES:
        try:
            found[mode] = read(spark, t1, tmp_path / when / mode, mode)[0].rows.count()
        except archive.Archived as error:
            found[mode] = f"error, {len(error.objects)} objects"
    return list(found.values())


def test_the_six_published_row_counts(spark, store, t1, tmp_path):
    assert counts(spark, t1, tmp_path, "before") == ["error, 4 objects", 4, 4]
    s3, prefix = t1
    plan = archive.plan(archive.inventory(prefix, s3=s3), days=3, now=store.clock.now())
    assert (plan.objects, plan.size, plan.query) == (4, 318, "fails")
    found = archive.restore(
        plan, s3=s3, state=tmp_path / "state.db", now=store.clock.now, sleep=store.clock.advance
    )
    assert found.complete
    assert counts(spark, t1, tmp_path, "after") == [8, 4, 8]


def test_rows_have_their_partitions(spark, t1, tmp_path):
    found, _ = read(spark, t1, tmp_path, "SKIP_ALL_GLACIER")
    assert [tuple(row) for row in found.rows.selectExpr("trim('x' FROM data)", "year", "month", "day").orderBy("year", "day").collect()] == [
        ("2023-1 ", 2023, 1, 1),
        ("2023-2 ", 2023, 1, 2),
        ("2024-1 ", 2024, 1, 1),
        ("2024-2 ", 2024, 1, 2),
    ]  # fmt: skip


def test_what_is_left_out_is_said_twice(spark, t1, tmp_path):
    found, said = read(spark, t1, tmp_path, "READ_RESTORED_GLACIER_OBJECTS")
    assert [one.key.split("/", 1)[1] for one in found.skipped] == [
        "year=2021/month=1/day=1/a.txt",
        "year=2021/month=1/day=2/a.txt",
        "year=2022/month=1/day=1/a.txt",
        "year=2022/month=1/day=2/a.txt",
    ]
    assert len(found.read) == 4
    (said,) = said
    assert said.startswith(f"READ_RESTORED_GLACIER_OBJECTS leaves out 4 of 8 objects under {t1[1]}: T1/year=2021/")
    assert "T1/year=2022/month=1/day=2/a.txt (GLACIER, archived)" in said


def test_nothing_is_left_out_and_nothing_said_when_all_can_be_read(spark, store, tmp_path, request):
    s3 = store.client()
    s3.create_bucket(Bucket="plain")
    s3.put_object(Bucket="plain", Key="t/{a}[*]? b.txt", Body=b"1\n2\n")
    found, said = read(spark, (s3, "s3://plain"), tmp_path, "READ_RESTORED_GLACIER_OBJECTS")
    assert (found.rows.count(), len(found.skipped), said) == (2, 0, [])


def test_the_refusal_names_what_is_archived_before_anything_is_read(spark, store, t1, tmp_path):
    before = store.requests().get("GetObject", 0)
    with pytest.raises(archive.Archived, match="4 of 8 files of .* cannot be read: .*DEEP_ARCHIVE, archived"):
        archive.read(t1[1], s3=t1[0], spark=spark, format="csv", schema=SCHEMA, copy_to=tmp_path)
    assert store.requests().get("GetObject", 0) == before


def test_all_skipped_gives_no_rows_of_the_schema(spark, t1, tmp_path):
    found, said = read(spark, (t1[0], t1[1] + "year=2022/"), tmp_path, "SKIP_ALL_GLACIER")
    assert (found.rows.columns, found.rows.count(), len(said)) == (["data", "year", "month", "day"], 0, 1)
    with pytest.raises(ValueError, match="without a schema there are"), pytest.warns(archive.ObjectsSkipped):
        archive.read(t1[1] + "year=2022/", s3=t1[0], spark=spark, mode="SKIP_ALL_GLACIER", copy_to=tmp_path)


@pytest.fixture
def put(store, request):
    """Put keys, each with its number as its row; returns (client, address of the bucket)."""
    bucket, s3 = "p" + str(abs(hash(request.node.name)))[:20], store.client(max_pool_connections=32)
    s3.create_bucket(Bucket=bucket)

    def keys(*names, storage_class="STANDARD"):
        for number, name in enumerate(names, 1):
            s3.put_object(Bucket=bucket, Key=name, Body=b"%d\n" % number, StorageClass=storage_class)
        return s3, f"s3://{bucket}"

    return keys


def numbers(spark, s3, address, folder, **options):
    """The rows of a directory, sorted, and the warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = archive.read(
            address, s3=s3, spark=spark, copy_to=folder, **{"format": "csv", "schema": "a INT"} | options
        )
    rows = sorted((tuple(row) for row in found.rows.collect()), key=str)
    return (
        rows,
        [one.key for one in found.skipped],
        [str(one.message) for one in said if one.category is archive.ObjectsSkipped],
    )


def test_keys_that_would_be_one_file_are_read_each(spark, put, tmp_path):
    names = [
        "t/a.csv",
        "t//a.csv",
        "t/./a.csv",
        "t/../t/a.csv",
        "t/a.csv/b",
        "t/x:y.csv",
        "t/" + "ü" * 200,
        "t/x/../a.csv",
    ]
    s3, bucket = put(*names)
    assert numbers(spark, s3, f"{bucket}/t", tmp_path / "copies")[0] == [(n,) for n in range(1, 9)]
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "copies" not in path.parents]
    assert outside == []


def test_two_reads_into_one_folder_keep_their_rows(spark, put, tmp_path):
    s3, bucket = put("jan/a.csv", "feb/a.csv")
    jan, feb = (
        archive.read(f"{bucket}/{month}/", s3=s3, spark=spark, schema="a INT", copy_to=tmp_path).rows
        for month in ("jan", "feb")
    )
    assert (jan.collect(), feb.collect()) == ([(1,)], [(2,)])


def test_what_spark_hides_is_said_to_be_left_out(spark, put, tmp_path):
    hides = ["t/.hidden.csv", "t/_part.csv", "t/_x/b.csv", "t/b.csv._COPYING_", "t/..csv", "t/..."]
    s3, bucket = put("t/a.csv", "t/_d=1.csv")
    for name in hides:
        s3.put_object(Bucket=bucket[5:], Key=name, Body=b"9\n", StorageClass="GLACIER")  # no reason to refuse
    s3.put_object(Bucket=bucket[5:], Key="t/_SUCCESS", Body=b"")
    rows, skipped, (said,) = numbers(spark, s3, f"{bucket}/t/", tmp_path)
    assert (rows, skipped) == ([(1,), (2,)], sorted([*hides, "t/_SUCCESS"]))
    assert said.startswith(
        f"Spark, which hides names that begin with _ or ., leaves out 6 of 9 objects under {bucket}/t/: "
    )


def test_a_file_beside_partition_folders_is_said_to_be_left_out(spark, put, tmp_path):
    s3, bucket = put("t/a.csv", "t/d=1/b.csv", "t/d=2/x/c.csv")
    rows, skipped, (said,) = numbers(spark, s3, f"{bucket}/t/", tmp_path, schema="a INT, d INT")
    assert (rows, skipped) == ([(2, 1), (3, 2)], ["t/a.csv"])
    assert "or lie beside partition folders, leaves out 1 of 3 objects" in said


def test_objects_with_different_partition_columns_are_refused(spark, put, tmp_path):
    s3, bucket = put("t/d=1/a.csv", "t/d=1/e=2/b.csv")
    with pytest.raises(
        ValueError, match=r"have different partition columns: d \(s3:.*a.csv\), d, e \(s3:.*b.csv\); "
    ):
        numbers(spark, s3, f"{bucket}/t/", tmp_path)


def test_a_directory_is_not_its_neighbours(spark, put, tmp_path):
    s3, bucket = put("sales/1.csv", "sales.csv", "sales")
    s3.put_object(Bucket=bucket[5:], Key="sales_old/1.csv", Body=b"9\n", StorageClass="GLACIER")
    assert numbers(spark, s3, f"{bucket}/sales", tmp_path)[0] == [(1,), (3,)]
    assert archive.plan(archive.inventory(f"{bucket}/sales", s3=s3)).steps == ()
    assert numbers(spark, s3, f"{bucket}/sales.csv", tmp_path)[0] == [(2,)]


def test_partition_columns_above_the_directory_have_their_values(spark, put, tmp_path):
    s3, bucket = put("T1/year=2024/month=1/a.csv")
    schema = "a INT, year INT, month INT"
    for below in ("", "/year=2024/", "/year=2024", "/year=2024/month=1/a.csv"):
        assert numbers(spark, s3, f"{bucket}/T1{below}", tmp_path, schema=schema)[0] == [(1, 2024, 1)]


def test_a_mistyped_directory_is_not_empty(spark, put, tmp_path):
    s3, bucket = put("T1/a.csv")
    with pytest.raises(ValueError, match="there is no object s3://.*/T11/, nor one below it"):
        numbers(spark, s3, f"{bucket}/T11/", tmp_path)


def test_without_copies_keys_that_a_path_cannot_hold_are_refused(spark, put):
    s3, bucket = put("t//a.csv")
    with pytest.raises(ValueError, match=r"takes other keys for s3://.*/t//a.csv; read them by copies: copy_to="):
        archive.read(f"{bucket}/t/", s3=s3, spark=spark, schema="a INT")


def test_without_copies_the_objects_are_opened_where_they_are(spark, put, tmp_path):
    """Hadoop's own file system of overloaded schemes has the bucket in a local folder, under the same addresses."""
    s3, bucket = put("t/year=2024/a.csv", "t/year=2024/b.csv", "t/year=2025/[c].csv", "t/year=2025/%64.csv")
    for one in s3.list_objects_v2(Bucket=bucket[5:])["Contents"]:
        file = tmp_path / "bucket" / one["Key"]
        file.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(bucket[5:], one["Key"], str(file))
    (tmp_path / "bucket/t/year=2025/new.csv").write_text("9\n")  # what is not in the inventory is not read
    hadoop, mount = spark.sparkContext._jsc.hadoopConfiguration(), f"fs.viewfs.mounttable.{bucket[5:]}.link"
    conf = {
        "fs.s3.impl": "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme",
        "fs.s3.impl.disable.cache": "true",
        f"{mount}./t": f"file://{tmp_path}/bucket/t",
        "fs.viewfs.overload.scheme.target.file.impl": "org.apache.hadoop.fs.LocalFileSystem",
    }
    for key, value in conf.items():
        hadoop.set(key, value)
    try:
        found = archive.read(f"{bucket}/t/", s3=s3, spark=spark, schema="a INT, year INT")
        assert sorted(tuple(row) for row in found.rows.collect()) == [(1, 2024), (2, 2024), (3, 2025), (4, 2025)]
    finally:
        for key in conf:
            hadoop.unset(key)


@pytest.mark.parametrize("schema", [None, "a INT"])
def test_without_copies_a_session_without_a_file_system_is_told_of_them(spark, put, schema):
    s3, bucket = put("t/a.csv")
    with pytest.raises(
        ValueError, match="has no file system that opens s3://.*/t/: give copy_to=, a local folder"
    ):
        archive.read(f"{bucket}/t/", s3=s3, spark=spark, schema=schema)


def test_an_object_that_goes_while_it_is_read_is_named(spark, put, tmp_path):
    s3, bucket = put("t/a.csv", "t/b.csv")
    gone = []

    def delete(**_):
        if not gone:
            gone.append(s3.delete_object(Bucket=bucket[5:], Key="t/b.csv"))

    s3.meta.events.register("before-call.s3.GetObject", delete)
    with pytest.raises(ValueError, match="s3://.*/t/b.csv was deleted before it was read"):
        numbers(spark, s3, f"{bucket}/t/", tmp_path)


def test_a_format_is_that_of_all_endings_or_named(spark, put, tmp_path):
    import pyarrow
    import pyarrow.parquet

    s3, bucket = put("t/a.csv.gz", "u/part-0", "v/a.csv", "v/b.json")
    file = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [7, 8]}), file)
    for key in ("p/a.snappy.parquet", "p/b.PARQUET"):
        s3.upload_file(str(file), bucket[5:], key)
    rows = archive.read(f"{bucket}/p/", s3=s3, spark=spark, copy_to=tmp_path / "copies").rows
    assert sorted(tuple(row) for row in rows.collect()) == [(7,), (7,), (8,), (8,)]
    for wrong in ("csv", "TEXT"):
        with pytest.raises(
            ValueError, match=f"format '{wrong}' is not what the ending of p/a.snappy.parquet says"
        ):
            archive.read(f"{bucket}/p/", s3=s3, spark=spark, format=wrong, copy_to=tmp_path)
    with pytest.raises(ValueError, match="format 'json' is not what the ending of t/a.csv.gz says"):
        archive.read(f"{bucket}/t/", s3=s3, spark=spark, format="json", copy_to=tmp_path)
    for unknown, told in (("u", "nothing"), ("v", "csv, json")):
        with pytest.raises(
            ValueError, match=rf"tell {told}\): name it, format= one of csv, json, parquet, orc, av"
        ):
            archive.read(f"{bucket}/{unknown}/", s3=s3, spark=spark, copy_to=tmp_path)


def test_the_example_of_the_local_store_runs_as_it_stands(spark, tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "archive.md").read_text(encoding="utf-8")
    (code,) = [block.split("```")[0] for block in page.split("```python\n")[1:] if "local.serve()" in block]
    monkeypatch.chdir(tmp_path)
    names = {"spark": spark}
    exec(code, names)  # the page's own text
    assert (names["outcome"].complete, sorted(names["rows"])) == (True, [(1,), (2,)])


def test_bad_arguments(spark, t1):
    with pytest.raises(ValueError, match="mode must be 'READ_ALL', .*, found 'SKIP'"):
        archive.read(t1[1], s3=t1[0], spark=spark, mode="SKIP", schema=SCHEMA)
    with pytest.raises(ValueError, match="where is an argument for a table; s3://.* is a directory"):
        archive.read(t1[1], s3=t1[0], spark=spark, where="year = 2021")
    with pytest.raises(ValueError, match="SKIP_ALL_GLACIER would leave rows of n.t out without a trace"):
        archive.read("n.t", s3=t1[0], spark=spark, mode="SKIP_ALL_GLACIER")
    with pytest.raises(ValueError, match="mode must be 'READ_ALL', .*, found 'READ'"):
        archive.read("n.t", s3=t1[0], spark=spark, mode="READ")
    with pytest.raises(ValueError, match="copy_to is an argument for a directory; .* is a table"):
        archive.read("n.t", s3=t1[0], spark=spark, copy_to="/nowhere")
    with pytest.raises(ValueError, match="format is an argument for a directory"):
        archive.read("n.t", s3=t1[0], spark=spark, format="parquet")
    with pytest.raises(ValueError, match="format must be a text or None, found 1"):
        archive.read(t1[1], s3=t1[0], spark=spark, format=1)
