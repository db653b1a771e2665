"""A bench report for terminals: the table, and a histogram of each target without any colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fwctl.report import bench_report_rows as table
from fwctl.report import bench_words as words
from fwctl.report.layout import Page, Span, columns
from fwctl.report.model import Report

NARROWEST, WIDEST = 30, 100
MOST_HISTOGRAMS = 4  # targets
_EIGHTHS = " ▏▎▍▌▋▊▉"


def write(page: Page, report: Report) -> None:
    body = report.body
    for kind, text in table.problems(body):
        page.line(Span(f"{kind}: ", "bold red" if kind == "INVALID" else "yellow"), text)
    page.blank()
    page.table(table.header(body), table.rows(body), right=", ".join(table.header(body)[2:]))
    found_arms = table.arms(body)
    if len(found_arms) <= MOST_HISTOGRAMS:
        _histograms(page, found_arms)
    told = [(arm["label"], *row) for arm in found_arms for row in table.drafts(arm, words.SHOWN_POSITIONS)]
    if told:
        page.blank()
        page.table(("target", "drafts", ""), told)
    page.blank()
    for arm in found_arms:
        if arm["figures"]["errors"]:
            page.line(f"{arm['label']} failed: {words.errors(arm['figures']['errors'])}")
    if len(found_arms) > MOST_HISTOGRAMS:
        page.line(f"Histograms are shown for up to {MOST_HISTOGRAMS} targets; --format html has all charts.")
    for name in body.get("charts") or ():
        page.line(f"wrote {name}")


def _histograms(page: Page, arms: Sequence[Mapping[str, Any]]) -> None:
    for arm in arms:
        for metric in ("ttft_s", "total_s"):
            found = arm["distributions"][metric]
            if found is None:
                continue
            page.blank()
            page.line(Span(f"{arm['label']}: {words.METRICS[metric]}", "bold"), f", {found['n']:,} requests")
            for line in histogram(found, arm["figures"][metric], page.style.width, page.style.unicode):
                page.raw(line)


def histogram(
    found: Mapping[str, Any], estimates: Mapping[str, Any], width: int | None, unicode: bool
) -> Iterator[str]:
    """One line a bin: its lower end, a bar, the count, and where percentiles fall."""
    total = min(max(width or 72, NARROWEST), WIDEST)
    bins = found["bins"]
    most = max(count for _, _, count in bins)
    labels = [words.time(low) for low, _, _ in bins]
    counts = [f"{count:,}" for _, _, count in bins]
    pad, tail = max(map(columns, labels)), max(map(len, counts))
    room = max(total - pad - tail - 11, 4)
    for at, (low, high, count) in enumerate(bins):
        last = at == len(bins) - 1
        marks = [
            q
            for q, item in estimates.items()
            if item["value"] is not None and low <= item["value"] and (item["value"] < high or last)
        ]
        bar = _bar(count / most * room if most else 0, unicode)
        told = f"{counts[at]:>{tail}} {' '.join(marks)}"
        yield f"{labels[at]:>{pad}} {bar}{' ' * (room - len(bar))} {told}".rstrip()


def _bar(length: float, unicode: bool) -> str:
    """Eighths of a column where the terminal has them; anything that is not nothing is seen."""
    whole, rest = int(length), length - int(length)
    if not unicode:
        return "#" * max(whole + (rest >= 0.5), int(length > 0))
    part = _EIGHTHS[int(rest * 8)].strip()
    return "█" * whole + (part or ("▏" if length > 0 and not whole else ""))
