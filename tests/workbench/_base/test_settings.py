"""Environments are typed, looked up in a stated order, and hold no secrets."""

import pytest

from workbench import session
from workbench._base import secrets, settings

REST = {"description": "d", "catalog": {"type": "rest", "uri": "http://127.0.0.1:8181"}}


def parse(**changes):
    return settings.parse(REST | changes, "x.yml")


def test_the_shipped_environments_are_valid():
    assert {
        "archive",
        "aws-glue",
        "aws-s3tables",
        "emr",
        "glue-rest",
        "lake",
        "local",
        "own-catalog",
        "rest",
        "s3",
    } <= set(settings.environments())
    for name in settings.environments():
        assert settings.environment(name).name == name


def test_local_is_always_two_cores():
    env = settings.environment("local")
    assert (env.spark.master, env.spark.shuffle_partitions, env.catalog.folder) == ("local[2]", 2, "scratch")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"jar": ["aws"]},
            "jar is not a setting (did you mean jars?); it has name, description, catalog, spark, jars, stand_in, folder",
        ),
        ({"spark": {"masters": "local"}}, "spark.masters is not a setting (did you mean master?)"),
        (
            {"catalog": {"type": "rest", "uri": "http://x", "ware_house": "s3://b"}},
            "catalog.ware_house is not a setting (did you mean warehouse?); it has type, name, uri, warehouse",
        ),
        ({"catalog": {"type": "rest"}}, "a catalog of type rest needs a uri"),
        (
            {"catalog": {"type": "hadoop"}},
            "catalog.type is one of embedded, rest, glue, hive, jdbc, found 'hadoop'; a Hadoop catalog loses rows",
        ),
        ({"catalog": {"name": "x"}}, "catalog.type is one of embedded, rest, glue, hive, jdbc, found None"),
        (
            {"spark": {"shuffle_partitions": 0}},
            "spark.shuffle_partitions: Input should be greater than or equal to 1",
        ),
        ({"spark": {"driver_memory": "lots"}}, "spark.driver_memory"),
    ],
)
def test_wrong_keys_and_values_are_refused_by_name(change, sentence):
    with pytest.raises(ValueError) as caught:
        parse(**change)
    assert str(caught.value).startswith("x.yml: ")
    assert sentence in str(caught.value)


def test_settings_are_the_texts_that_stand_in_the_file(tmp_path):
    """YAML made 5.1 of 5.10, and Spark was told of another version than the file names."""
    path, written = (
        tmp_path / "texts.yml",
        {"a.version": "5.10", "a.size": "1e3", "a.mode": "0644", "a.at": "1:30"},
    )
    written |= {"a.word": "yes", "a.flag": "TRUE", "a.number": "1_000", "a.quoted": "5.10"}
    block = "".join(f"    {key}: {value}\n" for key, value in written.items() if key != "a.quoted")
    block += "    a.quoted: '5.10'\n"
    path.write_text(
        "description: d\ncatalog:\n  type: rest\n  uri: http://x\n"
        f"  properties:\n{block}spark:\n  shuffle_partitions: 3\n  conf:\n{block}"
        f"kafka:\n  bootstrap: b:9092\n  config:\n{block}"
    )
    env = settings.environment(str(path))
    assert (env.spark.conf, env.catalog.properties, env.kafka.config) == (written, written, written)
    assert env.spark.shuffle_partitions == 3
    told = session.spark_conf(env)
    assert {key: told[key] for key in written} == written
    assert {key: told[f"spark.sql.catalog.lake.{key}"] for key in written} == written


@pytest.mark.parametrize(
    "block",
    [
        {"catalog": {"type": "rest", "uri": "http://x", "properties": {"credential": "me:hush"}}},
        {"catalog": {"type": "rest", "uri": "http://x", "properties": {"s3.secret-access-key": "hush"}}},
        {"catalog": {"type": "jdbc", "uri": "jdbc:postgresql://me:hush@host/db"}},
        {"catalog": {"type": "jdbc", "uri": "jdbc:postgresql://host/db?user=me&password=hush"}},
        {"catalog": {"type": "glue", "warehouse": "s3://me:hush@bucket/w"}},
        {"spark": {"master": "spark://me:hush@host:7077"}},
        {"spark": {"conf": {"spark.hadoop.fs.s3a.secret.key": "hush"}}},
        {"spark": {"conf": {"spark.some.option": "AKIAABCDEFGHIJKLMNOP"}}},
    ],
)
def test_a_secret_in_a_file_is_refused_without_being_repeated(block):
    with pytest.raises(ValueError, match="write a reference instead") as caught:
        parse(**block)
    assert "hush" not in str(caught.value) and "AKIA" not in str(caught.value)


