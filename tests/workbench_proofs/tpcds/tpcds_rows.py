"""Small answers, written as they look."""

from workbench_proofs.tpcds import verdicts
from workbench_proofs.tpcds.answers import Answer, Column


def answer(kinds, *rows):
    """An Answer: kinds such as "text whole decimal.2 float"; columns are called a, b, c …"""
    columns = []
    for name, kind in zip("abcdefgh", kinds.split(), strict=False):
        kind, _, scale = kind.partition(".")
        columns.append(Column(name, kind, int(scale or 0)))
    return Answer(tuple(columns), tuple(rows))


def oracle(kinds, *rows, keys=(), limit=None):
    """An Oracle, sorted by the columns at the positions `keys`."""
    told = tuple(tuple(row[k] for k in keys) for row in rows)
    return verdicts.Oracle(answer(kinds, *rows), told, limit, tuple(keys))
