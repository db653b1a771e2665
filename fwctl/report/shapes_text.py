"""The table of shapes."""

from __future__ import annotations

from fwctl.report.fit_text import VERDICT_STYLE, conversations
from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.values import per_hour


def write(page: Page, report: Report) -> None:
    rows = [
        (
            item["shape"],
            str(item["preset"] or ""),
            f"{item['accelerator_count']} x {item['accelerator']}",
            str(item["precision"] or ""),
            str(item["max_context_length"] or ""),
            per_hour(item["usd_per_hour"]),
            Span(item["verdict"], VERDICT_STYLE.get(item["verdict"], "")),
            conversations(item["max_concurrency"]),
        )
        for item in report.body["shapes"]
    ]
    header = ("shape", "preset", "hardware", "precision", "context", "cost", "fit", "conversations")
    page.table(header, rows, right="context,cost,conversations")
    if rows:
        tokens = report.body["context_tokens"]
        page.line(
            f"conversations of {tokens:,} tokens in one replica, at the pessimistic end; cost of one replica"
        )
