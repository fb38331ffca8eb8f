"""What the matrix calls right: the same facts, or a skip that is listed, fails, and fails as listed; nothing else."""

import re
import tempfile
from pathlib import Path

import environment_matrix as matrix
import nbformat
import pytest

SKIP = {"notebook": "50_restore_archive", "environment": "s3", "feature": "f", "says": "no views", "reason": "r"}
OTHER = SKIP | {"says": "other facts: rows"}
BASE = {"status": "passed", "said": "", "facts": {"rows": 3}}


@pytest.fixture(autouse=True)
def outside_of_a_proof(monkeypatch):
    """These tests are of a part, too, whose digest the matrix would take for its own."""
    monkeypatch.delenv("WORKBENCH_PART_DIGEST", raising=False)


@pytest.mark.parametrize(
    ("row", "base", "skip", "expected", "sentence"),
    [
        (BASE, BASE, None, "same", "1 facts"),
        (BASE | {"facts": {"rows": 4}}, BASE, None, "wrong", "other facts than on local: rows"),
        (BASE | {"facts": {}}, BASE, None, "wrong", "other facts than on local: rows"),
        (BASE, BASE | {"facts": {}}, None, "wrong", "other facts than on local: rows"),
        (BASE, None, None, "wrong", "no passed run on local"),
        (BASE, BASE | {"status": "failed"}, None, "wrong", "no passed run on local"),
        (BASE | {"status": "failed", "said": "no views"}, BASE, None, "wrong", "failed: no views"),
        (BASE | {"status": "failed", "said": "there are no views"}, BASE, SKIP, "skipped", "f: r"),
        (
            BASE | {"status": "failed", "said": "disk full"},
            BASE,
            SKIP,
            "wrong",
            "otherwise than listed: disk full",
        ),
        (BASE | {"facts": {"rows": 4}}, BASE, OTHER, "skipped", "f: r"),
        (BASE | {"facts": {"rows": 4, "more": 1}}, BASE, OTHER, "wrong", "passes: take it off the list"),
        (BASE, BASE, OTHER, "wrong", "passes: take it off the list"),
        (BASE | {"facts": {"rows": 4}}, None, OTHER, "wrong", "passes: take it off the list"),
        (BASE | {"status": "failed", "said": "disk full"}, BASE, OTHER, "wrong", "otherwise than listed"),
        (BASE, BASE, SKIP, "wrong", "passes: take it off the list"),
    ],
)
def test_only_the_same_facts_and_listed_failures_are_right(row, base, skip, expected, sentence):
    said, why = matrix.verdict(row, base, skip)
    assert (said, sentence in why) == (expected, True), why


def test_a_home_is_judged_by_its_own_rows():
    passed = {"notebook": "00_template", "environment": "local", "status": "passed"}
    same = passed | {"environment": "s3", "verdict": "same"}
    old = passed | {"environment": "rest", "verdict": "wrong"}
    codes = {home: matrix.exit_code([passed, same, old], home) for home in (None, "s3", "rest")}
    assert codes == {None: 1, "s3": 0, "rest": 1}
    assert matrix.exit_code([passed | {"status": "failed"}, same]) == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"reason": ""}, "each a text"),
        ({"says": None}, "each a text"),
        ({"why": "x"}, "an entry has environment, feature, notebook, reason, says"),
        ({"notebook": "51_nowhere"}, "is no cell of the matrix"),
        ({"environment": "local"}, "is no cell of the matrix"),
    ],
)
def test_a_wrong_entry_of_the_list_is_refused(tmp_path, change, sentence):
    import yaml

    path = tmp_path / "skips.yml"
    path.write_text(yaml.safe_dump([SKIP | change]))
    with pytest.raises(ValueError, match=sentence):
        matrix.skips(path)
    path.write_text(yaml.safe_dump([SKIP, dict(SKIP)]))
    with pytest.raises(ValueError, match="is given twice"):
        matrix.skips(path)


def test_a_notebook_that_has_no_local_is_compared_with_its_own_base(tmp_path):
    s3, rest = ("22_race_writers", "s3"), ("22_race_writers", "rest")
    rows = {
        place: BASE | {"notebook": place[0], "environment": place[1], "of": matrix.of(*place)}
        for place in (s3, rest)
    }
    first, second = matrix.write(rows, tmp_path / "matrix.json")
    assert (first["environment"], first["verdict"], second.get("verdict")) == ("rest", "same", None)
    assert not any(matrix.due(place, rows, {}) for place in rows)
    rows[rest]["facts"] = {"rows": 4}
    assert matrix.write(rows, tmp_path / "matrix.json")[0]["why"] == "other facts than on s3: rows"
    assert [matrix.due(place, rows, {}) for place in (s3, rest)] == [False, True]


