"""A published case as a worked example: what constant acceptance can and cannot explain of it.

Fireworks, "FireOptimizer" (2024): a generic draft with a hit rate of 29 % made latency 1.5 times worse, a
draft tuned to the traffic with 76 % made it 2 times better. Tuned against generic is a factor of 3.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from fwctl.speculation.arithmetic import MAX_DRAFT_TOKENS, expected_tokens


@dataclass(frozen=True, slots=True)
class Case:
    """Two drafters: their acceptances, and the speed-ups that were reported for them."""

    generic_acceptance: float
    tuned_acceptance: float
    generic_speedup: float
    tuned_speedup: float

    @property
    def ratio(self) -> float:
        return self.tuned_speedup / self.generic_speedup


PUBLISHED = Case(0.29, 0.76, 1 / 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Fit:
    """One number of drafted tokens and one cost for both drafters, and what it leaves unexplained.

    cost: of drafting and verifying one token, in passes. residual: how far each reported speed-up is
    from the fitted one, as a share; the generic one is missed by as much in the other direction.
    """

    draft_tokens: int
    cost: float
    generic_speedup: float
    tuned_speedup: float
    residual: float

    @property
    def ratio(self) -> float:
        return self.tuned_speedup / self.generic_speedup


def limit(case: Case) -> float:
    """The largest ratio of the two speed-ups for any number of tokens and any cost: (1-a)/(1-b)."""
    return (1 - case.generic_acceptance) / (1 - case.tuned_acceptance)


def fit(case: Case, draft_tokens: int) -> Fit:
    """The cost that comes nearest to both speed-ups, measured by the logarithm, for this many tokens.

    The cost of a pass divides both, so their ratio is fixed and the geometric mean decides.
    """
    generic = expected_tokens(case.generic_acceptance, draft_tokens)
    tuned = expected_tokens(case.tuned_acceptance, draft_tokens)
    cost_of_pass = sqrt(generic * tuned / (case.generic_speedup * case.tuned_speedup))
    found = tuned / cost_of_pass
    return Fit(
        draft_tokens,
        max(0.0, (cost_of_pass - 1) / draft_tokens),
        generic / cost_of_pass,
        found,
        case.tuned_speedup / found - 1,
    )


def nearest(case: Case, most: int = MAX_DRAFT_TOKENS) -> Fit:
    """The fit with the smallest residual among 1..most drafted tokens, the smallest count of equals."""
    fits = [fit(case, count) for count in range(1, most + 1)]
    return min(fits, key=lambda item: (round(abs(item.residual), 12), item.draft_tokens))
