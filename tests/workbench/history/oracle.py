"""What a history has to be, from the script of operations alone: no table is read here, and nothing of ours used.

A state is {key: values}; a script is the list of states after each commit. Times are those the commits were given.
"""

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Version:
    """One version: values of a key from commit `born` on, in [start, end)."""

    key: tuple
    values: tuple
    start: int
    end: int | None
    number: int
    born: int


def changes(states, before=None):
    """List what each state differs in from the one before: (ordinal, key, kind, values)."""
    found, old = [], before or {}
    for ordinal, new in enumerate(states):
        for key in old.keys() | new.keys():
            if key not in old:
                found.append((ordinal, key, "insert", new[key]))
            elif key not in new:
                found.append((ordinal, key, "delete", old[key]))
            elif old[key] != new[key]:
                found.append((ordinal, key, "update_before", old[key]))
                found.append((ordinal, key, "update_after", new[key]))
        old = new
    return found


def shown_times(times):
    """Times as a history has them: never before an earlier commit's."""
    return [max(times[: n + 1]) for n in range(len(times))]


def versions(states, times):
    """List every version, by key and number.

    Args:
        states: after each commit.
        times: of each commit.
    """
    moments, found = shown_times(times), []
    for key in {key for state in states for key in state}:
        number, n = 0, 0
        while n < len(states):
            if key not in states[n]:
                n += 1
                continue
            values, last = states[n][key], n
            while last + 1 < len(states) and states[last + 1].get(key) == values:
                last += 1
            start, end = moments[n], moments[last + 1] if last + 1 < len(states) else None
            if end is None or end > start:
                number += 1
                found.append(Version(key, values, start, end, number, n))
            n = last + 1
    return sorted(found, key=lambda v: (v.key, v.number))


def broken(found, states, times):
    """Name what a list of versions breaks: sentences, none when all invariants hold."""
    moments = shown_times(times)
    for key in {v.key for v in found} | states[-1].keys():
        mine = sorted((v for v in found if v.key == key), key=lambda v: v.number)
        if [v.number for v in mine] != list(range(1, len(mine) + 1)):
            yield f"{key}: numbers are not 1, 2, 3 …"
        for one, two in pairwise(mine):
            if one.end is None or one.end > two.start:
                yield f"{key}: versions {one.number} and {two.number} overlap"
        if sum(v.end is None for v in mine) != (key in states[-1]):
            yield f"{key}: {sum(v.end is None for v in mine)} open versions"
        if any(v.end is not None and v.end <= v.start for v in mine):
            yield f"{key}: an interval is empty"
        for moment in moments:  # alive at a moment means: after the last commit of that moment
            state = states[max(n for n, m in enumerate(moments) if m == moment)]
            there = [v.values for v in mine if v.start <= moment and (v.end is None or v.end > moment)]
            if there != ([state[key]] if key in state else []):
                yield f"{key}: at {moment} it was {state.get(key)}, the history says {there}"
