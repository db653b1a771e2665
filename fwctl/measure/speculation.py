"""What servers said about their drafts, added up over requests.

Sources: `speculation-acceptance` for draft models and n-grams, `speculation-prompt-*` for predicted
outputs. Both come with performance metrics; where a server says nothing, nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, takewhile
from math import sqrt
from typing import Any

from fwctl.inference.perf import UnknownAcceptanceError, parse_acceptance
from fwctl.speculation.drift import Window

PASSES, PREDICTED, MATCHED, UNREAD = "passes", "predicted", "matched", "unread"
_REACHED = "reached_"
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

    def add(self, counts: Mapping[str, float], output_tokens: float | None = None) -> None:
        """One answered request, from what `counted` read."""
        if counts.get(UNREAD):
            self.unread += 1
        if passes := counts.get(PASSES):
            reached = _reached(counts)
            self.window.add(passes, sum(reached))
            self.reached += [0.0] * (len(reached) - len(self.reached))
            for at, hits in enumerate(reached):
                self.reached[at] += hits
        if predicted := counts.get(PREDICTED):
            self.with_prediction += 1
            self.predicted += predicted
            self.matched += counts.get(MATCHED, 0.0)
            self.answered += output_tokens or 0

    @property
    def acceptance_by_position(self) -> tuple[float, ...]:
        """Share of drafting passes that reached each position."""
        return tuple(hits / self.window.passes for hits in self.reached) if self.window.passes else ()

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


def counted(server: Mapping[str, Any]) -> dict[str, float]:
    """The counts of one request by name; empty when its server said nothing about drafts."""
    found: dict[str, float] = {}
    text, offered = server.get("speculation-acceptance"), server.get("speculation-prompt-tokens")
    if isinstance(text, str):
        try:
            acceptance = parse_acceptance(text)
        except UnknownAcceptanceError:
            found[UNREAD] = 1.0
        else:
            found[PASSES] = float(acceptance.drafts)
            for at, share in enumerate(acceptance.reached, 1):
                found[f"{_REACHED}{at}"] = share * acceptance.drafts
    if isinstance(offered, int | float) and offered > 0:
        kept = server.get("speculation-prompt-matched-tokens")
        found |= {PREDICTED: float(offered), MATCHED: float(kept) if isinstance(kept, int | float) else 0.0}
    return found


def _reached(counts: Mapping[str, float]) -> list[float]:
    return [counts[name] for name in takewhile(counts.__contains__, (f"{_REACHED}{at}" for at in count(1)))]


def add_drafts(window: Window, server: Mapping[str, Any]) -> None:
    """Add one request to a window of drift; nothing where its server said nothing that is understood."""
    counts = counted(server)
    if passes := counts.get(PASSES):
        window.add(passes, sum(_reached(counts)))


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Drafts:
    """From records of requests; those that failed are left out."""
    found = Drafts()
    for row in rows:
        server = row.get("server")
        if not row.get("error_class") and isinstance(server, Mapping):
            tokens = row.get("output_tokens")
            found.add(counted(server), tokens if isinstance(tokens, int | float) else None)
    return found
