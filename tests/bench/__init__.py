"""Benchmarks: ratios of two things measured in turn in one run, with the verdict that both gave the same answer."""
