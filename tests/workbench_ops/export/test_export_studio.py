"""The Glue Studio variant: magics first, parameters put in, all else as in the source, no outputs."""

import ast
import json
from importlib.metadata import version as installed

import nbformat
import pytest
from conftest import ROOT
from export_cases import declared, made, session

from workbench import costs
from workbench._base import settings
from workbench_ops import export
from workbench_ops.export import magics, studio, wheel
from workbench_ops.run import notebook as notebooks

OURS = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


@pytest.mark.parametrize("version", export.names())
@pytest.mark.parametrize("name", OURS)
def test_each_of_our_notebooks_is_the_same_but_for_magics_and_parameters(name, version):
    source = notebooks.read(ROOT / "notebooks" / f"{name}.ipynb")
    before = nbformat.writes(source)
    found = export.variant(source, session(source, version=version), {"ENVIRONMENT": "aws-glue"})
    nbformat.validate(found)
    assert nbformat.writes(source) == before
    assert found.metadata.kernelspec.name == "glue_pyspark"
    assert [cell.metadata.get("tags") for cell in found.cells[:3]] == [["glue"]] * 3
    kinds = {(*(cell.get("outputs") or ()), cell.get("execution_count")) for cell in found.cells}
    assert kinds == {(None,)}
    changed = [
        (ours.source, theirs.source)
        for ours, theirs in zip(source.cells, found.cells[3:], strict=True)
        if ours.source != theirs.source
    ]
    assert len({cell.id for cell in found.cells}) == len(found.cells) == len(source.cells) + 3
    ((old, new),) = changed
    assert new == old.replace(old.splitlines()[0].split('"')[1], "aws-glue", 1)


def test_the_session_is_the_one_that_the_notebooks_own_magics_would_have_begun():
    """Later ones overtake earlier ones, as they do in the kernel; what comes behind code is no word on it."""
    notebook = made(
        "%worker_type G.4X\n%idle_timeout 5\n%connections one\n%streaming",
        '%%configure\n{"--conf": "spark.a=1 --conf spark.b=x=y", "--datalake-formats": "hudi", "--job-language": "python",'
        ' "number_of_workers": 5, "--additional-python-modules": "boltons==25.0"}',
        "# later\n%worker_type G.2X\n%connections one,two\n%etl\n%spark_conf spark.a=2\n%extra_jars s3://b/x.jar",
        "x = 1",
        "%idle_timeout 99\n%profile late",
        parameters=None,
    )
    found = session(notebook)
    assert (found.worker, found.workers, found.formats) == ("G.2X", 5, ("iceberg", "hudi"))
    first, second = export.variant(notebook, found).cells[:2]
    assert [line for line in first.source.splitlines() if line.startswith("%")] == [
        "%glue_version 6.0", "%idle_timeout 5", "%worker_type G.2X", "%number_of_workers 5",
        f"%additional_python_modules {','.join(found.packages)}", "%connections one,two", "%etl",
        "%extra_jars s3://b/x.jar",
    ]  # fmt: skip
    assert "# until %stop_session, or 5 minutes after the last cell" in first.source
    assert found.packages[-1] == "boltons==25.0"
    ((configure,), _) = magics.split(second.source)
    arguments = ast.literal_eval(configure.value)
    assert (arguments["--datalake-formats"], arguments["--job-language"]) == ("iceberg,hudi", "python")
    conf = arguments["--conf"].split(" --conf ")
    assert conf[0].startswith("spark.sql.extensions=") and conf[-2:] == ["spark.a=2", "spark.b=x=y"]
    again = session(export.variant(notebook, found))  # an export of the export is the same
    assert (again.line_magics(), again.arguments()) == (found.line_magics(), found.arguments())
    script = export.script(notebook, found, declared=[], name="mine")
    assert "\n# Connections: one,two\n" in script and "\n# Worker type, number of workers: G.2X, 5\n" in script
    asked = session(notebook, worker="G.8X", workers=3)  # who exports has the last word
    assert (asked.worker, asked.workers) == ("G.8X", 3)


