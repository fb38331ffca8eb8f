"""Watch runs, find incidents and try their cures, compare garbage collectors.

with metrics.watch(spark, "watched"):                  # one line in a script of one's own
    job(spark)
run, kept = events.read("watched"), reports.read("watched")
for incident in incidents.find(run, kept):
    print(incident.evidence, incidents.cures(incident))

watching    Spark's event log and Iceberg's reports of a session, into a folder
kernel      the same for every session of a notebook's kernel, by an extension of IPython
events      the event log: stages, tasks, SQL executions, streams (of logs, folding, plans; runs: what it says)
reports     Iceberg's commits with their tries, scans, retries
documents   a run and its reports as JSON, and back
incidents   what went wrong, by figures and by errors (of causes, detectors, errors)
cures       what may help (trials: whether it did)
explaining  a language model ranks and words what was found, and adds nothing
prometheus  OpenMetrics text (dashboards: Grafana and alert rules of the same definitions; serving: on loopback)
collectors/ pauses and stalls of garbage collectors, and latency as clients have it
"""

from workbench.metrics.causes import Incident, Thresholds
from workbench.metrics.collectors.results import Collection
from workbench.metrics.cures import Cure
from workbench.metrics.reports import Reports
from workbench.metrics.runs import Run
from workbench.metrics.trials import Trial
from workbench.metrics.watching import Watch, settings, watch

__all__ = ["Collection", "Cure", "Incident", "Reports", "Run", "Thresholds", "Trial", "Watch", "settings", "watch"]
