"""Conflicts of two writers, measured: every ordered pair of operations, and what became of it.

Which of two commits comes first is fixed by a proxy that holds the other one before its swap, so that a cell is
the same every time. A cell is red when both writers were told that they had succeeded and the table holds rows
that neither order of the two statements gives.

    with conflicts.writers(spark) as two:       # a pair of your own, on your own table
        race = conflicts.race(two.a, two.b, "DELETE FROM shop.orders WHERE day < DATE'2026-01-01'",
                              "UPDATE shop.orders SET paid = true WHERE id = 7", hold=two.hold)
    commits.kind(race.second)

    for result in conflicts.run(spark, conflicts.cells(modes=["v3"])):      # the matrix, or a part of it
        print(result.first, result.second, result.outcome)

The parts:

    operations, cells    the eleven operations, six variants and the small table; which cells there are
    racing, scans        two writers, the order of whose commits is stated; what lands behind a scan
    copies, orders       fresh tables; the rows of both serial orders
    outcomes, runs       what became of a race; cells run
    kept, matrix         results in a file that a stopped run goes on with; as an Iceberg table, compared
    claims               what documentation and users say of cells

What was measured: docs/conflicts.md.
"""

from workbench_proofs.conflicts.cells import Cell, asked, cells, telling, variants
from workbench_proofs.conflicts.kept import measured
from workbench_proofs.conflicts.matrix import compare, save
from workbench_proofs.conflicts.operations import MODES, OPERATIONS, VARIANTS
from workbench_proofs.conflicts.outcomes import OUTCOMES
from workbench_proofs.conflicts.racing import NothingHeld, Race, Writers, race, writers
from workbench_proofs.conflicts.runs import Result, run, versions

__all__ = [
    "MODES", "OPERATIONS", "OUTCOMES", "VARIANTS", "Cell", "NothingHeld", "Race", "Result", "Writers", "asked",
    "cells", "compare", "measured", "race", "run", "save", "telling", "variants", "versions", "writers",
]  # fmt: skip
