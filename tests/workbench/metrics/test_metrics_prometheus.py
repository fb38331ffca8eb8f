"""The text is what Prometheus' own parser reads, and dashboard and rules name nothing else."""

import copy
import json
import urllib.error
import urllib.request

import metrics_cases
import pytest
import yaml
from prometheus_client.openmetrics import parser

from workbench.metrics import dashboards, incidents, prometheus, serving


def text(name="stormed", **more):
    run, kept = metrics_cases.run(name), metrics_cases.kept(name)
    return prometheus.text(run, kept, incidents.find(run, kept), job="nightly", **more)


def samples(content):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(content)
        for sample in family.samples
    }


def test_prometheus_own_parser_reads_the_figures():
    values = samples(text())
    table, load = ("table", "lake.m.stormed0"), ("workload", "nightly")
    assert values["workbench_run_commits_total", table, load] == 20
    assert values["workbench_run_commit_retries_total", table, load] == 48
    assert values["workbench_run_tasks_total", ("outcome", "succeeded"), load] == len(
        metrics_cases.run("stormed").tasks
    )
    assert values["workbench_run_ended", load] == 0
    assert values["workbench_run_incidents", ("cause", "retry_storm"), ("severity", "slow"), load] == 1
    assert values["workbench_run_incidents", ("cause", "skew"), ("severity", "slow"), load] == 0
    assert values["workbench_run_cpu_seconds_total", load] == pytest.approx(
        metrics_cases.run("stormed").total("cpu_seconds")
    )


def test_names_units_and_types_are_by_the_specification():
    families = [*parser.text_string_to_metric_families(text())]
    assert len(families) == len(prometheus.METRICS)
    for family, metric in zip(families, prometheus.METRICS, strict=True):
        assert (family.name, family.type, family.unit) == (metric.name, metric.kind, metric.unit)
        assert not metric.unit or family.name.endswith(f"_{metric.unit}")
        assert family.documentation.endswith(".")
    assert {name for name, *_ in samples(text("written"))} <= prometheus.names()


def test_values_of_labels_are_escaped_and_have_no_secret():
    odd = 'a "b"\\c\nd'
    values = samples(text(labels={"owner": odd, "where": "http://u:pass-word@h", "api_token": "abc"}))
    labels = dict(next(iter(values))[1:])
    assert labels == {"owner": odd, "where": "[secret]", "api_token": "[secret]", "workload": "nightly"}


@pytest.mark.parametrize("name", ["1a", "a-b", "a b", "__name", "a:b", ""])
def test_labels_that_are_none_are_refused(name):
    with pytest.raises(ValueError, match="is not a name of a label"):
        text(labels={name: "x"})


@pytest.mark.parametrize("name", ["table", "cause", "job", "instance"])
def test_labels_of_others_are_refused(name):
    with pytest.raises(ValueError, match=f"the label {name} is set by the metrics or by Prometheus"):
        text(labels={name: "x"})


def test_dashboard_and_rules_name_what_is_there():
    dashboard, rules = dashboards.dashboard(), dashboards.rules()
    assert dashboards.check(json.loads(json.dumps(dashboard))) == len(prometheus.METRICS)
    assert (
        dashboards.check(yaml.safe_load(yaml.safe_dump(rules)))
        == len(rules["groups"][0]["rules"])
        == len(incidents.CAUSES) + 2
    )
    assert [panel["id"] for panel in dashboard["panels"]] == [*range(1, len(prometheus.METRICS) + 1)]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places) and dashboard["panels"][0]["description"] == "workbench_run_incidents"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "workbench_run_commits_total",
            "workbench_run_commits",
            "there is no metric workbench_run_commits, which",
        ),
        ("workbench_run_incidents", "workbench_run_faults", "there is no metric workbench_run_faults"),
        ("{workload=~", "{notebook=~", "has no label notebook; it has workload"),
        (
            "workbench-dashboard-1",
            "workbench-dashboard-7",
            "it is of version workbench-dashboard-7; this workbench makes version 1",
        ),
        ('"expr"', '"query"', "it has no expression"),
    ],
)
def test_a_dashboard_that_is_wrong_is_refused(old, new, sentence):
    wrong = json.dumps(dashboards.dashboard()).replace(old, new)
    assert wrong != json.dumps(dashboards.dashboard())
    with pytest.raises(ValueError, match=sentence):
        dashboards.check(json.loads(wrong))


def test_a_rule_for_a_cause_that_is_not_there_never_fires():
    """Each rule's cause is one that the text has a series of."""
    causes = {dict(key[1:])["cause"] for key in samples(text()) if key[0] == "workbench_run_incidents"}
    named = {
        rule["expr"].split('cause="')[1].split('"')[0]
        for rule in dashboards.rules()["groups"][0]["rules"]
        if 'cause="' in rule["expr"]
    }
    assert named == causes == set(incidents.CAUSES)
    wrong = copy.deepcopy(dashboards.rules())
    wrong["groups"][0]["rules"][0]["expr"] = 'workbench_run_incidents{reason="skew"} > 0'
    with pytest.raises(
        ValueError, match="workbench_run_incidents has no label reason; it has workload, cause, severity"
    ):
        dashboards.check(wrong)


def test_it_is_served_on_loopback():
    with serving.serve(text) as address:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address) as answer:
            assert answer.headers["Content-Type"] == prometheus.CONTENT_TYPE
            assert samples(answer.read().decode()) == samples(text())
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address.replace("/metrics", "/other"))
        port = int(address.rpartition(":")[2].partition("/")[0])
        with (
            pytest.raises(ValueError, match=f"port {port} of 127.0.0.1 cannot be taken"),
            serving.serve(text, port=port),
        ):
            pass
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)


def test_what_cannot_be_read_is_no_old_figure():
    def broken():
        raise ValueError("secret AKIAABCDEFGHIJKLMNOP")

    with serving.serve(broken) as address, pytest.raises(urllib.error.HTTPError, match="503") as error:
        urllib.request.urlopen(address)
    assert error.value.read() == b"ValueError\n"
