"""Governed subqueries by a policy: what `workbench.access` decides of a table, as a text in its place."""

from collections.abc import Callable
from typing import Any

from pyiceberg.types import DateType, TimestampType, TimestamptzType

from workbench import access
from workbench._base import identifiers
from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench._base.typing import Catalog, Judged
from workbench.access.deciding import refuse_other_table
from workbench.access.policies import granted, named
from workbench.access.statements import governed as governed_statement
from workbench.access.statements import is_handed_on
from workbench_ops.front.plans import Governed

# No comparison with a value of such a column fails, whatever it is compared with: Spark casts texts to numbers and
# long integers to decimals that are too short for them, and then tells by an error what a hidden row holds.
BARE = (TimestamptzType,)
# Of these a value at the end of the type does, compared with a time: a date behind the year 294,247, and where the
# server's zone is not UTC a time without a zone. So it must not be asked of a row before the policy is
BARE_WHERE_POLICY_IS_FIRST = (DateType, TimestampType)


@checked
def by_policy(policy: Callable[[], access.Policy], catalog: Judged[Catalog], *, name: str) -> Governed:
    """Return the function that gives the front its governed subqueries, by a policy.

    The front asks it anew while an answer streams: what the policy no longer grants ends the query.

    Args:
        policy: gives the policy of now, as `access.read` returns it.
        catalog: PyIceberg's, of the same tables as the server's.
        name: of that catalog in the server's Spark.

    Returns:
        Function of (principal, table), where table is the full name as Spark SQL has it. It returns a SELECT of
        Spark SQL, and raises ArgumentError or NothingVisible where nothing is shared.
    """

    def governed(principal: str, table: str) -> str:
        now = policy()
        inside = _inside(table, name)
        # before the table is loaded: how long a refusal takes does not tell that there is such a table
        if inside not in granted(now, principal):
            raise ArgumentError(f"there is no table {table} that {principal} may read")
        loaded: Any = catalog.load_table(inside)
        decision = access.decide(now, principal, named(inside, now.catalog), loaded.schema())
        refuse_other_table(decision, str(loaded.metadata.table_uuid))
        schema = loaded.schema()
        kinds = (*BARE, *(BARE_WHERE_POLICY_IS_FIRST if is_handed_on(decision.row) else ()))
        bare = [field.name for field in schema.fields if isinstance(field.field_type, kinds)]
        return governed_statement(decision, "spark", source=identifiers.quoted(table), bare=bare)

    return governed


def _inside(table: str, name: str) -> tuple[str, ...]:
    """Return the parts of a table's name without its catalog."""
    first, *inside = identifiers.parts(table, least=3)
    if first != name:
        raise ArgumentError(f"{table} is in another catalog than {name}")
    return tuple(inside)
