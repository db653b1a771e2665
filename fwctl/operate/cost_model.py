"""What the cost report is made of. Money and GPU time are exact fractions until they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from fractions import Fraction
from typing import Any

from fwctl.operate.samples import Key

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums that can be added up; ratios are properties, so that no average is ever averaged.

    gpu_s: billed GPU-seconds. unpriced_gpu_s: of which have no known price; usd holds the rest.
    counted_*: of days whose price, tokens and GPU time are all known, gaps excluded. prompt,
    completion, cached: tokens. uncounted_gpu_s: GPU time whose tokens are not known. idle_gpu_s of
    known_gpu_s: no request in work. slots: integral of the share of batch slots in use over slots_gpu_s.
    """

    gpu_s: Fraction = ZERO
    starting_gpu_s: Fraction = ZERO
    unpriced_gpu_s: Fraction = ZERO
    on_demand_usd: Fraction = ZERO
    reserved_usd: Fraction = ZERO
    counted_usd: Fraction = ZERO
    counted_gpu_s: Fraction = ZERO
    counted_prompt: int = 0
    counted_completion: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    uncounted_gpu_s: Fraction = ZERO
    idle_gpu_s: Fraction = ZERO
    known_gpu_s: Fraction = ZERO
    slots: float = 0.0
    slots_gpu_s: Fraction = ZERO

    @property
    def usd(self) -> Fraction | None:
        """Dollars of what has a known price; None when nothing has."""
        if self.gpu_s and self.gpu_s == self.unpriced_gpu_s:
            return None
        return self.on_demand_usd + self.reserved_usd

    @property
    def tokens(self) -> int | None:
        """Prompt and generated tokens; None when they are not known at all."""
        if self.uncounted_gpu_s and self.uncounted_gpu_s == self.gpu_s:
            return None
        return self.prompt + self.completion

    @property
    def usd_per_million(self) -> Fraction | None:
        """Dollars per million tokens, over the days on which both are known."""
        tokens = self.counted_prompt + self.counted_completion
        return self.counted_usd * 1_000_000 / tokens if tokens and self.counted_gpu_s else None

    @property
    def idle_share(self) -> Fraction | None:
        return self.idle_gpu_s / self.known_gpu_s if self.known_gpu_s else None

    @property
    def occupancy(self) -> float | None:
        """Share of the batch slots in use, 0 to 1, over all GPU time."""
        return self.slots / float(self.slots_gpu_s) if self.slots_gpu_s else None

    def split(self, output_weight: int) -> tuple[Fraction, Fraction] | None:
        """Dollars per million (prompt, generated) tokens when a generated one counts that many times."""
        weighted = self.counted_prompt + output_weight * self.counted_completion
        if not weighted or not self.counted_gpu_s:
            return None
        each = self.counted_usd * 1_000_000 / weighted
        return each, each * output_weight


_NAMES = tuple(item.name for item in fields(Figures))


def total(parts: Iterable[Figures]) -> Figures:
    """The sum of several."""
    rows = list(parts)
    sums: dict[str, Any] = {name: sum(getattr(row, name) for row in rows) for name in _NAMES}
    return Figures(**sums)


@dataclass(frozen=True, slots=True)
class Line:
    """One day of one deployment. source: `samples` or `billing`. tokens_source: `billing`, `billing-split`
    (shared by sampled tokens with others of the same model), `samples` (generated tokens estimated) or
    `unknown`. price: dollars per GPU-hour on demand."""

    key: Key
    source: str
    tokens_source: str
    figures: Figures
    price: Fraction | None
    name: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What people call it."""
        return self.name or self.key.deployment_id or self.key.model.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Residual:
    """The two sources on one day for one accelerator, in GPU-seconds, never averaged.

    gap_s: seconds of that day without samples; gap_gpu_s: (least, most) GPU-seconds that would have run
    in them if nothing but the rounds around them is true, None at the ends of the samples.
    """

    day: date
    accelerator: str
    billed_gpu_s: Fraction
    sampled_gpu_s: Fraction
    gap_s: Fraction
    gap_gpu_s: tuple[Fraction, Fraction] | None
    tolerance: Fraction

    @property
    def residual_gpu_s(self) -> Fraction:
        return self.billed_gpu_s - self.sampled_gpu_s

    @property
    def share(self) -> Fraction | None:
        """Residual as a share of what was billed; None when nothing was."""
        return self.residual_gpu_s / self.billed_gpu_s if self.billed_gpu_s else None

    @property
    def agrees(self) -> bool:
        return abs(self.residual_gpu_s) <= self.tolerance * self.billed_gpu_s

    @property
    def cause(self) -> str | None:
        """What is known about a disagreement: `gap` when the gap is as large as the residual."""
        if self.agrees:
            return None
        if not self.gap_s:
            return "unknown"
        if self.gap_gpu_s is None:
            return "gap" if self.residual_gpu_s > 0 else "unknown"
        low, high = self.gap_gpu_s
        slack = self.tolerance * self.billed_gpu_s
        return "gap" if low - slack <= self.residual_gpu_s <= high + slack else "unknown"


@dataclass(frozen=True, slots=True)
class Pool:
    """Reserved GPUs of one accelerator over the whole range, in GPU-seconds: billed whether used or not.

    unknown: of the time in gaps, in which nobody knows what was used. usd: of the whole pool, None
    without a contract price.
    """

    accelerator: str
    gpus: int
    gpu_s: Fraction
    used_gpu_s: Fraction
    unknown_gpu_s: Fraction
    usd: Fraction | None
    unused_usd: Fraction | None

    @property
    def unused_gpu_s(self) -> Fraction:
        return self.gpu_s - self.used_gpu_s - self.unknown_gpu_s
