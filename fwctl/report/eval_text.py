"""Evaluations for people."""

from __future__ import annotations

from fwctl.report.eval_rows import headline, notes, tables
from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.plan_text import checks

STYLES = {"good": "bold green", "warn": "bold yellow", "bad": "bold red"}


def write(page: Page, report: Report) -> None:
    told, kind = headline(report)
    page.line(Span(told, STYLES[kind]))
    page.blank()
    for item in tables(report):
        page.line(Span(item.caption, "bold"))
        page.table(item.header, item.rows, indent=2, right=",".join(item.right))
        page.blank()
    checks(page, report.body["checks"])
    for note in notes(report):
        page.line(Span(note, "dim"))
