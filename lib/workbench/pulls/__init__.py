"""Pull from services that change their mind: reports that are restated for days, sheets that people edit.

pulls.run(spark, "lake.web.visits", source="shop", ask=ask, day="event_date", key=["country"],
          first=date(2026, 1, 1), until=date(2026, 3, 31), settled_days=7)
pulls.lateness(spark, "lake.web.visits", "shop").sentence
pulls.whole(spark, "lake.web.segments", source="segments", ask=everything, key=["nation"])

pulling     days replaced whole where their rows differ; a source without days
answers     what a source answers, and rows of the table made of it
times       values that are no moment by themselves
comparing   digests of days, and what differs
judging     what is refused
errors      by which it is refused
publish     one snapshot, written on a branch, main moved to it
positions   how far a table is pulled, in its own snapshots
letters     cells that could not become rows
late        how old figures were when they changed
results     what the functions return
"""

from workbench.pulls.answers import Answer, DeadCell
from workbench.pulls.errors import AnswerRefused, PullRefused
from workbench.pulls.late import lateness
from workbench.pulls.positions import AnotherWriter
from workbench.pulls.pulling import run, whole
from workbench.pulls.results import Age, Day, Lateness, Pull

__all__ = [
    "Age",
    "AnotherWriter",
    "Answer",
    "AnswerRefused",
    "Day",
    "DeadCell",
    "Lateness",
    "Pull",
    "PullRefused",
    "lateness",
    "run",
    "whole",
]
