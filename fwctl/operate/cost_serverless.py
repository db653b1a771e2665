"""Dedicated against serverless: which is cheaper at which volume. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fwctl.catalog.prices import TokenPrice
from fwctl.operate.cost_model import Line, total
from fwctl.operate.cost_prices import exact


@dataclass(frozen=True, slots=True)
class Comparison:
    """One deployment against the serverless price of its model.

    break_even_tokens_per_day: from there on the same replicas are cheaper than serverless, as long as
    they carry that much. None where serverless costs nothing.
    """

    deployment_id: str
    label: str
    model: str
    dedicated_usd: Fraction
    serverless_usd: Fraction
    tokens_per_day: Fraction
    break_even_tokens_per_day: Fraction | None

    @property
    def cheaper(self) -> str:
        return "dedicated" if self.dedicated_usd <= self.serverless_usd else "serverless"


def compare(lines: Sequence[Line], prices: Mapping[str, TokenPrice]) -> list[Comparison]:
    """A row for each deployment with known cost and tokens whose model has a serverless price."""
    found = []
    groups: dict[tuple[str, str, str], list[Line]] = {}
    for line in lines:
        if line.key.model in prices and line.figures.counted_gpu_s:
            groups.setdefault((line.key.deployment_id, line.label, line.key.model), []).append(line)
    for (id_, label, model), group in sorted(groups.items()):
        figures = total(line.figures for line in group)
        days = len({line.key.day for line in group if line.figures.counted_gpu_s})
        price = prices[model]
        serverless = (
            Fraction(figures.counted_prompt) * _exact(price.prompt)
            + Fraction(figures.counted_completion) * _exact(price.completion)
        ) / 1_000_000
        tokens = Fraction(figures.counted_prompt + figures.counted_completion)
        dedicated = figures.counted_usd
        even = None if not serverless else dedicated / days / (serverless / tokens)
        found.append(Comparison(id_, label, model, dedicated, serverless, tokens / days, even))
    return found


def _exact(amount: float) -> Fraction:
    found = exact(amount)
    assert found is not None
    return found
