"""200 random histories of restatement: the truth after every night, and at every snapshot."""

import pytest
from restated import make, nights


@pytest.mark.proof(
    "14_pull_from_saas draws one of them, test_every_night_and_every_snapshot has each of its cases"
)
def test_200_random_histories(spark, namespace):
    for seed in range(200):
        make(spark, f"{namespace}.t{seed}")
        assert nights(spark, f"{namespace}.t{seed}", seed) == 0, seed
        spark.sql(f"DROP TABLE {namespace}.t{seed} PURGE")