def test_the_magics_cells_word_for_word():
    notebook = made("import duckdb\n", parameters='ENVIRONMENT: str = "local"')
    first, second, third = export.variant(notebook, session(notebook, version="6.0")).cells[:3]
    assert first.source == (
        "# Glue 6.0: Spark 4.1.1, Iceberg 1.11.0, Python 3.13\n"
        f"# 2 workers G.1X cost USD 0.88 an hour (us-east-1, list price of {costs.prices('compute').date}, not seen at its source: https://aws.amazon.com/glue/pricing/)\n"
        "# until %stop_session, or 10 minutes after the last cell\n"
        f"# Before you start: aws s3 cp {wheel.name()} s3://YOUR-BUCKET/workbench/{wheel.name()}\n"
        "%glue_version 6.0\n"
        "%idle_timeout 10\n"
        "%worker_type G.1X\n"
        "%number_of_workers 2\n"
        f"%additional_python_modules s3://YOUR-BUCKET/workbench/{wheel.name()},duckdb=={installed('duckdb')}"
    )
    taken, rest = magics.split(first.source)
    assert all(one.at_top for one in taken) and len(taken) == 5 and not ast.parse(rest).body
    (configure,), rest = magics.split(second.source)
    assert (configure.name, configure.at_top, configure.whole_cell, rest.strip()) == ("configure", True, True, "")
    arguments = ast.literal_eval(configure.value)  # so the published kernel reads it
    assert arguments == json.loads(configure.value) and arguments["--datalake-formats"] == "iceberg"
    assert arguments["--conf"].split(" --conf ") == [
        "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.defaultCatalog=lake",
        "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type=glue",
        "spark.sql.catalog.lake.warehouse=s3://YOUR-BUCKET/warehouse",
        "spark.sql.session.timeZone=UTC",
        "spark.sql.adaptive.coalescePartitions.enabled=false",
        "spark.sql.legacy.parameterSubstitution.constantsOnly=true",
    ]
    assert third.source.startswith(
        "from pyspark.sql import SparkSession\n\nspark = SparkSession.builder.getOrCreate()"
    )


def test_what_the_notebooks_own_magics_install_is_asked_for_before_the_session_begins():
    asked = "%additional_python_modules confluent-kafka==2.1, duckdb, s3://b/rules-1.0-py3-none-any.whl"
    notebook = made(f"{asked}\n%extra_py_files s3://b/more.zip", "import confluent_kafka, duckdb, rules, more")
    found = session(notebook)
    pinned = f"duckdb=={installed('duckdb')}"
    assert found.packages[1:] == (pinned, "confluent-kafka==2.1", "s3://b/rules-1.0-py3-none-any.whl")
    cells = export.variant(notebook, found).cells
    assert cells[0].source.endswith(f",{','.join(found.packages[1:])}")
    assert json.loads(cells[1].source.partition("\n")[2])["--extra-py-files"] == "s3://b/more.zip"
    job = export.script(notebook, found, declared=[])
    assert f"\n# --additional-python-modules: {','.join(found.packages)}\n" in job
    assert "\n# --extra-py-files: s3://b/more.zip\n" in job
    assert session(export.variant(notebook, found)).packages == found.packages


def test_the_catalog_of_an_environment_with_values_of_its_variables(monkeypatch):
    notebook = made("x = 1", parameters='ENVIRONMENT: str = "aws-glue"')
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", "s3://lake/warehouse")
    monkeypatch.delenv("WORKBENCH_REGION", raising=False)
    found = session(
        notebook,
        version="5.1",
        environment=settings.environment("aws-glue"),
        place="s3://lake/wheels/",
        workers=3,
        worker="G.2X",
    )
    assert found.variables == {"WORKBENCH_WAREHOUSE": "s3://lake/warehouse", "WORKBENCH_REGION": "YOUR-REGION"}
    catalog = {name: value for name, value in found.conf.items() if name.startswith("spark.sql.catalog.lake.")}
    assert catalog == {
        "spark.sql.catalog.lake.type": "glue",
        "spark.sql.catalog.lake.warehouse": "s3://lake/warehouse",
        "spark.sql.catalog.lake.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.catalog.lake.client.region": "YOUR-REGION",
        "spark.sql.catalog.lake.glue.skip-name-validation": "true",
    }
    assert "constantsOnly" not in str(found.conf)  # a setting of Spark 4
    assert found.conf["spark.sql.ansi.enabled"] == "true"  # which Spark 4 has by default
    assert found.packages == (f"s3://lake/wheels/{wheel.name()}",)
    assert found.price().startswith("3 workers G.2X cost USD 2.64 an hour")
    told = 'os.environ |= {"WORKBENCH_WAREHOUSE": "s3://lake/warehouse", "WORKBENCH_REGION": "YOUR-REGION"}  # the environment\'s file refers to them'
    assert found.begin().splitlines()[4] == told


