"""When notebooks run: `params/schedules.yml`, and what cron and Airflow need to follow it.

`entries` reads and validates, `times` says when, `running` runs an entry with what follows it, `crontab` and
`airflow` write what a scheduler takes. Who executes a notebook is given as a callable: this part starts nothing.
"""

from workbench_ops.schedules.entries import Entry, read

__all__ = ["Entry", "read"]
