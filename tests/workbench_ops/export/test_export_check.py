"""Each rule finds what is planted, at its cell and line, and a clean notebook is said nothing of."""

import ast
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT
from export_cases import checked, made, session, told

from workbench._base import java
from workbench_ops import export
from workbench_ops.export import versions

LIB = ROOT / "lib"
START = "from workbench import session, show\nspark = session.start(ENVIRONMENT)"
AWS = 'ENVIRONMENT: str = "aws-glue"\nBUCKET: str = "s3://here/it/may/stand"\nREGION: str = "eu-central-1"'
CLEAN = [
    "import pandas as pd\nfrom pyspark.sql import functions as F\n\n" + START,
    'spark.sql("CREATE NAMESPACE IF NOT EXISTS clean")\nrows = spark.read.parquet(f"{BUCKET}/rows")',
    'total = rows.agg(F.sum("n")).first()[0] % 7\nframe = pd.read_csv("s3://" + BUCKET)\nshow.rows(rows, by="n")',
    'def doubled(n):\n    """Rows of s3://documented/rows and http://localhost:1 twice: CAST(n AS INT)."""\n    return 2 * n',
]


def test_a_clean_notebook_is_said_nothing_of(recwarn):
    assert checked(made(*CLEAN, "import re\nx = re.match('\\d', BUCKET)", parameters=AWS)) == []
    assert list(recwarn) == []
    assert export.verdict([]) == "runs"