def test_references_are_accepted_and_resolved(tmp_path, monkeypatch):
    env = parse(catalog=REST["catalog"] | {"properties": {"credential": "env:CATALOG_CREDENTIAL"}})
    monkeypatch.setenv("CATALOG_CREDENTIAL", "me:hush-hush")
    assert secrets.resolve(env.catalog.properties["credential"]) == "me:hush-hush"
    file = tmp_path / "own.yml"
    file.write_text(
        "description: d\ncatalog: {type: rest, uri: 'http://x', properties: {credential: env:CATALOG_CREDENTIAL, "
        "client.region: env:REGION}}\n"
        "kafka: {bootstrap: 'b:9092', config: {sasl.password: env:KAFKA_PASSWORD, sasl.mechanism: PLAIN, "
        "token: 'msk:eu-central-1'}}"
    )
    monkeypatch.setenv("KAFKA_PASSWORD", "hush-kafka")
    monkeypatch.setenv("REGION", "eu-central-1")  # no secret, and no report should blank it out
    assert settings.secret_values(str(file)) == ["me:hush-hush", "hush-kafka"]
    assert settings.secret_values("nowhere") == settings.secret_values(None) == []
    monkeypatch.delenv("CATALOG_CREDENTIAL")
    with pytest.raises(ValueError, match="CATALOG_CREDENTIAL, which is not set"):
        secrets.resolve("env:CATALOG_CREDENTIAL")


def test_lookup_order(tmp_path, monkeypatch):
    def write(folder, name, description):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.yml"
        path.write_text(f"description: {description}\ncatalog: {{type: embedded}}\n")
        return path

    inner = tmp_path / "a" / "b"
    by_path = write(tmp_path / "elsewhere", "mine", "by path")
    write(tmp_path / "params" / "environments", "mine", "upwards")
    write(tmp_path / "params" / "environments", "local", "shadows the built-in")
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert settings.environment(str(by_path)).description == "by path"
    assert settings.environment("mine").description == "upwards"
    assert settings.environment("local").description == "shadows the built-in"
    assert settings.environment("lake").description.startswith("embedded lake")  # built in
    write(tmp_path / "home" / "params" / "environments", "mine", "at home")
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    assert settings.environment("mine").description == "at home"
    write(tmp_path / "named" / "environments", "mine", "by variable")
    monkeypatch.setenv("WORKBENCH_PARAMS", str(tmp_path / "named"))
    assert settings.environment("mine").description == "by variable"


def test_an_unknown_environment_names_the_nearest():
    with pytest.raises(ValueError, match=r"no environment 'locl' \(did you mean local\?\); there are"):
        settings.environment("locl")
    with pytest.raises(ValueError, match="no environment file nowhere.yml"):
        settings.environment("nowhere.yml")


def test_no_folder_is_looked_in_twice(monkeypatch):
    monkeypatch.chdir(settings.places()[-1].parents[1])  # a clone: what is shipped is also upwards
    assert len(settings.places()) == len(set(settings.places()))


def test_every_reference_is_told_to_a_scheduler_and_only_secrets_are_blanked_out(monkeypatch):
    for name in ("_SPARK_AUTH_SECRET", "WORKBENCH_REGION", "WORKBENCH_SPARK_MASTER", "WORKBENCH_WAREHOUSE"):
        monkeypatch.setenv(name, f"value of {name}")
    assert settings.references("aws-glue") == ["env:WORKBENCH_REGION", "env:WORKBENCH_WAREHOUSE"]
    assert settings.references("cluster") == ["env:WORKBENCH_SPARK_MASTER", "env:_SPARK_AUTH_SECRET"]
    assert settings.secret_values("aws-glue") == []
    assert settings.secret_values("cluster") == ["value of _SPARK_AUTH_SECRET"]


@pytest.mark.parametrize("name", settings.environments())
def test_processes_of_a_run_have_the_environment_that_it_began_with(name, monkeypatch):
    """Whatever has become of the file since; another file, and one that a text refers to by chance, is read."""
    began_with = settings.environment(name)
    changed = began_with.model_copy(update={"description": "as the run read it"})
    for variable, value in settings.for_children(name, changed).items():
        monkeypatch.setenv(variable, value)
    assert settings.environment(name) == changed != began_with
    other = "lake" if name != "lake" else "local"
    assert settings.environment(other).description != changed.description
    monkeypatch.setenv(settings.RUN_ENVIRONMENT, "of another version")
    assert settings.environment(name) == began_with


def test_what_is_handed_on_holds_no_secret(monkeypatch):
    for name in ("_SPARK_AUTH_SECRET", "WORKBENCH_SPARK_MASTER"):
        monkeypatch.setenv(name, "hush-hush")
    handed_on = settings.for_children("cluster", settings.environment("cluster"))
    assert "env:_SPARK_AUTH_SECRET" in str(handed_on) and "hush-hush" not in str(handed_on)
