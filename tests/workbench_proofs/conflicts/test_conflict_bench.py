"""The benchmark of conflicts: what is run, resumed, repeated and left out, and what its evidence says of that.

Cells are not raced here: what a race would give is planted.
"""

import json
from collections import Counter
from dataclasses import asdict, replace

import pytest
from bench import conflicts as bench
from bench import evidence

from workbench import results
from workbench_ops.run import record as records
from workbench_proofs import conflicts
from workbench_proofs.conflicts import Result, kept

VERSIONS = records.versions()
ABOUT = {"spark": VERSIONS["pyspark"], "iceberg": VERSIONS["iceberg"]}


def result(cell, **other):
    red = cell.first == cell.second == "merge_insert_only" and cell.partition == "same"
    name, equal = ("silent_anomaly", "neither") if red else ("retried_and_committed", "both")
    one = Result(cell.first, cell.second, cell.isolation, cell.partition, cell.mode, name, None, None, 12, equal,
                 "differ", **ABOUT)  # fmt: skip
    return replace(one, **other)


@pytest.fixture
def races(tmp_path, monkeypatch):
    """A home without cells, and planted races: `ran` lists them, `other` changes results, `stop` ends at a number."""

    class Races:
        ran, other, stop, refuses = [], {}, None, {}
        folder = tmp_path / "docs" / "evidence"
        file = tmp_path / ".workbench" / "conflicts" / "s3.db"

        def run(self, spark, cells):
            for cell in cells:
                if len(self.ran) == self.stop:
                    raise KeyboardInterrupt
                if cell.second in self.refuses and cell.mode == "v3":
                    raise conflicts.NothingHeld("it failed") from self.refuses[cell.second]
                self.ran.append(cell)
                yield result(cell, **self.other.get((cell, self.ran.count(cell)), {}))

        def told(self, environment="s3"):
            return json.loads((self.folder / f"{bench.name_of(environment)}.json").read_text())

        def anew(self):
            """Forget what ran, as another process does."""
            self.ran, self.stop = [], None

        def cloned(self):
            """Forget the rows under home too, as a clone does."""
            self.anew()
            for path in self.file.parent.iterdir():
                path.unlink()

    races = Races()
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(evidence, "FOLDER", races.folder)
    monkeypatch.setattr(bench.session, "start", lambda name: name)
    monkeypatch.setattr(bench.session, "stop", lambda spark: None)
    monkeypatch.setattr(conflicts, "versions", lambda spark: ABOUT)
    monkeypatch.setattr(conflicts, "run", races.run)
    return races


def key(cell):
    return "/".join(cell.key)


def test_all_cells_run_once_and_one_in_ten_twice(races, capsys):
    bench.main()
    times = Counter(races.ran)
    every = conflicts.cells()
    assert set(times) == set(every) and {cell for cell, n in times.items() if n == 2} == set(every[::10])
    told = races.told()
    figures = (
        "cells_there_are",
        "cells_measured",
        "cells_repeated",
        "repeated_unlike",
        "cells_left_out",
        "left_out",
    )
    assert [told[name] for name in figures] == [783, 783, 79, [], 0, []]
    red = {name: n for name, n in told["outcomes"].items() if n}
    assert red == {"silent_anomaly": 6, "retried_and_committed": 777} and set(told["outcomes"]) == set(
        conflicts.OUTCOMES
    )
    assert told["repeated"] == sorted(key(cell) for cell in every[::10])
    assert "missing: 0 of 783 cells" in capsys.readouterr().out
    about, matrix = kept.measured(races.folder)
    assert (about["environment"], matrix) == ("s3", [result(cell) for cell in every])


def test_what_people_ask_for_first_is_run_first(races):
    races.stop = 200
    with pytest.raises(KeyboardInterrupt):
        bench.main()
    assert {(cell.mode, cell.isolation == "snapshot") for cell in races.ran[:100]} == {("copy-on-write", False)}
    assert {cell.partition for cell in races.ran[:50]} <= {"same", None}


