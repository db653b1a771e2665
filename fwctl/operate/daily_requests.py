"""Requests by the day, as `firectl deployment-metrics list -o json` has them. Pure.

A series is `{"labels": {"deployment": ...}, "values": [{"timestamp": seconds, "value": "text"}]}`, one value
a day from midnight, UTC. What is no such thing is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_LARGEST = 1e11
Series = Iterable[Mapping[str, Any]]


def requests_of(series: Series) -> dict[str, float]:
    """Sum of all days by deployment ID; 0 for one that is listed without any."""
    totals: dict[str, float] = {}
    for id_, points in _points(series):
        totals[id_] = totals.get(id_, 0.0) + sum(number(point.get("value")) or 0.0 for point in points)
    return totals


def last_requests(series: Series) -> dict[str, datetime]:
    """End of the last day with a request, by deployment ID."""
    found: dict[str, datetime] = {}
    for id_, points in _points(series):
        times = [number(point.get("timestamp")) for point in points if number(point.get("value"))]
        known = [datetime.fromtimestamp(time, UTC) + timedelta(days=1) for time in times if time is not None]
        if known:
            found[id_] = max([*known, *([found[id_]] if id_ in found else [])])
    return found


def _points(series: Series) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    for row in series:
        labels, values = row.get("labels"), row.get("values")
        name = labels.get("deployment") if isinstance(labels, Mapping) else None
        if isinstance(name, str) and name:
            points = values if isinstance(values, list | tuple) else []
            yield name.rsplit("/", 1)[-1], [point for point in points if isinstance(point, Mapping)]


def number(value: object) -> float | None:
    """A number from 0, written as one or as text; None for anything else."""
    try:
        found = float(str(value))
    except ValueError:
        return None
    return found if 0 <= found < _LARGEST else None
