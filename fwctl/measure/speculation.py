"""What servers said about their drafts, added up over requests.

Sources: `speculation-acceptance` for draft models and n-grams, `speculation-prompt-*` for predicted
outputs. Both come with performance metrics; where a server says nothing, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from fwctl.inference.perf import UnknownAcceptanceError, parse_acceptance
from fwctl.speculation.drift import Window

_Z95 = 1.959964  # 97.5 % quantile of the normal distribution


@dataclass(slots=True)
class Drafts:
    """Sums over requests. reached[i]: passes whose positions 1..i+1 were all accepted. predicted: tokens
    of predicted outputs; matched: those that the answers kept; answered: tokens of these answers.
    unread: requests whose counts have an unknown meaning."""

    window: Window = field(default_factory=Window)
    reached: list[float] = field(default_factory=list)
    with_prediction: int = 0
    predicted: float = 0.0
    matched: float = 0.0
    answered: float = 0.0
    unread: int = 0

    def add(self, server: Mapping[str, Any], output_tokens: float | None = None) -> None:
        """One answered request and what its server said."""
        text = server.get("speculation-acceptance")
        if isinstance(text, str):
            self._add_acceptance(text)
        offered = server.get("speculation-prompt-tokens")
        if isinstance(offered, int | float) and offered > 0:
            kept = server.get("speculation-prompt-matched-tokens")
            self.with_prediction += 1
            self.predicted += offered
            self.matched += kept if isinstance(kept, int | float) else 0
            self.answered += output_tokens or 0

    def _add_acceptance(self, text: str) -> None:
        try:
            found = parse_acceptance(text)
        except UnknownAcceptanceError:
            self.unread += 1
            return
        self.window.add(found.drafts, sum(found.reached) * found.drafts)
        self.reached += [0.0] * (len(found.reached) - len(self.reached))
        for at, share in enumerate(found.reached):
            self.reached[at] += share * found.drafts

    @property
    def acceptance_by_position(self) -> tuple[float, ...]:
        """Share of drafting passes that reached each position."""
        return tuple(count / self.window.passes for count in self.reached) if self.window.passes else ()

    def tokens_per_pass(self) -> dict[str, Any]:
        """`value`, and its 95 % interval over requests; all null without drafts."""
        value = self.window.tokens_per_pass
        half = None
        if value is not None and self.window.requests > 1:
            half = _Z95 * sqrt(self.window.variance)
        low, high = (None, None) if value is None or half is None else (max(1.0, value - half), value + half)
        return {"value": value, "low": low, "high": high, "n": self.window.requests}

    def to_json(self) -> dict[str, Any] | None:
        """The object `speculation` of docs/json.md; None where no server said anything."""
        if not (self.window.requests or self.with_prediction or self.unread):
            return None
        return {
            "tokens_per_pass": self.tokens_per_pass(),
            "acceptance_by_position": list(self.acceptance_by_position),
            "predictions": {
                "requests": self.with_prediction,
                "tokens": self.predicted,
                "matched_tokens": self.matched,
                "matched_share": self.matched / self.predicted if self.predicted else None,
                "coverage": self.matched / self.answered if self.answered else None,
            }
            if self.with_prediction
            else None,
            "unread": self.unread,
        }


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Drafts:
    """From records of requests; those that failed are left out."""
    found = Drafts()
    for row in rows:
        server = row.get("server")
        if not row.get("error_class") and isinstance(server, Mapping):
            tokens = row.get("output_tokens")
            found.add(server, tokens if isinstance(tokens, int | float) else None)
    return found
