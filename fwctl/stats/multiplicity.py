"""Several tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given; each below alpha holds with a family-wise error of alpha.

    Source: Holm 1979, Scandinavian Journal of Statistics 6.
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted
