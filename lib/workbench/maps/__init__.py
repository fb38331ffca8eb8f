"""A distributed map of AWS Step Functions on Spark: the published definition runs, and nothing of it is ignored.

    definition = maps.read("machine.asl.json", names={"Partition": "aws"})

The parts:

    definitions, checking, scopes, fields, texts, reasons    a file, and all reasons for which it does not run
    expressions                                              JSONata

What runs and what is refused: docs/maps.md.
"""

from workbench.maps.definitions import Definition, read
from workbench.maps.reasons import DefinitionRefused, Reason

__all__ = ["Definition", "DefinitionRefused", "Reason", "read"]
