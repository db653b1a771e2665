"""Axes of charts: where a value stands, and where the ticks are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

MOST_TICKS = 6
SMALLEST = 1e-12  # of a value on a logarithm and of a range; a picosecond is nothing here
# Of a power of ten, from wide ranges to narrow ones.
_FACTORS = (
    (1.0,),
    (1.0, 2.0, 5.0),
    (1.0, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    tuple(1 + at / 50 for at in range(450)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps low..high to start..end, in pixels. ticks: value and label."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """Pixel of a value; what lies outside is put at the edge."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def axis(values: Sequence[float], start: float, end: float, *, log: bool = False, zero: bool = False) -> Axis:
    """An axis that holds all values. log: only when all are above SMALLEST. zero: begin at 0."""
    low, high = min(values), max(values)
    if log and low > SMALLEST:
        low, high = (low / 1.02, high * 1.02) if low < high else (low / 2, high * 2)
        return Axis(low, high, start, end, True, _log_ticks(low, high))
    if zero:
        low = min(low, 0.0)
    if high - low < SMALLEST:
        high = low + (abs(low) if abs(low) >= SMALLEST else 1.0)
    step = _step((high - low) / (MOST_TICKS - 1))
    low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    count = round((high - low) / step)
    ticks = tuple((low + step * at, label(low + step * at, step)) for at in range(count + 1))
    return Axis(low, high, start, end, False, ticks)


def _step(least: float) -> float:
    """1, 2 or 5 times a power of ten, not below `least`."""
    power = 10.0 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _log_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Powers of ten, with 2 and 5 between them, or closer ones when the range is short."""
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for factors in _FACTORS:
        found = [factor * 10.0**power for power in decades for factor in factors]
        inside = [value for value in found if low <= value <= high]
        if len(inside) >= 3:
            thin = inside[:: ceil(len(inside) / MOST_TICKS)]
            return tuple((value, label(value, value / 10)) for value in thin)
    return tuple((value, f"{value:.3g}") for value in (low, high))


def label(value: float, step: float) -> str:
    """As many digits as the step needs: `0.05`, `1.5`, `200`, `1,500`."""
    if abs(value) < step / 2:
        return "0"
    digits = max(0, -floor(log10(step) + 1e-9)) if step < 1 else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
