"""Text for people. Each command with a layout of its own is one row in LAYOUTS."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from fwctl.report.layout import Page, Style
from fwctl.report.model import APPLIES, Report

# Command -> module of fwctl.report with `write(page, report)`.
LAYOUTS: dict[str, str] = {
    **dict.fromkeys(APPLIES, "apply_text"),
    "audit": "audit_text",
    "bench compare": "bench_compare_text",
    "bench report": "bench_report_text",
    "bench run": "bench_run_text",
    "cost": "cost_text",
    "bench capacity": "capacity_text",
    "drift": "drift_text",
    "lock": "lock_text",
    "doctor": "checks_text",
    "evidence add": "evidence_text",
    "evidence check": "evidence_text",
    "evidence list": "evidence_text",
    **dict.fromkeys(("experiment run", "experiment status", "experiment stop"), "experiment_text"),
    "experiment list": "experiment_list_text",
    "eval compare": "eval_text",
    "eval grade": "eval_text",
    "eval run": "eval_text",
    "eval show": "eval_show_text",
    "fit-check": "fit_text",
    "plan": "plan_text",
    "route check": "route_check_text",
    "route drill": "route_drill_text",
    "shapes": "shapes_text",
    "show": "plan_text",
    **dict.fromkeys(
        [f"speculate {word}" for word in ("adapt", "collect", "train", "evaluate", "decide", "watch")],
        "speculation_adapt_text",
    ),
    "speculate explain": "speculation_explain_text",
    "speculate replay": "speculation_replay_text",
    "status": "status_text",
    "validate": "validate_text",
    "watch": "watch_text",
}


def render(report: Report, style: Style) -> str:
    """The result as text; empty when there is nothing to say on stdout."""
    if report.text is not None:
        return report.text
    layout = LAYOUTS.get(report.command)
    if layout is None or not report.body:
        return ""
    page = Page(style)
    write = cast(Callable[[Page, Report], None], import_module(f"fwctl.report.{layout}").write)
    write(page, report)
    return page.text()
