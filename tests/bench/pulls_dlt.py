"""dlt as a child process, in an environment of its own: it loads a report into Iceberg when it is told to.

Its resource does what dlt's verified source of Google Analytics does: pages of a report, each row a dict with the day
as a moment, counts as int and money as float. dlt's own defaults are left as they are.
"""

import json
import os
import sys
from pathlib import Path

DISPOSITIONS = {
    "append": "append",
    "append of Arrow": "append",
    "upsert": {"disposition": "merge", "strategy": "upsert"},
}


def main():
    """Read the settings, then an order a line; answer each with a line."""
    os.environ |= {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}
    settings = json.loads(sys.stdin.readline())
    folder = Path(settings["folder"])
    os.environ["DLT_DATA_DIR"] = str(folder / "home")
    say, sys.stdout = sys.stdout, sys.stderr
    client = client_of(settings)
    print(json.dumps({"value": sys.version_info[:2]}), file=say, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = {"value": load(client, settings, folder, **order)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=say, flush=True)


def client_of(settings):
    import grpc
    from google.analytics.data_v1beta import BetaAnalyticsDataClient
    from google.analytics.data_v1beta.services.beta_analytics_data.transports import BetaAnalyticsDataGrpcTransport
    from google.auth.transport import grpc as auth_grpc
    from google.auth.transport.requests import Request
    from google.oauth2 import service_account

    known = service_account.Credentials.from_service_account_info(settings["key"], scopes=[settings["scope"]])
    called = grpc.metadata_call_credentials(auth_grpc.AuthMetadataPlugin(known, Request()))
    channel = grpc.secure_channel(
        settings["target"],
        grpc.composite_channel_credentials(grpc.local_channel_credentials(), called),
        options=[("grpc.max_receive_message_length", -1)],
    )
    return BetaAnalyticsDataClient(transport=BetaAnalyticsDataGrpcTransport(channel=channel))


def load(client, settings, folder, *, way, number, name):
    """Load a report into a table of its own; return the folder of the table."""
    import dlt

    rows = pages(client, settings, number)
    resource = dlt.resource(
        arrow(rows) if way == "append of Arrow" else rows,
        name=name, write_disposition=DISPOSITIONS[way], table_format="iceberg",
        primary_key=settings["dimensions"] if way == "upsert" else None,
    )  # fmt: skip
    pipeline = dlt.pipeline(
        pipeline_name=name, pipelines_dir=str(folder / "pipelines"), dataset_name="bench",
        destination=dlt.destinations.filesystem(bucket_url=(folder / "tables").as_uri()),
    )  # fmt: skip
    pipeline.run(resource).raise_on_failed_jobs()
    return str(folder / "tables" / "bench" / name)


def pages(client, settings, number):
    """Yield the rows of a report as dlt's verified source does."""
    from dlt.common.pendulum import pendulum
    from google.analytics.data_v1beta import types

    offset, rows = 0, 1
    while offset < rows:
        answered = client.run_report(
            types.RunReportRequest(
                property=f"properties/{number}",
                dimensions=[types.Dimension(name=name) for name in settings["dimensions"]],
                metrics=[types.Metric(name=name) for name in settings["metrics"]],
                date_ranges=[types.DateRange(start_date=settings["first"], end_date=settings["until"])],
                limit=settings["page_rows"],
                offset=offset,
            )
        )
        names = [header.name for header in answered.dimension_headers]
        kinds = [(header.name, header.type_.value) for header in answered.metric_headers]
        for row in answered.rows:
            item = {}
            for name, cell in zip(names, row.dimension_values, strict=True):
                moment = name == "date"
                item[name] = pendulum.from_format(cell.value, "YYYYMMDD", tz="UTC") if moment else cell.value
            for (name, kind), cell in zip(kinds, row.metric_values, strict=True):
                item[name] = int(cell.value) if kind == 1 else float(cell.value)
            yield item
        rows = answered.row_count
        offset += settings["page_rows"]


def arrow(rows):
    """Yield the rows as one Arrow table, which dlt takes without looking at each."""
    import pyarrow as pa

    yield pa.Table.from_pylist(list(rows))
