"""Which lines of a cell the Glue kernel takes, as its published source reads them."""

import ast

import pytest

from workbench_ops.export import magics

TOP = "# minutes\n%idle_timeout 5\n\n!ls -l\nx = 1\n"


def placed(source):
    return [(one.line, one.name, one.value, one.at_top, one.whole_cell) for one in magics.split(source)[0]]


def test_magics_at_the_top_are_taken_and_lines_keep_their_numbers():
    assert placed(TOP) == [(2, "idle_timeout", "5", True, False), (4, "!", "ls -l", True, False)]
    python = magics.split(TOP)[1]
    assert ast.parse(python).body[0].lineno == 5


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 1\n%time x", [(2, "time", "x", False, False)]),
        ("  %idle_timeout 5\nx = 1", [(1, "idle_timeout", "5", False, False)]),  # the kernel looks at column 1
        (" \n%idle_timeout 5", [(2, "idle_timeout", "5", False, False)]),  # a line of blanks is code to it
        ("files = !ls", [(1, "!", "ls", False, False)]),
        ("y = %time f()", [(1, "time", "f()", False, False)]),
        ("%glue_version 6.0\n%%configure\n{'a': 1}", [(1, "glue_version", "6.0", True, False), (2, "configure", "{'a': 1}", True, True)]),
        ("x = 1\n%%sql\nSELECT 1", [(2, "sql", "SELECT 1", False, True)]),
        ("%%sql\n-- it's\nSELECT 007 }", [(1, "sql", "-- it's\nSELECT 007 }", True, True)]),
        ("x = 1\n\n%%sql\nSELECT 'a", [(3, "sql", "SELECT 'a", False, True)]),
        ("x = \"\"\"\n%%sql\n\"\"\"\n%%bash\necho it's", [(4, "bash", "echo it's", False, True)]),
        ("x = 'a\u2028b\x0c'\n%matplot plt", [(2, "matplot", "plt", False, False)]),  # neither ends a line of Python
        ("x = (7\n% 3)\ny = '''\n%time\n'''", []),  # Python, all of it
    ],
)  # fmt: skip
def test_where_a_magic_stands(source, found):
    assert placed(source) == found


def test_what_is_no_python_is_no_magic_either():
    assert magics.split("x = = 1") == ((), None)
    assert magics.split("x = await f()") == ((), None)  # only IPython awaits outside of functions
    assert magics.split("async def g():\n    await f()")[1] is not None
    assert magics.split("x = '''\n%%sql\nSELECT 1")[1] is None
    assert magics.split("%time f(\nx = = 1")[1] is None


def test_requirements_of_magics_and_whether_they_are_pinned():
    text = "%additional_python_modules s3://b/w/iceberg_workbench-0.1.0-py3-none-any.whl, Confluent-Kafka==2.1,polars\n%extra_py_files s3://b/rules.py,s3://b/more.zip"
    found = magics.requirements(magics.split(text)[0])
    assert {name: magics.pinned(text) for name, text in found.items()} == {
        "iceberg_workbench": True, "confluent_kafka": True, "polars": False, "rules": True, "more": True,
    }  # fmt: skip
