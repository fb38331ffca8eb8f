"""Readings of sensors: the same for a seed, and the planted ones are what the rule finds, but for the bounds."""

from workbench.data import sensors

RULE = "(temperature > 35 OR temperature < -10 OR humidity > 95 OR humidity < 5 OR batterylevel < 20)"


def test_the_rule_finds_what_was_planted_but_the_bounds(spark):
    made = sensors.made(spark, devices=20, hours=200, seed=3)
    frame, truth = made.frame, made.truth
    assert made.rows == frame.count() == 4000 and frame.columns == list(sensors.COLUMNS)
    joined = frame.join(truth, ["deviceid", "timestamp"])
    assert joined.count() == 4000
    planted = "(planted_temperature IS NOT NULL OR planted_humidity IS NOT NULL)"
    found, missed, invented, hot, wet, bounds = joined.selectExpr(
        f"count_if({RULE} AND {planted})", f"count_if(NOT {RULE} AND {planted})", f"count_if({RULE} AND NOT {planted})",
        "count_if(planted_temperature IS NOT NULL)", "count_if(planted_humidity IS NOT NULL)",
        f"count_if({planted} AND NOT {RULE} AND at_bound AND (temperature = -10 OR humidity = 5))",
    ).first()  # fmt: skip
    assert invented == 0 and 0 < missed == bounds and found > 10 * missed
    assert 120 < hot < 280 and 60 < wet < 180  # 200 and 120 are expected
    low, north = joined.selectExpr("min(batterylevel)", "count_if(latitude = round(latitude, 10))").first()
    assert low > 20 and north < 40  # as published: no battery is ever low; latitudes are not rounded


def test_a_seed_makes_the_same_readings_in_any_number_of_tasks(spark):
    first = sensors.made(spark, devices=3, hours=30).frame
    assert sorted(first.collect()) == sorted(
        sensors.made(spark, devices=3, hours=30).frame.repartition(5).collect()
    )
    assert sorted(first.collect()) != sorted(sensors.made(spark, devices=3, hours=30, seed=2).frame.collect())
    last = first.orderBy("deviceid", "timestamp").collect()[-1]
    assert (last["deviceid"], last["timestamp"]) == ("sensor-003", "2026-01-02T05:00:00Z")
