"""A distributed map of AWS Step Functions on Spark: the published definition runs, and nothing of it is ignored.

    definition = maps.read("machine.asl.json", names={"Partition": "aws"})
    maps.run(spark, definition, "iot.analysed", run_id="2026-01-31", input={"Key": "…"},
             resources={ANALYSE: handler, "readings": maps.Delivery("deviceid STRING, anomalycount INT")})

The parts:

    definitions, checking, scopes, fields, texts, reasons    a file, and all reasons for which it does not run
    expressions, functions, jsons                            JSONata, what AWS adds to it, and JSON
    resources, states                                        what tasks call; a child's states
    files, lines, whole, plans                               where items come from, and in which waves
    work                                                     what a worker of Spark does
    positions, publish, targets                              how far a run is, one commit a wave, the table
    jobs, runs                                               a run begun or found; run, redrive, describe
    unloading                                                rows as files with a manifest

What runs and what is refused: docs/maps.md.
"""

from workbench.maps.definitions import Definition, read
from workbench.maps.files import ItemsChanged
from workbench.maps.plans import StatesFailed
from workbench.maps.positions import AnotherWriter
from workbench.maps.reasons import DefinitionRefused, Reason
from workbench.maps.resources import Call, Delivery, TaskFailed
from workbench.maps.runs import MapRun, TooManyFailed, describe, failures, redrive, results, run
from workbench.maps.targets import Failure
from workbench.maps.unloading import Unload, unload
from workbench.maps.whole import FilesSplit

__all__ = [
    "AnotherWriter", "Call", "Definition", "DefinitionRefused", "Delivery", "Failure", "FilesSplit",
    "ItemsChanged", "MapRun", "Reason", "StatesFailed", "TaskFailed", "TooManyFailed", "Unload", "describe",
    "failures", "read", "redrive", "results", "run", "unload",
]  # fmt: skip
