"""Whose the files of a table are: a table that follows another format's has that one's files, and deletes none."""

from workbench._base.typing import Java
from workbench.tables.maintenance import metadata
from workbench.tables.maintenance.results import Hindrance, Obstacle

SOURCE = "workbench.formats.source"  # the property by which formats.move names the other one's folder


def obstacle(loaded: Java) -> Obstacle | None:
    """Return why no file of a loaded table may be deleted; None where its files are its own.

    A table that names a source holds files of the source, also where somebody has turned gc.enabled on.
    """
    if source := loaded.properties().get(SOURCE):
        return Obstacle(Hindrance.SOURCE_OWNS, location=source)
    return Obstacle(Hindrance.GC_DISABLED) if metadata.gc_disabled(loaded) else None
