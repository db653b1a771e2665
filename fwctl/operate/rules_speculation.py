"""Rules about speculative decoding, from records of benches or of a router. Pure.

The platform's metrics page says nothing about drafts, so these rules need files of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fwctl.inference.perf import parse_acceptance
from fwctl.operate.rules_model import Answer, Hit, Limits, Subject
from fwctl.stats.binomial import two_proportions

RECENT = timedelta(hours=24)
BEFORE = timedelta(days=7)


@dataclass(slots=True)
class Drafts:
    """Sums over the requests of one type in one window. first: passes whose first drafted token was
    accepted. predicted: requests with a predicted output; matched: of its tokens that the answer kept;
    answered: tokens of those answers."""

    drafts: int = 0
    first: int = 0
    accepted: int = 0
    predicted: int = 0
    matched: int = 0
    answered: int = 0

    @property
    def tokens_per_pass(self) -> float | None:
        """1 + accepted tokens a pass: no pooled rate put into a formula for constant acceptance."""
        return 1 + self.accepted / self.drafts if self.drafts else None


@dataclass(slots=True)
class Window:
    """The last day against the week before it."""

    recent: Drafts
    before: Drafts


def windows(rows: Iterable[Mapping[str, Any]], now: datetime) -> dict[str, dict[str, Window]]:
    """Deployment ID or target name -> type of request -> its windows. What cannot be read is left out."""
    found: dict[str, dict[str, Window]] = {}
    for row in rows:
        at = _time(row.get("started_at"))
        server = row.get("server")
        if at is None or not isinstance(server, Mapping) or not now - RECENT - BEFORE < at <= now:
            continue
        name = str(server.get("deployment") or row.get("target") or "").rsplit("/", 1)[-1]
        types = found.setdefault(name, {})
        window = types.setdefault(str(row.get("type") or "other"), Window(Drafts(), Drafts()))
        _add(window.recent if at > now - RECENT else window.before, row, server)
    return found


def _time(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _add(sums: Drafts, row: Mapping[str, Any], server: Mapping[str, Any]) -> None:
    text = server.get("speculation-acceptance")
    if isinstance(text, str):
        try:
            found = parse_acceptance(text)
        except ValueError:
            return
        sums.drafts += found.drafts
        sums.first += round(found.reached[0] * found.drafts)
        sums.accepted += round(sum(found.reached) * found.drafts)
    offered, matched = (_count(server.get(f"speculation-prompt-{key}tokens")) for key in ("", "matched-"))
    if offered:
        sums.predicted += 1
        sums.matched += matched
        sums.answered += _count(row.get("output_tokens"))


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0


def drifting(subject: Subject, limits: Limits) -> Hit | Answer:
    """Acceptance that changed for certain, and tokens a pass that changed by a tenth. Both ways: very low
    goes with garbled text, very high with loops (vLLM PR 44487)."""
    told, judged = [], False
    for kind, window in subject.speculation.items():
        old, new = window.before.tokens_per_pass, window.recent.tokens_per_pass
        if old is None or new is None:
            continue
        judged = True
        p_value = two_proportions(
            window.before.first, window.before.drafts, window.recent.first, window.recent.drafts
        )
        if p_value < limits["p_value"] and abs(new / old - 1) >= limits["share"]:
            told.append(f"{kind}: {old:.2f} to {new:.2f} tokens a pass ({new / old - 1:+.0%})")
    if not told:
        return Answer.NO if judged else Answer.UNKNOWN
    return Hit(
        f"drafts of the last day against the week before, {'; '.join(told)}",
        "look at what changed in prompts or model; `fwctl speculate` compares draft settings",
    )


def not_paying(subject: Subject, limits: Limits) -> Hit | Answer:
    """Predicted outputs that hardly match what is answered; a wrong prediction can slow the answer."""
    told, judged = [], False
    for kind, window in subject.speculation.items():
        sums = window.recent
        if sums.predicted < limits["requests"] or not sums.answered:
            continue
        judged = True
        coverage = sums.matched / sums.answered
        if coverage < limits["coverage"]:
            told.append(f"{kind}: {coverage:.0%} of the answered tokens in {sums.predicted} requests")
    if not told:
        return Answer.NO if judged else Answer.UNKNOWN
    return Hit(
        f"predictions cover too little, {'; '.join(told)}",
        "send no `prediction` for this type of request, or n-gram drafts instead",
    )
