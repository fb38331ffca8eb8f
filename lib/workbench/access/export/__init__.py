"""A policy in the words of other systems: AWS Lake Formation's calls, Trino's file of rules.

Both go by names and not by field ids: export again after a column was renamed or added.
"""

from workbench.access.export.lake_formation import Call, lake_formation
from workbench.access.export.trino import CLOSED, TOLD, trino

__all__ = ["CLOSED", "TOLD", "Call", "lake_formation", "trino"]