@pytest.mark.parametrize("forget", ["anew", "cloned"])
def test_an_interrupted_matrix_goes_on_where_it_was(races, forget, capsys):
    races.stop = 7
    with pytest.raises(KeyboardInterrupt):
        bench.main()
    there = races.ran
    assert (races.told()["cells_measured"], len(set(there))) == (7, 7)
    assert "missing: 776 of 783 cells" in capsys.readouterr().out
    getattr(races, forget)()
    bench.main()
    once = [cell for cell in races.ran if races.ran.count(cell) == 1]
    assert not set(there) & set(races.ran) - set(conflicts.cells()[::10])
    assert len(races.ran) == 783 - 7 + 79 and len(once) > 600
    assert (races.told()["cells_measured"], races.told()["cells_repeated"]) == (783, 79)
    getattr(races, forget)()
    bench.main()
    assert races.ran == []
    assert (races.told()["cells_measured"], races.told()["cells_repeated"]) == (783, 79)


@pytest.mark.parametrize(
    "change", [{"outcome": "data_conflict"}, {"rows": 13}, {"equal_to": "neither"}, {"message": "another"}]
)
def test_a_repeated_cell_that_is_not_the_same_is_named_for_good(races, change):
    cell = conflicts.cells(modes=["v3"])[10]
    races.other = {(cell, 2): change}
    for forget in (lambda: None, races.anew, races.cloned, races.anew):
        forget()
        bench.main(modes="v3")
        told = races.told()
        assert told["repeated_unlike"] == [key(cell)] and key(cell) not in told["repeated"]
        assert (len(told["repeated"]), told["cells_measured"]) == (26, 261)


@pytest.mark.parametrize("version", [{"iceberg": "1.9.0"}, {"spark": "4.0.0"}])
def test_cells_of_other_versions_do_not_count(races, version):
    older = version | {"outcome": "other_error"}
    kept.append(races.file, *(result(cell, **older) for cell in conflicts.cells(modes=["v3"])))
    races.stop = 0
    with pytest.raises(KeyboardInterrupt):
        bench.main(modes="v3")
    assert (races.told()["cells_measured"], races.told()["outcomes"]["other_error"]) == (0, 0)
    races.anew()
    bench.main(modes="v3")
    assert len(races.ran) == 261 + 27 and races.told()["cells_measured"] == 261


def test_cells_that_the_version_before_kept_are_not_run_again(races):
    """It kept lines; what is committed is older than they, and does not count."""
    cells = conflicts.cells(modes=["v3"])
    bench.main(modes="v3")
    races.cloned()
    for name, some in (("s3.jsonl", cells), ("s3.again.jsonl", cells[::10])):
        lines = [json.dumps(asdict(result(cell, rows=13))) + "\n" for cell in some]
        races.file.with_name(name).write_text("".join(lines))
    bench.main(modes="v3")
    evidence_now = races.told()
    assert (races.ran, evidence_now["cells_measured"], evidence_now["cells_repeated"]) == ([], 261, 27)
    assert {dict(zip(evidence_now["columns"], row, strict=True))["rows"] for row in evidence_now["cells"]} == {13}


@pytest.mark.parametrize("version", [{"iceberg": "1.9.0"}, {"spark": "4.0.0"}])
def test_a_file_keeps_a_cell_of_each_version(tmp_path, version):
    both = [result(conflicts.cells()[0], **one) for one in ({}, version)]
    for one in both:
        kept.append(tmp_path / "some.db", one)
    assert kept.read(tmp_path / "some.db") == both


def test_a_matrix_of_another_environment_is_not_asked():
    one = result(conflicts.cells()[0])
    other = replace(one, outcome="data_conflict")
    asked = {
        name: kept.against(({"environment": "s3"}, [one]), [other], environment=name) for name in ("s3", "local")
    }
    assert asked == {"s3": (1, [other]), "local": (0, [])}


