"""Compare the files in a table's storage with the files that its metadata names."""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench._base import arguments
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import SparkSession
from workbench.tables import commits
from workbench.tables.maintenance import metadata

_HINT = "version-hint.text"  # a Hadoop catalog's pointer, which no metadata names


@dataclass(frozen=True)
class Inventory:
    """The files of a table.

    Attributes:
        stored: {location: bytes} of all that lies below the table's location.
        missing: locations that its metadata knows and that are not there: each is a reader that breaks.
        unknown: locations of `stored` that its metadata does not know: of a commit under way, or orphans.
    """

    stored: dict[str, int]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]

    def bytes(self, *endings: str) -> int:
        """Return how many bytes the stored files have whose names end in one of these; all without."""
        endings = arguments.texts("endings", endings, "endings")
        return sum(size for at, size in self.stored.items() if not endings or at.endswith(endings))

    def bytes_of(self, locations: Iterable[str]) -> int:
        """Return how many bytes some of the stored files have, whatever the scheme in their locations.

        Raises:
            ValueError: one is not among them.
        """
        by_path = {metadata.path(at): size for at, size in self.stored.items()}
        locations = arguments.texts("locations", locations, "locations")
        if gone := [at for at in locations if metadata.path(at) not in by_path]:
            raise ArgumentError(f"{gone[0]} is not one of the {len(by_path)} stored files")
        return sum(by_path[metadata.path(at)] for at in locations)


@checked
def inventory(spark: SparkSession, table: str) -> Inventory:
    """List a table's storage and compare it with all files of all snapshots, branches, tags and metadata versions.

    Files are listed one by one on the driver: meant for proofs and for tables of some ten thousand files.

    Args:
        spark: classic session whose catalog holds the table.
        table: its name.

    Returns:
        Inventory; what others commit meanwhile may be among the unknown.

    Raises:
        TableNotFound: no such table.
    """
    loaded = metadata.still(spark, commits.load(spark, table))
    known = {metadata.path(row.at): row.at for row in metadata.known(spark, loaded).distinct().collect()}
    # PyArrow leaves an empty object for a folder where it deletes in S3
    stored = {at: size for at, size in metadata.listed(loaded.io(), loaded.location()).items() if at[-1] != "/"}
    paths = {metadata.path(at) for at in stored}
    # what is known may lie elsewhere: files that were added where they were, another folder for data
    missing = [at for path, at in known.items() if path not in paths and not loaded.io().newInputFile(at).exists()]
    unknown = [at for at in stored if metadata.path(at) not in known and not at.endswith(_HINT)]
    return Inventory(stored, tuple(sorted(missing)), tuple(sorted(unknown)))
