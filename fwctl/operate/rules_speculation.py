"""Rules about speculative decoding, from records of benches or of a router. Pure.

The platform's metrics page says nothing about drafts, so these rules need files of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fwctl.measure.lines import moment
from fwctl.measure.speculation import add_drafts
from fwctl.operate.rules_model import Answer, Hit, Limits, Subject
from fwctl.speculation.drift import CONSECUTIVE, Trend, detect
from fwctl.speculation.drift import Window as Drafts

RECENT = timedelta(hours=24)
BEFORE = timedelta(days=7)


@dataclass(slots=True)
class Predictions:
    """Sums over the requests of one type. requests: with a predicted output; matched: of its tokens that
    the answer kept; answered: tokens of those answers."""

    requests: int = 0
    matched: int = 0
    answered: int = 0


@dataclass(slots=True)
class Window:
    """Drafts of the last day in equal parts, oldest first, and of the week before it; predictions of the
    last day."""

    recent: list[Drafts] = field(default_factory=lambda: [Drafts() for _ in range(CONSECUTIVE)])
    before: Drafts = field(default_factory=Drafts)
    predictions: Predictions = field(default_factory=Predictions)


def windows(rows: Iterable[Mapping[str, Any]], now: datetime) -> dict[str, dict[str, Window]]:
    """Deployment ID or target name -> type of request -> its windows. What cannot be read is left out."""
    found: dict[str, dict[str, Window]] = {}
    for row in rows:
        at = moment(row.get("started_at"))
        server = row.get("server")
        if at is None or not isinstance(server, Mapping) or not now - RECENT - BEFORE < at <= now:
            continue
        name = str(server.get("deployment") or row.get("target") or "").rsplit("/", 1)[-1]
        types = found.setdefault(name, {})
        window = types.setdefault(str(row.get("type") or "other"), Window())
        age = now - at
        drafts = window.recent[-1 - int(age / (RECENT / CONSECUTIVE))] if age < RECENT else window.before
        add_drafts(drafts, server)
        if age < RECENT:
            _add_prediction(window.predictions, row, server)
    return found


def _add_prediction(sums: Predictions, row: Mapping[str, Any], server: Mapping[str, Any]) -> None:
    offered, matched = (_count(server.get(f"speculation-prompt-{key}tokens")) for key in ("", "matched-"))
    if offered:
        sums.requests += 1
        sums.matched += matched
        sums.answered += _count(row.get("output_tokens"))


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e12 else 0


def drifting(subject: Subject, limits: Limits) -> Hit | Answer:
    """Tokens a pass that changed by a tenth in every part of the last day, and not by chance; requests are
    what is counted, since passes of one answer are alike. Both ways: very low goes with garbled text, very
    high with loops (vLLM PR 44487)."""
    told, judged = [], False
    for kind, window in subject.speculation.items():
        found = detect(
            window.before, window.recent, least_change=limits["share"], false_alarms=limits["p_value"]
        )
        judged = judged or found.trend is not Trend.UNKNOWN
        old, new = window.before.tokens_per_pass, window.recent[-1].tokens_per_pass
        if found.trend in (Trend.FALL, Trend.RISE) and old is not None and new is not None:
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
        sums = window.predictions
        if sums.requests < limits["requests"] or not sums.answered:
            continue
        judged = True
        coverage = sums.matched / sums.answered
        if coverage < limits["coverage"]:
            told.append(f"{kind}: {coverage:.0%} of the answered tokens in {sums.requests} requests")
    if not told:
        return Answer.NO if judged else Answer.UNKNOWN
    return Hit(
        f"predictions cover too little, {'; '.join(told)}",
        "send no `prediction` for this type of request, or n-gram drafts instead",
    )
