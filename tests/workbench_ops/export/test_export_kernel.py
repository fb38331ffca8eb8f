"""The kernel like Glue's: what it takes of a cell, what it refuses, and what a notebook sees in it."""

import json
import os

import inside
import nbformat
import pytest
from conftest import PROVE, workbench, write_notebook
from export_cases import made
from nbclient import NotebookClient

from workbench._base import java
from workbench.session import configuration
from workbench_ops.export import kernel, studio, versions, wheel
from workbench_ops.run import record as records
from workbench_ops.run import runner
from workbench_ops.run.preparing import Job

CONF = {
    "spark.sql.extensions": configuration.EXTENSIONS,
    "spark.sql.defaultCatalog": "lake",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.shuffle.partitions": "3",
}
SEEN = """
import json, os, sys
import workbench
from workbench import session
same = session.start("aws-glue") is spark
print(json.dumps({
    "library": workbench.__file__, "folder": os.getcwd(), "same": same,
    "iceberg": spark._jvm.org.apache.iceberg.IcebergBuild.version(), "partitions": spark.conf.get(
        "spark.sql.shuffle.partitions"),
    "ours": sorted(name for name in os.environ if name.startswith("WORKBENCH_")),
    "others": [one for one in sys.path if os.path.isfile(os.path.join(one, "workbench", "__init__.py"))],
}))
"""
TABLE = """
spark.sql("CREATE NAMESPACE n")
spark.sql("CREATE TABLE n.t AS SELECT id FROM range(10)")
spark.sql("DELETE FROM n.t WHERE id >= 0")
[row.operation for row in spark.sql("SELECT operation FROM n.t.snapshots ORDER BY committed_at").collect()]
"""


def exported(*cells, warehouse):
    """A notebook as `studio.variant` makes it, for a catalog of files."""
    conf = " --conf ".join(f"{name}={value}" for name, value in CONF.items())
    conf += f" --conf spark.sql.catalog.lake.warehouse=file:{warehouse}"
    asked = {"--datalake-formats": "iceberg", "--conf": conf}
    lines = "# a comment\n\n%glue_version 6.0\n%idle_timeout 10\n%number_of_workers 2\n"
    lines += f"%additional_python_modules s3://some/{wheel.name()}"
    begin = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()"
    found = made(lines, f"%%configure\n{json.dumps(asked)}", begin, *cells)
    for cell in found.cells[-4:-1]:  # those that fail
        cell.metadata["tags"] = ["raises-exception"]
    found.metadata = nbformat.from_dict(studio.KERNEL | studio.LANGUAGE)
    return found


def said(cell):
    """What a cell printed, gave or raised."""
    outputs = [
        out.get("text") or out.get("data", {}).get("text/plain") or out.get("evalue") for out in cell.outputs
    ]
    return "".join(outputs).strip()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return wheel.build(tmp_path_factory.mktemp("wheel"))


def test_a_notebook_sees_what_it_would_see_there(project, built, tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WORKBENCH_WAREHOUSE", "s3://of-the-caller/warehouse")
    cells = (SEEN, "%idle_timeout 20", TABLE, "x = 1\n%timeout 5\nx", "%%time\nx", "!ls", "2 + 2\n%matplot plt")
    monkeypatch.setenv("WORKBENCH_RUN_DIR", str(project))
    ran = exported(*cells, warehouse=tmp_path_factory.mktemp("lake"))
    with studio.installed(built):
        NotebookClient(ran, timeout=300, resources={"metadata": {"path": str(project / "notebooks")}}).execute()
    ran = ran.cells
    took = said(ran[0]).splitlines()
    assert took[:3] == ["glue_version: 6.0", "idle_timeout: 10", "number_of_workers: 2"]
    assert said(ran[1]) == "configure: taken"
    seen = json.loads(said(ran[3]))
    assert seen["library"].endswith("/site/workbench/__init__.py") and len(seen["others"]) == 1
    assert seen["folder"].endswith("/elsewhere") and not seen["folder"].startswith(str(project))
    assert (seen["same"], seen["partitions"]) == (True, "3")
    assert seen["iceberg"] == versions.version("6.0").iceberg  # not that of our own sessions
    assert seen["ours"] == ["WORKBENCH_RUN_DIR", "WORKBENCH_SCRATCH"]
    assert said(ran[4]) == "idle_timeout: to no effect, the session runs already"
    assert said(ran[5]) == "['append', 'delete']"
    assert "invalid syntax" in said(ran[6])  # the session gets it as it is
    assert "is not a magic of the Glue kernel" in said(ran[7]) and "'time'" in said(ran[7])
    assert "'!'" in said(ran[8])
    assert said(ran[9]) == "4"
    noted = json.loads((project / kernel.RECORD).read_text())
    assert [(one["cell"], one["magic"], one["to_effect"]) for one in noted if one["magic"] == "idle_timeout"] == [
        (1, "idle_timeout", True), (5, "idle_timeout", False),
    ]  # fmt: skip


def test_it_is_run_as_any_notebook_is(project, built):
    found = made("%glue_version 6.0", "%no_such_thing 1")
    found.metadata = nbformat.from_dict(studio.KERNEL | studio.LANGUAGE)
    nbformat.write(found, project / "exported.ipynb")
    before = os.environ.get("JUPYTER_PATH")
    with studio.installed(built):
        record = runner.run(Job(str(project / "exported.ipynb")))
    assert (record.status, record.failing_cell.number) == ("failed", 2)
    assert record.failing_cell.message == "'no_such_thing' is not a magic of the Glue kernel"
    noted = json.loads((records.folder(record) / kernel.RECORD).read_text())
    assert [(one["cell"], one["magic"], one["value"]) for one in noted] == [
        (1, "glue_version", "6.0"), (2, "no_such_thing", "1"),
    ]  # fmt: skip
    assert os.environ.get("JUPYTER_PATH") == before


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("idle_timeout", "ten", "an integer of at least 1, found 'ten'"),
        ("timeout", "0", "an integer of at least 1, found '0'"),
        ("number_of_workers", "1", "an integer of at least 2, found '1'"),
        ("glue_version", "7.0", "no Glue version '7.0'"),
        ("worker_type", "huge", "no worker type 'huge'"),
    ],
)
def test_a_value_that_a_magic_does_not_take(name, value, says):
    with pytest.raises(ValueError, match=says):
        kernel.checked(name, value)


