"""The greedy verify rule over a whole answer. Pure, and the inner loop of a replay.

A source of drafts says two things about each position of an answer: how many tokens it would draft there
(`offered`) and how many of them, from the first on, the target then really produced (`matching`). Both
depend on the true text before the position alone, because verification lets nothing else through. A pass
at position i with at most k drafted tokens accepts min(matching[i], k) and adds the target's own token.

What is decoded: all tokens of the answer but the first, which comes with the prompt, and the end of the
answer, which is a token too and which no text draft contains. So an answer of n tokens takes n plain
passes, and n / passes is exactly 1 + the sum of the acceptances by position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

END = -1  # stands for the end-of-text token; no tokenizer has it


_ANY = bytes([0]) + bytes([1]) * 255


@dataclass(slots=True)
class Offer:
    """What one source would draft in one answer: one byte a decoded position.

    paid: marks the positions where a draft model speaks, whose tokens cost time; None when none does.
    """

    offered: bytes
    matching: bytes
    paid: bytes | None = None
    _speaks: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._speaks = self.offered.translate(_ANY)

    def next(self, at: int) -> int:
        """The first position from `at` on with an offer; the end when there is none."""
        found = self._speaks.find(1, at)
        return len(self.offered) if found < 0 else found


@dataclass(slots=True)
class Histogram:
    """Passes by number of accepted and by number of drafted tokens, each from 0 to k."""

    accepted: list[int]
    drafted: list[int]

    @classmethod
    def empty(cls, draft_tokens: int) -> Histogram:
        return cls([0] * (draft_tokens + 1), [0] * (draft_tokens + 1))


class Spent(NamedTuple):
    """What answers took. tokens: theirs, which is the passes of plain decoding. free, paid: drafted tokens
    that cost nothing to make, and that a model drafted."""

    tokens: int
    passes: int
    free: int
    paid: int


NOTHING = Spent(0, 0, 0, 0)


def verify(offer: Offer, draft_tokens: int, into: Histogram) -> Spent:
    """Go through one answer pass by pass; adds to the histogram."""
    offered, matching, marks = offer.offered, offer.matching, offer.paid
    by_accepted, by_drafted = into.accepted, into.drafted
    end = len(matching)
    at = passes = free = paid = 0
    while at < end:
        drafted = offered[at]
        if not drafted:
            after = offer.next(at)  # most positions of most sources: skipped at the speed of C
            by_accepted[0] += after - at
            by_drafted[0] += after - at
            passes += after - at
            at = after
            continue
        drafted = min(drafted, draft_tokens)
        accepted = min(matching[at], draft_tokens)
        by_accepted[accepted] += 1
        by_drafted[drafted] += 1
        passes += 1
        if marks is not None and marks[at]:
            paid += drafted
        else:
            free += drafted
        at += accepted + 1
    return Spent(end, passes, free, paid)


def first_of(primary: Offer, secondary: Offer) -> Offer:
    """Both sources together: the second one speaks where the first is silent."""
    offered, matching = bytearray(secondary.offered), bytearray(secondary.matching)
    paid = bytearray(secondary.paid or bytes(len(offered)))
    theirs = primary.paid or bytes(len(offered))
    at = primary.next(0)
    while at < len(offered):
        offered[at] = primary.offered[at]
        matching[at] = primary.matching[at]
        paid[at] = theirs[at]
        at = primary.next(at + 1)
    return Offer(bytes(offered), bytes(matching), bytes(paid) if any(paid) else None)
