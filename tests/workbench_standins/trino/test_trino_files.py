"""What a Trino server is told, and what is refused before it starts."""

import base64
import json
import os
import re
import sqlite3
import stat

import pytest

from workbench._base import signing
from workbench._base.errors import ArgumentError
from workbench_standins import trino
from workbench_standins.trino import certificate, node

RULES = {"catalogs": [{"catalog": ".*", "allow": "none"}], "tables": [{"privileges": []}]}
WANTED = {"rules": RULES, "catalogs": {"lake": {"connector.name": "iceberg", "s3.aws-secret-key": "a b#c"}}}


def database(folder, columns):
    with sqlite3.connect(folder / "catalog.db") as made:
        made.execute(f"CREATE TABLE iceberg_tables ({', '.join(columns)})")
    made.close()
    return {
        "name": "lake",
        "type": "sql",
        "uri": f"sqlite:///{folder}/catalog.db?timeout=30",
        "warehouse": "file:///w",
    }


def test_a_catalog_in_a_file(tmp_path):
    values = trino.translated(database(tmp_path, ["catalog_name", "iceberg_type"]))
    assert values == {
        "connector.name": "iceberg", "iceberg.table-statistics-enabled": "false", "iceberg.catalog.type": "jdbc",
        "iceberg.jdbc-catalog.driver-class": "org.sqlite.JDBC",
        "iceberg.jdbc-catalog.connection-url": f"jdbc:sqlite:file:{tmp_path}/catalog.db?busy_timeout=30000",
        "iceberg.jdbc-catalog.catalog-name": "lake", "iceberg.jdbc-catalog.default-warehouse-dir": "file:///w",
        "iceberg.jdbc-catalog.schema-version": "V1", "fs.native-local.enabled": "true", "local.location": "/",
    }  # fmt: skip


def test_an_older_catalog_and_files_in_s3(tmp_path):
    given = database(tmp_path, ["catalog_name"]) | {
        "s3.endpoint": "http://127.0.0.1:1", "s3.access-key-id": "k", "s3.secret-access-key": "s",
        "s3.path-style-access": "true", "client.region": "r", "io-impl": "x",
    }  # fmt: skip
    values = trino.translated(given)
    assert values["iceberg.jdbc-catalog.schema-version"] == "V0" and "local.location" not in values
    assert {key: value for key, value in values.items() if key.startswith(("s3.", "fs."))} == {
        "fs.native-s3.enabled": "true", "s3.endpoint": "http://127.0.0.1:1", "s3.aws-access-key": "k",
        "s3.aws-secret-key": "s", "s3.path-style-access": "true", "s3.region": "r",
    }  # fmt: skip


def test_a_rest_catalog():
    given = {
        "type": "rest",
        "uri": "u",
        "warehouse": "w",
        "credential": "a:b",
        "oauth2-server-uri": "o",
        "name": "n",
    }
    values = trino.translated(given | {"s3.region": "r"})
    assert {key: value for key, value in values.items() if key.startswith("iceberg.rest")} == {
        "iceberg.rest-catalog.uri": "u", "iceberg.rest-catalog.warehouse": "w",
        "iceberg.rest-catalog.security": "OAUTH2", "iceberg.rest-catalog.oauth2.credential": "a:b",
        "iceberg.rest-catalog.oauth2.server-uri": "o",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"type": "glue"}, "the catalog is of the type glue; Trino is led to catalogs of the types sql and rest"),
        ({}, "the catalog is of the type none"),
        (
            {"type": "sql", "uri": "postgresql://h/d"},
            "a database other than SQLite, for which this Trino has no driver",
        ),
        ({"type": "sql", "uri": "sqlite:////no/such.db"}, "there is no catalog in /no/such.db; Trino makes none"),
    ],
)
def test_a_catalog_that_trino_cannot_have_is_refused(given, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)):
        trino.translated(given)


def test_a_file_without_a_catalog_is_refused(tmp_path):
    given = database(tmp_path, ["x"])
    with sqlite3.connect(tmp_path / "catalog.db") as emptied:
        emptied.execute("DROP TABLE iceberg_tables")
    emptied.close()
    with pytest.raises(ArgumentError, match="there is no catalog in"):
        trino.translated(given)


