"""Dated prices and the user's own."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from fwctl.catalog.enums import ACCELERATORS
from fwctl.catalog.prices import TABLE, PriceList, from_json, published, with_contract
from fwctl.errors import InvalidSpecError


@pytest.mark.parametrize(
    ("on", "accelerator", "usd"),
    [
        (date(2025, 6, 1), "NVIDIA_H100_80GB", 5.80),
        (date(2025, 6, 1), "AMD_MI300X_192GB", 4.99),
        (date(2025, 12, 1), "NVIDIA_H100_80GB", 4.0),
        (date(2025, 12, 1), "AMD_MI300X_192GB", None),
        (date(2025, 12, 1), "NVIDIA_A100_80GB", 2.90),
        (date(2026, 8, 31), "NVIDIA_H200_141GB", 7.0),
        (date(2026, 8, 31), "NVIDIA_A100_80GB", None),
        (date(2026, 9, 1), "NVIDIA_H200_141GB", 8.0),
        (date(2026, 11, 30), "NVIDIA_B300_288GB", 15.0),
        (date(2026, 11, 30), "NVIDIA_GB300", 20.0),
        (date(2024, 1, 1), "NVIDIA_H100_80GB", None),
    ],
)
def test_the_price_of_a_day_is_the_newest_published_before_it(
    on: date, accelerator: str, usd: float | None
) -> None:
    """The table of published prices, 2025 to September 2026."""
    assert published(on).price(accelerator) == usd


def test_a_price_list_says_how_old_it_is_and_where_it_comes_from() -> None:
    prices = published(date(2026, 11, 30))
    assert prices.as_of == date(2026, 9, 1)
    assert "2026-09-01" in prices.sources["NVIDIA_H100_80GB"]
    assert published(date(2024, 1, 1)).as_of == date(2024, 1, 1)
    assert prices.price(None) is None


def test_every_row_names_a_known_accelerator_and_its_source() -> None:
    assert all(row.accelerator in ACCELERATORS and row.source and row.usd_per_gpu_hour > 0 for row in TABLE)


def test_a_contract_takes_the_place_of_published_prices() -> None:
    document = {
        "date": date(2026, 10, 1),
        "usd_per_gpu_hour": {"NVIDIA_H100_80GB": 5.5, "NVIDIA_R900": 0},
        "reserved_usd_per_gpu_hour": {"NVIDIA_H100_80GB": 4},
    }
    prices = with_contract(published(date(2026, 11, 30)), document, "prices.yaml")
    assert prices.price("NVIDIA_H100_80GB") == 5.5
    assert prices.price("NVIDIA_R900") == 0.0
    assert prices.price("NVIDIA_H200_141GB") == 8.0
    assert prices.reserved_usd_per_gpu_hour == {"NVIDIA_H100_80GB": 4.0}
    assert prices.as_of == date(2026, 10, 1)
    assert prices.sources["NVIDIA_H100_80GB"] == "prices.yaml"


def test_a_contract_without_a_date_keeps_the_published_one() -> None:
    prices = with_contract(published(date(2026, 11, 30)), {"reserved_usd_per_gpu_hour": {"X": 1}}, "p")
    assert prices.as_of == date(2026, 9, 1)


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "not a mapping"),
        ([], "not a mapping"),
        ({}, "has no price"),
        ({"prices": {}}, "unknown key 'prices'"),
        ({1: {}}, "unknown key '1'"),
        ({"usd_per_gpu_hour": 5}, "not a mapping of accelerators"),
        ({"usd_per_gpu_hour": {"": 5}}, "not the name of an accelerator"),
        ({"usd_per_gpu_hour": {5: 5}}, "not the name of an accelerator"),
        ({"usd_per_gpu_hour": {"X": True}}, "not an amount"),
        ({"usd_per_gpu_hour": {"X": "5"}}, "not an amount"),
        ({"usd_per_gpu_hour": {"X": -1}}, "not an amount"),
        ({"usd_per_gpu_hour": {"X": float("nan")}}, "not an amount"),
        ({"usd_per_gpu_hour": {"X": float("inf")}}, "not an amount"),
        ({"usd_per_gpu_hour": {"X": 5}, "date": "October"}, "write it as 2026-10-01"),
    ],
)
def test_a_bad_price_file_is_one_clear_error(document: Any, why: str) -> None:
    with pytest.raises(InvalidSpecError, match=why) as caught:
        with_contract(PriceList({}, date(2026, 1, 1)), document, "prices.yaml")
    assert caught.value.message.startswith("price file prices.yaml: ")
    assert caught.value.next_steps


def test_a_list_comes_back_from_a_plan_file() -> None:
    prices = PriceList({"X": 1.5}, date(2026, 1, 1), {"X": 1.0})
    back = from_json(prices.to_json())
    assert (back.usd_per_gpu_hour, back.as_of) == ({"X": 1.5}, date(2026, 1, 1))
    assert back.reserved_usd_per_gpu_hour == {"X": 1.0}
    with pytest.raises(InvalidSpecError, match="not a mapping"):
        from_json([])
