"""What a statement compares, by whatever words: judged before it runs, on a table whose column f holds NaN."""

import inspect
import math

import pyarrow as pa
import pytest
from light_cases import own_lake

from workbench import light
from workbench.light import statements

ROWS = [{"id": number, "f": math.nan if number % 7 == 0 else float(number)} for number in range(30)]


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    properties = own_lake(tmp_path_factory.mktemp("lake"))
    light.catalogs.load(properties).create_table("n.t", pa.schema([("id", pa.int64()), ("f", pa.float64())]))
    light.append(properties, "n.t", ROWS)
    return properties


# to the second and third DuckDB finds no NaN, where five rows hold one
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM n.t WHERE COLUMNS('f') > 20",
        "SELECT count(*) FROM n.t WHERE f IN (SELECT 'NaN'::DOUBLE)",
        "SELECT count(*) FROM n.t NATURAL JOIN (SELECT 'NaN'::DOUBLE AS f)",
        "SELECT max(COLUMNS(*)) FROM n.t",
        "SELECT max(*COLUMNS(c -> c = 'f')) FROM n.t",
        "SELECT count(*) FROM n.t WHERE COLUMNS(t.* EXCLUDE (id)) > 20",
        "SELECT count(*) FROM n.t WHERE f >= ALL (SELECT 20)",
        "SELECT count(*) FROM n.t WHERE #2 > 20",
        "SELECT count(*) FROM (SELECT * REPLACE (f AS id) FROM n.t) WHERE id > 20",
        "SELECT count(*) FROM (SELECT * RENAME (f AS id, id AS f) FROM n.t) WHERE id > 20",
        "SELECT id FROM n.t ORDER BY COLUMNS('f') LIMIT 3",
        "SELECT count(*) FROM n.t WHERE t['f'] > 20",
        "SELECT count(*) FROM n.t AS row WHERE struct_extract(row, 'f') > 20",
        "SELECT 1 FROM (SELECT t AS row FROM n.t) WHERE row['f'] > 20",
    ],
)
def test_a_comparison_that_does_not_name_its_column_is_seen(lake, sql):
    with pytest.raises(ValueError, match="its column f holds NaN and the statement compares it"):
        light.query(lake, sql)


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("SELECT count(*) AS n FROM (SELECT * EXCLUDE (f) FROM n.t) WHERE id > 20", {"n": 9}),
        ("SELECT count(COLUMNS(*)) FROM n.t WHERE id > 20", {"id": 9, "f": 9}),
        ("SELECT * LIKE 'i%' FROM n.t WHERE id = 3", {"id": 3}),
        ("SELECT * REPLACE (f + 1 AS f) FROM n.t WHERE id = 3", {"id": 3, "f": 4.0}),
        ("SELECT * RENAME (f AS g) FROM n.t WHERE id = 3", {"id": 3, "g": 3.0}),
        ("SELECT t FROM n.t WHERE id = 3", {"t": {"id": 3, "f": 3.0}}),
        ("SELECT count(*) AS n FROM n.t HAVING count(*) > 3", {"n": 30}),
    ],
)
def test_a_star_beside_a_comparison_is_answered(lake, sql, row):
    assert light.query(lake, sql).to_pylist() == [row]


def test_a_parameter_of_the_name_of_an_argument(lake):
    *arguments, values = inspect.signature(light.query).parameters
    assert set(arguments) == statements.ARGUMENTS and values == "values"
    for name in arguments:
        sentence = rf"the parameter \${name} has the name of an argument of query, so it can get no value"
        with pytest.raises(ValueError, match=sentence):
            light.query(lake, f"SELECT id FROM n.t WHERE id = ${name}", at="main")


def test_bytes_of_a_row_are_those_of_all_its_columns(lake):
    sizes = [light.choose(lake, "n.t", f"SELECT {columns} FROM n.t").bytes for columns in ("id", "t", "id, f")]
    assert 0 < sizes[0] < sizes[1] == sizes[2]
