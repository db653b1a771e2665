"""Whether a million tokens grow dearer, and what most likely makes them so. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from fwctl.operate.cost_model import Figures, Line, total

WINDOW_DAYS = 7
RISING = Fraction(20, 100)


@dataclass(frozen=True, slots=True)
class Trend:
    """Cost per million tokens of the last days against as many days before them.

    factors: by what the price of a GPU-hour, idle time, and busy GPU time per token each multiply the
    cost; their product is 1 + change. Empty when a part is not known. cause: of a rising cost, the largest
    of them.
    """

    deployment_id: str
    label: str
    before: Fraction
    recent: Fraction
    factors: dict[str, float]
    cause: str | None
    rising: bool

    @property
    def change(self) -> Fraction:
        return self.recent / self.before - 1


CAUSES = {
    "price": "the price of a GPU-hour went up",
    "idle": "idle replicas: more of the GPU time has no request in work",
    "occupancy": "falling batch occupancy: fewer requests share a GPU",
    "work": "more GPU time for each token at the same occupancy, for example longer prompts",
    "unknown": "cause unknown: the samples do not say how busy the replicas were",
}


def trends(
    lines: Sequence[Line], last: date, *, window: int = WINDOW_DAYS, rising: Fraction = RISING
) -> list[Trend]:
    """One row for each deployment whose cost per million tokens is known in both windows.

    last: last day of the recent window. rising: growth from which it counts as rising.
    """
    turn = last - timedelta(days=window)
    first = turn - timedelta(days=window)
    parts: dict[tuple[str, str], tuple[list[Figures], list[Figures]]] = defaultdict(lambda: ([], []))
    for line in lines:
        if first < line.key.day <= last:
            parts[line.key.deployment_id, line.label][line.key.day > turn].append(line.figures)
    found = []
    for (id_, label), (old, new) in sorted(parts.items()):
        before, recent = total(old), total(new)
        if before.usd_per_million and recent.usd_per_million:
            found.append(_trend(id_, label, before, recent, rising))
    return found


def _trend(id_: str, label: str, before: Figures, recent: Figures, rising: Fraction) -> Trend:
    old, new = before.usd_per_million, recent.usd_per_million
    assert old is not None
    assert new is not None
    factors = _factors(before, recent)
    grows = new / old - 1 >= rising
    return Trend(id_, label, old, new, factors, _cause(factors, before, recent) if grows else None, grows)


def _factors(before: Figures, recent: Figures) -> dict[str, float]:
    """usd/token = usd/GPU-s x 1/(1 - idle) x busy GPU-s/token; each as recent over before."""
    prices = [float(item.counted_usd / item.counted_gpu_s) for item in (before, recent)]
    found = {"price": prices[1] / prices[0]}
    shares = [item.idle_share for item in (before, recent)]
    busy = [1 - float(share) for share in shares if share is not None]
    if len(busy) == 2 and all(busy):
        each = [
            float(item.counted_gpu_s) * part / (item.counted_prompt + item.counted_completion)
            for item, part in zip((before, recent), busy, strict=True)
        ]
        found |= {"idle": busy[0] / busy[1], "work": each[1] / each[0]}
    return found


def _cause(factors: dict[str, float], before: Figures, recent: Figures) -> str:
    largest = max(factors, key=lambda name: factors[name])
    if "idle" not in factors and factors["price"] < math.sqrt(1 + float(RISING)):
        return "unknown"
    if largest != "work":
        return largest
    old, new = _busy_occupancy(before), _busy_occupancy(recent)
    return "occupancy" if old is not None and new is not None and new < old * 0.95 else "work"


def _busy_occupancy(figures: Figures) -> float | None:
    """Occupancy of the GPU time that had work; idle time fills no slots."""
    share, idle = figures.occupancy, figures.idle_share
    return None if share is None or idle is None or idle == 1 else share / (1 - float(idle))
