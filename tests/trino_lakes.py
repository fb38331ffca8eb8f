"""What tests of a real Trino share: a lake, the rules over it, and what a machine lacks; living_trino starts it."""

import copy
import importlib.util
import time
from contextlib import closing, contextmanager
from unittest.mock import patch

import pyarrow as pa
from pyiceberg.manifest import DataFile

from workbench._base.errors import ArgumentError
from workbench_standins.trino import node

KINDS = ("cells", "rows", "patterns")
TABLES = {kind: [f"trino_{kind}.world_{letter}" for letter in "abc"] for kind in KINDS}
REFRESH_SECONDS = 2.5  # the rules are read anew each second


def lacking():
    """What this machine lacks for these tests; None for nothing."""
    if importlib.util.find_spec("trino") is None:
        return "Trino's client is not installed (extra trino)"
    try:
        node.programs(node.home())
    except ArgumentError as error:
        return str(error)
    return None


class Lake:
    """A catalog, a server over it, and the rules of the worlds' readers."""

    def __init__(self, catalog, rules):
        self.catalog, self.rules, self.server = catalog, rules, None

    def connect(self, user="reader", catalog="lake", **options):
        return self.server.connect(user, catalog=catalog, **options)

    def ask(self, statement, user="reader", **options):
        with closing(self.connect(user, **options)) as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return cursor.fetchall()

    def put(self, rules):
        """Put rules into force; they are read within a second."""
        self.server.replace(rules)
        time.sleep(REFRESH_SECONDS)

    def changed(self, change):
        """Put the worlds' rules into force with a change made to a copy of them."""
        rules = copy.deepcopy(self.rules)
        change(rules)
        self.put(rules)


def together(several):
    """Several policies' rules as one file of rules; their readers are the same."""
    first = copy.deepcopy(several[0])
    first["tables"] = [rule for rules in several for rule in rules["tables"][:-1]] + first["tables"][-1:]
    return first


@contextmanager
def sorted_files():
    """Write files that name their sort order, as Spark's do: of others Trino 476 cannot read `$entries`."""
    own = DataFile.from_args

    def sorted_one(*words, **arguments):
        return own(*words, **arguments | {"sort_order_id": 0})

    with patch.object(DataFile, "from_args", sorted_one):
        yield


def written(catalog, name, rows):
    catalog.create_namespace_if_not_exists(name.partition(".")[0])
    table = catalog.create_table(name, rows.schema)
    with sorted_files():
        table.append(rows)
    return table


def partitioned(catalog, name):
    """A table whose partitions are the values of a column that its reader may not see."""
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "town": ["Leeds", "Lyon"]})
    catalog.create_namespace_if_not_exists(name.partition(".")[0])
    table = catalog.create_table(name, rows.schema)
    with table.update_spec() as update:
        update.add_identity("town")
    table.append(rows)
    return table
