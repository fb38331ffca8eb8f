"""Tables that a principal may open, decided anew for each request from the files as they are now."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.table import Table

from workbench import access
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench.access.policies import granted
from workbench_ops.access import current
from workbench_ops.access.page import rows, users
from workbench_ops.access.page.users import User


class Closed(WorkbenchError):
    """Nothing is answered, because a file that decides cannot be read; why is for the owner's log."""


@dataclass(frozen=True)
class Answer:
    """Rows of a table, the version that they are of, and by which decision they were read."""

    decision: access.Decision
    snapshot_id: int | None
    part: rows.Part


def nothing_of(name: str, principal: str) -> access.NothingVisible:
    """Return what is said of a table that is hidden, and of one that does not exist."""
    return access.NothingVisible(f"there is no table {name} that {principal} may read")


@dataclass(frozen=True)
class Shared:
    """What is shared, and where it stands.

    Attributes:
        policy: path of the policy file.
        users: path of the file of users.
        catalog: opens the catalog that holds the tables.
    """

    policy: Path
    users: Path
    catalog: Callable[[], Catalog]

    def people(self) -> dict[str, User]:
        """Return who may log in, as the file is now.

        Raises:
            Closed: it cannot be read.
        """
        try:
            return users.read(self.users)
        except ValueError as error:
            raise Closed(str(error)) from error

    def names(self, principal: str) -> list[str]:
        """Return the names of the tables of which a principal may see something, sorted."""
        policy = self._read()
        return sorted(policy.tables[parts].name for parts in granted(policy, principal))

    def load(self, principal: str, name: str) -> Table:
        """Load a table of which something is granted to a principal.

        Args:
            principal: of the policy.
            name: of the table, as `names` has it.

        Raises:
            NothingVisible: nothing of it is granted, or there is no such table: the same is said of both.
            Closed: the policy cannot be read.
        """
        if name not in self.names(principal):
            raise nothing_of(name, principal)
        try:
            return self.catalog().load_table(self._read().key(name))
        except (NoSuchTableError, NoSuchNamespaceError):
            raise nothing_of(name, principal) from None

    def decide(self, principal: str, name: str, table: Table) -> access.Decision:
        """Decide what a principal sees of a table now.

        Args:
            principal: of the policy.
            name: of the table, as `names` has it.
            table: as `load` returns it.

        Raises:
            NothingVisible: the principal sees nothing of it.
            Closed: the policy cannot be read, or does not fit the table.
        """
        return self._decided(principal, name, table, None)

    def rows(
        self, principal: str, name: str, *, order: rows.Order = (), first: int = 20, complete: bool = False,
        start: int = 0, snapshot_id: int | None = None, table: Table | None = None,
    ) -> Answer:  # fmt: skip
        """Read a part of what a principal sees of a table.

        Args:
            principal: of the policy.
            name: of the table, as `names` has it.
            order: as of `rows.part`.
            first: as of `rows.part`.
            complete: as of `rows.part`.
            start: as of `rows.part`.
            snapshot_id: version that is read; left out, the current one.
            table: as `load` returns it; left out, it is loaded.

        Raises:
            NothingVisible: as of `load` and `decide`.
            Closed: as of `decide`.
            ArgumentError: as of `rows.judge`.
        """
        table = table or self.load(principal, name)
        if snapshot_id is not None and table.snapshot_by_id(snapshot_id) is None:
            raise ArgumentError("the version of the table whose pages you read is gone by now; begin anew")
        newest = table.metadata.current_snapshot_id
        # the current version is read by the schema of now: columns may have come and gone without a snapshot
        older = None if snapshot_id in (None, newest) else snapshot_id
        decision = self._decided(principal, name, table, older)
        rows.judge(table, decision, order=order, first=first, start=start, snapshot_id=older)
        try:
            governed = access.arrow(table, decision, snapshot_id=older)
        except ArgumentError as error:
            raise Closed(str(error)) from error
        part = rows.part(governed, decision, order=order, first=first, start=start, complete=complete)
        return Answer(decision, older or newest, part)

    def _decided(self, principal: str, name: str, table: Table, snapshot_id: int | None) -> access.Decision:
        schema = table.schema() if snapshot_id is None else table.scan(snapshot_id=snapshot_id).projection()
        try:
            decision = access.decide(self._read(), principal, name, schema)
        except ArgumentError as error:
            raise Closed(str(error)) from error
        if decision.row == access.NEVER:
            raise nothing_of(name, principal)
        return decision

    def _read(self) -> access.Policy:
        try:
            return current.policy(self.policy)
        except (OSError, ValueError) as error:
            raise Closed(str(error)) from error
