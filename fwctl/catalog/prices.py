"""What a GPU costs an hour: dated rows, and prices of a contract in their place.

An accelerator without a row has an unknown price, which is never taken for zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fwctl.errors import InvalidSpecError

_PAGE = "docs.fireworks.ai and fireworks.ai price pages"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars an hour of one GPU, valid from `since` on."""

    accelerator: str
    usd_per_gpu_hour: float
    since: date
    source: str


def _rows(since: date, source: str, **usd: float) -> tuple[Price, ...]:
    return tuple(Price(name, price, since, source) for name, price in usd.items())


# Price per GPU-hour on demand, as published; read 2026-11-30. A type that a later table leaves out keeps
# no price ("unlisted"), see UNLISTED.
TABLE: tuple[Price, ...] = (
    *_rows(
        date(2025, 1, 1),
        f"{_PAGE}, 2025",
        NVIDIA_A100_80GB=2.90,
        NVIDIA_H100_80GB=5.80,
        NVIDIA_H200_141GB=6.99,
        NVIDIA_B200_180GB=11.99,
        AMD_MI300X_192GB=4.99,
    ),
    *_rows(
        date(2025, 11, 1),
        f"{_PAGE}, late 2025",
        NVIDIA_A100_80GB=2.90,
        NVIDIA_H100_80GB=4.0,
        NVIDIA_H200_141GB=6.0,
        NVIDIA_B200_180GB=9.0,
    ),
    *_rows(
        date(2026, 7, 1),
        f"{_PAGE}, July 2026",
        NVIDIA_H100_80GB=7.0,
        NVIDIA_H200_141GB=7.0,
        NVIDIA_B200_180GB=10.0,
        NVIDIA_B300_288GB=12.0,
        NVIDIA_GB300=18.0,
    ),
    *_rows(
        date(2026, 9, 1),
        f"{_PAGE}, valid from 2026-09-01, read 2026-10-03",
        NVIDIA_H100_80GB=8.0,
        NVIDIA_H200_141GB=8.0,
        NVIDIA_B200_180GB=13.0,
        NVIDIA_B300_288GB=15.0,
        NVIDIA_GB300=20.0,
    ),
)

