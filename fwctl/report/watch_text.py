"""Alerts of a watch, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span, Style
from fwctl.report.model import Report

STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(f"Watch of account {body['account']}: {body['deployments']} deployments, {body['time'][:16]}Z")
    for alert in body["alerts"]:
        page.blank()
        alert_lines(page, alert, alert["phase"])
    if not body["alerts"]:
        page.line("Nothing to tell.")
    page.blank()
    metrics = body["metrics"]
    if metrics["error"]:
        page.line(f"metrics: {metrics['error']}")
    if body["unknown"]:
        page.line(Span(f"not judged, because data is missing: {', '.join(body['unknown'])}", "dim"))


def alert_lines(page: Page, alert: Mapping[str, Any], word: str) -> None:
    """One alert: what, since when, the evidence, what to do."""
    page.line(
        Span(f"{word} {alert['severity']}", STYLES.get(alert["severity"], "")),
        f"  {alert['rule']}  {alert['label']}: {alert['evidence']} (since {alert['since'][:16]}Z)",
    )
    if word != "resolved":
        page.line(Span(f"do: {alert['fix']}", "dim"), indent=4)
        if alert["proposal"]:
            page.line(f"{alert['proposal']}{money(alert)}", indent=4)


def money(alert: Mapping[str, Any]) -> str:
    """`  (+$16.00/h at most)`; empty when the price is not known."""
    change = alert["usd_per_hour_change"]
    return "" if change is None else f"  ({'-' if change < 0 else '+'}${abs(change):,.2f}/h at most)"


def event_text(event: Mapping[str, Any], style: Style) -> str:
    """The lines of one event, as a running watch writes them."""
    page = Page(style)
    page.line(Span(f"{event['at'][:19].replace('T', ' ')} UTC", "dim"))
    alert_lines(page, event, "firing" if event["event"] == "fired" else "resolved")
    return page.text().rstrip("\n")