@pytest.mark.parametrize(
    ("catalogs", "rules", "options", "sentence"),
    [
        ({}, RULES, {}, "catalogs is empty"),
        ({"My-Lake": {}}, RULES, {}, "a catalog's name has small letters, digits and _, found 'My-Lake'"),
        ({"../x": {}}, RULES, {}, "found '../x'"),
        ({"lake": {}}, {}, {}, "rules lack tables or catalogs; Trino shows everything where there are none"),
        ({"lake": {}}, RULES | {"tables": []}, {}, "rules lack tables or catalogs"),
        ({"lake": {}}, RULES, {"memory_mb": 100}, "memory_mb must be an integer of at least 512"),
        ({"lake": {}}, RULES, {"port": -1}, "port must be an integer of at least 0"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_starts(catalogs, rules, options, sentence):
    with pytest.raises(ArgumentError, match=re.escape(sentence)), trino.serve(catalogs, rules, **options):
        pass


def test_without_the_engine_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    sentence = "Trino is not installed here: workbench engines install trino"
    with pytest.raises(ArgumentError, match=sentence), trino.serve({"lake": {}}, RULES):
        pass


@pytest.fixture
def configured(tmp_path):
    before = os.umask(0)
    try:
        node.configure(tmp_path, tmp_path / "server", {"http": 1, "https": 2}, "workbench_x", WANTED)
    finally:
        os.umask(before)
    return tmp_path


def config(folder):
    return dict(
        line.replace("\\", "").split("=", 1)
        for line in (folder / "etc" / "config.properties").read_text().splitlines()
    )


def test_the_files_are_for_this_user_alone(configured):
    files = [path for path in (configured / "etc").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600} and len(files) == 8
    assert "s3.aws-secret-key=a\\ b\\#c" in (configured / "etc" / "catalog" / "lake.properties").read_text()
    assert json.loads((configured / node.RULES).read_text()) == RULES
    control = (configured / "etc" / "access-control.properties").read_text()
    assert "access-control.name=file\n" in control and "security.refresh-period=1s\n" in control


def test_tokens_are_asked_for_and_hidden_columns_are_left_out(configured):
    values = config(configured)
    expected = {
        "http-server.authentication.type": "JWT", "http-server.authentication.allow-insecure-over-http": "false",
        "http-server.https.enabled": "true", "http-server.https.port": "2", "node.bind-ip": "127.0.0.1",
        "http-server.authentication.jwt.required-audience": "workbench-trino", "hide-inaccessible-columns": "true",
        "web-ui.enabled": "false",
    }  # fmt: skip
    assert {key: values.get(key) for key in expected} == expected
    assert len(values["internal-communication.shared-secret"]) > 40


def test_a_token_is_of_its_user_and_of_the_servers_key(configured):
    server = trino.Server(2, configured)
    key = base64.b64decode((configured / node.KEY).read_text())
    signed, _, signature = server.token("ann", seconds=60).rpartition(".")
    header, claims = (json.loads(signing.decoded(part)) for part in signed.split("."))
    assert signing.fits(key, signed, signature) and len(key) == 32
    assert header == {"alg": "HS256", "typ": "JWT"} and (claims["sub"], claims["aud"]) == (
        "ann",
        "workbench-trino",
    )
    assert claims["exp"] - claims["iat"] == 60
    with pytest.raises(ArgumentError, match="seconds must be an integer of at least 1 and of at most 900"):
        server.token("ann", seconds=901)
    assert str(key) not in repr(server)


def test_rules_are_replaced_at_once_and_stay_for_this_user_alone(configured):
    trino.Server(2, configured).replace({"tables": []})
    assert json.loads((configured / node.RULES).read_text()) == {"tables": []}
    assert stat.S_IMODE((configured / node.RULES).stat().st_mode) == 0o600


def test_a_certificate_is_of_this_machine_and_new_each_time():
    from cryptography import x509

    text, private = certificate.make()
    made = x509.load_pem_x509_certificate(text.encode())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert [str(name) for name in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert "PRIVATE KEY" in private and "PRIVATE KEY" not in text and certificate.make()[0] != text


def test_the_last_words_of_a_server_name_what_is_wrong(tmp_path):
    log = tmp_path / "log"
    log.write_text("x Exception\n1\tERROR\tmain\tServer\tbad\n\n1) Configuration property 'a' was not used\n")
    assert node._why(log) == "1) Configuration property 'a' was not used"
    log.write_text("x Exception\n1\tERROR\tmain\tServer\tbad\n")
    assert node._why(log) == "main\tServer\tbad"
    assert node._why(tmp_path / "none") == ""
