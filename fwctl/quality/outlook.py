"""What a suite can show, said before it runs. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from fwctl.stats.binomial import z_value
from fwctl.stats.noninferiority import pairs_needed, smallest_margin
from fwctl.units import counted

# How often two arms of equal quality disagree. 6 % is what 16-bit against FP8 commonly shows; an A/A run
# tells the figure of a deployment's own noise.
DISCORDANCE = 0.06
MARGIN = 0.02
POWER = 0.8
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Outlook:
    """Shares are fractions of the pairs.

    rules_out: the smallest loss that equal arms can rule out. shows: the smallest loss that the exact
    test finds. pairs_needed: for the margin. missing_*: what is lacking, 0 when nothing is.
    """

    n_prompts: int
    repeats: int
    discordance: float
    margin: float
    rules_out: float
    shows: float
    pairs_needed: int
    missing_prompts: int
    missing_repeats: int
    types: Mapping[str, float]

    @property
    def n_pairs(self) -> int:
        return self.n_prompts * self.repeats

    @property
    def enough(self) -> bool:
        return self.missing_prompts == 0

    def to_json(self) -> dict[str, Any]:
        """Keys of docs/json.md; power and alpha are part of it so that the figures can be checked."""
        return {
            "prompts": self.n_prompts,
            "repeats": self.repeats,
            "pairs": self.n_pairs,
            "discordance": self.discordance,
            "margin": self.margin,
            "power": POWER,
            "alpha": ALPHA,
            "rules_out": self.rules_out,
            "shows": self.shows,
            "pairs_needed": self.pairs_needed,
            "missing_prompts": self.missing_prompts,
            "missing_repeats": self.missing_repeats,
            "types": dict(self.types),
        }


def outlook(
    by_type: Mapping[str, int], *, repeats: int = 1, discordance: float = DISCORDANCE, margin: float = MARGIN
) -> Outlook:
    """by_type: graded prompts of each type. Raises ValueError for shares outside (0, 1]."""
    n_prompts = sum(by_type.values())
    needed = pairs_needed(margin, discordance, power=POWER, alpha=ALPHA)
    n_pairs = n_prompts * repeats
    short = n_pairs < needed
    return Outlook(
        n_prompts,
        repeats,
        discordance,
        margin,
        smallest_margin(n_pairs, discordance, power=POWER, alpha=ALPHA),
        _shows(n_pairs, discordance),
        needed,
        ceil(needed / repeats) - n_prompts if short else 0,
        ceil(needed / n_prompts) - repeats if short and n_prompts else 0,
        {
            name: smallest_margin(count * repeats, discordance, power=POWER, alpha=ALPHA)
            for name, count in sorted(by_type.items())
        },
    )


def _shows(n_pairs: int, discordance: float) -> float:
    """The loss that a two-sided test at alpha finds with the stated power. Source: Connor 1987, Biometrics
    43, without the term that only matters when most disagreements are losses."""
    if n_pairs <= 0:
        return 1.0
    return min(1.0, (z_value(1 - ALPHA / 2) + z_value(POWER)) * sqrt(discordance / n_pairs))


def sentences(found: Outlook) -> list[str]:
    """The same for people, a line each."""
    if not found.n_prompts:
        return ["No prompt of this suite names a grader or an expected answer: nothing can be graded."]
    many = counted(found.n_prompts, "graded prompt")
    if found.repeats > 1:
        many += f" x {found.repeats} repeats = {found.n_pairs:,} pairs"
    lines = []
    lines.append(
        f"{many}: at {percent(found.discordance)} discordance this suite can rule out a loss of "
        f"{points(found.rules_out)} and show one of {points(found.shows)} ({percent(POWER)} power)."
    )
    if not found.enough:
        prompts = counted(found.missing_prompts, "more prompt")
        repeats = counted(found.missing_repeats, "more repeat")
        lines.append(
            f"To rule out {points(found.margin)} it takes {counted(found.pairs_needed, 'pair')}: "
            f"{prompts}, or {repeats} if answers vary from one repeat to the next."
        )
    elif found.repeats > 1:
        lines.append("Repeats count in full only as far as answers vary from one repeat to the next.")
    if len(found.types) > 1:
        each = ", ".join(f"{name} {points(loss)}" for name, loss in found.types.items())
        lines.append(f"By type it can rule out: {each}.")
    return lines


def percent(share: float) -> str:
    """0.06 as `6 %`."""
    return f"{100 * share:.3g} %"


def points(share: float) -> str:
    """0.0272 as `2.7 points`."""
    return f"{100 * share:.1f} points"
