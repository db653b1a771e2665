"""Markdown for pull requests and step summaries, as long as the place where it is shown allows.

Every document begins with a comment that nobody sees, by which a script finds the comment it wrote
before, and for a plan the digest that was reviewed: `<!-- fwctl:plan acme/prod 45e2ab… -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fwctl.errors import Severity
from fwctl.report import (
    audit_markdown,
    bench_compare_markdown,
    bench_report_markdown,
    eval_markdown,
    markdown_plan,
    markdown_tables,
)
from fwctl.report.layout import Style
from fwctl.report.markdown_plan import diagnostics
from fwctl.report.markdown_text import prose
from fwctl.report.model import APPLIES, Report

# A comment of GitHub holds 65,536 characters; how it counts those beyond the basic plane is not said, so
# they count twice here. GitLab allows 1,000,000.
COMMENT_CHARACTERS = 65_536

Layout = Callable[[Report], list[str]]

# Command -> its layouts, the longest first; the last one is short whatever the report holds.
LAYOUTS: dict[str, tuple[Layout, ...]] = {
    **dict.fromkeys(APPLIES, (markdown_tables.apply, markdown_tables.apply_numbers)),
    "drift": (markdown_tables.drift, markdown_tables.drift_numbers),
    "lock": (markdown_tables.lock, markdown_tables.lock_numbers),
    "audit": (audit_markdown.full, audit_markdown.numbers),
    "bench compare": (bench_compare_markdown.full, bench_compare_markdown.numbers),
    "bench report": (bench_report_markdown.full, bench_report_markdown.numbers),
    "eval compare": (eval_markdown.full, eval_markdown.numbers),
    "eval grade": (eval_markdown.full, eval_markdown.numbers),
    "eval run": (eval_markdown.full, eval_markdown.numbers),
    "fit-check": (markdown_tables.fit, markdown_tables.fit_numbers),
    "plan": (markdown_plan.full, markdown_plan.fields, markdown_plan.rows, markdown_plan.numbers),
    "shapes": (markdown_tables.shapes, markdown_tables.shapes_numbers),
    "show": (markdown_plan.full, markdown_plan.fields, markdown_plan.rows, markdown_plan.numbers),
    "status": (markdown_tables.status, markdown_tables.status_numbers),
    "validate": (markdown_tables.validate, markdown_tables.validate_numbers),
}
_SHORTENED = "_Shortened to fit here; `fwctl {command}` prints all of it._"
_LONGEST = 1000  # characters of a message or a next step
_STEPS = 10


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The longest form that fits in a comment. A command that failed early has a document too."""
    return _longest(report, characters, COMMENT_CHARACTERS)


def summary(report: Report, limit_bytes: int) -> str:
    """The longest form of at most that many bytes of UTF-8, empty when none is that short."""
    found = _longest(report, _bytes, limit_bytes)
    return found if _bytes(found) <= limit_bytes else ""


def characters(text: str) -> int:
    """Length in UTF-16 units, which is never less than the number of characters."""
    return len(text) + sum(char > "\uffff" for char in text)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def marker(report: Report) -> str:
    """The unseen first line."""
    named = [str(report.body[key]) for key in ("account", "stack") if key in report.body]
    told = [re.sub("[^A-Za-z0-9_./-]", "", "/".join(named)), str(report.body.get("digest", ""))]
    return " ".join(["<!-- fwctl:" + report.command, *filter(None, told), "-->"])


def _longest(report: Report, size: Callable[[str], int], limit: int) -> str:
    layouts = LAYOUTS.get(report.command) if report.body else (_failure, _failure_numbers)
    text = ""
    for number, layout in enumerate(layouts or ()):
        lines = [*layout(report), "", *_error(report)]
        if number:
            lines += ["", _SHORTENED.format(command=report.command)]
        text = _document(report, lines)
        if size(text) <= limit:
            break
    return text


def _document(report: Report, lines: Sequence[str]) -> str:
    text = "\n".join([marker(report), *lines]).rstrip("\n") + "\n"
    return re.sub("\n{3,}", "\n\n", text)


def _failure(report: Report) -> list[str]:
    return [f"## fwctl {report.command}: failed", "", *diagnostics(report)]


def _failure_numbers(report: Report) -> list[str]:
    return [f"## fwctl {report.command}: failed", "", f"{len(report.diagnostics)} problems were found.", ""]


def _error(report: Report) -> list[str]:
    """Why the command did not succeed, at most a page of it."""
    told = report.body and any(item.severity is Severity.ERROR for item in report.diagnostics)
    if report.error is None or told:
        return []
    lines = ["> [!CAUTION]", f"> {prose(report.error.message[:_LONGEST])}"]
    steps = report.error.next_steps
    lines += [f"> - next: {prose(step[:_LONGEST])}" for step in steps[:_STEPS]]
    return lines + ([f"> - and {len(steps) - _STEPS} more"] if len(steps) > _STEPS else [])
