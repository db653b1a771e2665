"""The experiments of a folder and what they left running, for people."""

from __future__ import annotations

from fwctl.report.layout import Page
from fwctl.report.model import Report
from fwctl.units import format_usd


def write(page: Page, report: Report) -> None:
    found = report.body["experiments"]
    if not found:
        page.line(f"no experiments in this folder, and none of stack {report.body['stack']} on the platform")
        return
    rows = [
        (
            item["name"],
            item["phase"] or "not of this folder",
            format_usd(item["spent_usd"]),
            item["winner"] or "",
            ", ".join(item["candidates"]),
            f"{item['expires']}{' (over)' if item['expired'] else ''}" if item["expires"] else "",
        )
        for item in found
    ]
    page.table(("name", "phase", "spent", "winner", "running", "until"), rows, right="spent")
