"""Catalogs that cannot be asked: a sentence, and not the error of a library below."""

import pytest

from workbench import light


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "catalog.db cannot be read as a catalog of PyIceberg: no such table: iceberg_tables"),
        (b"no database " * 100, "catalog.db cannot be read as a catalog of PyIceberg: file is not a database"),
    ],
)
def test_a_file_that_is_not_a_catalog(tmp_path, content, sentence):
    (tmp_path / "catalog.db").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        light.query({"name": "own", "type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}, "SELECT 1 FROM n.t")


def test_a_server_without_an_address():
    with pytest.raises(ValueError, match="the catalog has the type rest and no uri"):
        light.query({"name": "own", "type": "rest"}, "SELECT 1 FROM n.t")
