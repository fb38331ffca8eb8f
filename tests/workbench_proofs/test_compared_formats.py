"""What of the comparison of formats needs no table of theirs: names, statements, files, and what is refused."""

import pytest

from workbench_proofs import formats


def test_each_format_has_a_table_of_its_own(tmp_path):
    tables = formats.tables(["iceberg", "delta", "hudi"], namespace="shop", folder=tmp_path)
    assert [table.name for table in tables.values()] == [
        "shop.orders", f"spark_catalog.delta.`{tmp_path}/delta`", "spark_catalog.default.shop_orders",
    ]  # fmt: skip
    assert [table.folder for table in tables.values()] == [None, tmp_path / "delta", tmp_path / "hudi"]
    assert f"LOCATION '{tmp_path}/hudi'" in tables["hudi"].create
    assert tables["delta"].compact == (f"OPTIMIZE spark_catalog.delta.`{tmp_path}/delta`",)
    assert tables["hudi"].compact[1] == "REFRESH TABLE spark_catalog.default.shop_orders"


@pytest.mark.parametrize(
    ("names", "namespace", "sentence"),
    [
        ([], "shop", "the formats are none; expected some of iceberg, delta, hudi, each once"),
        (["iceberg", "paimon"], "shop", "the formats are iceberg, paimon; expected some of iceberg, delta, hudi"),
        (["delta", "delta"], "shop", "the formats are delta, delta; expected"),
        (["iceberg"], "shop; DROP", "the namespace is 'shop; DROP'; expected letters, digits and _"),
    ],
)
def test_what_names_no_table_is_refused(tmp_path, names, namespace, sentence):
    with pytest.raises(ValueError, match=sentence):
        formats.tables(names, namespace=namespace, folder=tmp_path)


@pytest.mark.parametrize(("name", "environment"), [("delta", "formats"), ("hudi", "hudi")])
def test_a_session_without_the_format_is_told_which_environment_has_it(spark, tmp_path, name, environment):
    (table,) = formats.tables([name], namespace="shop", folder=tmp_path).values()
    with pytest.raises(ValueError, match=f"makes no {name} table; the environment {environment} has one"):
        formats.make(spark, table)


def test_files_are_sorted_by_what_is_in_them():
    before = {"a.parquet": 10}
    after = {
        "a.parquet": 10, "b.parquet": 5, "c.parquet": 4, "deletion_vector_1.bin": 3, "d.puffin": 2, ".f_1.log.1_0-1-2": 8,
        "_change_data/cdc-1.parquet": 7, ".f_1.log.1_0-1-2.cdc": 6,
    }  # fmt: skip
    assert formats.written(before, after) == {"rows": [4, 5], "changes": [6, 7], "deletes": [2, 3, 8]}


def test_an_error_is_named_by_what_refused_the_statement(spark):
    assert formats.error_name(TypeError("no")) == "TypeError"
    with pytest.raises(Exception) as error:
        spark.sql("SELEKT 1")
    assert formats.error_name(error.value) == "ParseException"
