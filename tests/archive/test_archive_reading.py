"""A directory by the three published modes: the walkthrough's six row counts, and nothing left out in silence."""

import warnings

import pytest

from workbench import archive
from workbench.local import archive as local

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
        found = archive.read(t1[1], s3=t1[0], spark=spark, mode=mode, schema=SCHEMA, copy_to=folder)
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
        archive.read(t1[1], s3=t1[0], spark=spark, schema=SCHEMA, copy_to=tmp_path)
    assert store.requests().get("GetObject", 0) == before


def test_all_skipped_gives_no_rows_of_the_schema(spark, t1, tmp_path):
    found, said = read(spark, (t1[0], t1[1] + "year=2022/"), tmp_path, "SKIP_ALL_GLACIER")
    assert (found.rows.columns, found.rows.count(), len(said)) == (["data", "year", "month", "day"], 0, 1)
    with pytest.raises(ValueError, match="without a schema there are"), pytest.warns(archive.ObjectsSkipped):
        archive.read(t1[1] + "year=2022/", s3=t1[0], spark=spark, mode="SKIP_ALL_GLACIER", copy_to=tmp_path)


def test_a_key_cannot_be_copied_out_of_its_folder(spark, store, tmp_path):
    s3 = store.client()
    s3.create_bucket(Bucket="dots")
    s3.put_object(Bucket="dots", Key="t/../../a.txt", Body=b"1\n")
    with pytest.raises(ValueError, match="would be copied outside of"):
        archive.read("s3://dots/t/", s3=s3, spark=spark, schema="a INT", copy_to=tmp_path / "copies")
    assert not list(tmp_path.rglob("a.txt"))


def test_bad_arguments(spark, t1):
    with pytest.raises(ValueError, match="no mode 'SKIP'; there are READ_ALL"):
        archive.read(t1[1], s3=t1[0], spark=spark, mode="SKIP", schema=SCHEMA)
    with pytest.raises(ValueError, match="where does not go with this source"):
        archive.read(t1[1], s3=t1[0], spark=spark, where="year = 2021")
    with pytest.raises(ValueError, match="SKIP_ALL_GLACIER would leave rows of n.t out without a trace"):
        archive.read("n.t", s3=t1[0], spark=spark, mode="SKIP_ALL_GLACIER")
    with pytest.raises(ValueError, match="copy_to does not go with this source"):
        archive.read("n.t", s3=t1[0], spark=spark, copy_to="/nowhere")