PLANTED = [  # the last cell of a notebook that is clean, (line, rule, grade), words of the sentence
    ("x = 1\n%time x", (2, "magic", "cannot run"), "%time: the kernel takes magics at the top of a cell only"),
    ("%matplotlib inline\nx = 1", (1, "magic", "differs"), "%matplotlib: the kernel runs it where the kernel is"),
    ("!pip install x", (1, "magic", "differs"), "a shell line: the kernel runs it where the kernel is"),
    ("%idle_timeout 5", (1, "magic", "differs"), "the session runs already"),
    ("x = 1\nget_ipython().run_line_magic('ls', '')", (2, "magic", "cannot run"), "get_ipython: the session is plain Python"),
    ("display(1)\ndisplay(2)", (1, "magic", "cannot run"), "display: the session is plain Python"),
    ("from . import helpers", (1, "import", "cannot run"), "a relative import, '.': a notebook is in no package"),
    ("from ..a.b import c", (1, "import", "cannot run"), "a relative import, '..a.b'"),
    ("try:\n    import not_installed_anywhere\nexcept ImportError:\n    x = None", (2, "import", "differs"), "what follows except is run"),
    ("try:\n    import not_installed_anywhere\nexcept KeyError:\n    x = None", (2, "import", "cannot run"), "there is no version to pin"),
    ("x = = 1", (1, "magic", "cannot run"), "neither Python nor a magic"),
    ('rows = pd.read_csv("data/rows.csv")', (1, "file", "cannot run"), "a relative path, 'data/rows.csv'"),
    ('rows = spark.read.option("header", True).csv("rows.csv")', (1, "file", "cannot run"), "a relative path, 'rows.csv'"),
    ('rows = spark.readStream.load(f"in/{BUCKET}")', (1, "file", "cannot run"), "a relative path, 'in/'"),
    ('from pathlib import Path\n\nx = Path("x.sql").read_text()', (3, "file", "cannot run"), "a relative path, 'x.sql'"),
    ('x = open("/srv/x.txt").read()', (1, "file", "cannot run"), "an absolute path, '/srv/x.txt'"),
    ('x = open("~/x.txt").read()', (1, "file", "cannot run"), "a path in your home folder, '~/x.txt'"),
    ('rows = spark.sql("""\nSELECT *\nFROM Parquet.`/srv/x`""")', (3, "file", "cannot run"), "an absolute path, '/srv/x'"),
    ('rows = spark.sql(f"SELECT * FROM csv.`in/{BUCKET}`")', (1, "file", "cannot run"), "a relative path, 'in/'"),
    ('spark.sql("SELECT *\\n"\n  "FROM json.`/srv/x`")', (2, "file", "cannot run"), "an absolute path, '/srv/x'"),
    ('spark.sql(f"""\nCREATE TABLE {BUCKET} (n INT)\nUSING csv OPTIONS (header, path \'in/x\')""")', (3, "file", "cannot run"), "'in/x'"),
    ('spark.sql("LOAD DATA INPATH \'/srv/x\' INTO TABLE t")', (1, "file", "cannot run"), "an absolute path, '/srv/x'"),
    ("%%sql\nSELECT 1\nFROM csv.`/srv/x`", (3, "file", "cannot run"), "an absolute path, '/srv/x'"),
    ('spark.sql("CREATE TABLE t (n INT) LOCATION \'/srv/t\'")', (1, "file", "cannot run"), "an absolute path, '/srv/t'"),
    ('x = open("x.txt", mode="w")', (1, "file", "differs"), "gone with the session"),
    ('rows.write.mode("append").parquet("out")', (1, "file", "differs"), "gone with the session"),
    ('rows.write.csv("/srv/out")', (1, "file", "differs"), "an absolute path, '/srv/out'"),
    ('x = open(mode="w", file="x.txt")', (1, "file", "differs"), "a relative path, 'x.txt'"),
    ('rows = spark.read.csv(path=["a.csv", BUCKET])', (1, "file", "cannot run"), "a relative path, 'a.csv'"),
    ('x = pd.read_csv(sep=";", filepath_or_buffer="x.csv")', (1, "file", "cannot run"), "a relative path, 'x.csv'"),
    ('import os\nx = os.listdir("data")', (2, "file", "cannot run"), "a relative path, 'data'"),
    ('import numpy as np\nx = np.load("x.npy")', (2, "file", "cannot run"), "a relative path, 'x.npy'"),
    ('frame.to_csv("out.csv")', (1, "file", "differs"), "gone with the session"),
    ("from tempfile import mkdtemp\n\nx = mkdtemp()", (3, "file", "differs"), "tempfile.mkdtemp: it is on the driver's disk"),
    ('import os\nx = os.environ["HERE"]', (2, "variable", "differs"), "an environment variable, 'HERE'"),
    ('from os import environ, getenv\nx = getenv("HERE", "")', (2, "variable", "differs"), "an environment variable, 'HERE'"),
    ('import os\nos.environ["MINE"] = x = "1"\ny = os.environ["MINE"], os.environ.get("A")', (3, "variable", "differs"), "'A'"),
    ('import boto3\ns3 = boto3.Session(profile_name=BUCKET)', (2, "variable", "cannot run"), "a named profile of AWS"),
    ("import not_installed_anywhere", (1, "import", "cannot run"), "there is no version to pin"),
    ("import duckdb", (1, "import", "differs"), f"leave duckdb=={version('duckdb')} in %additional_python_modules"),
    ("import telnetlib", (1, "import", "cannot run"), "Python 3.13 has removed it"),
    ("from workbench import quality\nquality.evaluate(spark, rows, BUCKET)", (2, "import", "differs"), f"antlr4, which quality.evaluate needs, is not in Glue 6.0: a session installs it when it starts; leave antlr4-python3-runtime=={version('antlr4-python3-runtime')}"),
    ('rows = spark.table("t")\nrows.writeTo(f"s3a://my-lake/{BUCKET}")', (2, "bucket", "differs"), "a bucket or account that is written down, 'my-lake'"),
    ('role = "arn:aws:iam::123456789012:role/x"', (1, "bucket", "differs"), "'123456789012'"),
    ('import boto3\n\ns3 = boto3.client("s3", region_name="eu-central-1")', (3, "region", "differs"), "a region that is written down, 'eu-central-1'"),
    ('url = "http://localhost:9000"', (1, "address", "cannot run"), "an address of this machine, 'http://localhost:9000'"),
    ("import subprocess\n\nsubprocess.run([BUCKET])", (3, "process", "differs"), "subprocess.run: processes are the driver's alone"),
    ("import os\n\nos.killpg(1, 9)", (3, "process", "differs"), "os.killpg"),
    ("import socket\n\nx = socket.create_server(BUCKET)", (3, "server", "cannot run"), "Spark's executors are other machines"),
    ("from workbench import plots\nplots.bars(frame, x=1, y=2)", (2, "plot", "differs"), "plots.bars: the figure is drawn in the session"),
    ("from workbench_standins import kinesis\nwith kinesis.serve() as x:\n    pass", (2, "library", "cannot run"), "workbench_standins.kinesis.serve: it starts a server"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "where", "words"), PLANTED, ids=[re.sub(r"\W+", "_", p[0])[-60:] for p in PLANTED]
)
def test_what_is_planted_is_named(planted, where, words):
    found = checked(made(*CLEAN, planted, parameters=AWS))
    assert told(found) == [(6, *where)]
    assert words in found[0].sentence() and found[0].sentence().startswith(f"cell 6, line {where[0]}: ")


