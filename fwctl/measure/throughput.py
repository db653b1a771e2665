"""What the system as a whole did: rates, concurrency, tokens a second, and their price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from fwctl.measure.table import Table

STEADY_SHARE = 0.5  # of the run; below it, starts and ends would be most of what is left


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, seconds since 1970. steady: from the first start to the last one, so that the
    end, when slots run empty, does not count."""

    low: float
    high: float
    steady: bool

    @property
    def seconds(self) -> float:
        return self.high - self.low

    def overlap(self, low: float, high: float) -> float:
        """Seconds of that stretch inside this one."""
        return max(0.0, min(high, self.high) - max(low, self.low))


def window(table: Table, rows: Sequence[int]) -> Window | None:
    """The window of these requests; None when no time is known."""
    starts, done = table.numbers["start_s"], table.numbers["done_s"]
    known = [row for row in rows if not isnan(starts[row])]
    if not known:
        return None
    first, last = min(starts[row] for row in known), max(starts[row] for row in known)
    end = max(starts[row] + (0.0 if isnan(done[row]) else done[row]) for row in known)
    if end <= first:
        return None
    steady = last - first >= STEADY_SHARE * (end - first)
    return Window(first, last if steady else end, steady)


def throughput(table: Table, rows: Sequence[int], found: Window | None) -> dict[str, Any]:
    """`window_s`, `steady`, `requests_per_s`, `concurrency`, `output_tokens_per_s`; null when unknown.

    Tokens of a request count as spread evenly from its first to its last; those inside the window count.
    Failed requests count too: they held a slot and their tokens were made.
    """
    if found is None:
        return dict.fromkeys(("window_s", "steady", "requests_per_s", "concurrency", "output_tokens_per_s"))
    starts, done = table.numbers["start_s"], table.numbers["done_s"]
    ttft, total, tokens = (table.numbers[name] for name in ("ttft_s", "total_s", "output_tokens"))
    begun, busy, made = 0, 0.0, 0.0
    counted = False
    for row in rows:
        start = starts[row]
        if isnan(start):
            continue
        begun += found.low <= start <= found.high
        busy += 0.0 if isnan(done[row]) else found.overlap(start, start + done[row])
        if isnan(tokens[row]) or isnan(ttft[row]):
            continue
        counted = True
        low, high = start + ttft[row], start + total[row]
        share = found.overlap(low, high) / (high - low) if high > low else found.low <= low <= found.high
        made += tokens[row] * share
    return {
        "window_s": found.seconds,
        "steady": found.steady,
        "requests_per_s": begun / found.seconds,
        "concurrency": busy / found.seconds,
        "output_tokens_per_s": made / found.seconds if counted else None,
    }


def usd_per_million_output_tokens(
    table: Table,
    rows: Sequence[int],
    rate: float | None,
    *,
    usd_per_hour: float | None,
    token_prices: Mapping[str, float],
) -> float | None:
    """Cost at the measured load; None when a price or a count is not known.

    rate: output tokens a second of the whole system. Hourly prices come first; token prices are USD per
    million of `input`, `cached_input` (as `input` when it is not given) and `output` tokens.
    """
    if usd_per_hour is not None:
        return usd_per_hour / 3600 / rate * 1e6 if rate else None
    if "input" not in token_prices or "output" not in token_prices:
        return None
    prompt, output = table.total("prompt_tokens", rows), table.total("output_tokens", rows)
    if prompt is None or not output:
        return None
    cached = table.total("cached_tokens", rows) or 0.0
    cheap = token_prices.get("cached_input", token_prices["input"])
    paid = (prompt - cached) * token_prices["input"] + cached * cheap + output * token_prices["output"]
    return paid / output
