"""Fit verdicts for people: the verdict, a memory bar of one GPU, the numbers, what would fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report
from fwctl.report.values import per_hour
from fwctl.units import GIB

VERDICT_STYLE = {"fits": "bold green", "tight": "bold yellow", "does-not-fit": "bold red", "unknown": "bold"}
_BAR_COLUMNS = 40
# Part of a GPU's memory -> glyph and colour; any other part (drafter, adapters ...) gets _OTHER_PART.
_PARTS = {
    "weights": ("█", "blue"),
    "overhead": ("▒", "yellow"),
    "kv pool": ("░", "green"),
    "left outside": ("·", "dim"),
}
_OTHER_PART = ("▓", "magenta")
_SPARE = ("kv pool", "left outside")


def write(page: Page, report: Report) -> None:
    """One block for each deployment, then the counts."""
    for result in report.body.get("results", ()):
        _result(page, result, detail=report.detail)
        page.blank()
    matrix = report.body.get("matrix")
    if matrix:
        _matrix(page, matrix)
    results = report.body.get("results", ())
    counts = {verdict: sum(r["verdict"] == verdict for r in results) for verdict in VERDICT_STYLE}
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number)
    page.line(Span("Fit: ", "bold"), told or "nothing to check")


def _result(page: Page, result: Mapping[str, Any], *, detail: bool) -> None:
    verdict, name = result["verdict"], str(result["name"] or result["model"])
    page.line(Span(name, "bold"), ": ", Span(verdict, VERDICT_STYLE.get(verdict, "")))
    model = f"{result['model']} on " if result["model"] and result["model"] != name else ""
    page.line(
        f"{model}{result['accelerator_count']} x {result['accelerator']}, {result['precision']}, "
        f"KV {result['kv_precision']}, engine policy {result['engine']}",
        indent=2,
    )
    for reason in result.get("reasons", ()):
        page.line(str(reason), indent=2)
    _bar(page, result)
    for row in _numbers(result):
        page.line(row, indent=2)
    for assumed in result.get("assumed", ()):
        page.line(Span("assumed: ", "dim"), str(assumed), indent=2)
    page.line(Span(f"evidence: {result['evidence']}", "dim"), indent=2)
    _alternatives(page, result.get("alternatives", ()))
    if detail:
        page.line(Span("arithmetic:", "bold"), indent=2)
        for line in (*result.get("explain", ()), *result.get("sources", ())):
            page.line(str(line), indent=4)


def _bar(page: Page, result: Mapping[str, Any]) -> None:
    """One GPU as a bar of its parts, each with its size below."""
    parts = [(item["part"], max(item["bytes"] or 0, 0)) for item in result.get("memory") or ()]
    parts = [(part, size) for part, size in parts if size]
    total = sum(size for _, size in parts)
    if not total:
        return
    bar: list[Span] = []
    legend: list[Part] = []
    for part, size in parts:
        glyph, style = _PARTS.get(part, _OTHER_PART)
        mark = Span(page.style.glyph(glyph), style)
        bar.append(Span(mark.text * max(round(_BAR_COLUMNS * size / total), 1), style))
        legend += [mark, f" {part} {size / GIB:.2f} GiB  "]
    usable = result.get("usable_bytes_per_gpu") or total
    needed = sum(size for part, size in parts if part not in _SPARE)
    told = f"{total / GIB:.2f} GiB a GPU"
    if needed > usable:
        told = f"{needed / GIB:.2f} GiB needed, {usable / GIB:.2f} GiB usable a GPU"
    page.raw("  [", *bar, f"] {told}")
    page.line(*legend, indent=2, hang=0)


def _numbers(result: Mapping[str, Any]) -> list[str]:
    rows = []
    room, middle = result.get("max_concurrency"), result.get("max_concurrency_p50")
    if room:
        rows.append(
            f"conversations of {result['context_tokens']:,} tokens: {_band(room)}; "
            f"wanted {result['concurrency']:g}"
        )
    if middle:
        rows.append(f"conversations of median length: {_band(middle)}")
    if result.get("max_context_tokens"):
        rows.append(f"longest context at {result['concurrency']:g}: {result['max_context_tokens']:,} tokens")
    if result.get("kv_bytes_per_token_per_gpu"):
        rows.append(f"KV cache: {result['kv_bytes_per_token_per_gpu']:,} bytes a token and GPU")
    roofline = result.get("roofline")
    if roofline:
        bound = roofline["decode"]["concurrency"]
        cost = f", {per_hour(roofline['usd_per_hour'])}" if roofline.get("usd_per_hour") is not None else ""
        rows.append(
            f"decode at most {bound['tokens_per_second_bound']:,.0f} tokens/s "
            f"({bound['bound_by']} bound; a bound of the hardware, no forecast){cost}"
        )
    return rows


def _band(band: Mapping[str, float]) -> str:
    """`53.6 (pessimistic) to 65.6, middle 60.3`; one number for a measured pool."""
    low, mid, high = (f"{band[key]:,.1f}" for key in ("low", "mid", "high"))
    return low if low == high else f"{low} (pessimistic) to {high}, middle {mid}"


def _alternatives(page: Page, alternatives: Sequence[Mapping[str, Any]]) -> None:
    if not alternatives:
        return
    page.line(Span("what would fit:", "bold"), indent=2)
    rows = [
        (
            f"{item['accelerator_count']} x {item['accelerator']}",
            item["precision"],
            str(item.get("kv_precision") or ""),
            conversations(item.get("max_concurrency")),
            per_hour(item.get("usd_per_hour")),
            "; ".join(str(change) for change in item.get("changes", ())),
            str(item.get("shape") or ""),
        )
        for item in alternatives
    ]
    header = ("accelerators", "precision", "KV", "conversations", "cost", "change", "shape")
    page.table(header, rows, indent=4, right="conversations,cost")


def conversations(band: Any) -> str:
    """The pessimistic end of a band of conversations."""
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
            conversations(item.get("max_concurrency")),
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
