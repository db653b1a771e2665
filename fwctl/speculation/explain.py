"""The document of `fwctl speculate explain`: one setting, and other numbers of draft tokens. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import Any

from fwctl.inference.perf import UnknownAcceptanceError, parse_acceptance
from fwctl.speculation.arithmetic import (
    MAX_DRAFT_TOKENS,
    Costs,
    best_draft_tokens,
    break_even_acceptance,
    break_even_verify_cost,
    check_reached,
    constant_reach,
    speedups,
)

_SHOWN = 8  # numbers of drafted tokens that are shown at least


@dataclass(frozen=True, slots=True)
class Given:
    """What is known about acceptance. constant: the same at each position, or None when measured by position.

    reached: share of passes whose positions 1..i were all accepted. conditional: how the platform had
    counted, None when it was not its text.
    """

    reached: tuple[float, ...]
    constant: float | None = None
    conditional: bool | None = None


def acceptance(text: str) -> Given:
    """Read `0.62`, `0.71,0.55,0.43` (shares that reached each position) or `1:710/1000,2:550/1000`.

    Raises ValueError with what is wrong.
    """
    if ":" in text:
        try:
            found = parse_acceptance(text)
        except UnknownAcceptanceError as error:
            raise ValueError(str(error)) from None
        given = Given(found.reached, None, found.conditional)
    else:
        try:
            numbers = tuple(float(part) for part in text.split(","))
        except ValueError:
            raise ValueError("acceptance is a number, a list of them, or `position:hits/total,...`") from None
        if not all(map(isfinite, numbers)):
            raise ValueError("an acceptance is a number from 0 to 1")
        if len(numbers) == 1:
            return Given(constant_reach(numbers[0], MAX_DRAFT_TOKENS), numbers[0])
        given = Given(numbers)
    if len(given.reached) > MAX_DRAFT_TOKENS:
        raise ValueError(f"there are more than {MAX_DRAFT_TOKENS} positions")
    check_reached(given.reached)
    return given


def explain(given: Given, draft_tokens: int, costs: Costs) -> dict[str, Any]:
    """The document; see docs/json.md. Raises ValueError for more draft tokens than positions are known."""
    known = len(given.reached)
    if not 1 <= draft_tokens <= known:
        raise ValueError(f"draft tokens are a number from 1 to {known}, the positions that are known")
    gains = speedups(given.reached, costs)
    best = best_draft_tokens(given.reached, costs)
    expected = list(accumulate(given.reached, initial=1.0))
    last = min(known, max(_SHOWN, draft_tokens, best))
    return {
        "acceptance": given.constant,
        "acceptance_by_position": list(given.reached[:draft_tokens]),
        "conditional": given.conditional,
        "draft_tokens": draft_tokens,
        "draft_cost": costs.draft,
        "verify_cost": costs.verify,
        "expected_tokens_per_pass": expected[draft_tokens],
        "speedup": gains[draft_tokens],
        "best_draft_tokens": best,
        "best_speedup": gains[best],
        "break_even_acceptance": break_even_acceptance(draft_tokens, costs),
        "break_even_verify_cost": break_even_verify_cost(expected[draft_tokens], draft_tokens, costs),
        "by_draft_tokens": [
            {"draft_tokens": count, "expected_tokens_per_pass": expected[count], "speedup": gains[count]}
            for count in range(last + 1)
        ],
    }
