"""The live files of an Iceberg table with their deletion vectors, asked for in one call."""

import json
from dataclasses import dataclass
from typing import Any

from workbench._base.typing import Java, SparkSession, jvm
from workbench.formats import storage
from workbench.formats.iceberg import Blob


@dataclass(frozen=True)
class Live:
    """A live data file.

    Attributes:
        described: Iceberg's JSON of it.
        vector: where its deletion vector is; None without.
        deleted: Iceberg's JSON of that; None without.
        task: Iceberg's handle of the task that reads it.
    """

    described: dict[str, Any]
    vector: Blob | None
    deleted: dict[str, Any] | None
    task: Java

    @property
    def file(self) -> Java:
        """Iceberg's handle of the data file."""
        return self.task.file()

    @property
    def delete(self) -> Java:
        """Iceberg's handle of the deletion vector; None without."""
        return None if self.vector is None else self.task.deletes().get(0)


def of(spark: SparkSession, loaded: Java, *, metrics: bool) -> dict[str, Live]:
    """Return {location: Live} of a loaded table's current snapshot.

    A call to Java costs as much as reading a small file: what is said of all files comes in one answer, as a
    catalog gives it that plans a scan.

    Args:
        spark: classic session.
        loaded: the table.
        metrics: whether `described` has those of columns, which are most of it.
    """
    iceberg = jvm(spark).org.apache.iceberg
    rest = iceberg.rest.responses
    if loaded.currentSnapshot() is None:
        return {}
    scan = loaded.newScan()
    planned = (scan.includeColumnStats() if metrics else scan).planFiles()
    try:
        tasks = iceberg.relocated.com.google.common.collect.Lists.newArrayList(planned)
    finally:
        planned.close()
    answer = rest.PlanTableScanResponse.builder().withPlanStatus(iceberg.rest.PlanStatus.COMPLETED)
    if "withDeleteFiles" in dir(answer):  # Iceberg 1.10, which does not find them in the tasks
        deletes = jvm(spark).java.util.ArrayList()
        for place in range(tasks.size()):
            deletes.addAll(tasks.get(place).deletes())
        answer = answer.withDeleteFiles(deletes)
    answer = answer.withFileScanTasks(tasks).withSpecsById(loaded.specs()).build()
    answered = json.loads(rest.PlanTableScanResponseParser.toJson(answer))
    known = answered.get("delete-files", ())
    vectors = {deleted["referenced-data-file"]: deleted for deleted in known if "referenced-data-file" in deleted}
    return {
        (location := task["data-file"]["file-path"]): Live(
            task["data-file"], _blob(vectors.get(location)), vectors.get(location), tasks.get(place)
        )
        for place, task in enumerate(answered.get("file-scan-tasks", ()))
    }


def content(blob: Blob) -> bytes:
    """Return the bytes of a deletion vector."""
    folder, _, name = blob.location.rpartition("/")
    return storage.opened(folder).part(name, blob.offset, blob.size)


def _blob(deleted: dict[str, Any] | None) -> Blob | None:
    names = ("file-path", "file-size-in-bytes", "content-offset", "content-size-in-bytes", "record-count")
    return None if deleted is None else Blob(*(deleted[name] for name in names))