def test_session_magics_at_the_top_and_pins_in_them_are_fine():
    magics = "%glue_version 6.0\n%additional_python_modules duckdb==1.5.5,Confluent-Kafka==2.1\n%extra_py_files s3://b/rules.py"
    use = "import confluent_kafka\nimport duckdb\nimport rules"
    shown = "import matplotlib.pyplot as plt\n\nplt.plot([1])\n%matplot plt"
    late = [(2, line, "magic", "differs") for line in (1, 2, 3)]  # the parameters cell has begun the session
    assert told(checked(made(magics, *CLEAN, use, shown, parameters=AWS))) == late
    first = made("%%configure\n{}", magics, AWS, *CLEAN, use, shown)
    assert (
        told(one for one in checked(first, ENVIRONMENT="aws-glue") if one.rule not in ("bucket", "region")) == []
    )


LOST = "the exported notebook begins its session before this cell"
OVERTAKEN = [
    ("%glue_version 5.1", "differs", f"%glue_version 5.1: {LOST}, with %glue_version 6.0, so it is lost; give --version 5.1"),
    ("%glue_version 4.0", "differs", "so it is lost; leave it out (6.0 and 5.1 are known)"),
    ("%worker_type huge", "differs", f"{LOST}, with %worker_type G.1X, so it is lost"),
    ("%number_of_workers 1", "differs", "with %number_of_workers 2, so it is lost"),
    ("%idle_timeout ten", "differs", "with %idle_timeout 10, so it is lost"),
    ("%spark_conf nothing", "differs", "%spark_conf nothing: "),
    ("%%tags\n{'a': 'b'}", "differs", f"%%tags: {LOST}"),
    ('%%configure\n{"--conf": "nothing"}', "differs", f"%%configure --conf: {LOST}, with a %%configure of its own"),
    ('%%configure\n{"glue_version": "5.1"}', "differs", "%%configure glue_version: "),
    ("%%configure\n{", "differs", f"%%configure: {LOST}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("magic", "grade", "words"), OVERTAKEN, ids=[re.sub(r"\W+", "_", p[0]) for p in OVERTAKEN]
)
def test_a_magic_that_the_export_overtakes_is_told_where_it_stands(magic, grade, words):
    """The check of the source said runs, that of the file that is written told what is lost."""
    notebook = made("# settings\n" + magic, *CLEAN, parameters=None)
    (finding,) = [one for one in checked(notebook) if one.rule == "magic"]
    assert (finding.cell, finding.line, finding.grade) == (1, 2, grade)
    assert words in finding.sentence()
    written = export.variant(notebook, session(notebook))
    again = [one for one in checked(written) if one.rule == "magic"]
    assert [(one.cell, one.line) for one in again] == [(4, 2)]  # behind the three cells of the export
    assert "the session runs already" in again[0].why


@pytest.mark.parametrize(
    "magic",
    ["%glue_version 6.0", "%glue_version '6.0'", "%worker_type G.1X", "%number_of_workers 2", "%idle_timeout 10", "%etl",
     "%additional_python_modules duckdb==1.5.5", "%extra_py_files s3://b/rules.py", "%%configure\n{}", "%status",
     '%%configure\n{"--datalake-formats": "iceberg"}', "%connections my-warehouse", "%worker_type G.8X", "%streaming",
     "%number_of_workers 20", "%idle_timeout 2880", "%extra_jars s3://b/x.jar", "%spark_conf spark.a=1",
     '%%configure\n{"--conf": "spark.a=1 --conf spark.b=2"}', "%%configure\n{'--extra-jars': 's3://b/x.jar'}",
     '%%configure\n{"--datalake-formats": "iceberg,hudi", "worker_type": "G.2X", "glue_version": "6.0"}'],
)  # fmt: skip
def test_a_magic_that_the_export_takes_over_or_writes_itself_loses_nothing(magic):
    assert [one for one in checked(made(magic, *CLEAN)) if one.rule == "magic"] == []


def test_several_arguments_are_several_findings_and_an_exported_notebook_is_none():
    notebook = made('%worker_type huge\n%%configure\n{"--conf": "a", "idle_timeout": "x"}', *CLEAN)
    assert [(one.line, one.what) for one in checked(notebook) if one.rule == "magic"] == [
        (1, "%worker_type huge"),
        (2, "%%configure --conf"),
        (2, "%%configure idle_timeout"),
    ]
    written = export.variant(made(*CLEAN), session(made(*CLEAN)))
    assert [one for one in checked(written) if one.rule == "magic"] == []


def test_a_module_of_ones_own_is_a_file_and_no_package(tmp_path):
    (tmp_path / "helper.py").write_text("x = 1")
    (tmp_path / "more").mkdir()
    notebook = made("import helper\nimport more\nimport boto3\nfrom workbench import show")
    (first, second), packages = (
        export.check(notebook, folders=[tmp_path]),
        export.check(notebook),
    )
    assert f"helper is yours, {tmp_path / 'helper.py'}: what is on this machine is not in Glue" in first.sentence()
    assert "there is no version to pin" in second.sentence()  # a folder without Python is no module
    assert len(packages) == 2 and all("there is no version to pin" in one.sentence() for one in packages)
    caught = made("try:\n    import helper\nexcept ImportError:\n    helper = None")
    assert [one.grade for one in export.check(caught, folders=[tmp_path])] == ["differs"]
    (tmp_path / "more" / "__init__.py").touch()
    second = export.check(notebook, folders=[tmp_path])[1]
    assert f"more is yours, {tmp_path / 'more'}: " in second.sentence()
    assert "%extra_py_files" in second.instead
    (tmp_path / "duckdb").mkdir()
    (tmp_path / "duckdb" / "rows.py").touch()  # a folder, and the package of that name is installed
    assert "leave duckdb==" in export.check(made("import duckdb"), folders=[tmp_path])[0].instead


@pytest.mark.parametrize(
    "cell",
    [
        """spark.sql(f"SELECT json.`a.b` FROM parquet.`{BUCKET}/x` JOIN t.json.`a.b` -- location '/x'")""",
        """spark.sql(f"CREATE TABLE t (a INT) LOCATION '{BUCKET}/x'")""",
        """spark.sql("CREATE TABLE t (a INT) LOCATION '%s/x'" % BUCKET)""",
        """spark.sql("SELECT * FROM parquet.`{place}/x` WHERE path = '/x'", place=BUCKET)""",
        """spark.sql("CREATE TABLE t (a INT) LOCATION '$BUCKET/x'".replace("$BUCKET", BUCKET))""",
        """rows = spark.table("t").select("json.`user.name`")""",
        """print("no such location 'N/A'")""",
    ],
)
def test_what_is_no_path_of_this_machine_in_a_text_is_fine(cell):
    assert checked(made(cell, parameters=AWS)) == []


def test_an_import_that_a_magic_names_without_a_version():
    found = checked(made("%additional_python_modules duckdb", "import duckdb"))
    assert told(found) == [(2, 1, "import", "differs")]
    assert "'duckdb' names no version" in found[0].sentence()


ENVIRONMENTS = [  # environment, what is asked of it, (rule's grade, words)
    ("local", "start", ("differs", "tables go to the catalog of the magics and stay there, not to local")),
    ("lake", "catalog", ("cannot run", "it opens the catalog of lake on the driver's disk")),
    ("local", "broker", ("cannot run", "the broker of local would be a process")),
    ("aws-glue", "broker", ("cannot run", "names no Kafka")),
    ("archive", "stand_in", ("cannot run", "archive needs a server on this machine (stand-in archive)")),
    ("s3", "s3_client", ("cannot run", "s3 needs a server on this machine (stand-in s3)")),
    ("own-catalog", "start", ("cannot run", "is at 127.0.0.1, this machine")),
    ("nowhere", "start", ("cannot run", "no environment 'nowhere'")),
]


@pytest.mark.parametrize(("name", "asked", "expected"), ENVIRONMENTS, ids=[f"{e[0]}-{e[1]}" for e in ENVIRONMENTS])
def test_environments_of_this_machine(name, asked, expected):
    notebook = made(
        f"from workbench import session\nx = session.{asked}(ENVIRONMENT)",
        parameters='ENVIRONMENT: str = "aws-glue"',
    )
    found = [one for one in checked(notebook, ENVIRONMENT=name) if one.rule != "import"]
    assert told(found) == [(2, 2, "environment", expected[0])]
    assert expected[1] in found[0].sentence()


def test_an_environment_has_to_be_in_the_wheel_and_its_secrets_cannot_be_resolved(project, monkeypatch):
    (folder := project / "params" / "environments").mkdir(parents=True)
    catalog = "catalog:\n  type: rest\n  uri: https://c.example.com\n  properties:\n    credential: env:PASS_ME\n    client.region: ssm:/region\n    prefix: env:PREFIX\n"
    (folder / "own.yml").write_text(f"description: own\n{catalog}")
    monkeypatch.chdir(project)
    start = made(START, parameters='ENVIRONMENT: str = "own"')
    found = [one.why for one in checked(start) if one.rule == "environment"]
    secret = ["the session cannot resolve env:PASS_ME (credential of own), as it runs already"]
    secret += ["the session cannot resolve ssm:/region (client.region of own), as it runs already"]
    assert found == ["the environment own is not in the wheel", *secret]
    assert [one.why for one in checked(start, shipped=folder) if one.rule == "environment"] == secret


def test_an_environment_by_its_path_or_with_another_file_is_not_that_of_the_wheel(project, monkeypatch):
    (folder := project / "params" / "environments").mkdir(parents=True)
    text = (ROOT / "params" / "environments" / "aws-glue.yml").read_text()
    (folder / "aws-glue.yml").write_text(f"{text}# mine\n")
    (project / "aws-glue.yml").write_text(text)
    monkeypatch.chdir(project)
    start = made(START, parameters='ENVIRONMENT: str = "aws-glue"')
    assert [one.why for one in checked(start)] == ["the environment aws-glue of the wheel is another one"]
    path = str(project / "aws-glue.yml")
    assert [one.why for one in checked(start, ENVIRONMENT=path)] == [f"the environment {path} is not in the wheel"]


def test_a_function_of_ones_own_may_be_named_as_one_of_ipython():
    assert checked(made("def display(x):\n    return x\n\ndisplay(1)")) == []


def test_what_the_parameters_exclude_is_not_looked_at():
    cell = "from workbench_standins import kinesis\nserver = None if ENDPOINT else kinesis.serve()\nif ENDPOINT == '':\n    x = open('x')"
    notebook = made(cell, parameters='ENDPOINT: str = ""')
    assert told(checked(notebook)) == [(2, 2, "library", "cannot run"), (2, 4, "file", "cannot run")]
    assert checked(notebook, ENDPOINT="https://kinesis.example.com") == []
    notebook.cells.append(made("ENDPOINT = other()").cells[0])  # now nobody knows what it is
    assert len(checked(notebook, ENDPOINT="https://kinesis.example.com")) == 2


@pytest.mark.parametrize(
    "cell",
    [
        "def f(MODE):\n    if MODE == 'slow':\n        open('x')",
        "for day in DAYS:\n    open(day)\nDAYS.append(1)\nfor day in DAYS:\n    open('x')",
        "BOTH['a'] = 1\nif BOTH:\n    open('x')",
        "from mine import MODE\nif MODE == 'slow':\n    open('x')",
    ],
)
def test_a_name_that_is_bound_again_or_changed_in_place_excludes_nothing(cell):
    parameters = 'MODE: str = "fast"\nDAYS: list = []\nBOTH: dict = {}'
    assert "file" in {one.rule for one in checked(made(cell, parameters=parameters))}
    still = "if MODE == 'slow' or DAYS or BOTH:\n    open('x')"
    assert checked(made(still, parameters=parameters)) == []


FEATURES = {  # by name: a use of it
    "Python data sources": "from pyspark.sql.datasource import DataSource",
    "the type VARIANT": 'spark.sql("SELECT parse_json(text) FROM t")',
    "nanosecond and geospatial types of format version 3": 'spark.sql(f"CREATE TABLE {t} (at TIMESTAMP_NS)")',
    "Python functions on Arrow data": "from pyspark.sql import functions as F\nF.arrow_udf(f)",
    "methods of DataFrame that came with Spark 4": "rows.toArrow()",
    "declarative pipelines": "from pyspark import pipelines",
    "recursive queries": 'spark.sql("WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r")',
    "SQL pipes": 'spark.sql("FROM t |> WHERE n > 1")',
    "collations": 'rows.selectExpr("name COLLATE UTF8_LCASE")',
    "listagg": 'rows.selectExpr("listagg(name)")',
    "errors of casts and overflows (ANSI mode)": 'rows.selectExpr("CAST(n AS INT)")',
}
EVERYWHERE = {
    "a table of format version 3": "spark.sql(\"CREATE TABLE t (n INT) TBLPROPERTIES ('format-version' = '3')\")"
}


@pytest.mark.parametrize("name", list(FEATURES))
def test_features_that_51_lacks(name):
    lacked = checked(made("x = 1", FEATURES[name]), "5.1")
    assert [(one.cell, one.rule, one.what) for one in lacked] == [(2, "feature", name)]
    assert "Spark 3.5.6" in lacked[0].why and "(https://" in lacked[0].instead
    assert checked(made("x = 1", FEATURES[name]), "6.0") == []


@pytest.mark.parametrize("glue", export.names())
def test_a_table_that_athena_cannot_read_on_both(glue):
    (name,) = EVERYWHERE
    assert [(one.what, one.grade) for one in checked(made(EVERYWHERE[name]), glue)] == [(name, "differs")]


def test_every_feature_has_a_use_here_and_spark_says_when_it_came():
    assert {one["name"] for one in versions.table()["features"]} == set(FEATURES) | set(EVERYWHERE)
    source = (Path(find_spec("pyspark").origin).parent / "sql" / "functions" / "builtin.py").read_text()
    came = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and (
            said := re.search(r"versionadded:: (\d\.\d)", ast.get_docstring(node) or "")
        ):
            came[node.name] = said[1]
    named = {name: one["spark"] for one in versions.table()["features"] for name in one.get("functions", ())}
    del named["arrow_udf"]  # stands in another module
    assert {name: came[name] for name in named} == named


def test_the_library_takes_the_spark_of_both_and_refuses_another(monkeypatch):
    start = made(START, parameters=AWS)
    assert [checked(start, name) for name in ("6.0", "5.1")] == [[], []]
    monkeypatch.setattr(java, "pairs", lambda: {"4.1": {}, "4.2": {}})
    assert [(one.rule, one.grade, one.why) for one in checked(start, "5.1")] == [
        ("environment", "cannot run", "it refuses Spark 3.5.6, the library is for 4.1 and 4.2")
    ]


def functions(module):
    return {
        node.name
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize("name", [one["name"] for one in versions.table()["library"]])
def test_functions_of_ours_that_rules_name_are_there(name):
    *folders, last = name.split(".")
    place = LIB.joinpath(*folders)
    if last == "*":
        assert any(functions(module) for module in place.rglob("*.py"))
        return
    modules = [place.with_suffix(".py")] if place.with_suffix(".py").is_file() else list(place.rglob("*.py"))
    init = place / "__init__.py"
    if init.is_file() and (origin := re.search(rf"^from ([\w.]+) import {last}$", init.read_text(), re.M)):
        modules = [
            LIB.joinpath(*origin[1].split(".")).with_suffix(".py")
        ]  # a capability hands on what is a room below
    assert any(last in functions(module) for module in modules)


def test_functions_of_ours_that_start_processes_are_named():
    """A capability that comes to start a process gets an entry in glue.toml, and its name here."""
    starts = re.compile(
        r"^(import subprocess|from workbench\._base import .*\bchildren\b|from workbench_standins)", re.M
    )
    found = {
        str(path.relative_to(LIB)) for path in LIB.rglob("*.py")
        if path.relative_to(LIB).parts[0] in ("workbench", "workbench_proofs")
        and path.relative_to(LIB).parts[1] not in ("session", "engines") and starts.search(path.read_text())
    }  # fmt: skip
    assert found == {
        "workbench/_base/children.py", "workbench/_base/jars.py", "workbench/_base/java.py",
        "workbench/dbt/replaying.py", "workbench/metrics/collectors/measuring.py", "workbench/metrics/collectors/options.py",
        "workbench/metrics/collectors/running.py", "workbench/quality/dqdl/generate.py", "workbench_proofs/collectors/__init__.py",
        "workbench_proofs/conflicts/racing.py", "workbench_proofs/kills.py",
        "workbench_proofs/lambdas/functions.py", "workbench_proofs/lambdas/processes.py", "workbench_proofs/tpcds/child.py",
        "workbench_proofs/tpcds/processes.py", "workbench_proofs/tpch.py", "workbench_proofs/warehouse.py",
    }  # fmt: skip


def test_another_version_is_refused():
    with pytest.raises(ValueError, match="no Glue version '4.0'; there are 6.0, 5.1"):
        checked(made("x = 1"), "4.0")
