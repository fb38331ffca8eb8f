"""Incidents that are planted in real runs of Spark, and healthy runs beside them, all drawn by a seed.

    jobs.prepare(spark, "small_files", "lake.sales.orders", 7)
    with metrics.watch(spark, "watched"):
        answer, error = jobs.run(spark, "small_files", "lake.sales.orders", Path("files"), 7)

planted     jobs with one cause of `incidents.CAUSES` each, and the answer that each must have
flowing     streams: that lag, that are stuck, that rest
healthy     jobs of 27 kinds with none
jobs        both by their names
"""
