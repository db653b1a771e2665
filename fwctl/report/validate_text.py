"""Result of `fwctl validate`: every problem, then one line of counts."""

from __future__ import annotations

from fwctl.report.diagnostics import count_line, write_diagnostic
from fwctl.report.layout import Page, Span
from fwctl.report.model import Report


def write(page: Page, report: Report) -> None:
    for item in report.diagnostics:
        write_diagnostic(page, item)
        page.blank()
    files, names = report.body["files"], report.body["deployments"]
    told = count_line(report.diagnostics) or "no problems"
    verdict = Span("valid", "bold green") if report.ok else Span("invalid", "bold red")
    where = f"in {_many(len(files), 'file')}"
    page.line(
        verdict, f": {_many(len(names), 'deployment')} {where}, {told}" if report.ok else f": {told} {where}"
    )


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
