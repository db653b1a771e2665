"""Targets of routes, and whether they answered, for people."""

from __future__ import annotations

from typing import Any

from fwctl.report.diagnostics import count_line
from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report


def write(page: Page, report: Report) -> None:
    body = report.body
    rows = [_row(page, item) for item in body["targets"]]
    if rows:
        page.table(("route", "target", "answer", "first token", "model"), rows, right="first token")
        for item in body["targets"]:
            if item["advice"]:
                page.line(Span("fix: ", "green"), f"{item['target']}: {item['advice']}")
        page.blank()
    counted = count_line(report.diagnostics)
    names = ", ".join(body["routes"])
    page.line(f"{body['config']}: {counted or 'no problems'}" + (f"; routes: {names}" if names else ""))


def _row(page: Page, item: dict[str, Any]) -> tuple[Part, ...]:
    if item["ok"]:
        answer = Span(f"{page.style.glyph('✓')} answers", "green")
        return item["route"], item["target"], answer, f"{item['first_token_s'] * 1e3:.0f} ms", item["model"]
    status = f" (HTTP {item['status']})" if item["status"] else ""
    answer = Span(f"{page.style.glyph('✗')} {item['error']}{status}", "red")
    return item["route"], item["target"], answer, "", item["model"]
