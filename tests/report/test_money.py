"""Amounts are sums by hand."""

from fwctl.report import money
from fwctl.report.layout import Page, Style
from fwctl.report.plan_text import cost as cost_text
from tests.report import samples


def test_each_change_the_unchanged_together_and_the_total() -> None:
    report = samples.plan(
        samples.change("chat", "update", cost=samples.cost(40.0, 80.0, 8.0)),
        samples.change("a", "no-op", cost=samples.cost(1.0, 2.0)),
        samples.change("b", "no-op", cost=samples.cost(3.0, 4.0)),
    )
    assert [row.cells("->") for row in money.rows(report.body)] == [
        ("chat", "$32.00/h -> $40.00/h (+$8.00/h)", "$72.00/h -> $80.00/h (+$8.00/h)"),
        ("2 unchanged", "$4.00/h", "$6.00/h"),
        ("total", "$32.00/h -> $40.00/h (+$8.00/h)", "$152.00/h -> $160.00/h (+$8.00/h)"),
    ]


def test_an_unknown_price_stays_unknown_in_the_sum() -> None:
    report = samples.plan(
        samples.change("chat", "update", cost=samples.cost(None, None, None)),
        samples.change("a", "no-op", cost=samples.cost(None, None)),
        samples.change("b", "no-op", cost=samples.cost(3.0, 4.0)),
    )
    assert [row.cells("->")[1:] for row in money.rows(report.body)][:2] == [("unknown", "unknown")] * 2


def test_a_plan_without_prices_has_no_rows() -> None:
    assert money.rows(samples.plan(cost={}).body) == []


def test_a_plan_without_changes_has_only_its_total() -> None:
    report = samples.plan(samples.change("a", "no-op"))
    assert [row.name for row in money.rows(report.body)] == ["total"]


def test_a_saving_has_its_sign() -> None:
    assert money.moved(8.0, -24.0, "->") == "$32.00/h -> $8.00/h (-$24.00/h)"
    assert money.monthly({"monthly_floor_usd": 5840.0, "floor_change": -24.0}) == (
        "floor of a month (730 h): $5,840.00 (-$17,520.00)"
    )
    assert money.monthly({"monthly_floor_usd": None}) is None


def test_budget_reservations_and_missing_prices_stand_below() -> None:
    pool = {
        "accelerator": "NVIDIA_H100_80GB",
        "gpus": 12,
        "used_at_floor": 9,
        "used_at_ceiling": 12,
        "overflow_at_floor": 0,
        "overflow_at_ceiling": 4,
        "usd_per_hour": 60.0,
    }
    extra = {"reserved": [pool, {**pool, "usd_per_hour": None}], "unknown": [f"d{at}" for at in range(22)]}
    report = samples.plan(samples.change("a", "update"))
    page = Page(Style(unicode=False))
    cost_text(page, {**report.body, "cost": {**report.body["cost"], **extra}})
    lines = page.text().splitlines()
    assert "  budget pass: floor: $40.00/h, budget $80.00/h" in lines
    assert (
        "  reserved: 12 x NVIDIA_H100_80GB ($60.00/h whether used or not), used 9 at the floor and 12 at the "
        "ceiling, on demand beyond them 0 and 4"
    ) in lines
    assert any("(contract price not known)" in line for line in lines)
    assert lines[-2].startswith("  no price is known for d0, d1")
    assert lines[-2].endswith("d19 and 2 more")
    assert lines[-1] == "  prices of 2026-09-01, USD"
