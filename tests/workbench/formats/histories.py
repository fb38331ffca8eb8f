"""Random histories of a Delta table: its log written by the protocol's rules, beside a plain model of its rows.

Writing through Delta's engine takes seconds a commit (`soak.formats` does that); this takes milliseconds. That it is
a Delta table is what delta-rs says, which reads it in each test.
"""

import random
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from golden_tables import append, encoded, roaring

AREAS = ("north", None, "a b", "50%", "x/y")
FIELDS = [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "area", "type": "string", "nullable": True, "metadata": {}},
    {"name": "word", "type": "string", "nullable": True, "metadata": {}},
]
SCHEMA = pa.schema([("id", pa.int64()), ("word", pa.string())])
Files = dict  # {name: (area, rows, deleted positions)}


class History:
    """A table, and what it holds at each version.

    Attributes:
        path: its folder.
        versions: of each version {name of a file: (area, rows, frozenset of deleted positions)}.
    """

    def __init__(self, path, seed):
        self.path, self.random, self.versions, self.next = path, random.Random(seed), [], 0
        (path / "_delta_log").mkdir(parents=True)
        import json

        text = json.dumps({"type": "struct", "fields": FIELDS})
        features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
        metadata = {"id": str(uuid4()), "format": {"provider": "parquet", "options": {}}, "schemaString": text}
        metadata |= {"partitionColumns": ["area"], "createdTime": 1}
        metadata |= {"configuration": {"delta.enableDeletionVectors": "true"}}
        protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
        self._commit({}, protocol, {"metaData": metadata})

    @property
    def live(self):
        return self.versions[-1]

    def rows(self, version=-1):
        """The rows of a version, sorted: (id, area, word)."""
        return sorted(
            (
                (number, area, word)
                for area, rows, deleted in self.versions[version].values()
                for place, (number, word) in enumerate(rows)
                if place not in deleted
            ),
            key=repr,
        )

    def grow(self, operations):
        """Do so many operations, each a commit."""
        names = ("insert", "delete", "delete", "rewrite", "compact", "restore", "nothing", "overwrite")
        weights = (6, 5, 3, 3, 2, 2, 1, 0.3)
        for _ in range(operations):
            name = self.random.choices(names, weights)[0] if self.live else "insert"
            getattr(self, name)()

    def insert(self):
        new = {}
        for area in self.random.sample(AREAS, self.random.randint(1, 2)):
            count = self.random.randint(1, 30)
            rows = [(self.next + place, self.random.choice((None, "a", f"w{place}"))) for place in range(count)]
            self.next += count
            new |= self._written(area, rows)
        self._replace({}, new)

    def delete(self):
        """Delete rows of some files by deletion vectors; a file whose rows all go may stay or go."""
        old, new = {}, {}
        for name in self.random.sample(sorted(self.live), self.random.randint(1, min(3, len(self.live)))):
            area, rows, deleted = self.live[name]
            more = {place for place in range(len(rows)) if self.random.random() < 0.3}
            old[name] = self.live[name]
            if len(deleted | more) < len(rows) or self.random.random() < 0.5:
                new[name] = (area, rows, frozenset(deleted | more))
        self._replace(old, new)

    def rewrite(self):
        """Update rows by writing a file anew."""
        name = self.random.choice(sorted(self.live))
        area, rows, deleted = self.live[name]
        kept = [row for place, row in enumerate(rows) if place not in deleted]
        changed = [(number, "changed" if self.random.random() < 0.5 else word) for number, word in kept]
        self._replace({name: self.live[name]}, self._written(area, changed) if changed else {})

    def compact(self):
        """Write all files of a partition as one, as OPTIMIZE does."""
        area = self.random.choice(sorted({area for area, *_ in self.live.values()}, key=repr))
        old = {name: file for name, file in self.live.items() if file[0] == area}
        kept = [row for _, rows, deleted in old.values() for place, row in enumerate(rows) if place not in deleted]
        self._replace(old, self._written(area, kept) if kept else {})

    def restore(self):
        """Go back to an earlier version, as RESTORE does: its files with the vectors that they had."""
        target = self.versions[self.random.randrange(len(self.versions))]
        old = {name: file for name, file in self.live.items() if target.get(name) != file}
        new = {name: file for name, file in target.items() if self.live.get(name) != file}
        self._replace(old, new)

    def overwrite(self):
        self._replace(self.live, self._written("north", [(self.next, "over")]))
        self.next += 1

    def nothing(self):
        self._commit(self.live, {"commitInfo": {"operation": "SET TBLPROPERTIES"}})

    def _written(self, area, rows):
        folder = f"area={'__HIVE_DEFAULT_PARTITION__' if area is None else quote(area, safe=' ')}"
        (self.path / folder).mkdir(exist_ok=True)
        name = f"{folder}/part-{uuid4()}.parquet"
        pq.write_table(pa.Table.from_pylist([{"id": n, "word": w} for n, w in rows], SCHEMA), self.path / name)
        return {name: (area, rows, frozenset())}

    def _replace(self, old, new):
        # one commit may not remove and add the same file with the same vector
        old, new = [{n: f for n, f in a.items() if b.get(n) != f} for a, b in ((old, new), (new, old))]
        kept = {name: file for name, file in self.live.items() if name not in old}
        removes = [{"remove": self._action(name, file)} for name, file in old.items()]
        adds = [{"add": self._action(name, file, added=True)} for name, file in new.items()]
        self._commit(kept | new, *removes, *adds)

    def _action(self, name, file, added=False):
        area, rows, deleted = file
        action = {"path": quote(name, safe="/="), "dataChange": True}
        action |= {"partitionValues": {"area": area}, "size": (self.path / name).stat().st_size}
        action |= {"modificationTime": 1} if added else {"deletionTimestamp": 1, "extendedFileMetadata": True}
        if added:
            action["stats"] = f'{{"numRecords":{len(rows)}}}'
        if deleted:
            bitmap = (1681511377).to_bytes(4, "little") + roaring(deleted)
            vector = {"storageType": "i", "pathOrInlineDv": encoded(bitmap), "sizeInBytes": len(bitmap)}
            action["deletionVector"] = vector | {"cardinality": len(deleted)}
        return action

    def _commit(self, files, *actions):
        append(self.path, len(self.versions), *actions)
        self.versions.append(files)
