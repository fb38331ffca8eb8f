"""200 random histories of restatement: the truth after every night, and at every snapshot."""

import pytest
from restated import make, nights


@pytest.mark.proof("test_random_histories draws one of them")
def test_200_random_histories(spark, namespace):
    for seed in range(200):
        make(spark, f"{namespace}.t{seed}")
        assert nights(spark, f"{namespace}.t{seed}", seed) == 0, seed
        spark.sql(f"DROP TABLE {namespace}.t{seed} PURGE")
