"""The levers of the tuned profile, one at a time: settings taken back or added, class data, and how tables lie."""

from bench.tpcds_goals import TUNED
from workbench.engines import profiles as engines
from workbench_proofs import tpcds as derived
from workbench_proofs.tpcds import measuring

SETTINGS = {
    "shuffle_200": {"spark.sql.shuffle.partitions": 200},
    "broadcast_10m": {"spark.sql.autoBroadcastJoinThreshold": 10 << 20},
    "ui_on": {"spark.ui.enabled": True},
    "aqe_off": {"spark.sql.adaptive.enabled": False},
    "manifest_cache": {"spark.sql.catalog.lake.io.manifest.cache-enabled": True},
    "locality_off": {"spark.sql.iceberg.locality.enabled": False},
}
# no archive of classes: what starting costs without it is in the cold seconds of the first queries
PROFILES = {name: {"conf": conf} for name, conf in SETTINGS.items()} | {"class_data_off": {"class_data": False}}
TABLES = ("truncated", "sorted", "row_groups", "whole_bounds")  # layouts, each one lever of ours upon flat tables
EVERY = ",".join((*PROFILES, *TABLES))
ROUNDS = 2
# Every fifth query: 24 units of all 103, six minutes each, would take more than two hours.
QUERIES = derived.names()[2::5]


def named(names):
    """Return the levers of a comma-separated list: name to what it changes in the profile, {} for one of the tables.

    Raises:
        ValueError: there is no such lever.
    """
    wanted = names.split(",")
    if unknown := [name for name in wanted if name not in (*PROFILES, *TABLES)]:
        raise ValueError(f"no lever {unknown[0]!r}; there are {EVERY}")
    return {name: PROFILES.get(name, {}) for name in wanted}


def layouts(pulled):
    """Return the layouts that levers need beside flat."""
    return [name for name in pulled if name in TABLES]


def units(pulled):
    """Return (units, name to profile): the profile as it is and each lever, to and fro.

    The second round goes backwards, so that over both each of them comes equally early: a machine that gets slower, or
    faster, favours none.
    """
    if not pulled:
        return [], {}
    tuned = engines.engine(TUNED)
    profiles = {
        name: tuned.model_copy(update={"name": name} | change | {"conf": tuned.conf | change.get("conf", {})})
        for name, change in pulled.items()
        if name not in TABLES
    }
    pairs = [(TUNED, "flat")] + [(TUNED, name) if name in TABLES else (name, "flat") for name in pulled]
    turns = [pairs if number % 2 else pairs[::-1] for number in range(1, ROUNDS + 1)]
    todo = [measuring.Unit(*pair, number) for number, turn in enumerate(turns, 1) for pair in turn]
    return todo, profiles
