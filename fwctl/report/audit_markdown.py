"""What an audit found, as Markdown."""

from __future__ import annotations

from fwctl.report.audit_text import per_day, total
from fwctl.report.markdown_text import code, escape, prose, table
from fwctl.report.model import Report


def full(report: Report) -> list[str]:
    rows = [
        (
            escape(item["kind"]),
            code(item["deployment_id"]),
            prose(item["message"]),
            escape(per_day(item["usd_per_day"])),
            prose(item["fix"]),
        )
        for item in report.body["findings"]
    ]
    header = ("finding", "deployment", "what", "costs", "fix")
    notes = [f"Unknown: {prose(note)}" for note in report.body["unknown"]]
    return [*numbers(report), *(table(header, rows, right=("costs",)) if rows else ()), "", *notes]


def numbers(report: Report) -> list[str]:
    return [f"## fwctl audit: {len(report.body['findings'])} found", "", escape(total(report.body)), ""]
