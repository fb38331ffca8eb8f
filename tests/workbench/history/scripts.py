"""Random lives of rows, and tables on which they are played.

Every history is the life of one row over the same eight commits. Many histories are played in one table, by one
MERGE a commit, because what costs is the commit. Between the commits the table's columns grow, it is compacted, two
commits fall into one millisecond and one writer's clock is behind.
"""

from dataclasses import dataclass

from commit_times import line, set_times
from hypothesis import strategies as st

BASE = 1_760_000_000_000  # milliseconds since 1970
#        0     1      2      3      4      5      6      7
TIMES = [BASE, BASE + 1000, BASE + 2000, BASE + 2000, BASE + 3000, BASE + 2500, BASE + 3000, BASE + 4000]
COMMITS = len(TIMES)
NOTE_FROM = 3  # the column `note` is added before this commit, in the same millisecond as the one before
COMPACTED_BEFORE = (4, 7)
COLUMNS = ("code", "shop", "id", "name", "price", "region", "updated_at", "note")
EVENTS = (
    "insert", "update with a new time", "update that keeps the time", "update to the same values", "delete",
    "insert again", "return to an earlier state", "two changes in a millisecond", "null in a value",
    "value in a new column", "moved to another partition", "alive while compacted", "interval dropped as empty",
)  # fmt: skip
KINDS = {
    f"v{version}_{name}": (version, mode)
    for version in (2, 3)
    for name, mode in (("cow", "copy-on-write"), ("mor", "merge-on-read"))
}


@dataclass(frozen=True)
class History:
    """The values of a row after each commit (None: not there), without its key; and what happened to it."""

    lives: tuple
    events: frozenset


@st.composite
def histories(draw):
    """Draw a life: (name, price, region, updated_at, note) or None, after each commit."""
    row, lives, events, earlier, touched = None, [], set(), [], []
    for commit in range(COMMITS):
        choice = draw(st.sampled_from(("keep", "change", "change", "change")))
        if choice == "change" or (commit == 0 and draw(st.booleans())):
            row = draw(_changed(row, commit, earlier, events))
            touched.append(commit)
        if commit in COMPACTED_BEFORE and lives and lives[-1] is not None:
            events.add("alive while compacted")
        lives.append(row)
        if row is not None and row not in earlier:
            earlier.append(row)
    changed = [n for n in range(COMMITS) if lives[n] != (lives[n - 1] if n else None)]
    held = [max(TIMES[: n + 1]) for n in changed]
    if len(set(held)) < len(held):
        events.add("two changes in a millisecond")
        if any(a == b and lives[n] is not None for n, a, b in zip(changed, held, held[1:], strict=False)):
            events.add("interval dropped as empty")
    return History(tuple(lives), frozenset(events))


@st.composite
def _changed(draw, row, commit, earlier, events):
    if row is None:
        events.add("insert again" if earlier else "insert")
        if earlier and draw(st.booleans()):
            return earlier[-1]  # the very same row
        name = draw(st.sampled_from(("a", "b", None)))
        events |= {"null in a value"} if name is None else set()
        return (name, draw(st.integers(0, 3)), draw(st.sampled_from("xyz")), commit, None)
    name, price, region, updated, note = row
    others = [one for one in earlier if one != row]
    kind = draw(
        st.sampled_from(
            ["time", "same time", "nothing", "delete", "delete", "delete", "null", "move"]
            + ["note"] * (commit >= NOTE_FROM)
            + ["back", "back"] * bool(others)
        )
    )
    events.add(
        {
            "time": "update with a new time", "same time": "update that keeps the time",
            "nothing": "update to the same values", "delete": "delete", "null": "null in a value",
            "move": "moved to another partition", "note": "value in a new column",
            "back": "return to an earlier state",
        }[kind]
    )  # fmt: skip
    return {
        "time": (name, (price or 0) + 1, region, commit + 10, note),
        "same time": (name, (price or 0) + 1, region, updated, note),
        "nothing": row,
        "delete": None,
        # where the nulls are decides: a hash that passes over nulls takes the two for one
        "null": (None, price, region, updated, note) if name is not None else (name, None, region, updated, note),
        "move": (name, price, {"x": "y", "y": "z", "z": "x"}[region], updated, note),
        "note": (name, price, region, updated, f"n{commit}"),
        "back": draw(st.sampled_from(others or [row])),
    }[kind]


