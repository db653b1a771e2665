"""Prompts on which two evaluations differ, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

MOST_CHARACTERS = 600
STYLES = {"right": "green", "wrong": "red"}


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(Span(f"{body['count']} {body['what']}: {body['candidate']} against {body['base']}", "bold"))
    for item in body["answers"]:
        page.blank()
        repeat = f", repeat {item['repeat']}" if item["repeat"] else ""
        page.line(Span(f"{item['prompt_id']}{repeat}", "bold"), f"  {item['type']}")
        if item["question"] is not None:
            _text(page, "asked", item["question"])
        if item["expected"] is not None:
            expected = item["expected"]
            _text(page, "expected", expected if isinstance(expected, str) else json.dumps(expected))
        for side in ("base", "candidate"):
            _side(page, side, item[side])
    if body["count"] > len(body["answers"]):
        page.blank()
        page.line(f"and {body['count'] - len(body['answers'])} more; --limit shows them")


def _side(page: Page, side: str, found: Mapping[str, Any]) -> None:
    note = f" ({found['note']})" if found["note"] else ""
    page.line(f"{side}: ", Span(found["outcome"], STYLES.get(found["outcome"], "yellow")), note, indent=2)
    for line in _cut(found["text"] or ""):
        page.line(line, indent=4, hang=0)


def _text(page: Page, word: str, text: str) -> None:
    first, *rest = _cut(text) or [""]
    page.line(Span(f"{word}: ", "dim"), first, indent=2)
    for line in rest:
        page.line(line, indent=4, hang=0)


def _cut(text: str) -> list[str]:
    more = f" ... and {len(text) - MOST_CHARACTERS} characters more" if len(text) > MOST_CHARACTERS else ""
    return (text[:MOST_CHARACTERS] + more).splitlines()
