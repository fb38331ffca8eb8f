"""GA4's runReport and metadata, over the visits that are known at the time of the clock."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from workbench_standins.google.store import Property, Refused

DIMENSIONS = (
    "date", "region", "country", "city", "deviceCategory", "deviceModel", "browser", "operatingSystem", "language",
    "sessionSource", "sessionMedium",
)  # fmt: skip
METRICS = {
    "activeUsers": "TYPE_INTEGER", "newUsers": "TYPE_INTEGER", "eventCount": "TYPE_INTEGER",
    "totalRevenue": "TYPE_CURRENCY",
}  # fmt: skip
MOST_DIMENSIONS, MOST_METRICS, MOST_ROWS, ROWS = 9, 10, 250_000, 10_000
TOTALS = ("TOTAL", 1)


def metadata(owner: Property, number: str) -> dict[str, Any]:
    """Return the dimensions and metrics that there are."""
    return {
        "name": f"properties/{number}/metadata",
        "dimensions": [{"apiName": name, "uiName": name, "category": "Other"} for name in DIMENSIONS],
        "metrics": [
            {"apiName": name, "uiName": name, "type": owner.types.get(name, kind)}
            for name, kind in METRICS.items()
        ],
    }


def report(owner: Property, request: Mapping[str, Any], now: float) -> dict[str, Any]:
    """Return the answer to a request, without its quota.

    Raises:
        Refused: the request is invalid.
    """
    dimensions = [field["name"] for field in request.get("dimensions", ())]
    metrics = [field["name"] for field in request.get("metrics", ())]
    _refuse(dimensions, metrics)
    limit, offset = int(request.get("limit", ROWS)), int(request.get("offset", 0))
    if not 1 <= limit <= MOST_ROWS:
        raise Refused(400, "INVALID_ARGUMENT", f"The limit must be between 1 and {MOST_ROWS}, found {limit}.")
    visits = _visits(owner, request, now)
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for visit in visits:
        groups[tuple(_value(visit, name) for name in dimensions)].append(visit)
    withheld = [key for key, rows in groups.items() if len({row["user"] for row in rows}) < owner.threshold]
    for key in withheld:
        del groups[key]
    lost = _folded(groups, dimensions, owner.most_rows)
    answer: dict[str, Any] = {
        "dimensionHeaders": [{"name": name} for name in dimensions],
        "metricHeaders": [{"name": name, "type": owner.types.get(name, METRICS[name])} for name in metrics],
        "rows": [_row(key, groups[key], metrics) for key in sorted(groups)[offset : offset + limit]],
        "rowCount": len(groups),
        "metadata": {"currencyCode": "EUR", "timeZone": "Europe/Berlin"},
        "kind": "analyticsData#runReport",
    }
    if lost:
        answer["metadata"]["dataLossFromOtherRow"] = True
    if withheld:
        answer["metadata"]["subjectToThresholding"] = True
    if owner.sampling:
        read, space = map(str, owner.sampling)
        answer["metadata"]["samplingMetadatas"] = [{"samplesReadCount": read, "samplingSpaceSize": space}]
    if any(kind in TOTALS for kind in request.get("metricAggregations", ())):
        seen = [visit for rows in groups.values() for visit in rows]
        answer["totals"] = [_row(("RESERVED_TOTAL",) * len(dimensions), seen, metrics)]
    return answer


def _refuse(dimensions: Sequence[str], metrics: Sequence[str]) -> None:
    for names, known, what in ((dimensions, DIMENSIONS, "dimension"), (metrics, METRICS, "metric")):
        for name in names:
            if name not in known:
                raise Refused(
                    400, "INVALID_ARGUMENT",
                    f"Field {name} is not a valid {what}. For a list of valid dimensions and metrics, see the API "
                    "schema.",
                )  # fmt: skip
    if len(dimensions) > MOST_DIMENSIONS or len(metrics) > MOST_METRICS:
        raise Refused(
            400, "INVALID_ARGUMENT",
            f"Requests are limited to {MOST_DIMENSIONS} dimensions and {MOST_METRICS} metrics. This request is "
            f"for {len(dimensions)} dimensions and {len(metrics)} metrics.",
        )  # fmt: skip


def _visits(owner: Property, request: Mapping[str, Any], now: float) -> list[dict[str, Any]]:
    ranges = request.get("dateRanges") or [{"startDate": "28daysAgo", "endDate": "yesterday"}]
    if len(ranges) > 1:
        raise Refused(400, "INVALID_ARGUMENT", "The stand-in takes one date range.")
    first, last = (_day(ranges[0][name], now) for name in ("startDate", "endDate"))
    return [
        visit for visit in owner.visits
        if first <= visit["day"] <= last
        and visit["known"] <= now
        and (visit.get("gone") is None or now < visit["gone"])
    ]  # fmt: skip


def _day(text: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    if text in ("today", "yesterday"):
        return (today - timedelta(text == "yesterday")).isoformat()
    if text.endswith("daysAgo"):
        return (today - timedelta(int(text.removesuffix("daysAgo")))).isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise Refused(400, "INVALID_ARGUMENT", f"Invalid date: {text}.") from None


def _value(visit: Mapping[str, Any], name: str) -> str:
    if name == "date":
        return str(visit["day"]).replace("-", "")
    return str(visit["dims"].get(name, "(not set)"))


def _folded(groups: dict[tuple[str, ...], list[dict[str, Any]]], dimensions: Sequence[str], most: int) -> bool:
    """Put the smallest rows together as (other), by day; say whether there were any."""
    if len(groups) <= most:
        return False
    for key in sorted(groups, key=lambda key: (-len(groups[key]), key))[most - 1 :]:
        other = tuple(value if name == "date" else "(other)" for name, value in zip(dimensions, key, strict=True))
        groups.setdefault(other, []).extend(groups.pop(key))
    return True


def _row(key: Sequence[str], visits: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> dict[str, Any]:
    return {
        "dimensionValues": [{"value": value} for value in key],
        "metricValues": [{"value": _metric(name, visits)} for name in metrics],
    }


def _metric(name: str, visits: Sequence[Mapping[str, Any]]) -> str:
    if name == "activeUsers":
        return str(len({visit["user"] for visit in visits}))
    if name == "newUsers":
        return str(sum(visit["new"] for visit in visits))
    if name == "eventCount":
        return str(len(visits))
    cents = sum(visit["cents"] for visit in visits)
    return f"{cents // 100}.{cents % 100:02d}".rstrip("0").rstrip(".")
