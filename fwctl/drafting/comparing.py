"""How much faster one arm is than another: measured on the same prompts, projected from acceptance. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from fwctl.speculation.arithmetic import Costs, speedup
from fwctl.stats.paired import compare_all
from fwctl.stats.resample import Pairs

Row = Mapping[str, Any]
MEDIAN = 0.5
COST_DOUBT = 0.25  # the size of a model tells the cost of a token only so well


@dataclass(frozen=True, slots=True)
class Speedup:
    """1 is no difference, 1.2 a fifth faster; None where there is too little. n: pairs."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}

    def meets(self, other: Speedup) -> bool | None:
        """Whether both intervals have a part in common; None when one is missing."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None
        return self.low <= other.high and other.low <= self.high


def compared(
    base: Sequence[Row], candidate: Sequence[Row], metric: str, *, part: int | None = None
) -> Speedup:
    """Ratio of medians over prompts that both answered, with a 95 % bootstrap interval over prompts.

    part: 0 or 1 for one half of the prompts, so that what is chosen on one half is judged on the other.
    """
    pairs = _pairs(base, candidate, metric, part)
    found = compare_all({metric: pairs}, (MEDIAN,))[metric, MEDIAN]
    if found.value is None or found.low is None or found.high is None or not (found.value and found.low):
        return Speedup(n=found.n_pairs)
    return Speedup(1 / found.value, 1 / found.high, 1 / found.low, found.n_pairs)


def _pairs(base: Sequence[Row], candidate: Sequence[Row], metric: str, part: int | None) -> Pairs:
    def by_key(rows: Sequence[Row]) -> dict[tuple[str, int, int], float]:
        return {
            (str(row["prompt_id"]), int(row["pass"]), int(row["repeat"])): float(row[metric])
            for row in rows
            if isinstance(row.get(metric), int | float)
        }

    first, second = by_key(base), by_key(candidate)
    shared = [key for key in sorted(first.keys() & second.keys()) if part in (None, half(key[0]))]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(key[0] for key in shared))}
    return Pairs(
        [first[key] for key in shared],
        [second[key] for key in shared],
        [numbers[key[0]] for key in shared],
    )


def half(prompt_id: str) -> int:
    """0 or 1, the same for a prompt in every arm and run."""
    return blake2b(prompt_id.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] % 2


def projected(tokens_per_pass: Mapping[str, Any], draft_tokens: int, costs: Costs) -> Speedup:
    """What the acceptance means by the arithmetic: tokens a pass over its cost; plain decoding is 1.

    Costs are estimates, so the interval holds a drafted token that costs COST_DOUBT less or more, and a
    verification that costs nothing or twice as much.
    """
    value, low, high = (tokens_per_pass[key] for key in ("value", "low", "high"))
    if value is None:
        return Speedup()
    if low is None or high is None:
        return Speedup(speedup(value, draft_tokens, costs), n=tokens_per_pass["n"])
    dear, cheap = (
        Costs(costs.draft * (1 + COST_DOUBT), 2 * costs.verify),
        Costs(costs.draft * (1 - COST_DOUBT)),
    )
    return Speedup(
        speedup(value, draft_tokens, costs),
        speedup(low, draft_tokens, dear),
        speedup(high, draft_tokens, cheap),
        tokens_per_pass["n"],
    )
