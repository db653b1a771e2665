"""A bench run for people: what each target answered, how long it took, and what the load really was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.report.layout import Page
from fwctl.report.model import Report

_METRICS = ("ttft_s", "ttft_from_schedule_s", "ttfv_s", "total_s", "tpot_s")
_SYSTEM = {
    "requests_per_s": "{:.2f} requests/s",
    "concurrency": "{:.1f} at a time",
    "output_tokens_per_s": "{:.0f} output tokens/s",
}


def write(page: Page, report: Report) -> None:
    summary = report.body["summary"]
    page.line(report.body["out"])
    for name, item in summary["targets"].items():
        for line in _target(name, item):
            page.line(line)
    if summary["selftest"]:
        error = summary["selftest"]["ttft_error_ms"]
        page.line(
            f"own error of this machine: TTFT {error['p50']:.1f} ms at p50, {error['p95']:.1f} ms at p95"
        )
    for text in summary["warnings"]:
        page.line(f"warning: {text}")
    for reason in summary["invalid_reasons"]:
        page.line(f"INVALID: {reason}")
    if summary["interrupted"]:
        page.line("interrupted: this is what was done")


def _target(name: str, item: Mapping[str, Any]) -> Iterator[str]:
    errors = ", ".join(f"{count} {word}" for word, count in item["errors"].items())
    yield f"{name}: {item['n_ok']} of {item['n']} went well{'; ' + errors if errors else ''}"
    for metric in _METRICS:
        if metric in item:
            values = "  ".join(f"{q} {_estimate(found)}" for q, found in item[metric].items())
            yield f"  {metric:20} {values}"
    if achieved := ", ".join(_achieved(item)):
        yield f"  {'achieved':20} {achieved}"


def _achieved(item: Mapping[str, Any]) -> Iterator[str]:
    """What the load really was, and what a million tokens cost at it."""
    for key, form in _SYSTEM.items():
        if value := item["throughput"][key]:
            yield form.format(value)
    if (price := item["usd_per_million_output_tokens"]) is not None:
        yield f"${price:.2f} a million output tokens"
    if (share := item["cached_share"]) is not None:
        yield f"{share * 100:.0f} % of prompt tokens cached"


def _estimate(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return f"n/a (n={found['n']}, needs {found['n_needed']})"
    return f"{found['value']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"
