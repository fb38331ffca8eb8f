"""Sources in S3, on a server of this machine: looked at, moved, followed and taken over, and what S3 refuses."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from golden_tables import namespace, unpacked

from workbench import formats
from workbench._base.errors import ArgumentError
from workbench.formats import iceberg, sources, storage
from workbench.tables import commits
from workbench_standins import s3

KEY, CUT = "shop/orders", "shop/n#1?/orders"
ENVIRONMENT = """\
description: files of this machine and of S3, by their names
catalog:
  name: mine
  type: jdbc
  uri: "jdbc:sqlite:file:{folder}/catalog.db?busy_timeout=30000&journal_mode=WAL"
  warehouse: file://{folder}/warehouse
  properties:
    jdbc.schema-version: V1
    io-impl: org.apache.iceberg.io.ResolvingFileIO
    client.region: us-east-1
    s3.endpoint: {endpoint}
    s3.path-style-access: "true"
    s3.access-key-id: env:AWS_ACCESS_KEY_ID
    s3.secret-access-key: env:AWS_SECRET_ACCESS_KEY
spark: {{master: "local[2]", shuffle_partitions: 2}}
jars: [iceberg, sqlite, aws]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with a Delta table below `KEY` and below `CUT`."""
    folder = tmp_path_factory.mktemp("s3")
    source = unpacked("vectors", folder)
    with s3.serve(folder / "data") as server:
        client = server.client()
        for file in source.rglob("*"):
            if file.is_file():
                for key in (KEY, CUT):
                    client.upload_file(str(file), s3.BUCKET, f"{key}/{file.relative_to(source)}")
        yield server


@pytest.fixture
def variables(server, monkeypatch):
    """The variables by which AWS's tools reach the server."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint)
    monkeypatch.setenv("AWS_REGION", s3.REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret_key)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return monkeypatch


def objects(server):
    listed = server.client().list_objects_v2(Bucket=s3.BUCKET, Prefix="shop/")
    return {entry["Key"]: (entry["ETag"], entry["Size"]) for entry in listed["Contents"]}


def test_a_source_in_s3_is_looked_at_and_what_is_wrong_is_said(server, variables):
    for scheme in ("s3", "s3a"):
        look = formats.look(f"{scheme}://{s3.BUCKET}/{KEY}/")
        assert (look.kind, look.location, look.version) == ("delta", f"s3://{s3.BUCKET}/{KEY}", 6)
    wrong = {
        "s3://": "the path is 's3://', which names no bucket; expected s3://bucket/key",
        f"s3:/{s3.BUCKET}/{KEY}": "which names no bucket",
        "s3://missing/orders": f"there is no bucket missing at {server.endpoint}$",
        f"s3://{s3.BUCKET}/nowhere": f"there is no folder s3://{s3.BUCKET}/nowhere$",
    }
    for path, sentence in wrong.items():
        with pytest.raises(ArgumentError, match=sentence):
            formats.look(path)
    variables.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(ArgumentError, match="the keys must be right, and need s3:GetObject and s3:ListBucket$"):
        formats.look(f"s3://{s3.BUCKET}/{KEY}")
    variables.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(
        ArgumentError, match="cannot be read: .*; AWS_ENDPOINT_URL_S3, AWS_REGION and the keys say"
    ):
        formats.look(f"s3://{s3.BUCKET}/{KEY}")


def test_files_that_the_catalog_does_not_reach_are_refused(spark, namespace, tmp_path):
    source, table = unpacked("plain", tmp_path), f"{namespace}.moved"
    formats.move(spark, source, table)
    folder = storage.opened(str(source))
    state = sources.of(folder).inspected(folder).state
    loaded = commits.load(spark, table)
    iceberg.refuse_unreachable(table, loaded, state)
    elsewhere = replace(state, folder=replace(folder, location="s3://elsewhere/orders"))
    with pytest.raises(
        ArgumentError, match=r"reads files by \w+IO, which cannot read s3://elsewhere/orders/.*ResolvingFileIO"
    ):
        iceberg.refuse_unreachable(table, loaded, elsewhere)
    longer = {name: replace(file, size=file.size + 1) for name, file in state.files.items()}
    with pytest.raises(ArgumentError, match=r"the file has \d+ bytes there, the source says \d+"):
        iceberg.refuse_unreachable(table, loaded, replace(state, files=longer))


def test_a_property_that_leads_into_the_source_is_refused(spark, namespace, tmp_path):
    source = unpacked("plain", tmp_path)
    for name, value, sentence in (
        ("write.data.path", f"{source}/more", "the property write.data.path is .*, in the folder of the source"),
        ("location", str(tmp_path), "properties has location, which the catalog gives the table"),
    ):
        with pytest.raises(ArgumentError, match=sentence):
            formats.move(spark, source, f"{namespace}.moved", properties={name: value})


def test_a_folder_that_readers_would_look_for_elsewhere_is_not_compared(spark, namespace, tmp_path):
    (tmp_path / "a%20b").mkdir()
    source = unpacked("plain", tmp_path / "a%20b")
    formats.move(spark, source, f"{namespace}.moved")
    with pytest.raises(
        ArgumentError, match=r"its readers take % for an escape, and would read file://.*/a b/plain"
    ):
        formats.verify(spark, f"{namespace}.moved")


@pytest.mark.proof("test_files_that_the_catalog_does_not_reach_are_refused and the moves of this machine's tables")
def test_a_table_in_s3_is_moved_followed_and_taken_over(server, variables, tmp_path):
    before = objects(server)
    file = tmp_path / "mine.yml"
    file.write_text(ENVIRONMENT.format(folder=tmp_path, endpoint=server.endpoint), encoding="utf-8")
    sources_of = [f"s3a://{s3.BUCKET}/{key}" for key in (KEY, CUT)]
    child = [sys.executable, Path(__file__).with_name("s3_child.py"), file, *sources_of]
    done = subprocess.run(child, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer.pop("unreachable").startswith(
        "plain.n.orders cannot be made: its catalog reads files by HadoopFileIO"
    )
    assert "Iceberg cuts a key at # and ?: copy the source" in answer.pop("cut")
    assert answer.pop("by_duckdb") == (
        f"DuckDB compares sources of this machine only, and this one is s3://{s3.BUCKET}/{KEY}"
    )
    rows = formats.look(f"s3://{s3.BUCKET}/{KEY}").rows
    assert answer == {"made": False, "versions": [4, 6], "verified": [True, True], "rows": rows, "files": ["file"]}
    assert objects(server) == before
