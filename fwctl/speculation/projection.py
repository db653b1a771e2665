"""What one source at one setting gives on a set of answers, all of them judged. Pure.

For comparisons that bring their own hold-out, such as a tuned draft against a generic one; `recommend`
splits traffic by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.intervals import CONFIDENCE, Interval, Row, acceptance, cost, interval
from fwctl.speculation.tally import GROUPS
from fwctl.speculation.verify import Histogram, Offer, verify


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
    rows: dict[int, Row] = {}
    requests = slower = 0
    for cluster, offer in offers:
        work, tokens = verify(offer, draft_tokens, histogram), len(offer.matching)
        row = (tokens, work.passes, work.free, work.paid)
        requests += 1
        slower += cost(row, costs) > tokens
        before = rows.get(cluster % GROUPS, (0, 0, 0, 0))
        rows[cluster % GROUPS] = (
            before[0] + row[0],
            before[1] + row[1],
            before[2] + row[2],
            before[3] + row[3],
        )
    found = [rows[place] for place in sorted(rows) if rows[place][0]]
    if not found:
        raise ValueError("there are no answers to judge")
    tokens = sum(row[0] for row in found)
    return Projection(
        draft_tokens,
        requests,
        tokens,
        tokens / sum(row[1] for row in found),
        tuple(acceptance(histogram)),
        interval(found, costs, confidence),
        slower / requests,
    )
