"""Rows against rows, in any order: each finds a partner of its own, or the first that finds none is named."""

from collections import defaultdict
from collections.abc import Sequence

from workbench_proofs.tpcds.answers import Row
from workbench_proofs.tpcds.values import Comparison


def partners(mine: Sequence[Row], theirs: Sequence[Row], same: Comparison) -> int | None:
    """Return the position in `mine` of the first row without a partner in `theirs`; None when all have one.

    Numbers are equal within a tolerance or a scale, which is not an equivalence, so rows cannot be sorted and
    compared: this is a bipartite matching (Kuhn's augmenting paths) among rows whose other values are the same.

    Args:
        mine: rows.
        theirs: rows, as many or more.
        same: values.Comparison.
    """
    places = defaultdict(list)
    for n, row in enumerate(theirs):
        places[same.fixed(row)].append(n)
    taken: dict[int, int] = {}  # place among theirs to row of mine
    for n, row in enumerate(mine):
        if not _place(n, mine, theirs, places[same.fixed(row)], same, taken):
            return n
    return None


def _place(
    n: int,
    mine: Sequence[Row],
    theirs: Sequence[Row],
    candidates: list[int],
    same: Comparison,
    taken: dict[int, int],
) -> bool:
    """Give row n a partner, moving others where that helps; breadth first, so that peers may be many."""
    free = next((c for c in candidates if c not in taken and same.rows(mine[n], theirs[c]) is not None), None)
    if free is not None:
        taken[free] = n
        return True
    came_from: dict[int, int] = {}
    queue = [n]
    for row in queue:
        for c in candidates:
            if c in came_from or same.rows(mine[row], theirs[c]) is None:
                continue
            came_from[c] = row
            if c in taken:
                queue.append(taken[c])
                continue
            _augment(c, came_from, taken, n)
            return True
    return False


def _augment(place: int, came_from: dict[int, int], taken: dict[int, int], first: int) -> None:
    """Hand the places on along the path that ends at a free one."""
    place_of = {row: place for place, row in taken.items()}
    while True:
        row = came_from[place]
        taken[place] = row
        if row == first:
            return
        place = place_of[row]
