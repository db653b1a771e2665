"""Which deployment served which billed tokens: the export names a model, never a deployment. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from fwctl.operate.cost_billing import BilledRow
from fwctl.operate.samples import MICROSECONDS, Key, Use


@dataclass(frozen=True, slots=True)
class Tokens:
    """Prompt, generated and cached prompt tokens, and where the figure comes from."""

    prompt: int
    completion: int
    cached: int = 0
    source: str = "billing"


def allocate(
    rows: Sequence[BilledRow], uses: Mapping[Key, Use], only_billed: Iterable[Key]
) -> tuple[dict[Key, Tokens], dict[tuple[date, str], Tokens]]:
    """Tokens of each line, and what is left over by (day, model).

    One line of that model on that day: it served them all. Several: in proportion to the tokens that
    samples saw; when samples saw none, nobody knows. Days without any billed row keep what samples saw.
    """
    billed = _billed(rows)
    groups: dict[tuple[date, str], list[Key]] = defaultdict(list)
    for key in [*(key for key, use in uses.items() if use.gpu_us), *only_billed]:
        groups[key.day, key.model].append(key)
    found: dict[Key, Tokens] = {}
    rest: dict[tuple[date, str], Tokens] = {}
    covered = {row.day for row in rows}
    for (day, model), tokens in billed.items():
        shared = _shared(tokens, groups.get((day, model), []), uses)
        found |= shared
        if not shared:
            rest[day, model] = tokens
    for key, use in uses.items():
        if key not in found and use.gpu_us:
            sampled = _sampled(use)
            if (key.day, key.model) in billed:
                continue
            if key.day in covered:
                found[key] = Tokens(0, 0)  # the export covers this day and has nothing for this model
            elif sampled is not None:
                found[key] = sampled
    return found, rest


def _billed(rows: Iterable[BilledRow]) -> dict[tuple[date, str], Tokens]:
    sums: dict[tuple[date, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        if row.prompt or row.completion:
            entry = sums[row.day, row.model]
            entry[0] += row.prompt
            entry[1] += row.completion
            entry[2] += row.cached
    return {key: Tokens(entry[0], entry[1], entry[2]) for key, entry in sums.items()}


def _shared(tokens: Tokens, keys: Sequence[Key], uses: Mapping[Key, Use]) -> dict[Key, Tokens]:
    """The tokens over these lines; empty when there is nothing to go by."""
    if len(keys) == 1:
        return {keys[0]: tokens}
    weights = [_weight(uses.get(key)) for key in keys]
    if not sum(weights):
        return {}
    parts = [_split(count, weights) for count in (tokens.prompt, tokens.completion, tokens.cached)]
    return {
        key: Tokens(prompt, completion, cached, "billing-split")
        for key, prompt, completion, cached in zip(keys, *parts, strict=True)
    }


def _weight(use: Use | None) -> Fraction:
    return Fraction(use.prompt + use.generated) if use is not None else Fraction(0)


def _split(count: int, weights: Sequence[Fraction]) -> list[int]:
    """Whole parts in proportion that add up to the count."""
    whole, done, parts = sum(weights), Fraction(0), []
    for weight in weights:
        before = int(count * done / whole)
        done += weight
        parts.append(int(count * done / whole) - before)
    return parts


def _sampled(use: Use) -> Tokens | None:
    """What the samples saw; None when the rates of some of the time are not known."""
    if use.tokens_known_us < use.wall_us or not use.wall_us:
        return None
    return Tokens(round(use.prompt / MICROSECONDS), round(use.generated / MICROSECONDS), source="samples")
