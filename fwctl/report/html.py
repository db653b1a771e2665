"""One HTML file that needs nothing else: no network, no script, light and dark, readable without colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fwctl.report import cost_html, eval_html, html_bench, html_fit, html_plan, svg
from fwctl.report.html_text import badge, code, escape, table
from fwctl.report.layout import Style
from fwctl.report.model import Report

Layout = Callable[[Report], list[str]]

# Command -> (title, what stands in <main>).
LAYOUTS: dict[str, tuple[Callable[[Report], str], Layout]] = {
    "eval compare": (eval_html.title, eval_html.body),
    "eval grade": (eval_html.title, eval_html.body),
    "eval run": (eval_html.title, eval_html.body),
    "bench compare": (html_bench.compare_title, html_bench.compare_body),
    "bench report": (html_bench.report_title, html_bench.report_body),
    "cost": (cost_html.title, cost_html.body),
    "fit-check": (html_fit.title, html_fit.body),
    "plan": (html_plan.title, html_plan.body),
    "show": (html_plan.title, html_plan.body),
}

# Nothing may be loaded, whatever a value of a spec looks like.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The file in ASCII, so that any locale carries it unchanged; empty when there is no result."""
    layout = LAYOUTS.get(report.command)
    if layout is None or not report.body:
        return ""
    title, body = layout[0](report), layout[1](report)
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title>",
        f"<style>{_styles(body)}</style>",
        "</head>",
        "<body>",
        *body,
        *_diagnostics(report),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode() + "\n"


def _styles(body: list[str]) -> str:
    """The style sheet, with that of the charts when there are any."""
    page = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return page + svg.STYLE if any('class="chart"' in line for line in body) else page


def _diagnostics(report: Report) -> list[str]:
    if not report.diagnostics:
        return []
    kinds = {"error": "bad", "warning": "warn", "note": "info"}
    rows = []
    for item in report.diagnostics:
        at = item.position
        where = f"{at.file}:{at.line}:{at.column}" if at else item.deployment or ""
        fix = f'<div class="soft">fix: {escape(item.suggestion)}</div>' if item.suggestion else ""
        rows.append(
            (
                code(where),
                badge(item.severity.value, kinds[item.severity.value]),
                escape(item.code),
                escape(item.message) + fix,
            )
        )
    header = ("place", "severity", "rule", "problem")
    return ["<section><h2>Problems</h2>", *table("Problems that were found", header, rows), "</section>"]
