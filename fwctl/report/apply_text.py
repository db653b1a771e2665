"""Result of an apply for people: what happened to each deployment, and how clients reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.units import short_duration

_STYLE = {
    "done": "green",
    "failed": "bold red",
    "skipped": "yellow",
    "not_started": "yellow",
    "in_progress": "cyan",
}


def write(page: Page, report: Report) -> None:
    results = report.body.get("results", ())
    for result in results:
        _result(page, result)
    if results:
        page.blank()
    for note in report.body.get("notes", ()):
        page.line(Span("note: ", "cyan"), note)
    _model_strings(page, report.body.get("model_strings") or {})
    counts = {name: sum(item["outcome"] == name for item in results) for name in _STYLE}
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items() if number)
    page.line(Span(f"{report.command.capitalize()}: ", "bold"), told or "nothing to do")


def _result(page: Page, result: Mapping[str, Any]) -> None:
    outcome = result["outcome"]
    seconds = result.get("seconds") or 0.0
    page.line(
        Span(f"{outcome.replace('_', ' ')}: ", _STYLE.get(outcome, "")),
        Span(result["address"], "bold"),
        f" {', '.join(result['actions'])}",
        f" ({short_duration(round(seconds))})" if seconds >= 1 else "",
    )
    if result.get("note"):
        page.line(result["note"], indent=4)
    error = result.get("error")
    if error:
        page.line(error["message"], indent=4)
        for step in error.get("next_steps", ()):
            page.line(Span("next: ", "bold"), step, indent=4)


def _model_strings(page: Page, strings: Mapping[str, Any]) -> None:
    if not strings:
        return
    page.line(Span("Model strings", "bold"), " for the `model` field of requests")
    for name, entry in strings.items():
        page.line(f"{name}: ", entry.get("router") or entry.get("base") or "", indent=2)
        if entry.get("router"):
            page.line("this deployment alone: ", entry["base"], indent=4)
        for text in (entry.get("addons") or {}).values():
            page.line("adapter: ", text, indent=4)
    page.blank()
