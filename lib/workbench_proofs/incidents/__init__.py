"""Incidents that are planted in real runs of Spark, and healthy runs beside them, all drawn by a seed.

    planted.PLANTS["small_files"].prepare(spark, "lake.sales.orders", 7)
    with metrics.watch(spark, "watched"):
        answer = planted.PLANTS["small_files"].run(spark, "lake.sales.orders", 7)

planted     jobs with one cause of `incidents.CAUSES` each, and the answer that each must have
flowing     streams: that lag, that are stuck, that rest
healthy     jobs of 27 kinds with none
"""