def test_a_secret_is_never_written(project, monkeypatch):
    monkeypatch.setenv("PASS_ME", "hidden-from-everybody")
    text = "description: own\ncatalog:\n  type: rest\n  uri: https://c.example.com\n  properties:\n    credential: env:PASS_ME\n    header.x: env:API_KEY\n"
    (file := project / "own.yml").write_text(text)
    monkeypatch.setenv("API_KEY", "hidden-from-everybody")
    notebook = made("x = 1", parameters='ENVIRONMENT: str = "local"')
    found = session(notebook, environment=settings.environment(str(file)))
    assert "hidden" not in nbformat.writes(export.variant(notebook, found)) and found.variables == {}
    assert found.conf["spark.sql.catalog.lake.uri"] == "https://c.example.com"
    assert [name for name, value in found.conf.items() if value.startswith("env:")] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("uri", "https://me:hush-hush-hush@c.example.com"),
        ("client.region", "AKIAHUSHHUSHHUSHHUSH"),
        ("header.Authorization", "Bearer hush-hush-hush"),
        ("header.x", "hush-hush-hush"),
    ],
)
def test_a_variable_whose_name_tells_nothing_may_hold_a_secret(name, value, monkeypatch):
    monkeypatch.setenv("MINE", value)
    catalog = {"type": "rest", "uri": "https://c.example.com", "properties": {name: "env:MINE"}}
    if name == "uri":
        catalog = {"type": "rest", "uri": "env:MINE"}
    notebook = made("x = 1", parameters="N: int = 1")
    found = session(notebook, environment=settings.parse({"description": "own", "catalog": catalog}, "own.yml"))
    texts = (
        export.script(notebook, found, declared=declared(notebook)),
        nbformat.writes(export.variant(notebook, found)),
    )
    assert [text for text in texts if "hush" in text.lower()] == [] and found.variables == {}


def test_what_variables_hold_arrives_as_it_is(monkeypatch):
    monkeypatch.setenv("WORKBENCH_REGION", "eu-central-1")
    notebook = made("x = 1", parameters='ENVIRONMENT: str = "aws-glue"')
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", value := 's3://lake/it\'s "so" 😀\\')
    found = session(notebook, environment=settings.environment("aws-glue"))
    told = next(line for line in found.begin().splitlines() if line.startswith("os.environ"))
    assert ast.literal_eval(told[len("os.environ |= ") : told.index("  #")]) == found.variables
    assert found.variables["WORKBENCH_WAREHOUSE"] == value
    ((configure,), _) = magics.split(found.configure_magic())
    assert value in ast.literal_eval(configure.value)["--conf"]  # so the published kernel reads it
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", "s3://lake/w\nraise SystemExit")
    with pytest.raises(ValueError, match="WORKBENCH_WAREHOUSE holds a line break"):
        session(notebook, environment=settings.environment("aws-glue"))


def test_values_take_the_place_of_literals_and_comments_stay():
    source = '# é\nNAME: str = "é"  # how it is called\nLIST: list = [\n    1,\n]  # several\nN = -1\nSHARE: float = 1.5; BOTH: bool = True'
    given = {"NAME": "it's", "LIST": [1, "a"], "N": 2, "SHARE": 0.25, "BOTH": False}
    assert studio.with_values(source, given) == (
        "# é\nNAME: str = \"it's\"  # how it is called\nLIST: list = [1, 'a']  # several\nN = 2\nSHARE: float = 0.25; BOTH: bool = False"
    )
    assert (
        notebooks.parameters(
            made(parameters=studio.with_values(source.replace(";", "\n").replace("\n ", "\n"), given))
        )["NAME"].default
        == "it's"
    )


def test_refusals():
    notebook = made("x = 1")
    with pytest.raises(ValueError, match="no worker type 'XL'; there are G.1X"):
        session(notebook, worker="XL")
    for place in ("/data", "s3://", "s3:///x", "s3://lake/a,b", "s3://lake/my wheels"):
        with pytest.raises(ValueError, match=f"{place} is not a folder on S3; expected s3://bucket/folder"):
            session(notebook, place=place)
    assert declared(notebook) == []
