"""What one source at one setting gives on a set of answers, all of them judged. Pure.

For comparisons that bring their own hold-out, such as a tuned draft against a generic one; `recommend`
splits traffic by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import add

from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.intervals import CONFIDENCE, Interval, acceptance, cost, interval
from fwctl.speculation.tally import GROUPS
from fwctl.speculation.verify import NOTHING, Histogram, Offer, Spent, verify


@dataclass(frozen=True, slots=True)
class Projection:
    """acceptance_by_position: share of passes whose positions 1..i were all accepted.

    share_slower: of requests that would take longer than by plain decoding.
    """

    draft_tokens: int
    requests: int
    tokens: int
    tokens_per_pass: float
    acceptance_by_position: tuple[float, ...]
    speedup: Interval
    share_slower: float


def project(
    offers: Iterable[tuple[int, Offer]], draft_tokens: int, costs: Costs, confidence: float = CONFIDENCE
) -> Projection:
    """From pairs (cluster of the conversation, offer); see verify.py. Raises ValueError for no tokens."""
    histogram = Histogram.empty(draft_tokens)
    rows: dict[int, Spent] = {}
    requests = slower = 0
    for cluster, offer in offers:
        spent = verify(offer, draft_tokens, histogram)
        requests += 1
        slower += cost(spent, costs) > spent.tokens
        rows[cluster % GROUPS] = Spent(*map(add, rows.get(cluster % GROUPS, NOTHING), spent))
    found = [rows[place] for place in sorted(rows) if rows[place].tokens]
    if not found:
        raise ValueError("there are no answers to judge")
    tokens = sum(spent.tokens for spent in found)
    return Projection(
        draft_tokens,
        requests,
        tokens,
        tokens / sum(spent.passes for spent in found),
        tuple(acceptance(histogram)),
        interval(found, costs, confidence),
        slower / requests,
    )
