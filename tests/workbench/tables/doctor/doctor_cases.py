"""Small tables for the doctor, and what they are judged by."""

from datetime import UTC, datetime, timedelta

import pytest

from workbench.data import sick
from workbench.tables import doctor, maintenance

POLICY = maintenance.Policy(target_file_bytes=sick.TARGET_FILE_BYTES)
LONG = pytest.mark.proof("the same is shown for a table with another cause")
LATER = datetime.now(UTC) + timedelta(days=7)  # at which snapshots and refs of a test are old


def diagnose(spark, table, *, now=LATER, columns=(), thresholds=None, **more):
    policy = POLICY.model_copy(update=more)
    return doctor.diagnose(spark, table, policy=policy, now=now, columns=columns, thresholds=thresholds)


def the(found, cause):
    """The one finding of a cause."""
    (one,) = [one for one in found.findings if one.cause == cause]
    return one
