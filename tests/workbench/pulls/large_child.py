"""A process of its own that asks for a small report and then for a large one, and says what memory each took.

large_child.py LAST_DAY     on standard input: endpoint, key, page_rows and keep, as JSON; keep holds each page's rows
"""

import json
import resource
import sys
from datetime import date

from google.analytics.data_v1beta import BetaAnalyticsDataClient
from google.oauth2 import service_account

from workbench.pulls import analytics

FIRST = date(2026, 1, 1)
DIMENSIONS = {"event_date": "date", "country": "country"}
METRICS = {"users": "activeUsers", "revenue": "totalRevenue"}


def peak_bytes():
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def keeping(page):
    """Return a function that asks for a page and keeps its rows."""
    kept = []

    def asked(*given):
        answer = page(*given)
        kept.extend((row, [*row.dimension_values], [*row.metric_values]) for row in answer.rows)
        return answer

    return asked


def main(last):
    told = json.loads(sys.stdin.read())
    credentials = service_account.Credentials.from_service_account_info(told["key"], scopes=[analytics.SCOPE])
    client = BetaAnalyticsDataClient(
        credentials=credentials, transport="rest", client_options={"api_endpoint": told["endpoint"]}
    )
    if told["keep"]:  # the planted fault: rows as the client's objects, which nobody lets go
        analytics._page = keeping(analytics._page)
    peaks, rows = {}, {}
    for name, number in (("small", "small"), ("large", "1")):
        ask = analytics.report(client, number, dimensions=DIMENSIONS, metrics=METRICS, page_rows=told["page_rows"])
        rows[name] = ask(FIRST, last).rows.num_rows
        peaks[name] = peak_bytes()
    print(json.dumps({"rows": rows, "peaks": peaks}))


if __name__ == "__main__":
    main(date.fromisoformat(sys.argv[1]))
