"""From paired outcomes to a verdict: a loss above the margin is ruled out, shown, or neither.

A pass needs the one-sided 95 % bound of the loss below the margin: the higher of Tango's score bound and
the exact binomial bound of the net loss, which holds where nearly all disagreements are losses and the
score bound errs by half a percent. A fail needs the exact test to show a loss. Repeats of one prompt are
not independent: the test counts prompts, and the bound counts pairs shrunk by the design effect that the
repeats show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor, log

from fwctl.stats.binomial import cdf, mcnemar, z_value
from fwctl.stats.noninferiority import assess

ALPHA = 0.05
POWER = 0.8
# With fewer discordant prompts than this the design effect cannot be estimated; repeats then count as none.
_LEAST_CLUSTERS = 10


class Gate(StrEnum):
    """INVALID: what was measured is not quality (an outage, other prompts, another judge)."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Pair:
    """One prompt and repeat on both sides: whether it went well there."""

    prompt_id: str
    base: bool
    candidate: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs by outcome; `lost` and `gained` count prompts whose net difference is against or for the
    candidate; `effect` is the design effect of repeats, 1 without them."""

    both: int
    only_base: int
    only_candidate: int
    neither: int
    n_prompts: int
    lost: int
    gained: int
    effect: float

    @property
    def n_pairs(self) -> int:
        return self.both + self.only_base + self.only_candidate + self.neither


@dataclass(frozen=True, slots=True)
class Judgement:
    """loss: share of pairs lost, net. upper: its one-sided bound. p_value: exact, two-sided.
    n_needed: prompts that would decide it, None when it is decided."""

    verdict: Gate
    loss: float
    upper: float
    p_value: float
    n_needed: int | None


def count(pairs: Iterable[Pair]) -> Counts:
    """Count pairs, and how far repeats of a prompt repeat each other."""
    by_prompt: dict[str, list[int]] = defaultdict(list)
    cells = [0, 0, 0, 0]
    for pair in pairs:
        cells[(not pair.base) * 2 + (not pair.candidate)] += 1
        by_prompt[pair.prompt_id].append(pair.base - pair.candidate)
    nets = [sum(values) for values in by_prompt.values()]
    return Counts(
        both=cells[0],
        only_base=cells[1],
        only_candidate=cells[2],
        neither=cells[3],
        n_prompts=len(by_prompt),
        lost=sum(net > 0 for net in nets),
        gained=sum(net < 0 for net in nets),
        effect=_design_effect(list(by_prompt.values())),
    )


def _design_effect(clusters: list[list[int]]) -> float:
    """Variance of the loss with repeats kept together over that of independent pairs, from 1 to the mean
    number of repeats. Source: the ratio estimator of Rao and Scott 1992, Biometrics 48."""
    n = sum(map(len, clusters))
    if n == len(clusters):
        return 1.0
    most = n / len(clusters)
    if sum(any(values) for values in clusters) < _LEAST_CLUSTERS:
        return most
    loss = sum(map(sum, clusters)) / n
    apart = sum((value - loss) ** 2 for values in clusters for value in values)
    together = sum((sum(values) - len(values) * loss) ** 2 for values in clusters)
    return min(most, max(1.0, together / apart * len(clusters) / (len(clusters) - 1)))


def judge(counts: Counts, margin: float) -> Judgement:
    """The verdict on one set of pairs. margin: the loss that is allowed, as a share of the pairs."""
    n = counts.n_pairs / counts.effect if counts.n_pairs else 0.0
    lost, gained = counts.only_base / counts.effect, counts.only_candidate / counts.effect
    loss = (lost - gained) / n if n else 0.0
    upper = _bound(n, lost, gained, margin)
    p_value = mcnemar(counts.lost, counts.gained)
    if upper < margin:
        verdict = Gate.PASS
    elif loss > 0 and p_value <= ALPHA:
        verdict = Gate.FAIL
    else:
        verdict = Gate.INCONCLUSIVE
    needed = _needed(counts, loss, margin) if verdict is Gate.INCONCLUSIVE else None
    return Judgement(verdict, loss, upper, p_value, needed)


def _bound(n: float, lost: float, gained: float, margin: float) -> float:
    """One-sided upper bound of the loss. Fractions of effective counts are rounded against a pass."""
    upper = assess(n, lost, gained, margin=margin, alpha=ALPHA).upper
    whole, net = floor(n), ceil(lost - gained - 1e-9)
    low, high = upper, 1.0
    if net < 0 or cdf(net, whole, low) <= ALPHA:
        return upper
    for _ in range(40):
        middle = (low + high) / 2
        if cdf(net, whole, middle) > ALPHA:
            low = middle
        else:
            high = middle
    return high


def _needed(counts: Counts, loss: float, margin: float) -> int:
    """Prompts at which the loss seen so far would be ruled out or shown, whichever is sooner."""
    if not counts.n_pairs:
        return _without_a_difference(margin)
    discordance = (counts.only_base + counts.only_candidate) / counts.n_pairs
    if discordance == 0:
        pairs = float(_without_a_difference(margin))
    else:
        reach = z_value(1 - ALPHA) + z_value(POWER)
        gap = max(margin - loss, loss)
        pairs = reach * reach * discordance / (gap * gap)
    per_prompt = counts.n_pairs / counts.effect / counts.n_prompts
    return max(counts.n_prompts + 1, ceil(pairs / per_prompt))


def _without_a_difference(margin: float) -> int:
    """Pairs that rule the margin out when not one of them differs: (1 - margin)^n is at most alpha."""
    return ceil(log(ALPHA) / log(1 - margin))
