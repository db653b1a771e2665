"""Evaluations as HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.eval_rows import headline, notes, tables
from fwctl.report.html_text import badge, escape, table
from fwctl.report.model import Report

_KINDS = {"pass": "good", "fail": "bad", "warn": "warn", "unknown": "info"}


def title(report: Report) -> str:
    """`eval compare: pass: runs/fp8 against runs/bf16`."""
    return f"{report.command}: {headline(report)[0]}"


def body(report: Report) -> list[str]:
    """Header, checks and tables; the caller closes <main>."""
    told, kind = headline(report)
    word, _, rest = told.partition(": ")
    lines = [
        "<header>",
        f"<h1>{escape(report.command)}</h1>",
        f"<p>{badge(word, kind)} {escape(rest)}</p>",
        "</header>",
        "<main>",
    ]
    rows = [
        (badge(check["status"], _KINDS[check["status"]]), escape(check["name"]), escape(_message(check)))
        for check in report.body["checks"]
    ]
    if rows:
        lines += [
            "<section><h2>Checks</h2>",
            *table("Checks", ("result", "check", "what"), rows),
            "</section>",
        ]
    for item in tables(report):
        cells = [tuple(escape(cell) for cell in row) for row in item.rows]
        shown = table(item.caption, item.header, cells, right=item.right)
        lines += [f"<section><h2>{escape(item.caption)}</h2>", *shown, "</section>"]
    return [*lines, *(f'<p class="soft">{escape(note)}</p>' for note in notes(report))]


def _message(check: Mapping[str, Any]) -> str:
    who = f"{check['deployment']}: " if check.get("deployment") else ""
    return f"{who}{check['message']}"
