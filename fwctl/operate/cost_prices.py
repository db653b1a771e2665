"""Which price holds on which day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from fwctl.catalog.prices import TABLE, Price, PriceList, published, with_contract
from fwctl.errors import InvalidSpecError


@dataclass(frozen=True, slots=True)
class PriceFile:
    """A price file that was read: its document and the name for messages."""

    document: Any
    source: str

    @property
    def since(self) -> date:
        """Its `date`; a file without one holds always."""
        value = self.document.get("date") if isinstance(self.document, dict) else None
        if value is None:
            return date.min
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            raise InvalidSpecError(
                f"price file {self.source}: date is {str(value)[:60]!r}; write it as 2026-10-01"
            ) from None


def prices_by_day(
    days: Iterable[date], files: Sequence[PriceFile] = (), table: tuple[Price, ...] = TABLE
) -> dict[date, PriceList]:
    """The published list of each day, with the files that are in force by then in its place, the
    newest last. Raises InvalidSpecError for a file that holds no prices."""
    ordered = sorted(files, key=lambda item: item.since)
    found = {}
    for day in days:
        prices = published(day, table)
        for item in ordered:
            if item.since <= day:
                prices = with_contract(prices, item.document, item.source)
        found[day] = prices
    for item in ordered:  # a file that is in force on no day is checked all the same
        with_contract(published(date.max, table), item.document, item.source)
    return found


def exact(amount: float | None) -> Fraction | None:
    """The amount as it was written, not as binary floats hold it: 0.1 is one tenth."""
    return None if amount is None else Fraction(str(amount))
