"""A plan as HTML: changes as cards, then checks and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fwctl.report import money
from fwctl.report.html_text import badge, code, escape, table
from fwctl.report.model import Report
from fwctl.report.values import (
    ACTIONS,
    EFFECTS,
    counts_line,
    drift_rows,
    has_changes,
    is_new,
    kind_of,
    place,
    shell_line,
    value,
)

_KIND = {"pass": "good", "fail": "bad", "warn": "warn", "unknown": "plain"}
_EDGE = {
    "create": "good",
    "undelete": "good",
    "update": "warn",
    "park": "warn",
    "unpark": "warn",
    "replace": "bad",
    "delete": "bad",
    "blocked": "bad",
}
_VERDICT = {"fits": "good", "tight": "warn", "does-not-fit": "bad"}


def title(report: Report) -> str:
    """`Plan of acme/prod: 1 to update, 2 unchanged`."""
    body = report.body
    moving = has_changes(body["summary"]) or body["summary"].get("blocked")
    told = counts_line(body["summary"]) if moving else "no changes"
    return f"Plan of {body['account']}/{body['stack']}: {told}"


def body(report: Report) -> list[str]:
    """Header and the sections of the page; the caller closes <main>."""
    plan = report.body
    shown = [change for change in plan["changes"] if kind_of(change["actions"]) != "no-op"]
    lines = [
        "<header>",
        f"<h1>{escape(title(report))}</h1>",
        *_facts(plan),
        *_alert(shown),
        "</header>",
        "<main>",
    ]
    if shown:
        lines += ["<section><h2>Changes</h2>", *(line for change in shown for line in _change(change))]
        lines.append("</section>")
    return [*lines, *_drift(plan), *_cost(plan), *_checks(plan), *_notes(plan)]


def _facts(plan: Mapping[str, Any]) -> list[str]:
    facts = (("account", plan["account"]), ("stack", plan["stack"]), ("digest", plan["digest"]))
    items = "".join(f"<div><dt>{name}</dt><dd>{code(str(text))}</dd></div>" for name, text in facts)
    return [f'<dl class="facts">{items}</dl>']


def _alert(shown: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = []
    names = [change["address"] for change in shown if kind_of(change["actions"]) in ("delete", "replace")]
    if names:
        told = ", ".join(code(name) for name in names)
        lines.append(f'<p class="alert"><strong>This plan deletes or replaces</strong> {told}</p>')
    return lines


def _change(change: Mapping[str, Any]) -> list[str]:
    kind = kind_of(change["actions"])
    symbol, _, happens = ACTIONS[kind]
    edge = _EDGE.get(kind, "info")
    heading = f"<h3>{code(change['address'])}</h3>{badge(f'{symbol.strip()} {happens}', edge)}"
    fit = (change.get("fit") or {}).get("verdict")
    if fit:
        heading += badge(f"fit: {fit}", _VERDICT.get(fit, "plain"))
    lines = [f'<article class="card {edge}"><div class="title">{heading}</div>']
    if change.get("reason"):
        lines.append(f'<p class="soft">{escape(change["reason"])}</p>')
    lines += _fields(change, new=is_new(change))
    lines += [f'<p class="soft">{escape(note)}</p>' for note in change.get("notes", ())]
    commands = "\n".join(escape(shell_line(argv)) for argv in change.get("commands", ()))
    if commands:
        lines.append(f"<details><summary>commands</summary><pre>{commands}</pre></details>")
    return [*lines, "</article>"]


def _fields(change: Mapping[str, Any], *, new: bool) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for item in change.get("fields", ()):
        hidden = item.get("sensitive")
        before, after = ("***", "***") if hidden else (value(item["before"]), value(item["after"]))
        source = place(item.get("source"))
        where = f"<code>{escape(source)}</code>" if source else ""  # short enough to stay whole
        if new:
            rows.append((code(item["path"]), f"<ins>{code(after)}</ins>", where))
            continue
        words = [escape(EFFECTS.get(item["effect"], item["effect"]))]
        words += ["<strong>changes what the model answers</strong>"] if item.get("output_changing") else []
        effect = ", ".join(word for word in words if word)
        both = (f"<del>{code(before)}</del>", f"<ins>{code(after)}</ins>")
        rows.append((code(item["path"]), *both, effect, where))
    if not rows:
        return []
    header = ("field", "value") if new else ("field", "before", "after", "effect")
    return table(f"Fields of {change['address']}", (*header, "asked for at"), rows, place="asked for at")


def _drift(plan: Mapping[str, Any]) -> list[str]:
    rows = [tuple(map(code, row)) for row in drift_rows(plan)]
    if not rows:
        return []
    lines = table("Drift", ("deployment", "field", "applied", "live"), rows)
    head = "<section><h2>Drift</h2><p>Changed on the platform since the last apply, not by the specs.</p>"
    return [head, *lines, "</section>"]


def _cost(plan: Mapping[str, Any]) -> list[str]:
    found = [tuple(escape(cell) for cell in row.cells("→")) for row in money.rows(plan)]
    if not found:
        return []
    rows = [(name, floor, ceiling) for name, floor, ceiling in found[:-1]]
    name, floor, ceiling = (f"<strong>{cell}</strong>" for cell in found[-1])
    rows.append((name, floor, ceiling))
    header = ("deployment", "floor (min replicas)", "ceiling (max replicas)")
    lines = ["<section><h2>Cost</h2>", *table("Cost", header, rows, right=header[1:])]
    told = (*money.remarks(plan), money.prices(plan["cost"]))
    items = "".join(f"<li>{escape(text)}</li>" for text in told if text)
    return [*lines, f"<ul>{items}</ul></section>"]


def _checks(plan: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            badge(check["status"], _KIND.get(check["status"], "plain")),
            escape(check["name"]),
            escape(check.get("deployment") or ""),
            escape(check["message"]),
        )
        for check in plan.get("checks", ())
    ]
    if not rows:
        return []
    lines = table("Checks", ("status", "check", "deployment", "result"), rows)
    return ["<section><h2>Checks</h2>", *lines, "</section>"]


def _notes(plan: Mapping[str, Any]) -> list[str]:
    items = "".join(f"<li>{escape(note)}</li>" for note in plan.get("notes", ()))
    return [f"<section><h2>Notes</h2><ul>{items}</ul></section>"] if items else []
