"""The lock of shape versions, for people."""

from __future__ import annotations

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report


def write(page: Page, report: Report) -> None:
    body = report.body
    for problem in body["problems"]:
        page.line(
            Span(problem["deployment"], "bold"),
            f": {problem['message']} ",
            Span(f"({problem['code']})", "dim"),
        )
    if body["problems"]:
        return
    page.table(("shape", "version"), [(key, version) for key, version in body["shapes"].items()])
    state = "written" if body["written"] else "unchanged"
    page.line(f"{body['file']}: {state}, {len(body['shapes'])} shapes")
