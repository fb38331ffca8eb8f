"""Names that go into SQL text: checked and quoted, because a name cannot be a parameter marker."""

import re

PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted(table):
    """Return a table name quoted for Spark SQL: `sales.orders` becomes `` `sales`.`orders` ``.

    Args:
        table: two or more parts (`namespace.name`, `catalog.namespace.name`), letters, digits and underscores.

    Raises:
        ValueError: the text is not such a name.
    """
    parts = str(table).split(".")
    if len(parts) < 2 or not all(PART.fullmatch(part) for part in parts):
        raise ValueError(
            f"{table!r} is not a table name; expected namespace.name or catalog.namespace.name "
            "of letters, digits and underscores"
        )
    return ".".join(f"`{part}`" for part in parts)


def literal(text):
    """Return a text as a literal of Spark SQL, whatever is in it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def column(name):
    """Return the name of a column quoted for Spark, as it is: also one with dots, spaces or backticks in it."""
    return "`" + name.replace("`", "``") + "`"
