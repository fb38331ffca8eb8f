"""What tests of access share: the policy and the tables of two published walkthroughs, and the rules in plain Python."""

import math
import operator
import re

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from workbench.access.conditions import Combination, Predicate

POLICY = """
catalog: lake
principals:
  analyst: {arn: "arn:aws:iam::111122223333:role/DataAnalyst"}
  engineer: {arn: "arn:aws:iam::111122223333:role/BIEngineer"}
  user1: {arn: "arn:aws:iam::111122223333:role/one"}
  user2: {arn: "arn:aws:iam::111122223333:role/two"}
  nobody: {}
administrators: [owner]
tags:
  Domain: [sales, marketing]
  Sensitivity: ["true", "false"]
namespaces:
  sales: {Domain: sales, Sensitivity: "false"}
tables:
  sales.customer:
    columns:
      c_id: {id: 1, tags: {}}
      c_first_name: {id: 2, tags: {Sensitivity: "true"}}
      c_last_name: {id: 3, tags: {Sensitivity: "true"}}
      c_country: {id: 4, tags: {}}
  people.users:
    columns:
      uid: {id: 1, tags: {}}
      name: {id: 2, tags: {}}
      surname: {id: 3, tags: {}}
      state: {id: 4, tags: {}}
      city: {id: 5, tags: {}}
      address: {id: 6, tags: {}}
      born_year: {id: 7, tags: {}}
filters:
  uk: {table: people.users, where: "state = 'united kingdom'"}
grants:
  - {to: analyst, by: owner, tags: {Domain: [sales], Sensitivity: ["false"]}}
  - {to: engineer, by: owner, tags: {Domain: [sales]}}
  - {to: user1, by: owner, table: people.users, columns: [uid, state, city, born_year]}
  - {to: user1, by: owner, table: people.users, all_but: [address], filter: uk}
  - {to: user2, by: owner, table: people.users}
"""
USERS = [
    # uid, name, surname, state, city, address, born_year
    (1, "Ann", "Bell", "united kingdom", "leeds", "1 Mill Lane", 1970),
    (2, "Bodhild", "Carrington", "france", "lyon", "2 Rue Haute", 1981),
    (3, "Cyprian", "Dunnigan", None, "oslo", "3 Havnegata", None),
    (4, "Dionysia", None, "united kingdom ", "bath", "4 High Street", 1990),
]
NULL_ROWS = [(5, "Ed", "Fox", None, "x", "y", 1970), (6, "Flo", "Gil", "france", "x", "y", None)]
# of rows: partitions by state and year of birth decide them, and null is among both
CONDITIONS = [
    "state <> 'france'", "state <> 'france' OR born_year = 1990", "born_year < 1971 OR state = 'france'",
    "NOT state LIKE 'f%' OR born_year = 1", "state NOT IN ('france') OR born_year = 1", "NOT born_year > 1975",
    "NOT (state = 'france' AND born_year = 1981)", "born_year NOT BETWEEN 1960 AND 1975 OR state = 'x'",
    "born_year IS NULL OR state < 'g'",
]  # fmt: skip
USER_COLUMNS = ("uid", "name", "surname", "state", "city", "address", "born_year")
USER_TYPES = pa.schema(
    [(n, pa.int32() if n == "born_year" else pa.int64() if n == "uid" else pa.string()) for n in USER_COLUMNS]
)


def catalog(folder):
    """A catalog of PyIceberg in a folder."""
    made = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    for namespace in ("people", "sales"):
        made.create_namespace_if_not_exists(namespace)
    return made


def users(catalog, rows=USERS, name="people.users"):
    """The table of the second walkthrough, with rows of our own."""
    table = catalog.create_table(name, USER_TYPES)
    if rows:
        table.append(pa.Table.from_pylist([dict(zip(USER_COLUMNS, row, strict=True)) for row in rows], USER_TYPES))
    return table


def written(folder, text=POLICY):
    path = folder / "policy.yml"
    path.write_text(text)
    return path


def with_rows_where(condition, table="people.users"):
    """The policy in which user1 sees the rows that fulfil a condition, whole."""
    text = POLICY.replace("people.users", table).replace("state = 'united kingdom'", condition)
    lines = [line for line in text.splitlines() if "to: user1, by: owner" not in line]
    return "\n".join([*lines, f"  - {{to: user1, by: owner, table: {table}, filter: uk}}", ""])


def truth(condition, row):
    """True, False or None: the oracle, of a condition and a dict of Python's values by column."""
    if isinstance(condition, Combination):
        parts = [truth(part, row) for part in condition.parts]
        if condition.operator == "NOT":
            return None if parts[0] is None else not parts[0]
        decisive = condition.operator == "OR"
        return decisive if decisive in parts else None if None in parts else not decisive
    return _truth(condition, row[condition.column])


def _truth(predicate: Predicate, value):
    if predicate.operator == "IS NULL":
        return value is None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    first = predicate.values[0]
    if predicate.operator == "BETWEEN":
        return first <= value <= predicate.values[1]
    if predicate.operator == "IN":
        return value in predicate.values
    if predicate.operator == "LIKE":
        pattern = "".join({"%": ".*", "_": "."}.get(sign) or re.escape(sign) for sign in first)
        return re.fullmatch(pattern, value, re.DOTALL) is not None
    compare = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
               ">=": operator.ge}  # fmt: skip
    return compare[predicate.operator](value, first)
