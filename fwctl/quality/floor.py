"""How often a deployment disagrees with itself, from a second run of it or from the repeats of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.quality.arms import Arm
from fwctl.quality.model import GRADED, Outcome
from fwctl.quality.verdict import ALPHA, Pair, count
from fwctl.stats.binomial import mcnemar, two_proportions, wilson


def floor_of(base: Arm, candidate: Arm, again: Arm | None) -> dict[str, Any] | None:
    """The A/A discordance beside that of the comparison; None without a second run and without repeats.

    problem: why the floor itself is in doubt, such as a second run that is worse than the first.
    """
    pairs = list(_between(base, again) if again is not None else _repeats(base))
    if not pairs:
        return None
    own, across = count(pairs), count(_between(base, candidate))
    apart = own.only_base + own.only_candidate
    low, high = wilson(apart / own.effect, own.n_pairs / own.effect)
    crossed = across.only_base + across.only_candidate
    return {
        "source": again.text if again is not None else "repeats",
        "n_pairs": own.n_pairs,
        "discordance": {"value": apart / own.n_pairs, "low": low, "high": high, "n": own.n_pairs},
        "candidate_discordance": crossed / across.n_pairs if across.n_pairs else None,
        "p_value": two_proportions(apart, own.n_pairs, crossed, across.n_pairs),
        "problem": _problem(base, again, mcnemar(own.lost, own.gained)),
    }


def _problem(base: Arm, again: Arm | None, p_value: float) -> str | None:
    if again is None:
        return None
    if base.summary.get("suite_digest") != again.summary.get("suite_digest"):
        return "the run of the floor used another prompt set"
    if p_value <= ALPHA:
        return "the two runs of the base differ by more than chance: something moved between them"
    return None


def _between(base: Arm, other: Arm) -> Iterator[Pair]:
    for key in sorted(base.grades.keys() & other.grades.keys()):
        left, right = base.grades[key]["outcome"], other.grades[key]["outcome"]
        if left in GRADED and right in GRADED:
            yield Pair(key[0], left == Outcome.RIGHT, right == Outcome.RIGHT)


def _repeats(base: Arm) -> Iterator[Pair]:
    """Every repeat against the first of its prompt."""
    for (prompt_id, repeat), row in base.grades.items():
        first = base.grades.get((prompt_id, 0))
        if repeat and first is not None and {first["outcome"], row["outcome"]} <= set(GRADED):
            yield Pair(prompt_id, first["outcome"] == Outcome.RIGHT, row["outcome"] == Outcome.RIGHT)
