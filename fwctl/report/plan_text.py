"""A plan for people: every change with its reason, then checks, cost and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report import money
from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.plan_changes_text import write_change
from fwctl.report.values import counts_line, has_changes, kind_of, value

_CHECK_STYLE = {"pass": "green", "fail": "bold red", "warn": "yellow", "unknown": "dim"}
_CHECK_MARK = {"pass": "✓", "fail": "✗", "warn": "!", "unknown": "?"}


def write(page: Page, report: Report) -> None:
    """The whole plan."""
    body = report.body
    page.line(Span("Plan", "bold"), f" for account {body['account']}, stack {body['stack']}")
    page.blank()
    shown = [change for change in body["changes"] if kind_of(change["actions"]) != "no-op"]
    for change in shown:
        write_change(page, change, report)
        page.blank()
    _unchanged(page, body["changes"], every=report.detail)
    _drift(page, body.get("drift", ()))
    checks(page, body.get("checks", ()))
    cost(page, body)
    _notes(page, body.get("notes", ()))
    _summary(page, body)


def _unchanged(page: Page, changes: Sequence[Mapping[str, Any]], *, every: bool) -> None:
    """What stays as it is: those with something to say about it, or all."""
    same = [change for change in changes if kind_of(change["actions"]) == "no-op"]
    told = [change for change in same if every or change.get("notes")]
    for change in told:
        page.line(f"    {change['address']} is unchanged", indent=0)
        for note in change.get("notes", ()):
            page.line(Span("note: ", "cyan"), note, indent=6)
    if told:
        page.blank()


def _drift(page: Page, drift: Sequence[Mapping[str, Any]]) -> None:
    if not drift:
        return
    page.line(Span("Drift", "bold"), ": moved on the platform since the last apply, not by the specs")
    for item in drift:
        moved = f"{value(item['live'])}, the spec says {value(item['wanted'])}"
        page.line(f"{item['address']}  {item['path']}: live has {moved}", indent=2)
    page.blank()


def checks(page: Page, found: Sequence[Mapping[str, Any]], *, title: bool = True) -> None:
    """One line for each check: mark, name, who, what."""
    if not found:
        return
    if title:
        page.line(Span("Checks", "bold"))
    for check in found:
        mark = page.style.glyph(_CHECK_MARK.get(check["status"], "?"))
        name = check.get("deployment") or ""
        who = f"{name}: " if name and not check["message"].startswith(f"{name}: ") else ""
        page.line(
            Span(f"{mark:<2} ", _CHECK_STYLE.get(check["status"], "")),
            Span(f"{check['name']}: ", "bold"),
            who + check["message"],
            indent=2 if title else 0,
            hang=3,
        )
    page.blank()


def cost(page: Page, body: Mapping[str, Any]) -> None:
    """Floor and ceiling of each deployment that moves and of the whole plan, before and after."""
    rows = [row.cells(page.style.glyph("→")) for row in money.rows(body)]
    if not rows:
        return
    page.line(Span("Cost", "bold"), ": floor at min replicas, ceiling at max replicas")
    page.table(("", "floor", "ceiling"), rows, indent=2, right="floor,ceiling")
    for line in money.remarks(body):
        page.line(line, indent=2)
    page.line(Span(money.prices(body["cost"]), "dim"), indent=2)
    page.blank()


def _notes(page: Page, notes: Sequence[str]) -> None:
    for note in notes:
        page.line(Span("note: ", "cyan"), note)
    if notes:
        page.blank()


def _summary(page: Page, body: Mapping[str, Any]) -> None:
    summary = body["summary"]
    if not has_changes(summary) and not summary.get("blocked"):
        page.line(
            Span("No changes.", "bold green"),
            f" {summary.get('unchanged', 0)} unchanged: live matches the specs.",
        )
    else:
        page.line(Span("Summary: ", "bold"), counts_line(summary) + ".")
    page.line(Span(f"digest {body['digest']}", "dim"))
