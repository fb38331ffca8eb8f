"""One table of orders in Iceberg, Delta Lake and Hudi: its statements, files, and what is claimed of each.

    tables = formats.tables(["iceberg", "delta"], namespace="compare_formats", folder="lake/compare_formats")
    for table in tables.values():
        formats.make(spark, table)
        spark.sql(f"INSERT INTO {table.name} SELECT ...")
    {name: formats.answer(spark, table.name) for name, table in tables.items()}

Parts:
    tables      the tables, their statements, their past and their changes
    contents    files that a statement wrote
    racing      two writers of one row
    claims      what is said of the formats, tried
"""

from workbench_proofs.formats.claims import Claim, claims, error_name
from workbench_proofs.formats.contents import files, written
from workbench_proofs.formats.racing import race
from workbench_proofs.formats.tables import (
    COLUMNS,
    FORMATS,
    Table,
    answer,
    at,
    changes,
    data_files,
    make,
    mark_state,
    rows_by_delta_rs,
    tables,
)

__all__ = [
    "COLUMNS", "FORMATS", "Claim", "Table", "answer", "at", "changes", "claims", "data_files", "error_name",
    "files", "make", "mark_state", "race", "rows_by_delta_rs", "tables", "written",
]  # fmt: skip