def test_cells_once_found_unlike_are_those_of_these_versions(races):
    cell = conflicts.cells(modes=["v3"])[10]
    races.other = {(cell, 2): {"rows": 13}}
    bench.main(modes="v3")
    path = races.folder / "conflicts.json"
    told = json.loads(path.read_text())
    assert told["repeated_unlike"] == [key(cell)]
    path.write_text(json.dumps(told | {"versions": told["versions"] | {"iceberg": "1.9.0"}}))
    races.other = {}
    races.cloned()
    bench.main(modes="v3")
    assert races.told()["repeated_unlike"] == []


def test_a_committed_matrix_that_cannot_be_read_is_not_written_over(races):
    races.folder.mkdir(parents=True)
    (races.folder / "conflicts.json").write_text('{"columns": [1]}')
    with pytest.raises(ValueError, match="is not a matrix"):
        bench.main()
    assert (races.folder / "conflicts.json").read_text() == '{"columns": [1]}' and races.ran == []


def test_variants_have_evidence_of_their_own(races):
    bench.main("s3", "v3", "variants")
    every = conflicts.variants(modes=["v3"])
    told = json.loads((races.folder / "conflicts_s3_variants.json").read_text())
    assert (told["cells_there_are"], told["cells_measured"], told["cells_repeated"]) == (645, len(every), 22)
    assert not races.file.exists() and not (races.folder / "conflicts.json").exists()
    races.cloned()
    bench.main("s3", "v3", "variants")
    assert races.ran == []


@pytest.mark.parametrize(("environment", "which"), [("rest", "variants"), ("s3", "all")])
def test_a_set_that_there_is_not_is_refused(races, environment, which):
    with pytest.raises(SystemExit, match=f"no {which} on {environment}: there are the matrix of any environment"):
        bench.main(environment, "", which)
    assert races.ran == []


REFUSED = OSError("Access Denied (Service: S3, Status Code: 403, Request ID: 18EA85)")
CHANGES = ("update", "delete", "merge")


def test_rest_leaves_out_what_its_table_bucket_refuses_and_says_so(races, capsys):
    races.refuses = dict.fromkeys(CHANGES, REFUSED)
    bench.main("rest")
    told = races.told("rest")
    (row,) = told["left_out"]
    assert (row["mode"], row["operations"], set(row["refused"])) == ("v3", list(CHANGES), set(CHANGES))
    assert "Puffin" in row["reason"] and all("403" in said for said in row["refused"].values())
    out = {cell for cell in conflicts.cells(modes=["v3"]) if {cell.first, cell.second} & set(CHANGES)}
    assert set(races.ran) == set(conflicts.cells()) - out and races.ran
    assert (told["cells_there_are"], told["cells_measured"], told["cells_left_out"]) == (
        783,
        783 - len(out),
        len(out),
    )
    said = capsys.readouterr().out
    assert f"left out: {len(out)} cells, as they write deletion vectors" in said
    assert f"missing: 0 of {783 - len(out)} cells" in said


@pytest.mark.parametrize(
    ("refuses", "sentence"),
    [
        ({}, "update in v3 on rest is left out otherwise than listed: it passes: take it off the list"),
        (
            {"update": REFUSED, "delete": REFUSED},
            "merge in v3 on rest is left out otherwise than listed: it passes",
        ),
        (dict.fromkeys(CHANGES, OSError("disk full")), "left out otherwise than listed: OSError: disk full"),
    ],
)
def test_what_is_left_out_must_be_refused_as_listed(races, refuses, sentence):
    races.refuses = refuses
    with pytest.raises(RuntimeError, match=sentence):
        bench.main("rest")
    assert not (races.folder / "conflicts_rest.json").exists()


def test_the_committed_matrix_is_as_this_writes_it():
    """Its figures are those of its cells."""
    told = results.evidence("conflicts")
    _, matrix = conflicts.measured()
    assert told["cells_measured"] == len(matrix) == len({kept.cell_of(one) for one in matrix})
    assert told["outcomes"] == {name: sum(one.outcome == name for one in matrix) for name in conflicts.OUTCOMES}
    assert told["repeated_unlike"] == [] and told["cells_there_are"] == 783
