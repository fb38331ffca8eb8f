"""Diagnose what hurts a table, in sentences, and cure it where that is safe.

    found = doctor.diagnose(spark, "sales.orders", policy=maintenance.read_policy("sales_orders.yml"))
    show.rows(doctor.told(found))
    doctor.cure(spark, found)

The parts:

    diagnosing   all causes, looked for in metadata alone
    findings     what was found: values and their table
    thresholds   from where on something is a cause, with the source of each figure
    looking      one state of a table: its live files, partition by partition
    layout       files and partitions: too small, too many, one-sided; delete files
    transforms   what a partition field should have been
    order        files whose bounds overlap
    growth       manifests, snapshots, metadata files, branches and tags
    asking       by which columns the owner's queries ask
    trials       what a cure would bring on the owner's queries, on a twin
    pointers     a catalog that points to a damaged metadata file, and the last good one
    versions     the metadata files that are there
    cures        what maintenance does about it, and what is the owner's to decide

For a table's owner: docs/doctor.md.
"""

from workbench.tables.doctor import pointers
from workbench.tables.doctor.asking import asked
from workbench.tables.doctor.cures import OWNERS, Cured, cure, sentences
from workbench.tables.doctor.diagnosing import diagnose
from workbench.tables.doctor.findings import CAUSES, Diagnosis, Finding, told
from workbench.tables.doctor.thresholds import Thresholds
from workbench.tables.doctor.trials import Tried, trial

__all__ = [
    "CAUSES", "OWNERS", "Cured", "Diagnosis", "Finding", "Thresholds", "Tried", "asked", "cure", "diagnose",
    "pointers", "sentences", "told", "trial",
]  # fmt: skip
