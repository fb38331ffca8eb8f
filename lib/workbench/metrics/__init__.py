"""Watch runs, find incidents and try their cures, compare collectors."""

from workbench.metrics.watching import Watch, settings, watch

__all__ = ["Watch", "settings", "watch"]
