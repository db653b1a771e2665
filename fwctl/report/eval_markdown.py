"""Evaluations as Markdown, for a pull request."""

from __future__ import annotations

from fwctl.report.eval_rows import headline, notes, tables
from fwctl.report.markdown_text import escape, prose, table
from fwctl.report.model import Report

_SIGNS = {"good": "✅", "warn": "⚠️", "bad": "❌"}
_STATUS = {"pass": "✅", "fail": "❌", "warn": "⚠️", "unknown": "❔"}


def full(report: Report) -> list[str]:
    lines = numbers(report)
    for item in tables(report):
        rows = [tuple(escape(cell) for cell in row) for row in item.rows]
        lines += [f"**{escape(item.caption)}**", "", *table(item.header, rows, right=item.right), ""]
    return [*lines, *(f"- {prose(note)}" for note in notes(report))]


def numbers(report: Report) -> list[str]:
    """The headline and every check, however many answers there are."""
    told, kind = headline(report)
    sign = _SIGNS[kind]
    lines = [f"## {sign} fwctl {report.command}: {escape(told)}", ""]
    rows = [
        (_STATUS[check["status"]], escape(check["name"]), _message(check)) for check in report.body["checks"]
    ]
    return [*lines, *(table(("", "check", "result"), rows) if rows else ()), ""]


def _message(check: dict[str, str]) -> str:
    who = f"{check['deployment']}: " if check.get("deployment") else ""
    return prose(f"{who}{check['message']}")
