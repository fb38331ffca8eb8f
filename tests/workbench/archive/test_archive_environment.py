"""The environment `archive`: a stand-in named in a file, and a real bucket by another file."""

import subprocess
import sys

import pytest

from workbench import session
from workbench._base import settings

OWN = {
    "description": "a bucket of one's own",
    "catalog": {
        "type": "glue", "warehouse": "s3://mine/warehouse",
        "properties": {"client.region": "eu-central-1", "s3.endpoint": "http://127.0.0.1:9", "s3.access-key-id": "env:KEY",
                       "s3.secret-access-key": "env:SECRET"},
    },
}  # fmt: skip


def test_the_shipped_environment_names_the_stand_in():
    env = settings.environment("archive")
    assert (env.stand_in, env.catalog.folder, env.catalog.properties["warehouse"], env.jars) == (
        "archive", "scratch", "s3://lake/warehouse", ("iceberg", "sqlite", "aws"),
    )  # fmt: skip
    assert settings.environment("local").stand_in is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"stand_in": "attic"}, "stand_in: Input should be 'archive', 's3' or 'rest'"),
        (
            {"stand_in": "archive"},
            "keeps its objects in memory, so its catalog is embedded, with the folder scratch",
        ),
        ({"stand_in": "archive", "catalog": {"type": "embedded", "folder": "lake"}}, "with the folder scratch"),
    ],
)
def test_a_stand_in_goes_with_a_throw_away_lake_only(change, sentence):
    with pytest.raises(ValueError, match="own.yml: ") as caught:
        settings.parse(OWN | change, "own.yml")
    assert sentence in str(caught.value)


def test_a_bucket_of_ones_own_needs_only_another_file(tmp_path, monkeypatch):
    import yaml

    file = tmp_path / "own.yml"
    file.write_text(yaml.safe_dump(OWN))
    monkeypatch.setenv("KEY", "a-key")
    monkeypatch.setenv("SECRET", "a-secret")
    assert session.stand_in(str(file)) is None
    client = session.s3_client(str(file))
    assert (client.meta.region_name, client.meta.endpoint_url) == ("eu-central-1", "http://127.0.0.1:9")
    keys = client._request_signer._credentials
    assert (keys.access_key, keys.secret_key) == ("a-key", "a-secret")


def test_the_store_ends_with_the_process_that_started_it():
    code = (
        "from workbench import session\nstore = session.stand_in('archive')\n"
        "assert session.stand_in('archive') is store\n"
        "print(store.endpoint, [b['Name'] for b in session.s3_client('archive').list_buckets()['Buckets']])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert said.stderr == ""
    endpoint, buckets = said.stdout.strip().split(" ", 1)
    assert buckets == "['lake']"
    from workbench_standins import archive

    with pytest.raises(ConnectionError, match="no archive store answers at"):
        archive.Store(endpoint).clock.now()
