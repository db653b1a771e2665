"""Fit verdicts for people: the verdict, a memory bar of one GPU, the numbers, what would fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.report.values import per_hour
from fwctl.units import GIB

VERDICT_STYLE = {"fits": "bold green", "tight": "bold yellow", "does-not-fit": "bold red", "unknown": "bold"}
_BAR_COLUMNS = 40


def write(page: Page, report: Report) -> None:
    """One block for each deployment, then the counts."""
    for result in report.body.get("results", ()):
        _result(page, result, explain=bool(report.body.get("explain")))
        page.blank()
    matrix = report.body.get("matrix")
    if matrix:
        _matrix(page, matrix)
    results = report.body.get("results", ())
    counts = {verdict: sum(r["verdict"] == verdict for r in results) for verdict in VERDICT_STYLE}
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    page.line(Span("Fit: ", "bold"), told or "nothing to check")


def _result(page: Page, result: Mapping[str, Any], *, explain: bool) -> None:
    verdict = result["verdict"]
    page.line(Span(str(result["name"] or result["model"]), "bold"), ": ", Span(verdict, VERDICT_STYLE.get(verdict, "")))
    page.line(
        f"{result['model']} on {result['accelerator_count']} x {result['accelerator']}, {result['precision']}"
        f", KV {result['kv_precision']}, engine policy {result['engine']}",
        indent=2,
    )
    for reason in result.get("reasons", ()):
        page.line(reason, indent=2)
    if result.get("usable_bytes_per_gpu") and result.get("weights_bytes_per_gpu"):
        _bar(page, result)
        _numbers(page, result)
    for assumed in result.get("assumed", ()):
        page.line(Span("assumed: ", "dim"), str(assumed), indent=2)
    page.line(Span(f"evidence: {result.get('evidence', 'unknown')}", "dim"), indent=2)
    _alternatives(page, result.get("alternatives", ()))
    for line in result.get("explain", ()) if explain else ():
        page.line(str(line), indent=4)


def _bar(page: Page, result: Mapping[str, Any]) -> None:
    """Weights, overhead and KV pool of one GPU as one bar."""
    total = result["usable_bytes_per_gpu"]
    weights = min(result["weights_bytes_per_gpu"], total)
    overhead = (result.get("overhead_bytes_per_gpu") or {}).get("mid") or 0
    pool = max((result.get("kv_pool_bytes_per_gpu") or {}).get("mid") or 0, 0)
    parts = []
    for size, glyph, style in ((weights, "█", "blue"), (overhead, "▒", "yellow"), (pool, "░", "green")):
        cells = round(_BAR_COLUMNS * size / total)
        if size > 0 and cells == 0:
            cells = 1
        parts.append(Span(page.style.glyph(glyph) * cells, style))
    page.raw("  [", *parts, "]")
    over = result["weights_bytes_per_gpu"] > total
    page.line(
        f"one GPU of {total / GIB:.2f} GiB: weights {result['weights_bytes_per_gpu'] / GIB:.2f} GiB"
        + (" (more than the GPU has)" if over else "")
        + f", overhead {overhead / GIB:.2f} GiB, KV pool {pool / GIB:.2f} GiB",
        indent=2,
    )


def _numbers(page: Page, result: Mapping[str, Any]) -> None:
    rows = []
    for name, key in (("KV bytes a token, per GPU", "kv_bytes_per_token_per_gpu"),):
        if result.get(key) is not None:
            rows.append(f"{name}: {result[key]:,.0f}")
    room = result.get("max_concurrency")
    if room:
        rows.append(
            f"conversations that fit: {room['low']:.1f} low, {room['mid']:.1f} mid, {room['high']:.1f} high"
        )
    if result.get("max_context_tokens") is not None:
        rows.append(f"longest context at this concurrency: {result['max_context_tokens']:,} tokens")
    for row in rows:
        page.line(row, indent=2)


def _alternatives(page: Page, alternatives: Sequence[Mapping[str, Any]]) -> None:
    if not alternatives:
        return
    page.line(Span("what fits, cheapest first:", "bold"), indent=2)
    rows = [
        (
            f"{item['accelerator_count']} x {item['accelerator']}",
            item["precision"],
            str(item.get("kv_precision") or ""),
            _conversations(item.get("max_concurrency")),
            per_hour(item.get("usd_per_hour")),
            "; ".join(str(change) for change in item.get("changes", ())),
            str(item.get("shape") or ""),
        )
        for item in alternatives
    ]
    header = ("accelerators", "precision", "KV", "conversations", "cost", "change", "shape")
    page.table(header, rows, indent=4, right="conversations,cost")


def _conversations(band: Any) -> str:
    if isinstance(band, Mapping):
        return f"{band['low']:.1f}"
    return "" if band is None else f"{band:.1f}"


def _matrix(page: Page, matrix: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (
            str(item["accelerator"]),
            str(item["accelerator_count"]),
            str(item["precision"]),
            Span(str(item["verdict"]), VERDICT_STYLE.get(item["verdict"], "")),
            _conversations(item.get("max_concurrency")),
            per_hour(item.get("usd_per_hour")),
        )
        for item in matrix
    ]
    page.table(
        ("accelerator", "count", "precision", "verdict", "conversations", "cost"),
        rows,
        right="count,conversations,cost",
    )
    page.blank()
