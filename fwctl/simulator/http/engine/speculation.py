"""Speculative decoding, token by token: what is drafted, what is accepted, how many tokens a pass gives.

Greedy verification: a pass emits the accepted drafts and one token of the target itself. Predictions and
n-grams are really looked up in the texts at hand; a draft model accepts position i with a given
probability, conditional on the positions before it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# Most predicted tokens verified in one pass, and tokens that must agree before a lost place is found
# again. Both are the simulator's own; the platform's are not public.
PREDICTION_WINDOW = 16
_RESYNC = 2


class Drafter(NamedTuple):
    """tokens: drafted per pass (k). ngram: match length, 0 for a draft model. acceptance: conditional
    probability by position, the last one repeats. cost: time of one drafted token in target passes.
    """

    tokens: int
    ngram: int = 0
    acceptance: tuple[float, ...] = (0.7,)
    cost: float = 0.1


@dataclass
class Passes:
    """sizes: tokens that each pass emits. widths: tokens that each pass computes, drafts included. costs:
    time of a pass in target passes, drafting included.

    hits[i]: passes in which draft position i was accepted. totals[i]: passes that drafted it.
    conditional[i]: those of them that had accepted all before. matched: output tokens taken from the
    prediction. drafted: tokens proposed by the drafter.
    """

    sizes: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    hits: list[int] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    conditional: list[int] = field(default_factory=list)
    matched: int = 0
    drafted: int = 0

    def acceptance_text(self, *, conditional: bool) -> str:
        """`position:hits/total,…`, positions from 0; totals of all passes, or conditional ones."""
        totals = self.conditional if conditional else self.totals
        return ",".join(
            f"{i}:{hit}/{total}" for i, (hit, total) in enumerate(zip(self.hits, totals, strict=True))
        )

    def count(self, drafted: int, accepted: int) -> None:
        while len(self.hits) < drafted:
            self.hits.append(0)
            self.totals.append(0)
            self.conditional.append(0)
        for i in range(drafted):
            self.totals[i] += 1
            self.hits[i] += i < accepted
            self.conditional[i] += i <= accepted


class _Follower:
    """Keeps the place in a predicted text while the output runs along it."""

    def __init__(self, prediction: Sequence[str]) -> None:
        self._text = prediction
        self._at: int | None = 0
        self._last = 0
        self._places: dict[tuple[str, ...], list[int]] = {}
        for end in range(_RESYNC, len(prediction) + 1):
            self._places.setdefault(tuple(prediction[end - _RESYNC : end]), []).append(end)

    def proposal(self, width: int) -> Sequence[str]:
        return self._text[self._at : self._at + width] if self._at is not None else ()

    def move(self, output: Sequence[str], end: int, accepted: int) -> bool:
        """Go on after output[:end], whose last accepted + 1 tokens are new. True when the target's own
        token, the last one, is the predicted one too.
        """
        if self._at is not None:
            self._at = self._last = self._at + accepted
            if self._at < len(self._text) and self._text[self._at] == output[end - 1]:
                self._at = self._last = self._at + 1
                return True
        places = self._places.get(tuple(output[max(0, end - _RESYNC) : end]), ())
        self._at = min(places, key=lambda place: abs(place - self._last), default=None)
        return False


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


class _Ngrams:
    """The last place where each n-gram of prompt and output ended."""

    def __init__(self, prompt: Sequence[str], length: int) -> None:
        self._n = length
        self._text: list[str] = []
        self._ends: dict[tuple[str, ...], int] = {}
        self._latest: tuple[str, ...] = ()
        for piece in prompt:
            self.add(piece)

    def add(self, piece: str) -> None:
        # The n-gram that ends at the very end is entered one step later, so that it never finds itself.
        if self._latest:
            self._ends[self._latest] = len(self._text)
        self._text.append(piece)
        if len(self._text) >= self._n:
            self._latest = tuple(self._text[-self._n :])

    def proposal(self, width: int) -> Sequence[str]:
        at = self._ends.get(self._latest)
        return () if at is None else self._text[at : at + width]


def plan_passes(
    output: Sequence[str],
    *,
    prompt: Sequence[str] = (),
    prediction: Sequence[str] = (),
    drafter: Drafter | None = None,
    draw: random.Random,
) -> Passes:
    """The passes that emit `output`. sizes sum to len(output)."""
    passes = Passes()
    follower = _Follower(prediction) if prediction else None
    ngrams = _Ngrams(prompt, drafter.ngram) if drafter and drafter.ngram else None
    at = 0
    while at < len(output):
        # The last token of a pass is the target's own, so at most len - at - 1 drafts can be used.
        room = len(output) - at - 1
        proposed = follower.proposal(PREDICTION_WINDOW) if follower else ()
        accepted = min(room, _common(proposed, output[at : at + PREDICTION_WINDOW]))
        cost, width = 1.0, 1 + len(proposed)
        if proposed:
            passes.matched += accepted
        elif drafter:
            accepted, drafted = _draft(drafter, ngrams, output, at=at, draw=draw)
            passes.drafted += drafted
            passes.count(drafted, accepted)
            cost += drafter.cost * drafted
            width += drafted
        size = accepted + 1
        if follower:
            passes.matched += follower.move(output, at + size, accepted)
        if ngrams:
            for piece in output[at : at + size]:
                ngrams.add(piece)
        passes.sizes.append(size)
        passes.widths.append(width)
        passes.costs.append(cost)
        at += size
    return passes


def _draft(
    drafter: Drafter, ngrams: _Ngrams | None, output: Sequence[str], *, at: int, draw: random.Random
) -> tuple[int, int]:
    """(accepted, drafted) of one pass."""
    room = len(output) - at - 1
    if ngrams is not None:
        proposed = ngrams.proposal(drafter.tokens)
        return min(room, _common(proposed, output[at : at + drafter.tokens])), len(proposed)
    accepted = 0
    for i in range(drafter.tokens):
        if draw.random() >= drafter.acceptance[min(i, len(drafter.acceptance) - 1)]:
            break
        accepted += 1
    return min(room, accepted), drafter.tokens
