"""The status table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.values import per_hour
from fwctl.report.watch_text import alert_lines

STATE_STYLE = {"READY": "green", "FAILED": "bold red", "DELETED": "dim", "absent": "yellow"}


def write(page: Page, report: Report) -> None:
    deployments = report.body["deployments"]
    if not deployments:
        page.line("no deployments")
    else:
        _table(page, deployments)
    watch = report.body["watch"]
    if watch and watch["alerts"]:
        page.blank()
        page.line(f"at the last look of `fwctl watch`, {watch['looked'][:16]}Z:")
        for alert in watch["alerts"]:
            alert_lines(page, alert, "firing")


def _table(page: Page, deployments: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (
            str(item["name"] or ""),
            str(item["deployment_id"]),
            Span(item["state"], STATE_STYLE.get(item["state"], "")),
            replicas(item["replicas"]),
            "yes" if item["managed"] else "no",
            per_hour(item["usd_per_hour"]),
            item["model_string"] or "",
        )
        for item in deployments
    ]
    page.table(
        ("name", "id", "state", "ready/wanted [min,max]", "managed", "cost", "model string"),
        rows,
        right="cost",
    )
    for item in deployments:
        if item.get("hold_until"):
            page.line(f"{item['name']} is held until {item['hold_until']}")
        if item.get("status_message"):
            page.line(f"{item['deployment_id']}: {item['status_message']}")


def replicas(counts: Mapping[str, Any]) -> str:
    """`1/2 [1,4], 1 downloading`."""
    stages = [f"{counts[key]} {key}" for key in ("pending", "downloading", "initializing") if counts.get(key)]
    text = f"{counts['ready']}/{counts['desired']} [{counts['min']},{counts['max']}]"
    return ", ".join([text, *stages])
