"""An environment names a broker: one on this machine, which children share, or a cluster of one's own."""

import subprocess
import sys
from pathlib import Path

import kafka_broker
import pytest
import yaml

from workbench import session
from workbench._base import settings
from workbench.session import services
from workbench_standins.kafka import node

OWN = {
    "bootstrap": "broker-1:9092,broker-2:9092",
    "config": {"security.protocol": "SASL_SSL", "sasl.password": "env:TEST_KAFKA_PASSWORD"},
}


@pytest.fixture(scope="module")
def broker(request):
    return kafka_broker.serving(request.config)


@pytest.fixture
def environment(tmp_path, monkeypatch):
    def make(**kafka):
        folder = tmp_path / "params" / "environments"
        folder.mkdir(parents=True, exist_ok=True)
        text = {"description": "d", "catalog": {"type": "embedded", "folder": "scratch"}} | kafka
        (folder / "own.yml").write_text(yaml.safe_dump(text), encoding="utf-8")
        monkeypatch.setenv("WORKBENCH_PARAMS", str(tmp_path / "params"))
        return "own"

    return make


def test_a_cluster_of_ones_own_is_reached_by_references(environment, monkeypatch):
    monkeypatch.setenv("TEST_KAFKA_PASSWORD", "the-word")
    broker = session.broker(environment(kafka=OWN))
    assert (broker.bootstrap, broker.config) == (OWN["bootstrap"], OWN["config"])
    assert broker.client() == {
        "bootstrap.servers": OWN["bootstrap"],
        "security.protocol": "SASL_SSL",
        "sasl.password": "the-word",
    }
    assert "the-word" not in repr(broker)


def test_a_secret_in_the_file_is_refused(environment):
    with pytest.raises(
        ValueError, match=r"kafka\.config\.sasl\.password holds a value under the name sasl\.password.*env:NAME"
    ):
        settings.environment(environment(kafka=OWN | {"config": {"sasl.password": "the-word"}}))


def test_an_environment_without_kafka_says_what_to_write(environment):
    with pytest.raises(ValueError, match=r"'own' names no Kafka: write kafka: stand_in .* kafka: \{bootstrap"):
        session.broker(environment())


@pytest.mark.parametrize(
    "kafka", ["standin", {"config": {}}, {"bootstrap": ""}, {"bootstrap": "a:1", "topic": "b"}]
)
def test_what_is_no_kafka_is_refused(environment, kafka):
    with pytest.raises(ValueError, match="kafka"):
        settings.environment(environment(kafka=kafka))


def test_a_process_has_one_broker_which_is_that_of_its_parent(broker, monkeypatch):
    monkeypatch.setattr(services, "_kept", {})
    monkeypatch.setenv(services.KAFKA, broker.bootstrap)
    one = session.broker("local")
    assert session.broker("rest") is one and one.topics() == broker.topics()


@pytest.mark.proof(
    "12_ingest_kafka starts one, test_a_process_has_one_broker_which_is_that_of_its_parent shows what a child has"
)
def test_one_broker_serves_a_process_and_its_children():
    """A process of its own, so that the broker of this test ends with it."""
    node.fetch()
    child = "from workbench import session; print(session.broker('s3').topics())"
    parent = (
        "import subprocess, sys; from workbench import session\n"
        "one = session.broker('local'); one.create_topic('t', partitions=3)\n"
        "assert session.broker('rest') is one\n"
        f"print(subprocess.run([sys.executable, '-c', {child!r}], capture_output=True, text=True).stdout.strip())\n"
        "print(one.bootstrap)\n"
    )
    said = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, timeout=600)
    assert said.stderr == ""
    seen, bootstrap = said.stdout.split("\n")[:2]
    assert seen == "{'t': 3}"
    from workbench_standins.kafka import Broker

    with pytest.raises(Exception, match="_TRANSPORT|timed out"):  # it ended with the process that started it
        Broker(bootstrap, None)._admin().list_topics(timeout=2)


FAILS = """
import sys
import nbformat
from workbench import session
session.start = lambda environment: None  # this is about topics
space = {}
for cell in [one for one in nbformat.read(sys.argv[1], 4).cells if one.cell_type == "code"][:3]:
    exec(cell.source, space)
    space["ENVIRONMENT"] = "own"
print(*space["broker"].topics())
raise RuntimeError("a cell fails")
"""


def test_a_notebook_that_fails_leaves_no_topics_on_a_cluster(environment, broker):
    """The broker outlives it here, as a cluster does; a stand-in would be every later test's of this process too."""
    before = broker.topics()
    path = Path(__file__).resolve().parents[3] / "notebooks" / "12_ingest_kafka.ipynb"
    environment(kafka={"bootstrap": broker.bootstrap})
    said = subprocess.run([sys.executable, "-c", FAILS, path], capture_output=True, text=True, timeout=600)
    assert said.stderr.endswith("RuntimeError: a cell fails\n")
    assert said.stdout.split() == sorted([*before, "changes", "sales"])
    assert broker.topics() == before
