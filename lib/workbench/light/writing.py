"""One commit by PyIceberg, tried again from the table's newest state, and the files that wait for it."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench._base import identifiers
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.light import catalogs, slices
from workbench.light.typing import ArrowTable, Catalog, DataFile, IcebergTable

if TYPE_CHECKING:
    from pyiceberg.table import Transaction
    from tenacity import Retrying

TRIES = 20  # of 24 appends by 4 writers the 4 retries of PyIceberg's default refused 1 or 2, 20 none
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.05, 2


def load(catalog: Catalog, table: str) -> IcebergTable:
    """Load a table to be written by PyIceberg.

    Raises:
        ValueError: there is no such table, or PyIceberg does not write it as its metadata ask for.
    """
    iceberg = catalogs.table_of(catalog, identifiers.parts(table))
    if iceberg.format_version > 2:
        raise ArgumentError(
            f"{table} has version {iceberg.format_version} of Iceberg's table format, which PyIceberg reads and "
            "does not write; write it with Spark"
        )
    if (file_format := iceberg.properties.get("write.format.default", "parquet")) != "parquet":
        raise ArgumentError(
            f"{table} is written in the format {file_format}, and PyIceberg writes parquet; ask Spark"
        )
    return iceberg


@contextmanager
def ended(table: str, again: str, *errors: type[Exception]) -> Iterator[None]:
    """Say by a sentence that a catalog or a storage went away while a table was written.

    Args:
        table: its name.
        again: what is safe to do then.
        errors: of an engine, which mean the same.

    Raises:
        WorkbenchError: nobody knows whether the rows are there.
        pyiceberg.exceptions.CommitFailedException: others committed first; nothing was written.
    """
    from pyiceberg.exceptions import CommitFailedException

    try:
        yield
    except (WorkbenchError, CommitFailedException):
        raise
    except Exception as error:
        if not catalogs.failed(error) and not isinstance(error, errors):
            raise
        raise WorkbenchError(
            f"the catalog or the storage of {table} does not answer any more, and the rows may be there or not; "
            f"{again}: {catalogs.first_line(error)}"
        ) from error


def attempts(tries: int) -> "Retrying":
    """Return tenacity's attempts of a commit: again where it was refused or nobody knows how it ended.

    Each must begin from the table's newest state and look whether the one before arrived.
    """
    import tenacity
    from pyiceberg import exceptions
    from requests.exceptions import ConnectionError, Timeout

    again = (
        exceptions.CommitFailedException, exceptions.CommitStateUnknownException, exceptions.ServerError,
        exceptions.ServiceUnavailableError, ConnectionError, Timeout,
    )  # fmt: skip
    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(tries),
        wait=tenacity.wait_random_exponential(FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS),
        retry=tenacity.retry_if_exception_type(again),
        reraise=True,
    )


@dataclass
class Prepared:
    """Data files that were written for a commit and are kept for its next try, as long as they fit."""

    _form: tuple[Any, ...] | None = None
    _files: list[DataFile] = field(default_factory=list)
    _io: Any = None

    def files(self, table: IcebergTable, rows: ArrowTable, left_out: frozenset[str]) -> list[DataFile]:
        """Return the files of rows, written when they are not there or the table changed its form since.

        Args:
            table: PyIceberg's Table.
            rows: those that are new.
            left_out: ids whose rows are in the table; two sets of them may leave as many rows, and not the same.
        """
        metadata = table.metadata
        form = (
            left_out,
            metadata.current_schema_id,
            metadata.default_spec_id,
            metadata.default_sort_order_id,
        )
        if self._form != form:
            self.discard()
            self._files, self._form, self._io = slices.write(table, rows), form, table.io
        return self._files

    def discard(self) -> None:
        """Delete the files, which no snapshot has or can get."""
        for file in self._files:
            with suppress(OSError):
                self._io.delete(file.file_path)
        self._files, self._form = [], None


@dataclass(frozen=True)
class Change:
    """A commit that is ready, bound to the snapshot that its table was loaded at.

    Attributes:
        snapshot_id: of the snapshot that it will be.
    """

    snapshot_id: int
    _transaction: "Transaction"

    def commit(self) -> None:
        """Commit it, or not at all when somebody else was first."""
        self._transaction.commit_transaction()


def begin(table: IcebergTable, files: list[DataFile], summary: dict[str, str]) -> Change:
    """Make a commit of data files ready.

    Args:
        table: PyIceberg's Table, as it was looked at.
        files: written for it.
        summary: properties of the new snapshot.
    """
    once(table)
    transaction = table.transaction()
    with transaction.update_snapshot(snapshot_properties=summary).fast_append() as update:
        for file in files:
            update.append_data_file(file)
        snapshot_id = update.snapshot_id
    return Change(snapshot_id, transaction)


def once(table: IcebergTable) -> None:
    """Keep PyIceberg from trying a commit to a loaded table again: it would do so without looking at the rows."""
    table.metadata.properties["commit.retry.num-retries"] = "0"  # of this copy; the catalog has its own
