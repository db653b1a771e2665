"""A plan for people: every change with its reason, then checks, cost and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.errors import Severity
from fwctl.report.diagnostics import write_diagnostic
from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report
from fwctl.report.values import (
    ACTIONS,
    EFFECTS,
    counts_line,
    has_changes,
    kind_of,
    per_hour,
    place,
    shell_line,
    signed_per_hour,
    value,
)

_CHECK_STYLE = {"pass": "green", "fail": "bold red", "warn": "yellow", "unknown": "dim"}
_CHECK_MARK = {"pass": "✓", "fail": "✗", "warn": "!", "unknown": "?"}


def write(page: Page, report: Report) -> None:
    """The whole plan."""
    body = report.body
    page.line(Span("Plan", "bold"), f" for account {body['account']}, stack {body['stack']}")
    page.blank()
    shown = [change for change in body["changes"] if kind_of(change["actions"]) != "no-op"]
    for change in shown:
        _change(page, change, detail=report.detail)
        _blocked(page, change, report)
        page.blank()
    _drift(page, body.get("drift", ()))
    checks(page, body.get("checks", ()))
    cost(page, body.get("cost") or {})
    _notes(page, body.get("notes", ()))
    _summary(page, body)


def _change(page: Page, change: Mapping[str, Any], *, detail: bool) -> None:
    kind = kind_of(change["actions"])
    symbol, style, happens = ACTIONS[kind]
    if kind == "replace":
        first, then = ("create", "delete") if change["actions"][0] == "create" else ("delete", "create")
        happens += f" ({first}, then {then})"
    named = change["address"].partition("/")[2] != change["deployment_id"]
    page.line(
        Span(f"{symbol:>3} ", style),
        Span(change["address"], "bold"),
        f" {happens}",
        f" (ID {change['deployment_id']})" if named and change["deployment_id"] else "",
    )
    if change.get("reason") and kind != "blocked":  # the diagnostics of a blocked change say it
        page.line(change["reason"], indent=6)
    fields = change.get("fields", ())
    if kind in ("create", "undelete"):
        width = max((len(field["path"]) for field in fields), default=0)
        for field in fields:
            _set(page, field, width)
    else:
        for field in fields:
            _moved(page, field)
    _fit(page, change.get("fit"))
    _change_cost(page, change.get("cost"))
    for argv in change.get("commands", ()):
        page.raw("      ", Span("$ " + shell_line(argv), "dim"))
    if detail and change.get("cost"):
        page.line(f"ceiling {per_hour(change['cost'].get('ceiling_usd_per_hour'))}", indent=6)


def _blocked(page: Page, change: Mapping[str, Any], report: Report) -> None:
    """What stands in the way of a blocked change."""
    name = change["address"].partition("/")[2]
    if "blocked" not in change["actions"]:
        return
    for item in report.diagnostics:
        if item.deployment == name and item.severity is Severity.ERROR:
            write_diagnostic(page, item, indent=6)


def _set(page: Page, field: Mapping[str, Any], width: int) -> None:
    shown = "***" if field.get("sensitive") else value(field["after"])
    source = place(field.get("source"))
    page.line(
        Span("+ ", "green"),
        f"{field['path']:<{width}} = {shown}",
        Span(f"  {source}" if source else "", "dim"),
        indent=6,
        hang=4,
    )


def _moved(page: Page, field: Mapping[str, Any]) -> None:
    """`replicas.max: 2 -> 4  (in place)  configs/chat.yaml:12`, the reason below."""
    arrow = page.style.glyph("→")
    effect = field.get("effect", "none")
    words = [EFFECTS.get(effect, effect)]
    if field.get("output_changing"):
        words.append("changes what the model answers")
    said = ", ".join(word for word in words if word)
    before, after = (
        ("***", "*** (changed)")
        if field.get("sensitive")
        else (value(field["before"]), value(field["after"]))
    )
    source = place(field.get("source"))
    parts: list[Part] = [
        Span("~ ", "yellow"),
        Span(f"{field['path']}: ", "bold"),
        Span(before, "red"),
        f" {arrow} ",
        Span(after, "green"),
    ]
    if said:
        parts += ["  ", Span(f"({said})", "red" if effect in ("replace", "blocked") else "dim")]
    if source:
        parts.append(Span(f"  {source}", "dim"))
    page.line(*parts, indent=6, hang=4)
    if field.get("reason"):
        page.line(field["reason"], indent=10)


def _fit(page: Page, fit: Mapping[str, Any] | None) -> None:
    if not fit or not fit.get("verdict"):
        return
    conversations = fit.get("max_concurrency") or {}
    room = (
        f", room for {conversations['low']:.1f} to {conversations['high']:.1f} conversations"
        if conversations
        else ""
    )
    page.line(f"fit: {fit['verdict']}{room} (evidence: {fit.get('evidence', 'unknown')})", indent=6)


def _change_cost(page: Page, money: Mapping[str, Any] | None) -> None:
    if not money:
        return
    floor, ceiling = money.get("floor_usd_per_hour"), money.get("ceiling_usd_per_hour")
    page.line(f"cost: {per_hour(floor)} at least, {per_hour(ceiling)} at most", indent=6)


def _drift(page: Page, drift: Sequence[Mapping[str, Any]]) -> None:
    if not drift:
        return
    page.line(Span("Drift", "bold"), ": changed on the platform since the last apply, not by the specs")
    for item in drift:
        where = item.get("address") or f"deployments/{item.get('deployment', '')}"
        page.line(
            f"{where}  {item.get('path', '')}: {value(item.get('before'))} {page.style.glyph('→')} "
            f"{value(item.get('after'))}",
            indent=2,
        )
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


def cost(page: Page, money: Mapping[str, Any]) -> None:
    """The cost table: before, after and change of floor and ceiling."""
    if not money or "floor_usd_per_hour" not in money:
        return
    page.line(Span("Cost", "bold"))
    rows = []
    for name, key, change in (
        ("floor", "floor_usd_per_hour", "floor_change"),
        ("ceiling", "ceiling_usd_per_hour", "ceiling_change"),
    ):
        after, moved = money.get(key), money.get(change)
        before = None if after is None or moved is None else after - moved
        rows.append((name, per_hour(before), per_hour(after), signed_per_hour(moved)))
    page.table(("", "before", "after", "change"), rows, indent=2, right="before,after,change")
    if money.get("monthly_floor_usd") is not None:
        page.line(f"floor of a month (730 h): ${money['monthly_floor_usd']:,.2f}", indent=2)
    if money.get("price_date"):
        page.line(Span(f"prices of {money['price_date']}, {money.get('currency', 'USD')}", "dim"), indent=2)
    for name in money.get("unknown", ()):
        page.line(f"no price is known for {name}", indent=2)
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
