"""A Grafana dashboard and Prometheus' alert rules, made of the metrics' definitions and checked against them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.metrics import prometheus
from workbench.metrics.causes import CAUSES
from workbench.metrics.prometheus import METRICS, Metric

VERSION = 1
_UNITS = {"seconds": "s", "bytes": "bytes", "": "short"}
_WORD = re.compile(r"\b(workbench_[a-zA-Z0-9_:]*)")
_SELECTED = '{workload=~"$workload"}'
_WIDTH, _HEIGHT = 12, 8


def dashboard() -> dict[str, Any]:
    """Return a Grafana dashboard of all metrics as JSON has it: a panel each, by workload, and incidents first.

    To be imported; it asks for the Prometheus to read. Grafana's schema version 39, of Grafana 10.4 and later.
    """
    ordered = sorted(METRICS, key=lambda metric: metric.name != f"{prometheus.PREFIX}incidents")
    panels = [_panel(number, metric) for number, metric in enumerate(ordered)]
    return {
        "uid": "workbench-runs",
        "title": "Iceberg Workbench: runs",
        "tags": ["iceberg", "spark", f"workbench-dashboard-{VERSION}"],
        "schemaVersion": 39,
        "version": VERSION,
        "editable": True,
        "time": {"from": "now-7d", "to": "now"},
        "templating": {
            "list": [
                {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
                {
                    "name": "workload", "type": "query", "label": "Workload", "multi": True, "includeAll": True,
                    "datasource": {"type": "prometheus", "uid": "${source}"}, "refresh": 2,
                    "query": f"label_values({prometheus.PREFIX}ended, workload)",
                },
            ]
        },
        "panels": panels,
    }  # fmt: skip


def _panel(number: int, metric: Metric) -> dict[str, Any]:
    end = "_total" if metric.kind == "counter" else ""
    labels = ", ".join(["workload", *metric.labels])
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": metric.words.rstrip("."),
        "description": metric.name,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"x": number % 2 * _WIDTH, "y": number // 2 * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": _UNITS[metric.unit]}, "overrides": []},
        "targets": [
            {
                "refId": "A",
                "expr": f"sum by ({labels}) ({metric.name}{end}{_SELECTED})",
                "legendFormat": " ".join(f"{{{{{label}}}}}" for label in ["workload", *metric.labels]),
            }
        ],
    }


def rules() -> dict[str, Any]:
    """Return Prometheus' alert rules as YAML has them: a rule a cause, and for logs without an end.

    A run that brings no metrics at all is not among them: who knows which run is due is its scheduler.
    """
    alerts = [
        {
            "alert": "Workbench" + "".join(word.title() for word in cause.name.split("_")),
            "expr": f'sum by (workload) ({prometheus.PREFIX}incidents{{cause="{cause.name}"}}) > 0',
            "labels": {"severity": {"failed": "critical", "slow": "warning", "hint": "info"}[cause.severity]},
            "annotations": {"summary": f"{{{{ $labels.workload }}}}: {cause.words}"},
        }
        for cause in CAUSES.values()
    ]
    alerts += [
        {
            "alert": "WorkbenchLogWithoutEnd",
            "expr": f"{prometheus.PREFIX}ended == 0",
            "for": "1h",
            "labels": {"severity": "critical"},
            "annotations": {
                "summary": "{{ $labels.workload }}: its last run was killed, or takes more than an hour"
            },
        },
        {
            "alert": "WorkbenchLogNotWhole",
            "expr": f"{prometheus.PREFIX}ended == 1 and {prometheus.PREFIX}log_whole == 0",
            "labels": {"severity": "info"},
            "annotations": {"summary": "{{ $labels.workload }}: events were lost, its figures are too small"},
        },
    ]
    return {"groups": [{"name": f"workbench-{VERSION}", "rules": alerts}]}


@checked
def check(content: Mapping[str, Any]) -> int:
    """Check that each metric which a dashboard or alert rules name is one of ours, with labels that it has.

    Args:
        content: of a file of JSON or YAML, also one that was changed by hand.

    Returns:
        How many expressions it has.

    Raises:
        ValueError: it names another metric, a label that the metric does not have, has no expression, or is of
            another version; the message says which.
    """
    versions = {tag for tag in _texts(content) if re.fullmatch(r"workbench-(dashboard-)?\d+", tag)}
    if other := versions - {f"workbench-{VERSION}", f"workbench-dashboard-{VERSION}"}:
        raise ArgumentError(f"it is of version {sorted(other)[0]}; this workbench makes version {VERSION}")
    expressions = [*_expressions(content)]
    if not expressions:
        raise ArgumentError("it has no expression, `expr`: expected a dashboard of Grafana or rules of Prometheus")
    known = {m.name + ("_total" if m.kind == "counter" else ""): m for m in METRICS}
    for expression in expressions:
        for name in _WORD.findall(expression):
            if name not in known:
                raise ArgumentError(f"there is no metric {name}, which {expression!r} asks for")
        for name, selectors in re.findall(r"\b(workbench_[a-zA-Z0-9_:]*)\{([^}]*)\}", expression):
            for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selectors):
                if label not in (*known[name].labels, "workload", "job", "instance"):
                    has = ", ".join(("workload", *known[name].labels))
                    raise ArgumentError(f"{name} has no label {label}; it has {has}")
    return len(expressions)


def _expressions(content: Any) -> Iterator[str]:
    if isinstance(content, Mapping):
        for key, value in content.items():
            if key == "expr" and isinstance(value, str):
                yield value
            else:
                yield from _expressions(value)
    elif isinstance(content, list):
        for value in content:
            yield from _expressions(value)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _texts(value)
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value)
