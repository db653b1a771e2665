"""Diagnostics and failures as text: `file:line:col`, the line with a caret, the fix, the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.errors import Diagnostic, Severity
from fwctl.report.layout import Page, Span, columns, safe
from fwctl.report.model import Report
from fwctl.units import counted

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "cyan"}
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
_CONTEXT = 60  # characters of a long line shown on each side of the caret


def write_diagnostics(page: Page, diagnostics: Iterable[Diagnostic]) -> None:
    """Each problem as a block, in the order given."""
    for item in diagnostics:
        write_diagnostic(page, item)


def write_diagnostic(page: Page, item: Diagnostic, indent: int = 0) -> None:
    """`file:line:col: error FW301: message`, then snippet, fix and page."""
    at = item.position
    place = f"{at.file}:{at.line}:{at.column}: " if at else ""
    if not at and item.deployment:
        place = f"deployments/{item.deployment}: "
    label = Span(item.severity.value, _STYLE[item.severity])
    page.line(Span(place, "bold"), label, f" {item.code}: ", item.message, indent=indent)
    if at and item.source_line:
        _snippet(page, item, indent)
    if item.suggestion:
        page.line(Span("fix: ", "green"), item.suggestion, indent=indent + 2)
    if item.docs:
        # The pages of rules come with the program; an installation has no folder docs/.
        pages = f"fwctl rules {item.code}" if item.docs.startswith("docs/rules/") else item.docs
        page.line(Span("see: ", "dim"), pages, indent=indent + 2)


def count_line(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty when there is nothing."""
    parts = []
    for severity in _ORDER:
        number = sum(item.severity is severity for item in diagnostics)
        if number:
            parts.append(counted(number, severity.value))
    return ", ".join(parts)


def write_error(page: Page, report: Report) -> None:
    """Why the command did not do its work and the next commands to type."""
    error = report.error
    if error is None:
        return
    where = f"deployments/{error.deployment}: " if error.deployment else ""
    page.line(Span("error: ", "bold red"), where, error.message)
    for step in error.next_steps:
        page.line(Span("next: ", "bold"), step, indent=2)


def _snippet(page: Page, item: Diagnostic, indent: int) -> None:
    at, line = item.position, item.source_line
    assert at is not None
    assert line is not None
    start = max(0, at.column - 1)
    stop = at.end_column - 1 if at.end_line == at.line else len(line)
    stop = max(start + 1, min(stop, len(line)))
    left, right = max(0, start - _CONTEXT), min(len(line), stop + _CONTEXT)
    before, marked, after = line[left:start], line[start:stop], line[stop:right]
    lead, tail = "…" if left else "", "…" if right < len(line) else ""
    if not page.style.unicode:
        lead, tail = lead and "...", tail and "..."
    number = str(at.line)
    # Tabs are shown as one space so that the caret stands under its character.
    before, marked, after = (text.replace("\t", " ") for text in (before, marked, after))
    lead_in = " " * indent
    page.raw(f"{lead_in}  {number} | {lead}", Span(before), Span(marked, "bold"), Span(after), tail)
    pad = " " * (columns(lead) + columns(safe(before)))
    caret = "^" * min(max(1, columns(safe(marked))), 2 * _CONTEXT)
    page.raw(f"{lead_in}  {' ' * len(number)} | {pad}", Span(caret, "bold red"))
