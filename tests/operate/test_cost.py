"""Costs that the sheet does not show: one source alone, reserved pools, shared models, unknown prices."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import InvalidSpecError, UsageError
from fwctl.operate.cost import Cost, Span, cost
from fwctl.operate.cost_billing import BilledRow, Billing
from fwctl.operate.cost_document import Findings, diagnostics, document, rounded
from fwctl.operate.cost_prices import PriceFile, prices_by_day
from fwctl.operate.cost_serverless import compare
from fwctl.operate.cost_trend import trends
from fwctl.operate.cost_waste import read_records, wasted
from fwctl.operate.samples import integrate
from fwctl.records.samples import Round, Sample

DAY = date(2026, 10, 1)
SPAN = Span(DAY, DAY)
H100 = "NVIDIA_H100_80GB"  # 8 dollars an hour since 2026-09-01


def gpu(hours: float, model: str = "m/x", kind: str = H100, day: date = DAY) -> BilledRow:
    return BilledRow(day, kind, model, Fraction(hours) * 3600)


def text(prompt: int, completion: int, model: str = "m/x", day: date = DAY) -> BilledRow:
    return BilledRow(day, None, model, Fraction(0), prompt, completion, 5)


def whole_day(*samples: Sample, span: Span = SPAN) -> list[Round]:
    """These samples from midnight to midnight, every three minutes."""
    steps = (span.end - span.start) // timedelta(minutes=3)
    return [Round(span.start + timedelta(minutes=3 * n), "acme", samples) for n in range(steps + 1)]


def counted(
    rows: Iterable[BilledRow] | None = None,
    rounds: list[Round] | None = None,
    *,
    span: Span = SPAN,
    prices: tuple[dict[str, Any], ...] = (),
    pools: dict[str, int] | None = None,
    now: datetime | None = None,
) -> Cost:
    sampled = integrate(rounds, start=span.start, end=span.end, pools=pools) if rounds is not None else None
    return cost(
        span,
        prices_by_day(span.days, [PriceFile(item, "prices.yaml") for item in prices]),
        sampled=sampled,
        billing=Billing(tuple(rows), 0) if rows is not None else None,
        pools=pools,
        now=now,
    )


def day_rows(found: Cost) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = document(Findings(found))["days"]
    return rows


def test_billing_alone_gives_a_line_a_model() -> None:
    (row,) = day_rows(counted([gpu(24), text(3_000_000, 1_000_000), text(7, 7, "m/serverless")]))
    assert (row["deployment_id"], row["label"], row["source"]) == (None, "x", "billing")
    assert (row["usd"], row["usd_per_million_tokens"]) == (192.0, 48.0)  # 24 h x 8, / 4 M
    assert (row["idle_share"], row["cached_prompt_tokens"]) == (None, 5)


def test_tokens_of_a_model_that_nobody_deployed_are_left_over() -> None:
    found = document(Findings(counted([gpu(24), text(7, 9, "m/serverless")])))
    assert found["unattributed"] == [
        {"day": "2026-10-01", "model": "m/serverless", "prompt_tokens": 7, "completion_tokens": 9}
    ]


def test_samples_alone_give_estimated_tokens() -> None:
    sample = Sample("a", "m/x", H100, 1, 1, prompt_per_s=100, generated_per_s=10)
    (row,) = day_rows(counted(None, whole_day(sample)))
    assert (row["tokens_source"], row["prompt_tokens"], row["completion_tokens"]) == (
        "samples",
        8_640_000,  # 86,400 s x 100
        864_000,
    )


def test_samples_without_rates_leave_tokens_unknown() -> None:
    (row,) = day_rows(counted(None, whole_day(Sample("a", "m/x", H100, 1, 1))))
    assert (row["tokens_source"], row["prompt_tokens"], row["usd_per_million_tokens"]) == (
        "unknown",
        None,
        None,
    )
    assert row["usd"] == 192.0


def test_two_deployments_of_a_model_share_its_tokens_as_the_samples_saw_them() -> None:
    samples = (
        Sample("a", "m/x", H100, 1, 1, prompt_per_s=30, generated_per_s=0),
        Sample("b", "m/x", H100, 1, 1, prompt_per_s=10, generated_per_s=0),
    )
    rows = day_rows(counted([gpu(48), text(1001, 10)], whole_day(*samples)))
    assert [row["tokens_source"] for row in rows] == ["billing-split"] * 2
    assert [row["prompt_tokens"] for row in rows] == [750, 251]  # three quarters of 1001 are 750.75
    assert sum(row["completion_tokens"] for row in rows) == 10


def test_tokens_are_not_guessed_where_samples_saw_no_traffic() -> None:
    samples = (Sample("a", "m/x", H100, 1, 1), Sample("b", "m/x", H100, 1, 1))
    found = counted([gpu(48), text(100, 10)], whole_day(*samples))
    assert {row["tokens_source"] for row in day_rows(found)} == {"unknown"}
    assert len(found.unattributed) == 1


def test_a_deployment_without_a_billed_token_had_none() -> None:
    (row,) = day_rows(counted([gpu(24)], whole_day(Sample("a", "m/x", H100, 1, 1))))
    assert (row["prompt_tokens"], row["usd_per_million_tokens"]) == (0, None)


def test_an_unknown_price_is_unknown_and_the_rest_still_adds_up() -> None:
    found = Findings(counted([gpu(24), gpu(10, "m/y", "NVIDIA_GB900")]))
    body = document(found)
    assert [row["usd"] for row in body["days"]] == [192.0, None]
    assert (body["total"]["usd"], body["total"]["unpriced_gpu_hours"]) == (192.0, 10.0)
    assert [item.code for item in diagnostics(found)] == ["cost-price-unknown"]
    only = document(Findings(counted([gpu(10, "m/y", "NVIDIA_GB900")])))
    assert only["total"]["usd"] is None


def test_reserved_gpus_are_paid_whether_used_or_not_and_the_rest_on_demand() -> None:
    # 4 reserved at 5 dollars; 6 run for the whole day: 4 x 24 x 5 = 480 and 2 x 24 x 8 = 384
    contract = {"reserved_usd_per_gpu_hour": {H100: 5}}
    rounds = whole_day(Sample("a", "m/x", H100, 2, 3))
    found = counted(None, rounds, prices=(contract,), pools={H100: 4})
    (row,) = day_rows(found)
    assert (row["reserved_usd"], row["on_demand_usd"], row["usd"]) == (480.0, 384.0, 864.0)
    (pool,) = document(Findings(found))["pools"]
    assert (pool["gpu_hours"], pool["used_gpu_hours"], pool["unused_gpu_hours"]) == (96.0, 96.0, 0.0)
    # one GPU of four is used: three idle for 24 h at 5 dollars are 360
    found = counted(None, whole_day(Sample("a", "m/x", H100, 1, 1)), prices=(contract,), pools={H100: 4})
    (pool,) = document(Findings(found))["pools"]
    assert (pool["usd"], pool["unused_usd"], pool["unused_gpu_hours"]) == (480.0, 360.0, 72.0)
    assert day_rows(found)[0]["usd"] == 120.0


def test_the_rest_of_today_is_neither_paid_nor_unused_yet() -> None:
    # at noon one of four GPUs has run for 12 hours; the pool is paid for 48 GPU-hours so far
    contract = {"reserved_usd_per_gpu_hour": {H100: 5}}
    noon = SPAN.start + timedelta(hours=12)
    rounds = [item for item in whole_day(Sample("a", "m/x", H100, 1, 1)) if item.time <= noon]
    (pool,) = document(Findings(counted(None, rounds, prices=(contract,), pools={H100: 4}, now=noon)))[
        "pools"
    ]
    assert (pool["gpu_hours"], pool["used_gpu_hours"], pool["unused_gpu_hours"]) == (48.0, 12.0, 36.0)
    assert (pool["usd"], pool["unused_usd"]) == (240.0, 180.0)


def test_a_pool_is_paid_on_a_day_on_which_nothing_ran() -> None:
    contract = {"reserved_usd_per_gpu_hour": {H100: 5}}
    (pool,) = document(Findings(counted(None, whole_day(), prices=(contract,), pools={H100: 2})))["pools"]
    assert (pool["gpu_hours"], pool["unused_gpu_hours"], pool["unused_usd"]) == (48.0, 48.0, 240.0)


def test_a_gap_between_rounds_without_gpus_explains_no_billed_time() -> None:
    rounds = [item for item in whole_day() if not 3 < item.time.hour < 9]
    (residual,) = counted([gpu(5)], rounds).residuals
    assert (residual.agrees, residual.cause) == (False, "unknown")


def test_without_a_contract_price_the_pool_is_unknown() -> None:
    found = counted(None, whole_day(Sample("a", "m/x", H100, 1, 1)), pools={H100: 4})
    assert document(Findings(found))["pools"][0]["usd"] is None
    assert day_rows(found)[0]["usd"] is None


def test_billing_alone_cannot_tell_reserved_from_overflow() -> None:
    assert day_rows(counted([gpu(24)], pools={H100: 4}))[0]["usd"] is None


def test_tags_are_cost_centres() -> None:
    samples = (
        Sample("a", "m/x", H100, 1, 1, tags={"team": "search"}),
        Sample("b", "m/y", H100, 2, 1, tags={"team": "search"}),
        Sample("c", "m/z", H100, 1, 1),
    )
    body = document(Findings(counted(None, whole_day(*samples)), tag="team"))
    assert [(item["value"], item["usd"]) for item in body["cost_centres"]] == [
        (None, 192.0),
        ("search", 576.0),
    ]


def test_start_up_is_shown_and_not_billed() -> None:
    (row,) = day_rows(counted(None, whole_day(Sample("a", "m/x", H100, 2, 0, starting=1))))
    assert (row["starting_gpu_hours"], row["gpu_hours"], row["usd"]) == (48.0, 0.0, 0.0)


def test_serverless_wins_below_the_break_even_volume() -> None:
    # 192 dollars for 4 M tokens; serverless 3 x 0.5 + 1 x 2.5 = 4 dollars, 1 dollar a million
    prices = {"m/x": {"prompt": 0.5, "completion": 2.5}}
    found = counted([gpu(24), text(3_000_000, 1_000_000)])
    listed = prices_by_day([DAY], [PriceFile({"serverless_usd_per_million_tokens": prices}, "p")])[DAY]
    (row,) = document(Findings(found, serverless=compare(found.lines, listed.serverless)))["serverless"]
    assert (row["dedicated_usd"], row["serverless_usd"], row["cheaper"]) == (192.0, 4.0, "serverless")
    assert (row["tokens_per_day"], row["break_even_tokens_per_day"]) == (4_000_000.0, 192_000_000.0)
    assert compare(found.lines, {}) == []


def test_prices_change_on_their_day_and_a_dated_file_wins_from_its_date() -> None:
    files = [
        PriceFile({"date": "2026-09-02", "usd_per_gpu_hour": {H100: 5.5}}, "new.yaml"),
        PriceFile({"usd_per_gpu_hour": {"NVIDIA_GB900": 30}}, "always.yaml"),
    ]
    days = [date(2026, 8, 31), date(2026, 9, 1), date(2026, 9, 2)]
    found = prices_by_day(days, files)
    assert [found[day].price(H100) for day in days] == [7.0, 8.0, 5.5]
    assert [found[day].price("NVIDIA_GB900") for day in days] == [30, 30, 30]


@pytest.mark.parametrize(
    ("document_", "why"),
    [
        ({"date": "soon", "usd_per_gpu_hour": {H100: 1}}, "date is 'soon'"),
        ({"date": "2030-01-01"}, "has no price"),
        ({"serverless_usd_per_million_tokens": []}, "is not a mapping"),
        ({"serverless_usd_per_million_tokens": {"m": {"prompt": 1}}}, "needs `prompt` and `completion`"),
        ({"serverless_usd_per_million_tokens": {"m": {"prompt": -1, "completion": 1}}}, "not an amount"),
    ],
)
def test_a_price_file_with_a_mistake_is_refused(document_: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidSpecError, match=why):
        prices_by_day([DAY], [PriceFile(document_, "p.yaml")])


def test_a_month_that_has_not_ended_misses_nothing_yet() -> None:
    rounds = whole_day(Sample("a", "m/x", H100, 1, 1))[:241]  # until noon
    sampled = integrate(rounds, start=SPAN.start, end=SPAN.end)
    noon = datetime(2026, 10, 1, 12, tzinfo=UTC)
    found = cost(SPAN, prices_by_day([DAY]), sampled=sampled, now=noon)
    assert found.gaps == ()
    assert found.lines[0].figures.gpu_s == 12 * 3600


def test_days_before_the_first_sample_have_nothing_to_compare() -> None:
    span = Span(DAY, DAY + timedelta(days=1))
    rounds = [item for item in whole_day(Sample("a", "m/x", H100, 1, 1), span=span) if item.time.day == 2]
    rows = [gpu(24), gpu(24, day=DAY + timedelta(days=1)), text(1, 1)]
    found = counted(rows, rounds, span=span)
    assert [(item.day.day, item.agrees) for item in found.residuals] == [(2, True)]
    # the first day is counted from the export, the second from the samples up to 23:57
    assert [(row["source"], row["gpu_hours"]) for row in day_rows(found)] == [
        ("billing", 24.0),
        ("samples", 23.95),
    ]


def two_weeks(recent: Sample, price: float = 8.0) -> Any:
    span = Span(DAY, DAY + timedelta(days=13))
    turn = span.start + timedelta(days=7)
    before = Sample("a", "m/x", H100, 1, 1, concurrent=8, kv_slots=0.8, prompt_per_s=100)
    rounds = [
        Round(item.time, "acme", (before if item.time < turn else recent,)) for item in whole_day(span=span)
    ]
    dearer = {"date": str(turn.date()), "usd_per_gpu_hour": {H100: price}}
    found = trends(counted(None, rounds, span=span, prices=(dearer,)).lines, span.last)
    return found[0]


def test_each_cause_of_a_rising_cost_is_told_apart() -> None:
    same = {"concurrent": 8.0, "kv_slots": 0.8, "prompt_per_s": 100.0}
    assert two_weeks(Sample("a", "m/x", H100, 1, 1, **same), price=12.0).cause == "price"
    half = {**same, "prompt_per_s": 50.0}
    assert two_weeks(Sample("a", "m/x", H100, 1, 1, **half)).cause == "work"
    assert two_weeks(Sample("a", "m/x", H100, 1, 1, **{**half, "kv_slots": 0.4})).cause == "occupancy"
    assert two_weeks(Sample("a", "m/x", H100, 1, 1, prompt_per_s=50.0)).cause == "unknown"
    assert not two_weeks(Sample("a", "m/x", H100, 1, 1, **same)).rising


def test_wasted_tokens_have_one_kind_each() -> None:
    bench = {
        "run_id": "r",
        "target": "a",
        "prompt_id": "p",
        "repeat": 1,
        "prompt_tokens": 10,
        "output_tokens": 5,
    }
    traced = {"target": "b", "request_id": "q"}
    rows = wasted(
        [
            bench,
            {**bench, "attempt": 2, "output_tokens": None, "prompt_tokens": None},
            {**traced, "attempt": 1, "finish_reason": "length", "prompt_tokens": 7, "output_tokens": 3},
            {**traced, "attempt": 2, "finish_reason": "error", "prompt_tokens": 7},
            {**traced, "attempt": 3, "finish_reason": "stop", "prompt_tokens": 7},
            {**traced, "request_id": "z", "error_class": "cancelled", "output_tokens": 4},
        ]
    )
    assert [
        (row.target, row.kind, row.attempts, row.prompt, row.completion, row.unknown) for row in rows
    ] == [
        ("a", "benchmark", 2, 10, 5, 1),
        ("b", "cancelled", 1, 0, 4, 0),
        ("b", "fallback-duplicate", 1, 7, 0, 0),
        ("b", "truncated-retried", 1, 7, 3, 0),
    ]
    found = counted([gpu(24), text(3_000_000, 1_000_000)])
    assert document(Findings(found, wasted=rows))["wasted"][0]["usd"] is None
    own = counted([gpu(24), text(3_000_000, 1_000_000)], whole_day(Sample("a", "m/x", H100, 1, 1)))
    assert document(Findings(own, wasted=rows))["wasted"][0]["usd"] == 0.00072  # 15 tokens at 48 a million


def test_the_log_of_a_router_tells_what_its_attempts_wasted(tmp_path: Path) -> None:
    tried = [
        {"target": "own", "error": "rate_limited", "status": 429},  # refused: nothing was worked on
        {"target": "own", "error": "timeout_ttft", "status": None},
        {"target": "other", "error": None, "status": 200},
    ]
    lines = [
        {"event": "listening", "port": 1},
        {"event": "request", "route": "r", "target": "other", "outcome": "ok", "attempts": tried},
        {"event": "request", "route": "r", "target": None, "outcome": "deadline", "attempts": tried[:2]},
        {
            "route": "r",
            "target": "own",
            "outcome": "client_gone",
            "attempts": 1,
            "prompt_tokens": 30,
            "completion_tokens": 12,
        },
    ]
    path = tmp_path / "router.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = wasted(read_records(path))
    assert [
        (row.target, row.kind, row.attempts, row.prompt, row.completion, row.unknown) for row in rows
    ] == [
        ("own", "cancelled", 1, 30, 12, 0),
        ("own", "fallback-duplicate", 1, 0, 0, 1),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("3", "a record is a JSON object"),
        ("{}", "the text `target`"),
        ('{"target": "a", "attempt": -1}', "`attempt` is a whole number"),
        ('{"route": "r", "target": "a", "completion_tokens": "x"}', "`output_tokens` is a whole number"),
        ('{"route": "r", "attempts": [{"error": "truncated"}]}', "the text `target`"),
    ],
)
def test_a_record_with_a_mistake_is_told_with_its_line(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f'\n{{"target": "a", "run_id": "r"}}\n{line}\n')
    with pytest.raises(UsageError) as caught:
        list(read_records(path))
    assert caught.value.message.startswith(f"{path}:3: ")
    assert why in caught.value.message


def test_records_that_are_no_file_are_told(tmp_path: Path) -> None:
    for name, why in (("missing", "No such file"), (".", "not a regular file")):
        with pytest.raises(UsageError, match=why):
            list(read_records(tmp_path / name))


def test_amounts_are_rounded_to_even() -> None:
    assert rounded(Fraction(1, 3)) == 0.333333
    assert (rounded(Fraction(5, 10**7)), rounded(Fraction(15, 10**7))) == (0.0, 0.000002)
    assert rounded(Fraction(10**15)) == 1e15
