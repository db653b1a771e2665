"""What differs between the specs and the platform, for people."""

from __future__ import annotations

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.values import value

MOVED_BY = {
    "platform": "changed on the platform since the last apply",
    "specs": "the specs changed since the last apply",
    "both": "the platform and the specs both changed",
    "unknown": "who changed it is unknown",
}


def write(page: Page, report: Report) -> None:
    rows = report.body["drift"]
    page.line(f"Drift of account {report.body['account']}, stack {report.body['stack']}")
    page.blank()
    for row in rows:
        if row["path"] is None:
            page.line(Span(f"  {row['address']}", "bold"), " is not on the platform")
            continue
        at = row["source"]
        place = f"  {at['file']}:{at['line']}" if at else ""
        page.line(
            Span(f"  {row['address']}", "bold"),
            f"  {row['path']}: live has {value(row['live'])}, the spec says {value(row['wanted'])}{place}",
        )
        page.line(Span(MOVED_BY[row["moved_by"]], "dim"), indent=6)
    if rows:
        page.blank()
    count = len(rows)
    page.line("No drift: live matches the specs." if not rows else f"{count} difference{'s'[: count > 1]}.")
