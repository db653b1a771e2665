"""Markdown for pull requests and step summaries. What users and servers wrote is never markup in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fwctl.report.layout import Style, safe
from fwctl.report.model import Report
from fwctl.report.status_text import replicas
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

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~&@-])")


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The document; empty for a command that failed before it had a result."""
    layout = _LAYOUTS.get(report.command)
    if layout is None or not report.body:
        return ""
    return "\n".join(layout(report)).rstrip("\n") + "\n"


def escape(text: str) -> str:
    """Data as Markdown text: shown exactly as written."""
    return _SPECIAL.sub(r"\\\1", safe(text))


def code(text: str) -> str:
    """Data as inline code, with a fence longer than any run of backticks in it."""
    text = safe(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already; bars inside a cell are escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return lines


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _plan(report: Report) -> list[str]:
    body = report.body
    changed = has_changes(body["summary"]) or body["summary"].get("blocked")
    headline = counts_line(body["summary"]) if changed else "no changes"
    lines = [f"## fwctl {report.command}: {headline}", ""]
    lines += [
        f"Account {code(body['account'])}, stack {code(body['stack'])}, digest {code(body['digest'])}",
        "",
    ]
    dangerous = [c for c in body["changes"] if kind_of(c["actions"]) in ("delete", "replace")]
    if dangerous:
        names = ", ".join(code(change["address"]) for change in dangerous)
        lines += ["> [!WARNING]", f"> This plan deletes or replaces {names}.", ""]
    for change in body["changes"]:
        if kind_of(change["actions"]) != "no-op":
            lines += _change(change)
    lines += _diagnostics(report)
    lines += _checks(body.get("checks", ()))
    lines += _cost(body.get("cost") or {})
    lines += [f"- {escape(note)}" for note in body.get("notes", ())]
    return lines


def _change(change: Mapping[str, Any]) -> list[str]:
    symbol, _, happens = ACTIONS[kind_of(change["actions"])]
    lines = [f"### {code(symbol.strip() or '=')} {code(change['address'])} {happens}", ""]
    if change.get("reason"):
        lines += [escape(change["reason"]), ""]
    rows = []
    for field in change.get("fields", ()):
        hidden = field.get("sensitive")
        effect = EFFECTS.get(field["effect"], field["effect"])
        if field.get("output_changing"):
            effect = ", ".join(part for part in (effect, "changes what the model answers") if part)
        before, after = ("***", "***") if hidden else (value(field["before"]), value(field["after"]))
        source = place(field.get("source"))
        rows.append((code(field["path"]), code(before), code(after), effect, code(source) if source else ""))
    if rows:
        lines += [*table(("field", "before", "after", "effect", "asked for at"), rows), ""]
    commands = change.get("commands", ())
    if commands:
        text = [safe(shell_line(argv)) for argv in commands]
        longest = max((len(run) for line in text for run in re.findall("`+", line)), default=0)
        fence = "`" * max(3, longest + 1)
        lines += [
            "<details><summary>commands</summary>",
            "",
            f"{fence}sh",
            *text,
            fence,
            "",
            "</details>",
            "",
        ]
    return lines


def _diagnostics(report: Report) -> list[str]:
    if not report.diagnostics:
        return []
    rows = []
    for item in report.diagnostics:
        at = item.position
        where = code(f"{at.file}:{at.line}:{at.column}") if at else escape(item.deployment or "")
        rows.append(
            (item.severity.value, item.code, where, escape(item.message), escape(item.suggestion or ""))
        )
    return [*table(("", "code", "place", "problem", "fix"), rows), ""]


def _checks(checks: Sequence[Mapping[str, Any]]) -> list[str]:
    if not checks:
        return []
    rows = [
        (item["status"], escape(item["name"]), escape(item.get("deployment") or ""), escape(item["message"]))
        for item in checks
    ]
    return [*table(("status", "check", "deployment", "result"), rows), ""]


def _cost(money: Mapping[str, Any]) -> list[str]:
    if "floor_usd_per_hour" not in money:
        return []
    rows = [
        (name, per_hour(money[key]), signed_per_hour(money[change]))
        for name, key, change in (
            ("floor", "floor_usd_per_hour", "floor_change"),
            ("ceiling", "ceiling_usd_per_hour", "ceiling_change"),
        )
    ]
    lines = [*table(("cost", "after", "change"), rows), ""]
    if money.get("price_date"):
        lines += [f"Prices of {escape(str(money['price_date']))}.", ""]
    return lines


def _validate(report: Report) -> list[str]:
    verdict = "valid" if report.ok else "invalid"
    names = len(report.body["deployments"])
    lines = [
        f"## fwctl validate: {verdict}",
        "",
        f"{names} deployments in {len(report.body['files'])} files.",
        "",
    ]
    return lines + _diagnostics(report)


def _fit(report: Report) -> list[str]:
    rows = []
    for item in report.body.get("results", ()):
        band = item.get("max_concurrency")
        room = f"{band['low']:.1f} to {band['high']:.1f}" if band else ""
        hardware = f"{item['accelerator_count']} x {item['accelerator']}"
        reasons = "; ".join(str(reason) for reason in item.get("reasons", ()))
        rows.append(
            (
                code(item["name"]),
                f"**{item['verdict']}**",
                escape(hardware),
                escape(item["precision"]),
                room,
                escape(reasons),
            )
        )
    header = ("deployment", "verdict", "hardware", "precision", "conversations", "why")
    return ["## fwctl fit-check", "", *table(header, rows), "", *_diagnostics(report)]


def _status(report: Report) -> list[str]:
    rows = [
        (
            code(str(item["name"] or item["deployment_id"])),
            escape(item["state"]),
            escape(replicas(item["replicas"])),
            "yes" if item["managed"] else "no",
            per_hour(item["usd_per_hour"]),
            code(item["model_string"] or ""),
        )
        for item in report.body["deployments"]
    ]
    header = ("deployment", "state", "ready/wanted", "managed", "cost", "model string")
    return ["## fwctl status", "", *table(header, rows)]


def _shapes(report: Report) -> list[str]:
    rows = [
        (
            code(item["shape"]),
            escape(f"{item['accelerator_count']} x {item['accelerator']}"),
            escape(str(item["precision"] or "")),
            per_hour(item["usd_per_hour"]),
            item["verdict"],
            f"{item['max_concurrency']['low']:.1f}" if item["max_concurrency"] else "",
        )
        for item in report.body["shapes"]
    ]
    header = ("shape", "hardware", "precision", "cost", "fit", "conversations")
    return [f"## Shapes of {code(report.body['model'])}", "", *table(header, rows)]


_LAYOUTS: dict[str, Callable[[Report], list[str]]] = {
    "validate": _validate,
    "fit-check": _fit,
    "plan": _plan,
    "shapes": _shapes,
    "show": _plan,
    "status": _status,
}
