"""A month of three deployments against the sheet that was worked out by hand: tests/data/cost/sheet.md."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fwctl.operate.cost import Span, cost
from fwctl.operate.cost_billing import read_billing
from fwctl.operate.cost_document import Findings, diagnostics, document
from fwctl.operate.cost_prices import prices_by_day
from fwctl.operate.cost_trend import trends
from fwctl.operate.samples import integrate
from fwctl.records.samples import Round, Sample

SHEET = Path(__file__).parents[1] / "data" / "cost" / "sheet.md"
SPAN = Span(date(2026, 8, 17), date(2026, 9, 15))
LAST_WEEK = datetime(2026, 9, 9, tzinfo=UTC)
GAP = (datetime(2026, 9, 3, 10, tzinfo=UTC), datetime(2026, 9, 3, 13, tzinfo=UTC))
HEADER = (
    "end_time,start_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,"
    "prompt_tokens,completion_tokens,colour"
)


def rounds() -> Iterator[Round]:
    """A round every 2 minutes, the gap left out."""
    at = SPAN.start
    while at <= SPAN.end:
        if not GAP[0] < at < GAP[1]:
            yield Round(at, "acme", tuple(_samples(at)))
        at += timedelta(minutes=2)


def _samples(at: datetime) -> Iterator[Sample]:
    recent = at >= LAST_WEEK
    yield Sample("chat", "m/chat", "NVIDIA_H100_80GB", 2, 1, concurrent=0 if at.hour < 6 else 3)
    if 8 <= at.hour < 20:
        idle = recent and at.hour >= 14
        yield Sample("batch", "m/batch", "NVIDIA_B200_180GB", 4, 2, concurrent=0 if idle else 9)
    yield Sample("edge", "m/edge", "NVIDIA_H200_141GB", 1, 1, concurrent=5, kv_slots=0.4 if recent else 0.8)


def billing_lines() -> Iterator[str]:
    yield HEADER
    for day in SPAN.days:
        recent = day >= LAST_WEEK.date()
        half = 2 if recent else 1
        times = f"{day + timedelta(days=1)} 00:00:00 UTC,{day} 00:00:00 UTC"
        h100 = {date(2026, 8, 20): 177_984, date(2026, 8, 21): 176_040}.get(day, 172_800)
        yield f"{times},DEPLOYMENT_USAGE,NVIDIA_H100_80GB,{h100},m/chat,,,red"
        yield f"{times},DEPLOYMENT_USAGE,NVIDIA_B200_180GB,345600,m/batch,,,red"
        yield f"{times},DEPLOYMENT_USAGE,NVIDIA_H200_141GB,86400,m/edge,,,red"
        yield f"{times},TEXT_COMPLETION_INFERENCE_USAGE,,,m/chat,40000000,8000000,"
        yield f"{times},TEXT_COMPLETION_INFERENCE_USAGE,,,m/batch,{50_000_000 // half},{10_000_000 // half},"
        yield f"{times},TEXT_COMPLETION_INFERENCE_USAGE,,,m/edge,{15_000_000 // half},{5_000_000 // half},"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    path = tmp_path_factory.mktemp("cost") / "billing.csv"
    path.write_text("\n".join(billing_lines()) + "\n")
    found = cost(
        SPAN,
        prices_by_day(SPAN.days),
        sampled=integrate(rounds(), start=SPAN.start, end=SPAN.end),
        billing=read_billing(path),
    )
    return Findings(found, trends(found.lines, SPAN.last))


@pytest.fixture(scope="module")
def body(findings: Findings) -> dict[str, Any]:
    return document(findings)


def table(*header: str) -> list[dict[str, str]]:
    """Rows of the sheet's table that begins with these columns."""
    lines = SHEET.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    at = next(n for n, row in enumerate(cells) if tuple(row[: len(header)]) == header)
    rows = []
    for row in cells[at + 2 :]:
        if len(row) != len(cells[at]):
            break
        rows.append(dict(zip(cells[at], row, strict=True)))
    return rows


def told(value: Any) -> str:
    """A figure as the sheet writes it."""
    if value is None:
        return "-"
    return f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def same(found: dict[str, Any], row: dict[str, str]) -> None:
    assert {name: told(found[name]) for name in row} == row


def one(rows: list[dict[str, Any]], row: dict[str, str], *names: str) -> dict[str, Any]:
    (found,) = [item for item in rows if all(item[name] == row[name] for name in names)]
    return found


@pytest.mark.parametrize("row", table("day", "label"), ids=lambda row: f"{row['day']} {row['label']}")
def test_a_day_costs_what_the_sheet_says(body: dict[str, Any], row: dict[str, str]) -> None:
    same(one(body["days"], row, "day", "label"), row)


@pytest.mark.parametrize("row", table("label", "gpu_hours"), ids=lambda row: row["label"])
def test_the_month_costs_what_the_sheet_says(body: dict[str, Any], row: dict[str, str]) -> None:
    found = {**body["total"], "label": "total"}
    same(found if row["label"] == "total" else one(body["deployments"], row, "label"), row)


def test_billing_and_samples_are_compared_as_in_the_sheet(body: dict[str, Any]) -> None:
    rows = table("day", "accelerator")
    for row in rows:
        same(one(body["reconciliation"], row, "day", "accelerator"), row)
    disagreeing = [item for item in body["reconciliation"] if not item["agrees"]]
    assert len(disagreeing) == len([row for row in rows if row["agrees"] == "False"])
    assert len(body["reconciliation"]) == 90


def test_a_rising_cost_is_told_with_its_cause(body: dict[str, Any]) -> None:
    rows = table("label", "before_usd_per_million_tokens")
    assert len(rows) == len(body["trends"])
    for row in rows:
        same(one(body["trends"], row, "label"), row)


def test_the_gap_stays_a_gap(body: dict[str, Any]) -> None:
    assert body["gaps"] == [{"start": "2026-09-03T10:00:00+00:00", "end": "2026-09-03T13:00:00+00:00"}]


def test_what_needs_attention_is_a_diagnostic(findings: Findings) -> None:
    codes = [item.code for item in diagnostics(findings)]
    assert codes == ["cost-sources-disagree"] * 4 + ["cost-rising"] * 2
