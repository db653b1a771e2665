"""The changes of a plan for people: fields, reasons, fit, cost and commands of each."""

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
    kind_of,
    per_hour,
    place,
    shell_line,
    signed_per_hour,
    value,
)


def write_change(page: Page, change: Mapping[str, Any], report: Report) -> None:
    """One change; with `report.detail` also what its fields mean and the fit arithmetic."""
    kind = kind_of(change["actions"])
    _head(page, change, kind)
    if change.get("reason") and kind != "blocked":  # the diagnostics of a blocked change say it
        page.line(change["reason"], indent=6)
    if change.get("after"):
        page.line(f"after {', '.join(change['after'])}", indent=6)
    _fields(page, change.get("fields", ()), kind, detail=report.detail)
    _fit(page, change.get("fit"), detail=report.detail)
    if kind not in ("mark", "wait"):
        _cost(page, change.get("cost"))
    for note in change.get("notes", ()):
        if note != change.get("reason"):
            page.line(Span("note: ", "cyan"), note, indent=6)
    for argv in change.get("commands", ()):
        page.raw("      ", Span("$ " + shell_line(argv), "dim"))
    if kind == "blocked":
        _blocked(page, change, report)


def _head(page: Page, change: Mapping[str, Any], kind: str) -> None:
    symbol, style, happens = ACTIONS[kind]
    if kind == "replace":
        first, then = ("create", "delete") if change["actions"][0] == "create" else ("delete", "create")
        happens += f" ({first}, then {then})"
    identity = change["deployment_id"]
    named = f" (ID {identity})" if identity and change["address"].partition("/")[2] != identity else ""
    if change.get("next_id"):
        named += f", the new one is {change['next_id']}"
    page.line(Span(f"{symbol:>3} ", style), Span(change["address"], "bold"), f" {happens}{named}")


def _fields(page: Page, fields: Sequence[Mapping[str, Any]], kind: str, *, detail: bool) -> None:
    whole = kind in ("create", "undelete")
    width = max((len(field["path"]) for field in fields), default=0)
    for field in fields:
        if whole:
            _set(page, field, width)
        else:
            _moved(page, field)
        if detail:
            _explain(page, field)


def _explain(page: Page, field: Mapping[str, Any]) -> None:
    """What the field table says about a field."""
    from fwctl.catalog.fields import BY_PATH

    row = BY_PATH.get(field["path"])
    if row is not None:
        page.line(Span(row.doc, "dim"), Span(f" {row.note}" if row.note else "", "dim"), indent=10, hang=0)


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
    effect = field.get("effect", "none")
    words = [EFFECTS.get(effect, effect)]
    if field.get("output_changing"):
        words.append("changes what the model answers")
    said = ", ".join(word for word in words if word)
    before, after = value(field["before"]), value(field["after"])
    if field.get("sensitive"):
        before, after = "***", "*** (changed)"
    source = place(field.get("source"))
    parts: list[Part] = [
        Span("~ ", "yellow"),
        Span(f"{field['path']}: ", "bold"),
        Span(before, "red"),
        f" {page.style.glyph('→')} ",
        Span(after, "green"),
    ]
    if said:
        parts += ["  ", Span(f"({said})", "red" if effect in ("replace", "blocked") else "dim")]
    if source:
        parts.append(Span(f"  {source}", "dim"))
    page.line(*parts, indent=6, hang=4)
    if field.get("reason"):
        page.line(field["reason"], indent=10)


def _fit(page: Page, fit: Mapping[str, Any] | None, *, detail: bool) -> None:
    if not fit or not fit.get("verdict"):
        return
    band = fit.get("max_concurrency")
    room = f", room for {band['low']:.1f} to {band['high']:.1f} conversations" if band else ""
    page.line(f"fit: {fit['verdict']}{room} (evidence: {fit.get('evidence', 'unknown')})", indent=6)
    for line in fit.get("explain", ()) if detail else ():
        page.line(Span(str(line), "dim"), indent=10)


def _cost(page: Page, money: Mapping[str, Any] | None) -> None:
    """`cost: $32.00/h at least (+$8.00/h), $96.00/h at most (no change)`."""
    if not money:
        return
    told = []
    for end, words in (("floor", "least"), ("ceiling", "most")):
        amount, moved = money.get(f"{end}_usd_per_hour"), money.get(f"{end}_change")
        told.append(f"{per_hour(amount)} at {words} ({signed_per_hour(moved)})")
    page.line(f"cost: {', '.join(told)}", indent=6)


def _blocked(page: Page, change: Mapping[str, Any], report: Report) -> None:
    """What stands in the way."""
    name = change["address"].partition("/")[2]
    for item in report.diagnostics:
        if item.deployment == name and item.severity is Severity.ERROR:
            write_diagnostic(page, item, indent=6)
