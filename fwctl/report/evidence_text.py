"""Evidence for people: the files, the gates, or the one file that was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

_VERDICTS = {True: "passed", False: "not passed", None: "-"}
_STYLES = {"pass": "green", "warn": "yellow", "fail": "red"}


def write(page: Page, report: Report) -> None:
    body = report.body
    if "file" in body:
        page.line(Span(body["file"], "bold"), f": {_setting(body['record'])}")
    elif "gates" in body:
        _gates(page, body["gates"])
    else:
        _records(page, body)


def _records(page: Page, body: Mapping[str, Any]) -> None:
    if not body["records"]:
        page.line(f"no evidence in the folder {body['folder']}")
    for row in body["records"]:
        page.line(Span(row["file"], "bold"), f": {_setting(row)}")
        if row["fresh_for"]:
            page.line("  counts for ", Span(", ".join(row["fresh_for"]), "green"))
        for stale in row["stale_for"]:
            page.line("  stale for ", Span(stale["deployment"], "yellow"), f": {'; '.join(stale['reasons'])}")
        if not row["fresh_for"] and not row["stale_for"]:
            page.line(Span("  no deployment of the specs runs this model", "dim"))


def _setting(row: Mapping[str, Any]) -> str:
    version = str(row["shape_version"] or "no shape").rpartition("deploymentShapes/")[2]
    parts = [row["kind"], row["date"][:10], row["model"].rpartition("/")[2], row["precision"], version]
    if row["replicas"] is not None:
        parts.append("1 replica" if row["replicas"] == 1 else f"{row['replicas']} replicas")
    return ", ".join([*(str(part) for part in parts if part), _VERDICTS[row["passed"]]])


def _gates(page: Page, rows: list[Mapping[str, Any]]) -> None:
    if not rows:
        page.line("no deployment of the specs has gates.eval or gates.bench")
    for row in rows:
        said = row["evidence"] or "no evidence"
        if "replicas_max" in row:
            said = f"tested up to {row['replicas_tested']} of {row['replicas_max']} replicas: {said}"
        page.line(
            Span(row["status"], _STYLES[row["status"]]), f"  {row['deployment']}  {row['gate']}: {said}"
        )
        if row["next"]:
            page.line(Span(f"      next: {row['next']}", "dim"))
