"""Step 5: acceptance in the traffic of today against that of the evaluation, window by window. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from fwctl.measure.lines import moment
from fwctl.measure.speculation import add_drafts
from fwctl.speculation.drift import CONSECUTIVE, FALSE_ALARMS, LEAST_CHANGE, Trend, Window, detect

ALARMS = (Trend.FALL, Trend.RISE)
MOST_WINDOWS = 60  # that are shown


def windows_of(
    rows: Iterable[Mapping[str, Any]], deployment: str, window_s: float, now: datetime
) -> list[tuple[datetime, Window]]:
    """Windows that end now and before, oldest first, from bench records and router traces.

    deployment: ID; rows that name another one are left out, and so are those that cannot be read.
    """
    found: dict[int, Window] = {}
    for row in rows:
        at, server = moment(row.get("started_at") or row.get("created_at")), row.get("server")
        if at is None or at > now or row.get("error_class") or not isinstance(server, Mapping):
            continue
        name = str(server.get("deployment") or row.get("target") or deployment).rsplit("/", 1)[-1]
        if name != deployment:
            continue
        number = int((now - at).total_seconds() // window_s)
        add_drafts(found.setdefault(number, Window()), server)
    newest = sorted(number for number, window in found.items() if window.requests)[:MOST_WINDOWS]
    return [(now - timedelta(seconds=(number + 1) * window_s), found[number]) for number in reversed(newest)]


def followed(base: Window, windows: list[tuple[datetime, Window]]) -> dict[str, Any]:
    """The document of `speculate watch`; `trend` is steady, fall, rise or unknown."""
    drift = detect(base, [window for _, window in windows])
    return {
        "trend": drift.trend.value,
        "change": drift.change,
        "p_value": drift.p_value,
        "base_tokens_per_pass": base.tokens_per_pass,
        "rule": {
            "least_change": LEAST_CHANGE,
            "false_alarms_per_window": FALSE_ALARMS,
            "consecutive_windows": CONSECUTIVE,
        },
        "windows": [
            {
                "begins": begins.isoformat(),
                "requests": window.requests,
                "tokens_per_pass": window.tokens_per_pass,
            }
            for begins, window in windows
        ],
    }


def said(found: Mapping[str, Any]) -> str:
    """The trend in words."""
    if found["trend"] == Trend.UNKNOWN.value:
        return (
            f"too little to tell: it takes {CONSECUTIVE} windows of at least 30 requests with drafts each, "
            f"and there are {len(found['windows'])}"
        )
    change = f"{found['change']:+.0%} tokens a pass in the last window"
    if found["trend"] == Trend.STEADY.value:
        return f"acceptance is steady ({change})"
    if found["trend"] == Trend.RISE.value:
        return f"acceptance rose ({change}); answers that repeat themselves do that, so look at them"
    return f"acceptance fell ({change}): the traffic is no longer what the drafter was trained on"
