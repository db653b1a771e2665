"""What an audit found, for people."""

from __future__ import annotations

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

STYLES = {"error": "red", "warning": "yellow", "note": "dim"}


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(f"Audit of account {body['account']}: {body['deployments']} deployments")
    page.blank()
    for item in body["findings"]:
        cost = per_day(item["usd_per_day"])
        page.line(Span(f"  {item['kind']}", STYLES[item["severity"]]), f"  {item['message']} ({cost})")
        page.line(Span(f"fix: {item['fix']}", "dim"), indent=6)
    if body["findings"]:
        page.blank()
    page.line(total(body))
    for note in body["unknown"]:
        page.line(f"unknown: {note}")


def per_day(amount: float | None) -> str:
    """`$192.00 a day`."""
    return "cost unknown" if amount is None else f"${amount:,.2f} a day"


def total(body: object) -> str:
    """The sentence that sums up."""
    assert isinstance(body, dict)
    count = len(body["findings"])
    if not count:
        return "Nothing found."
    named = f"{count} finding{'s'[: count > 1]}"
    unpriced = f", {len(body['unpriced'])} without a known price" if body["unpriced"] else ""
    return f"{named}; these deployments cost {per_day(body['usd_per_day'])} now{unpriced}."