def test_a_cell_is_run_again_when_it_was_wrong_or_has_changed():
    base, cell = ("00_template", "local"), ("00_template", "s3")
    rows = {place: BASE | {"of": matrix.of(*place)} for place in (base, cell)}
    assert not matrix.due(base, rows, {}) and not matrix.due(cell, rows, {})
    assert matrix.due(cell, {base: rows[base]}, {})
    for place in (base, cell):
        assert matrix.due(place, rows | {place: rows[place] | {"of": "another"}}, {})
        assert matrix.due(place, rows | {place: rows[place] | {"status": "failed"}}, {})
    assert matrix.due(cell, rows | {cell: rows[cell] | {"facts": {}}}, {})
    assert matrix.due(cell, rows, {cell: SKIP})


def test_in_a_proof_a_cell_is_of_its_own_notebook_and_home(monkeypatch):
    cells = [("01_first_table", "s3"), ("01_first_table", "glue-6.0"), ("23_check_quality", "s3")]
    assert [matrix.depended_on(*cell) for cell in cells] == [None] * 3, "nothing is asked for outside of a proof"
    monkeypatch.setenv("WORKBENCH_PART_DIGEST", "of the part")
    house = matrix.depends.House(matrix.ROOT)
    monkeypatch.setattr(matrix, "_house", lambda: house)
    before = [matrix.depended_on(*cell) for cell in cells]
    assert len(set(before)) == 3

    def after(name):
        """The cells of which a file counts."""
        with monkeypatch.context() as patch:
            patch.setitem(house.checksums, name, "another")
            return [
                cell for cell, digest in zip(cells, before, strict=True) if matrix.depended_on(*cell) != digest
            ]

    assert after("notebooks/01_first_table.ipynb") == cells[:2]
    assert after("tests/aws_stand_in.py") == [cells[1]]
    assert {cells[0], cells[2]} <= set(after("params/environments/s3.yml"))
    assert after("lib/workbench_ops/export/kernel.py") == [cells[1]]
    assert after("lib/workbench/quality/frames.py") == [cells[2]]
    assert after("lib/workbench/session/__init__.py") == cells
    monkeypatch.setattr(matrix, "skips", lambda: {cells[2]: SKIP})
    assert [matrix.depended_on(*cell) for cell in cells[:2]] == before[:2]
    assert matrix.depended_on(*cells[2]) != before[2]


def test_the_evidence_is_what_the_list_says_and_whole():
    agrees(rows := matrix.read(), matrix.skips())
    assert missing(rows) == []
    gone = ("20_write_audit_publish", "cluster"), ("50_restore_archive", "archive")
    assert missing({place: row for place, row in rows.items() if place not in gone}) == sorted(gone)


def missing(rows):
    """Return the cells of the matrix that no row is there for: every notebook in every home, and where its facts are from.

    Where each home is listed, none is compared with that, and it is not run.
    """
    ours, listed = {name for name, _ in rows}, matrix.skips()  # one of a reader's own needs no matrix
    every = {(name, home) for name in ours for home in matrix.ENVIRONMENTS}
    bases = {(name, matrix.base_of(name)) for name, home in every if (name, home) not in listed}
    return sorted((every | bases) - set(rows))


def test_evidence_with_a_base_of_its_own_is_judged_by_it(tmp_path):
    places = [
        ("22_race_writers", "s3"),
        ("22_race_writers", "rest"),
        ("00_template", "local"),
        ("00_template", "s3"),
    ]
    rows = {place: BASE | {"notebook": place[0], "environment": place[1]} for place in places}
    matrix.write(rows, path := tmp_path / "matrix.json")
    agrees(matrix.read(path), {})
    (told := matrix.read(path))["22_race_writers", "s3"]["facts"] = {"rows": 4}
    with pytest.raises(AssertionError):
        agrees(told, {})


def agrees(rows, listed):
    """Hold evidence against the list of skips: each row but a base's has the verdict that it must have."""
    cells = {place: row for place, row in rows.items() if place[1] != matrix.base_of(place[0])}
    assert {(row["verdict"], row["why"]) for row in cells.values() if row["verdict"] == "wrong"} == set()
    ours = {name for name, _ in rows}  # as in `missing`
    assert {place for place, row in cells.items() if row["verdict"] == "skipped"} == {
        place for place in listed if place[0] in ours
    }
    for place, row in cells.items():
        base = matrix.base_of(place[0])
        assert (row["verdict"], row["why"]) == matrix.verdict(
            row, rows.get((place[0], base)), listed.get(place), base
        )
    assert {place[0] for place in cells} <= set(matrix.notebooks())


