"""Decide who sees which columns, rows and cells of a table, once, for every engine.

    policy = access.read("policy.yml")
    decision = access.decide(policy, "analyst", "sales.customer", table.schema())     # PyIceberg's Schema
    access.arrow(table, decision)                   # rows by PyIceberg
    access.frame(spark, "sales.customer", decision) # rows by Spark
    access.sql(decision, "duckdb", source="…")      # a SELECT

A hidden cell is NULL, and its column's name is in the row's list `_hidden`. None of this is a boundary: whoever
holds the keys of the storage, or may read the local files, reads all of it. `keys` gives short-lived ones to who
may read all of a table.

policies    what a policy is
reading     its file
judging     what is wrong in it
filters     the language of filters
conditions  where a cell is visible; its SQL
deciding    decide, matrix
statements  sql
arrows      arrow
frames      frame; schema of a table that Spark has
binding     bind: field ids into the file
export/     Lake Formation's calls, Trino's rules
vending     keys: of the storage, for who sees every cell of a table (places: where its files lie, and what else)
trino       Trino's own questions, and it as a route of leaks
leaking     leaks: two worlds tell what a route lets through (worlds: their rows and policy; probes: the questions)
"""

from workbench.access import export, trino, worlds
from workbench.access.arrows import arrow
from workbench.access.binding import Binding, bind
from workbench.access.conditions import ALWAYS, NEVER, described
from workbench.access.deciding import HIDDEN, DecidedColumn, Decision, NothingVisible, decide, matrix
from workbench.access.frames import frame, schema
from workbench.access.leaking import Leak, Proof, Route, by_frame, by_statement, leaks
from workbench.access.policies import Policy
from workbench.access.probes import PROBES, Probe
from workbench.access.reading import read
from workbench.access.statements import sql
from workbench.access.vending import Keys, NoKeys, keys, sts_client

__all__ = [
    "ALWAYS", "HIDDEN", "NEVER", "PROBES", "Binding", "DecidedColumn", "Decision", "Keys", "Leak", "NoKeys",
    "NothingVisible", "Policy", "Probe", "Proof", "Route", "arrow", "bind", "by_frame", "by_statement", "decide",
    "described", "export", "frame", "keys", "leaks", "matrix", "read", "schema", "sql", "sts_client", "trino",
    "worlds",
]  # fmt: skip
