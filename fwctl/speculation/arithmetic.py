"""Arithmetic of speculative decoding. Pure.

A pass verifies `k` drafted tokens at once and always yields one token of the target itself. Costs are in
units of one plain decoding pass of the target: `c` for drafting a token, `v` for verifying it.
Source of the constant-acceptance formula: Leviathan et al., Fast Inference from Transformers via
Speculative Decoding, 2023, equation 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose, isfinite

MAX_DRAFT_TOKENS = 64  # the platform's limit of draftTokenCount
MAX_COST = 100.0
_STEPS = 60  # halvings of an interval of length 1: well below a double's precision


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost per token of a draft and of its verification, in passes of the target."""

    draft: float = 0.0
    verify: float = 0.0

    def __post_init__(self) -> None:
        for value in (self.draft, self.verify):
            if not (isfinite(value) and 0 <= value <= MAX_COST):
                raise ValueError(f"a cost is a number from 0 to {MAX_COST:g} passes a token")

    @property
    def per_token(self) -> float:
        return self.draft + self.verify


def expected_tokens(acceptance: float, draft_tokens: int) -> float:
    """Expected tokens of a pass when each drafted token is accepted with the same probability, given
    that those before it were: (1 - a^(k+1)) / (1 - a), and k + 1 at a = 1.

    Raises ValueError for an acceptance outside [0, 1] or a negative count.
    """
    return 1 + sum(constant_reach(acceptance, draft_tokens))


def constant_reach(acceptance: float, draft_tokens: int) -> tuple[float, ...]:
    """Probability that positions 1..i are all accepted, for i from 1 to k: a, a^2, ... Raises ValueError."""
    if not 0 <= acceptance <= 1:
        raise ValueError("an acceptance is a number from 0 to 1")
    if draft_tokens < 0:
        raise ValueError("a number of drafted tokens is not negative")
    return tuple(acceptance**position for position in range(1, draft_tokens + 1))


def check_reached(reached: Sequence[float]) -> None:
    """Raises ValueError unless the shares of passes whose positions 1..i were all accepted lie in [0, 1] and
    do not rise. 1 + their sum is the tokens of a pass; the pooled ratio of accepted to drafted tokens must
    never stand in for it."""
    if any(not 0 <= share <= 1 for share in reached):
        raise ValueError("a share of accepted positions is a number from 0 to 1")
    if any(later > earlier and not isclose(later, earlier) for earlier, later in pairwise(reached)):
        raise ValueError("the share of accepted positions cannot rise with the position")


def speedup(tokens_per_pass: float, draft_tokens: float, costs: Costs) -> float:
    """Tokens a pass over its cost: E / (1 + c k + v k); 1 is plain decoding.

    draft_tokens may be a mean, since sources without a proposal draft nothing in some passes.
    """
    return tokens_per_pass / (1 + costs.per_token * draft_tokens)


def speedups(reached: Sequence[float], costs: Costs) -> list[float]:
    """Speed-up for each number of drafted tokens from 0 to len(reached)."""
    expected, found = 1.0, [1.0]
    for count, share in enumerate(reached, 1):
        expected += share
        found.append(speedup(expected, count, costs))
    return found


def best_draft_tokens(reached: Sequence[float], costs: Costs) -> int:
    """The number of drafted tokens with the highest speed-up, the smallest of equals; 0: draft nothing."""
    found = speedups(reached, costs)
    return max(range(len(found)), key=lambda count: (found[count], -count))


def break_even_acceptance(draft_tokens: int, costs: Costs) -> float | None:
    """The constant acceptance at which drafting neither gains nor loses; None when not even 1 pays.

    Expected tokens grow with the acceptance, so the interval is halved.
    """
    cost = 1 + costs.per_token * draft_tokens
    if cost > expected_tokens(1.0, draft_tokens):
        return None
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if expected_tokens(middle, draft_tokens) < cost:
            low = middle
        else:
            high = middle
    return high if low else 0.0


def break_even_verify_cost(tokens_per_pass: float, draft_tokens: int, costs: Costs) -> float:
    """The cost of verifying a token at which the gain is gone, (E - 1) / k - c; 0 when there is none.

    Verification costs more the fuller the batches are, so this says how much load a gain survives.
    """
    return max(0.0, (tokens_per_pass - 1) / draft_tokens - costs.draft)