# Last day on which an accelerator had a published price.
UNLISTED: Mapping[str, date] = {
    "NVIDIA_A100_80GB": date(2026, 6, 30),  # absent from the table of July 2026
    "AMD_MI300X_192GB": date(2025, 10, 31),  # absent from the table of late 2025
}


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars of a million tokens of one serverless model."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices in force on one day.

    usd_per_gpu_hour: on demand, by accelerator. reserved_usd_per_gpu_hour: of reserved capacity, from a
    contract file only. as_of: date of the newest row or of the contract file. serverless: by full model
    name, from a price file only.
    """

    usd_per_gpu_hour: Mapping[str, float]
    as_of: date
    reserved_usd_per_gpu_hour: Mapping[str, float] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    serverless: Mapping[str, TokenPrice] = field(default_factory=dict)

    def price(self, accelerator: str | None) -> float | None:
        """Dollars per GPU-hour on demand, None when unknown."""
        return self.usd_per_gpu_hour.get(accelerator) if accelerator else None

    def to_json(self) -> dict[str, Any]:
        return {
            "as_of": self.as_of.isoformat(),
            "usd_per_gpu_hour": dict(sorted(self.usd_per_gpu_hour.items())),
            "reserved_usd_per_gpu_hour": dict(sorted(self.reserved_usd_per_gpu_hour.items())),
        }


def published(on: date, table: tuple[Price, ...] = TABLE) -> PriceList:
    """The published on-demand prices in force on a day; before the first row the list is empty."""
    valid = sorted((row for row in table if row.since <= on), key=lambda row: row.since)
    rows = {row.accelerator: row for row in valid if on <= UNLISTED.get(row.accelerator, on)}
    return PriceList(
        usd_per_gpu_hour={name: row.usd_per_gpu_hour for name, row in sorted(rows.items())},
        as_of=max((row.since for row in rows.values()), default=on),
        sources={name: row.source for name, row in sorted(rows.items())},
    )


def with_contract(base: PriceList, document: Any, source: str) -> PriceList:
    """`base` with the prices of a contract file (`settings.prices`) in place of the published ones.

    The file is a mapping: `date: 2026-10-01`, `usd_per_gpu_hour: {NVIDIA_H100_80GB: 5.5}`,
    `reserved_usd_per_gpu_hour: {...}` and `serverless_usd_per_million_tokens: {MODEL: {prompt: 0.2,
    completion: 0.2}}`, each part optional but one price present. A price of 0 must be meant: it is
    accepted. Raises InvalidSpecError that names the file and the entry.
    """
    if not isinstance(document, Mapping):
        raise _bad(source, "is not a mapping of prices")
    unknown = sorted(str(key) for key in document if key not in _FILE_KEYS)
    if unknown:
        raise _bad(source, f"has the unknown key {unknown[0]!r}")
    on_demand = _prices(source, document, "usd_per_gpu_hour")
    reserved = _prices(source, document, "reserved_usd_per_gpu_hour")
    serverless = _serverless(source, document)
    if not on_demand and not reserved and not serverless:
        raise _bad(source, "has no price")
    return PriceList(
        usd_per_gpu_hour={**base.usd_per_gpu_hour, **on_demand},
        as_of=_date(source, document.get("date"), base.as_of),
        reserved_usd_per_gpu_hour={**base.reserved_usd_per_gpu_hour, **reserved},
        sources={**base.sources, **dict.fromkeys(on_demand, source)},
        serverless={**base.serverless, **serverless},
    )


_SERVERLESS = "serverless_usd_per_million_tokens"
_FILE_KEYS = ("date", "usd_per_gpu_hour", "reserved_usd_per_gpu_hour", _SERVERLESS)


def _serverless(source: str, document: Mapping[Any, Any]) -> dict[str, TokenPrice]:
    rows = document.get(_SERVERLESS, {})
    if not isinstance(rows, Mapping):
        raise _bad(source, f"{_SERVERLESS} is not a mapping of models to prices")
    found = {}
    for model, prices in rows.items():
        if not isinstance(prices, Mapping) or set(prices) != {"prompt", "completion"}:
            raise _bad(source, f"{_SERVERLESS}.{str(model)[:100]} needs `prompt` and `completion`")
        amounts = {key: _amount(source, f"{_SERVERLESS}.{model}", key, prices[key]) for key in prices}
        found[str(model)] = TokenPrice(**amounts)
    return found


def _prices(source: str, document: Mapping[Any, Any], key: str) -> dict[str, float]:
    rows = document.get(key, {})
    if not isinstance(rows, Mapping):
        raise _bad(source, f"{key} is not a mapping of accelerators to dollars")
    return {_accelerator(source, name): _amount(source, key, name, usd) for name, usd in rows.items()}


def _accelerator(source: str, name: Any) -> str:
    if not isinstance(name, str) or not name or len(name) > 100:
        raise _bad(source, f"{str(name)[:60]!r} is not the name of an accelerator")
    return name


def _amount(source: str, key: str, name: Any, usd: Any) -> float:
    if isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 <= usd < math.inf:
        raise _bad(source, f"{key}.{name} is {str(usd)[:60]!r}, which is not an amount in dollars")
    return float(usd)


def _date(source: str, value: Any, default: date) -> date:
    if value is None:
        return default
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise _bad(source, f"date is {str(value)[:60]!r}; write it as 2026-10-01") from None


def _bad(source: str, why: str) -> InvalidSpecError:
    return InvalidSpecError(
        f"price file {source}: {why}",
        next_steps=("a price file reads `usd_per_gpu_hour: {NVIDIA_H100_80GB: 5.50}`",),
    )


def from_json(document: Any) -> PriceList:
    """The list that `to_json` wrote, as it stands in a plan file. Raises InvalidSpecError."""
    if not isinstance(document, Mapping):
        raise _bad("in the plan", "is not a mapping of prices")
    source = "in the plan"
    return PriceList(
        usd_per_gpu_hour=_prices(source, document, "usd_per_gpu_hour"),
        as_of=_date(source, document.get("as_of"), date.min),
        reserved_usd_per_gpu_hour=_prices(source, document, "reserved_usd_per_gpu_hour"),
    )
