"""Random histories of 50 commits: whatever a Delta table went through, its follower has its rows at any version."""

import random

import pytest
from conftest import PROVE
from golden_tables import namespace, rows_by_deltalake
from histories import History

from workbench import formats

OPERATIONS = 50


def rows(spark, table):
    return sorted(((row.id, row.area, row.word) for row in spark.table(table).collect()), key=repr)


@pytest.mark.parametrize("seed", range(200 if PROVE else 1))
def test_a_follower_is_equal_at_random_versions(seed, spark, namespace, tmp_path):
    history, table, draw = History(tmp_path / "source", seed), f"{namespace}.moved", random.Random(seed)
    history.grow(OPERATIONS)
    assert history.rows() == sorted(
        ((row["id"], row["area"], row["word"]) for row in rows_by_deltalake(history.path)), key=repr
    )
    full = [version for version, files in enumerate(history.versions) if files]
    first = draw.choice(full[: len(full) // 2])
    formats.move(spark, history.path, table, version=first)
    assert rows(spark, table) == history.rows(first)
    stops = sorted({*draw.sample(range(first + 1, OPERATIONS + 1), 5 if PROVE else 1), OPERATIONS})
    for version in stops:
        assert formats.follow(spark, table, version=version).version == version
        assert rows(spark, table) == history.rows(version), version
    if PROVE:
        assert formats.verify(spark, table).equal


def test_a_model_of_other_rows_is_seen(tmp_path):
    history = History(tmp_path / "source", 1)
    history.grow(10)
    name, (area, values, deleted) = next(iter(history.live.items()))
    history.versions[-1] = {**history.live, name: (area, [*values, (-1, None)], deleted)}
    assert len(history.rows()) == len(rows_by_deltalake(history.path)) + 1