def states(found, key):
    """Return the state after each commit, as the oracle takes it: key to all values in the order of COLUMNS."""
    places = [COLUMNS.index(name) for name in key]
    result = []
    for commit in range(COMMITS):
        rows = [full(n, one.lives[commit]) for n, one in enumerate(found) if one.lives[commit] is not None]
        rows.append(beat(commit))
        result.append({tuple(row[p] for p in places): row for row in rows})
    return result


def full(number, life):
    """A row of history `number`: code names it alone, and so do shop and id together."""
    return (number, f"s{number % 3}", number // 3, *life)


def beat(commit):
    """A row that every commit changes: each of them is then a snapshot, whatever the histories do."""
    return (-1, "beat", -1, None, commit, "x", None, None)


class Play:
    """A table of one kind on which histories are played, commit by commit."""

    def __init__(self, spark, table, kind, found):
        version, mode = KINDS[kind]
        self.spark, self.table, self.found, self.done = spark, table, found, 0
        modes = ", ".join(f"'write.{op}.mode' = '{mode}'" for op in ("merge", "update", "delete"))
        spark.sql(
            f"CREATE TABLE {table} (code BIGINT, shop STRING, id BIGINT, name STRING, price INT, region STRING, "
            f"updated_at BIGINT) USING iceberg PARTITIONED BY (region) "
            f"TBLPROPERTIES ('format-version' = '{version}', {modes})"
        )

    def until(self, commits):
        """Play the commits up to the number `commits`, exclusive, and set their times."""
        while self.done < commits:
            if self.done == NOTE_FROM:
                self.spark.sql(f"ALTER TABLE {self.table} ADD COLUMN note STRING AFTER name")
            if self.done in COMPACTED_BEFORE:
                self.spark.sql(
                    f"CALL system.rewrite_data_files(table => '{self.table}', options => map('rewrite-all', 'true'))"
                )
            self._commit(self.done)
            self.done += 1
        self._set_times()

    def _set_times(self):
        """Give each commit its time, a compaction that of the commit before it."""
        times, n = {}, -1
        for snapshot, operation in line(self.spark, self.table):
            n += operation != "replace"
            times[snapshot] = TIMES[n]
        set_times(self.spark, self.table, times)

    def _commit(self, commit):
        before = [one.lives[commit - 1] if commit else None for one in self.found]
        rows = [("u", beat(commit))]
        for number, one in enumerate(self.found):
            if one.lives[commit] is not None and (one.lives[commit] != before[number] or number % 2):
                rows.append(("u", full(number, one.lives[commit])))  # half of the unchanged are written again
            elif one.lives[commit] is None and before[number] is not None:
                rows.append(("d", full(number, before[number])))
        names = COLUMNS if commit >= NOTE_FROM else COLUMNS[:-1]
        kinds = "code BIGINT, shop STRING, id BIGINT, name STRING, price INT, region STRING, updated_at BIGINT"
        source = self.spark.createDataFrame(
            [(op, *row[: len(names)]) for op, row in rows],
            f"op STRING, {kinds}" + (", note STRING" if len(names) == 8 else ""),
        )
        source.createOrReplaceTempView("played")
        sets = ", ".join(f"{name} = s.{name}" for name in names)
        self.spark.sql(
            f"MERGE INTO {self.table} t USING played s ON t.code = s.code "
            f"WHEN MATCHED AND s.op = 'd' THEN DELETE WHEN MATCHED THEN UPDATE SET {sets} "
            f"WHEN NOT MATCHED AND s.op = 'u' THEN INSERT ({', '.join(names)}) "
            f"VALUES ({', '.join('s.' + name for name in names)})"
        )
        self.spark.catalog.dropTempView("played")
