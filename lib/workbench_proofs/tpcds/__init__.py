"""A benchmark derived from TPC-DS in which each time stands beside a verdict on the answer. Never a TPC result.

    data = tpcds.generate(0.01)                                   # Parquet, by DuckDB's dsdgen, once
    tpcds.load(spark, data, "tpcds_flat", layout="flat")          # Iceberg; seconds, files and bytes
    results = list(tpcds.run(tpcds.engine("spark41"), spark, data, namespace="tpcds_flat"))
    tpcds.require(results)                                        # fails where an answer is wrong

What the verdicts mean, and what they leave open: docs/tpcds.md. The parts:

    names.txt    the 103 names
    texts        their Spark SQL texts, read from a package
    data         the tables, generated and cached
    layouts      the tables in Iceberg: flat, published, ours
    dialect      Spark SQL into DuckDB's
    answers      a result in normal form, and its hash
    values       two values: identical, in another scale, different
    matching     rows against rows in any order
    verdicts     two answers: what their agreement is worth
    oracle       DuckDB's answer, and the verdict it allows
    kept         verified answers, remembered by their hash
    engines      profiles of engines, and what this machine lacks for one
    installing   the environment that an engine has of its own, and its jars
    processes    an engine in a process of its own; child is that process
    asking       one query on one engine
    runs         queries on an engine, each with its verdict
    measuring    engines in turn, cold and warm, going on where a run was stopped
    kept_units   what was measured, in a file, with where and when
    figures      medians, totals, ratios, what became slower; a table of results
    choices      which engine takes which query, and when it goes back to plain Spark
"""

from workbench.engines import profiles as engines
from workbench.engines.installing import install
from workbench.engines.profiles import Engine, engine
from workbench_proofs.tpcds.data import Data, generate
from workbench_proofs.tpcds.layouts import FLAT, LAYOUTS, OURS, PUBLISHED, Loaded, load
from workbench_proofs.tpcds.processes import Process, opened
from workbench_proofs.tpcds.runs import DERIVED, AnswersDiffer, Result, counts, lines, require, run
from workbench_proofs.tpcds.texts import names, text
from workbench_proofs.tpcds.verdicts import KINDS, Judgement

__all__ = [
    "DERIVED",
    "FLAT",
    "KINDS",
    "LAYOUTS",
    "OURS",
    "PUBLISHED",
    "AnswersDiffer",
    "Data",
    "Engine",
    "Judgement",
    "Loaded",
    "Process",
    "Result",
    "counts",
    "engine",
    "engines",
    "generate",
    "install",
    "lines",
    "load",
    "names",
    "opened",
    "require",
    "run",
    "text",
]  # fmt: skip
