"""A list of checks, one a line, for commands whose result is just that."""

from __future__ import annotations

from fwctl.report.layout import Page
from fwctl.report.model import Report
from fwctl.report.plan_text import checks


def write(page: Page, report: Report) -> None:
    checks(page, report.body["checks"], title=False)