@pytest.mark.parametrize("text", ["{", "[]", '{"--conf": 1}'])
def test_configure_takes_an_object_of_texts(text):
    with pytest.raises(ValueError, match="%%configure must be a JSON object"):
        kernel.configured(text)


def test_where_s3_is_by_a_file_system_of_sparks_own(monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    assert kernel.s3() == {}  # no jars for it here
    monkeypatch.setattr(java, "_pyspark", lambda: "3.5.6")
    assert kernel.s3()["spark.hadoop.fs.s3.impl"].endswith(".S3AFileSystem")
    assert "spark.hadoop.fs.s3a.endpoint" not in kernel.s3()
    for name, value in (("AWS_ENDPOINT_URL", "http://a:1"), ("AWS_ENDPOINT_URL_S3", "http://b:2")):
        monkeypatch.setenv(name, value)
        assert kernel.s3()["spark.hadoop.fs.s3a.endpoint"] == value


def test_settings_stand_behind_each_other():
    assert kernel.settings_of("a.b=c=d --conf e=f g  --conf h=") == {"a.b": "c=d", "e": "f g", "h": ""}
    assert kernel.settings_of("") == {}
    with pytest.raises(ValueError, match="--conf must be name=value, found 'nothing'"):
        kernel.settings_of("a=b --conf nothing")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"glue_version": "5.1"}, "Glue 5.1 has Spark 3.5.6; this kernel's is 4.1"),
        (
            {"additional_python_modules": "s3://b/other-1.0-py3-none-any.whl"},
            "Glue would install s3://b/other-1.0",
        ),
        ({"additional_python_modules": "numpy==0.0.1"}, "Glue would install numpy==0.0.1, here is "),
        ({"additional_python_modules": "no-such-package"}, "here is none; the kernel installs nothing"),
    ],
)
def test_a_session_that_this_machine_cannot_give(asked, says):
    with pytest.raises(ValueError, match=says):
        kernel.begin(asked)


def test_the_library_must_be_the_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv(kernel.SITE, str(tmp_path))
    with pytest.raises(ValueError, match="and not the wheel in"):
        kernel.apart()


def test_the_command_refuses_what_cannot_be(project, monkeypatch, capsys):
    call = workbench if PROVE else inside.command(monkeypatch, capsys)
    path = project / "notebooks" / "ours.ipynb"
    write_notebook(path, "from workbench import session", parameters='ENVIRONMENT: str = "local"')
    refused = call("export", "try", "ours", cwd=project)
    assert refused.returncode == 2
    assert "s3://YOUR-BUCKET/warehouse is not known here; name an environment" in refused.stderr
    monkeypatch.delenv("WORKBENCH_WAREHOUSE", raising=False)
    monkeypatch.setenv("WORKBENCH_REGION", "eu-central-1")
    refused = call("export", "try", "ours", "--environment", "aws-glue", cwd=project)
    assert (refused.returncode, "is not known here; export WORKBENCH_WAREHOUSE=…\n" in refused.stderr) == (2, True)
