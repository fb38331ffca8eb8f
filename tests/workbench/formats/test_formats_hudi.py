"""Hudi tables that Hudi itself made: looked at, moved, followed and compared with what hudi-rs reads."""

import json

import pytest
from golden_tables import GOLDEN, digest_of, namespace, unpacked

from workbench import formats

ROWS = json.loads((GOLDEN / "hudi_rows.json").read_text())  # [rows, sum of ids] as Hudi read them
REFUSED = set()
MOVABLE = sorted(ROWS.keys() - REFUSED)


@pytest.mark.parametrize("name", MOVABLE)
def test_rows_are_those_that_hudi_read(name, spark, namespace, tmp_path):
    source, table = unpacked(f"hudi_{name}", tmp_path), f"{namespace}.moved"
    before, look = digest_of(source), formats.look(source)
    assert look.kind == "hudi" and look.obstacles == ()
    move = formats.move(spark, source, table)
    assert (move.version, move.files) == (look.version, look.files)
    rows = spark.table(table).selectExpr("count(*)", "sum(id)").first()
    assert [look.rows, look.rows, ROWS[name][1]] == [ROWS[name][0], *rows]
    verified = formats.verify(spark, table)
    assert verified.equal and verified.reader == "hudi" and verified.rows == verified.source_rows == look.rows
    assert formats.follow(spark, table).snapshot_id is None
    assert digest_of(source) == before