def test_a_home_that_is_another_engine_is_given_the_environment_it_is_compared_with():
    places = ("00_template", "spark-3.5"), ("22_race_writers", "spark-3.5"), ("00_template", "glue-6.0")
    assert [matrix.named_for(*place) for place in places] == ["local", "s3", "aws-glue"]
    assert matrix.of("00_template", "spark-3.5") != matrix.of("00_template", "local")


@pytest.mark.parametrize(
    ("environment", "named", "options"),
    [
        ("s3", "s3", []),
        ("spark-3.5", "local", ["--engine", "spark35"]),
        ("glue-6.0", "aws-glue", ["--version", "6.0"]),
        ("glue-5.1", "aws-glue", ["--version", "5.1"]),
    ],
)
def test_how_a_notebook_is_taken_to_a_home(environment, named, options):
    assert (matrix.named_for("00_template", environment), matrix.home(environment)) == (named, options)
    assert environment in matrix.ENVIRONMENTS and (environment in matrix.EXPORTED) == ("--version" in options)
    assert all(matrix.STARTED[name] is matrix.STARTED["aws-glue"] for name in matrix.EXPORTED)


@pytest.mark.parametrize(("environment", "file"), [("spark-3.5", "local"), ("glue-5.1", "aws-glue")])
def test_what_a_home_runs_is_made_from_the_engine_too(environment, file, tmp_path, monkeypatch):
    place = ("00_template", environment)
    names = (
        "notebooks/00_template.ipynb",
        f"params/environments/{file}.yml",
        "params/engines/spark35.yml",
        "locks/spark35.lock",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((matrix.ROOT / name).read_bytes())
    before = matrix.of(*place)
    monkeypatch.setattr(matrix, "ROOT", tmp_path)
    assert matrix.of(*place) == before
    for name in names:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("another")])
        (tmp_path / name).write_text(nbformat.writes(book) if name.endswith(".ipynb") else "another: 1")
        assert matrix.of(*place) != before, name
        before = matrix.of(*place)


def test_what_nobody_reads_makes_no_row_old(tmp_path):
    path, text = tmp_path / "x.yml", "description: d\njars: [iceberg, aws]\nspark: {master: 'local[2]'}\n"
    path.write_text(text)
    before, exported = matrix.said(path, {"description"}), matrix.said(path, {"description", "jars"})
    path.write_text("# why\n" + text.replace("d\n", "another\n", 1))
    assert matrix.said(path, {"description"}) == before
    path.write_text(text.replace("aws]", "aws, aws-sso]"))
    assert matrix.said(path, {"description"}) != before and matrix.said(path, {"description", "jars"}) == exported
    path.write_text(text.replace("local[2]", "local[4]"))
    assert matrix.said(path, {"description", "jars"}) != exported


def test_outputs_and_texts_of_a_notebook_make_no_row_old(tmp_path):
    book, path = nbformat.read(matrix.ROOT / "notebooks" / "00_template.ipynb", as_version=4), tmp_path / "x.ipynb"
    nbformat.write(book, path)
    before = matrix.code(path)
    number, first = next((n, cell) for n, cell in enumerate(book.cells) if cell.cell_type == "code")
    first.outputs = [nbformat.v4.new_output("stream", text="another")]
    book.cells.append(nbformat.v4.new_markdown_cell("another"))
    nbformat.write(book, path)
    assert matrix.code(path) == before
    for change in ({"source": first.source + "\n"}, {"metadata": {"tags": ["another"]}}):
        book.cells[number] = nbformat.from_dict(first | change)
        nbformat.write(book, path)
        assert matrix.code(path) != before


def test_what_is_committed_names_no_place_of_this_machine(monkeypatch):
    monkeypatch.setenv("HOME", "/of/me")
    places = matrix.ROOT / "runs", Path.home() / ".cache", Path(tempfile.gettempdir()) / "x"
    said = "in {}, in {}, in {}".format(*places)
    assert matrix.nameless(said) == "in PROJECT/runs, in HOME/.cache, in TEMP/x"
    told = matrix.EVIDENCE.read_text(encoding="utf-8")
    assert matrix.nameless(told) == told
    planted = [f"/{home}/x" for home in ("root", "home", "Users", "tmp")]
    assert of_a_machine("in {}, {}, {} and {}".format(*planted)) == planted
    assert of_a_machine(told) == []


def of_a_machine(text):
    """Return the paths in a text that are somebody's: of a home, a folder of temporary files, a place of work."""
    return re.findall(r"(?<![\w.:/])/(?:root|home|Users|tmp|var|work|mnt|srv|opt)/[^\s,'\"]+", text)
