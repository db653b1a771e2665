"""A plan as Markdown, at four lengths: everything, fields, one row a change, counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.report import money
from fwctl.report.markdown_text import block, code, escape, folded, prose, table
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

_MARK = {"pass": "✅", "fail": "❌", "warn": "⚠️", "unknown": "❔"}
_NAMES_SHOWN = 20  # names of deleted or replaced deployments that the shorter forms list


def full(report: Report) -> list[str]:
    """Every change with its fields and commands, every check."""
    return _document(report, _changes(report.body, commands=True), report.body.get("checks", ()))


def fields(report: Report) -> list[str]:
    """Every change with its fields, without commands; checks that did not pass."""
    return _document(report, _changes(report.body, commands=False), _open_checks(report.body))


def rows(report: Report) -> list[str]:
    """One row for each change, and checks that did not pass."""
    cells = [
        (
            code(change["address"]),
            ACTIONS[kind_of(change["actions"])][2],
            prose(change.get("reason") or ""),
        )
        for change in _shown(report.body)
    ]
    return _document(report, table(("change", "", "why"), cells), _open_checks(report.body))


def numbers(report: Report) -> list[str]:
    """Counts, digest, the total of the cost: what is always short enough."""
    failed = sum(check["status"] == "fail" for check in report.body.get("checks", ()))
    said = [f"{failed} checks failed.", ""] if failed else []
    return [*_head(report), *said, *_total(report.body)]


def diagnostics(report: Report) -> list[str]:
    """The problems that were found, as a table."""
    cells = []
    for item in report.diagnostics:
        at = item.position
        where = code(f"{at.file}:{at.line}:{at.column}") if at else escape(item.deployment or "")
        cells.append(
            (item.severity.value, item.code, where, prose(item.message), prose(item.suggestion or ""))
        )
    return [*table(("", "code", "place", "problem", "fix"), cells), ""] if cells else []


def _document(report: Report, changes: Sequence[str], checks: Iterable[Mapping[str, Any]]) -> list[str]:
    body = report.body
    return [
        *_head(report),
        *changes,
        "",
        *_drift(body),
        *diagnostics(report),
        *_cost(body),
        *_checks(checks),
        *(f"- {prose(note)}" for note in body.get("notes", ())),
    ]


def _head(report: Report) -> list[str]:
    body = report.body
    moving = has_changes(body["summary"]) or body["summary"].get("blocked")
    lines = [
        f"## fwctl {report.command}: {counts_line(body['summary']) if moving else 'no changes'}",
        "",
        f"Account {code(body['account'])}, stack {code(body['stack'])}, digest {code(body['digest'])}",
        "",
    ]
    for kinds, sentence in (
        (("delete", "replace"), "This plan deletes or replaces"),
        (("blocked",), "Blocked, and nothing is applied while it is:"),
    ):
        names = [change["address"] for change in body["changes"] if kind_of(change["actions"]) in kinds]
        if names:
            rest = len(names) - _NAMES_SHOWN
            told = ", ".join(code(name) for name in names[:_NAMES_SHOWN])
            more = f" and {rest} more" if rest > 0 else ""
            lines += ["> [!WARNING]", f"> {sentence} {told}{more}.", ""]
    return lines


def _shown(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [change for change in body["changes"] if kind_of(change["actions"]) != "no-op"]


def _changes(body: Mapping[str, Any], *, commands: bool) -> list[str]:
    lines: list[str] = []
    for change in _shown(body):
        lines += _change(change)
        if commands and change.get("commands"):
            text = block([shell_line(argv) for argv in change["commands"]], "sh")
            lines += folded("commands", text)
    return lines


def _change(change: Mapping[str, Any]) -> list[str]:
    symbol, _, happens = ACTIONS[kind_of(change["actions"])]
    lines = [f"### {code(symbol.strip() or '=')} {code(change['address'])} {happens}", ""]
    if change.get("reason"):
        lines += [prose(change["reason"]), ""]
    new = is_new(change)
    cells = [_field(item, new=new) for item in change.get("fields", ())]
    if cells:
        header = ("field", "value") if new else ("field", "before", "after", "effect")
        lines += [*table((*header, "asked for at"), cells), ""]
    fit = change.get("fit") or {}
    if fit.get("verdict"):
        lines += [f"Fit: **{escape(fit['verdict'])}** (evidence: {escape(str(fit.get('evidence')))})", ""]
    lines += [f"- {prose(note)}" for note in change.get("notes", ())]
    return [*lines, ""] if change.get("notes") else lines


def _field(item: Mapping[str, Any], *, new: bool) -> tuple[str, ...]:
    hidden = item.get("sensitive")
    before, after = ("***", "***") if hidden else (value(item["before"]), value(item["after"]))
    source = place(item.get("source"))
    where = code(source) if source else ""
    if new:
        return code(item["path"]), code(after), where
    words = [EFFECTS.get(item["effect"], item["effect"])]
    words += ["**changes what the model answers**"] if item.get("output_changing") else []
    effect = ", ".join(word for word in words if word)
    return code(item["path"]), code(before), code(after), effect, where


def _drift(body: Mapping[str, Any]) -> list[str]:
    cells = [tuple(map(code, row)) for row in drift_rows(body)]
    if not cells:
        return []
    title = "**Drift**: changed on the platform since the last apply, not by the specs"
    return [title, "", *table(("deployment", "field", "applied", "live"), cells), ""]


def _open_checks(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [check for check in body.get("checks", ()) if check["status"] != "pass"]


def _checks(checks: Iterable[Mapping[str, Any]]) -> list[str]:
    cells = [
        (
            f"{_MARK.get(check['status'], '❔')} {escape(check['status'])}",
            escape(check["name"]),
            escape(check.get("deployment") or ""),
            prose(check["message"]),
        )
        for check in checks
    ]
    return [*table(("", "check", "deployment", "result"), cells), ""] if cells else []


def _cost(body: Mapping[str, Any]) -> list[str]:
    found = [row.cells("→") for row in money.rows(body)]
    if not found:
        return []
    # "2 unchanged" is no name; names hold no blanks.
    cells = [
        (name if " " in name else code(name), code(floor), code(ceiling))
        for name, floor, ceiling in found[:-1]
    ]
    total, floor, ceiling = found[-1]
    cells.append((f"**{total}**", code(floor), code(ceiling)))
    head = ("cost", "floor (min replicas)", "ceiling (max replicas)")
    return [*table(head, cells, right=head[1:]), "", *_below(body)]


def _total(body: Mapping[str, Any]) -> list[str]:
    found = money.rows(body)
    if not found:
        return []
    _, floor, ceiling = found[-1].cells("→")
    return [f"Cost: floor {code(floor)}, ceiling {code(ceiling)}", "", *_below(body)]


def _below(body: Mapping[str, Any]) -> list[str]:
    """What stands under the amounts, and the date of the prices."""
    lines = [f"- {escape(text)}" for text in (*money.remarks(body), money.prices(body["cost"])) if text]
    return [*lines, ""]
