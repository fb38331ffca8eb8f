"""A table name goes into SQL text only as a name."""

import pytest

from workbench import identifiers


def test_names_are_quoted():
    assert identifiers.quoted("sales.orders") == "`sales`.`orders`"
    assert identifiers.quoted("lake.sales.orders_2") == "`lake`.`sales`.`orders_2`"


@pytest.mark.parametrize("bad", ["orders", "a.b; DROP TABLE x", "a.`b`", "a..b", "a.b c", "", "a.b-c", "a.1b"])
def test_anything_else_is_refused(bad):
    with pytest.raises(ValueError, match="is not a table name"):
        identifiers.quoted(bad)
