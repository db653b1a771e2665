"""What a drill showed, for people."""

from __future__ import annotations

from typing import Any

from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report

_HEADER = ("route", "scenario", "requests", "attempts", "errors", "cut", "recovery", "result")


def write(page: Page, report: Report) -> None:
    rows = [_row(item) for item in report.body["drills"]]
    page.table(_HEADER, rows, right="requests, attempts, errors, cut, recovery")
    page.blank()
    for item in report.body["drills"]:
        for missed in item["missed"]:
            page.line(Span("missed: ", "bold red"), f"{item['route']}, {item['scenario']}: {missed}")
    factors = {item["route"]: item["times_divided_by"] for item in report.body["drills"]}
    for route, factor in factors.items():
        page.line(f"The times of route {route} were divided by {factor:g}; so is the recovery time.")


def _row(item: dict[str, Any]) -> tuple[Part, ...]:
    recovery = "never" if item["recovery_s"] is None else f"{item['recovery_s']:.2f} s"
    result = Span("missed", "bold red") if item["missed"] else Span("held", "green")
    counts = (item["requests"], item["attempts"], item["client_errors"], item["cut_streams"])
    return item["route"], item["scenario"], *map(str, counts), recovery, result
