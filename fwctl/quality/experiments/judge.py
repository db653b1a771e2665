"""Records of all candidates -> what each measured, and which one wins. Pure.

The winner is the cheapest candidate, in dollars per million output tokens at the measured load, that meets
the SLO and whose loss of quality against the baseline is ruled out up to the margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fwctl.quality.experiments.model import Experiment
from fwctl.stats.quantiles import Estimate, estimate

METRICS = ("ttft_s", "tpot_s", "total_s")
TIE = 0.01  # costs that differ by less than this share are called equal

Row = Mapping[str, Any]


class Met(StrEnum):
    """Whether an objective is met; NOT_SHOWN: too few answers to tell, which is no pass."""

    MET = "met"
    MISSED = "missed"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True, slots=True)
class Quality:
    """Against the baseline. verdict: pass, fail, inconclusive or invalid; `baseline` for itself,
    `not_asked` without a margin. loss, upper: shares of right answers lost, and its bound."""

    verdict: str
    loss: float | None = None
    upper: float | None = None
    n_pairs: int = 0
    note: str | None = None

    @property
    def passes(self) -> bool:
        return self.verdict in ("pass", "baseline", "not_asked")


@dataclass(frozen=True, slots=True)
class Measured:
    """One candidate. Times in seconds; usd_per_hour: of all its replicas, None when the price is unknown;
    usd_per_million: per million output tokens at the measured load."""

    name: str
    n: int
    n_ok: int
    times: Mapping[str, Mapping[str, Estimate]]
    output_tokens: int
    tokens_per_s: float | None
    usd_per_hour: float | None
    usd_per_million: float | None
    slo: Met
    slo_notes: tuple[str, ...]
    quality: Quality

    @property
    def eligible(self) -> bool:
        return self.slo is Met.MET and self.quality.passes and self.usd_per_million is not None

    def to_json(self) -> dict[str, Any]:
        """Keys of docs/json.md."""
        return {
            "name": self.name,
            "n": self.n,
            "n_ok": self.n_ok,
            **{
                metric: {name: found.to_json() for name, found in row.items()}
                for metric, row in self.times.items()
            },
            "output_tokens": self.output_tokens,
            "tokens_per_s": self.tokens_per_s,
            "usd_per_hour": self.usd_per_hour,
            "usd_per_million_output_tokens": self.usd_per_million,
            "slo": self.slo.value,
            "slo_notes": list(self.slo_notes),
            "quality": {
                "verdict": self.quality.verdict,
                "loss": self.quality.loss,
                "upper": self.quality.upper,
                "n_pairs": self.quality.n_pairs,
                "note": self.quality.note,
            },
            "why_not": why_not(self),
        }


def measured(
    experiment: Experiment,
    name: str,
    rows: Sequence[Row],
    *,
    usd_per_hour: float | None,
    quality: Quality,
) -> Measured:
    """One candidate's own records of all passes. usd_per_hour: of all its replicas."""
    good = [row for row in rows if row["error_class"] is None]
    times = {
        metric: {
            q: estimate([row[metric] for row in good if row.get(metric) is not None], share)
            for q, share in (("p50", 0.5), ("p95", 0.95))
        }
        for metric in METRICS
    }
    tokens = sum(int(row.get("output_tokens") or 0) for row in good)
    speed = _tokens_per_s(experiment, len(rows), good, tokens)
    cost = None if usd_per_hour is None or not speed else usd_per_hour / 3600 / speed * 1e6
    slo, notes = _slo(experiment.slo, times, len(rows), len(good))
    return Measured(name, len(rows), len(good), times, tokens, speed, usd_per_hour, cost, slo, notes, quality)


def _tokens_per_s(experiment: Experiment, n: int, good: Sequence[Row], tokens: int) -> float | None:
    """Output tokens a second at the measured load. With a rate: what that many requests a second bring.
    With a concurrency: as if the candidate had that many requests at a time for itself (Little's law)."""
    load = experiment.load
    if load.rate_per_s is not None:
        return load.rate_per_s * tokens / n if n else None
    busy_s = sum(row["total_s"] for row in good if row.get("total_s") is not None)
    return load.concurrency * tokens / busy_s if busy_s else None


_METRIC_OF = {"ttft_p95_ms": "ttft_s", "tpot_p95_ms": "tpot_s", "total_p95_ms": "total_s"}


def _slo(
    limits: Mapping[str, float], times: Mapping[str, Mapping[str, Estimate]], n: int, n_ok: int
) -> tuple[Met, tuple[str, ...]]:
    notes: list[str] = []
    found = Met.MET if n_ok else Met.NOT_SHOWN
    for key, limit in limits.items():
        verdict, note = _objective(key, limit, times, n, n_ok)
        if verdict is not Met.MET:
            notes.append(note)
        found = max(found, verdict, key=(Met.MET, Met.NOT_SHOWN, Met.MISSED).index)
    return found, tuple(notes)


def _objective(
    key: str, limit: float, times: Mapping[str, Mapping[str, Estimate]], n: int, n_ok: int
) -> tuple[Met, str]:
    if key == "error_rate":
        share = (n - n_ok) / n if n else 1.0
        return (Met.MET if share <= limit else Met.MISSED), f"errors {share:.1%}, allowed {limit:.1%}"
    at = times[_METRIC_OF[key]]["p95"]
    if at.value is None:
        return Met.NOT_SHOWN, f"{key}: {at.n} answers, {at.n_needed} needed"
    value_ms = at.value * 1000
    met = Met.MET if value_ms <= limit else Met.MISSED
    return met, f"{key} {value_ms:,.0f}, allowed {limit:,.0f}"


def why_not(item: Measured) -> list[str]:
    """What keeps a candidate from winning whatever the others cost; empty for an eligible one."""
    reasons = []
    if not item.n_ok:
        reasons.append("no request went well")
    if item.slo is Met.MISSED:
        reasons.append(f"misses the SLO: {'; '.join(item.slo_notes)}")
    elif item.slo is Met.NOT_SHOWN and item.n_ok:
        reasons.append(f"the SLO is not shown: {'; '.join(item.slo_notes)}")
    if not item.quality.passes:
        note = f": {item.quality.note}" if item.quality.note else ""
        reasons.append(f"quality {item.quality.verdict}{note}")
    if item.usd_per_million is None and item.n_ok:
        reasons.append("its cost is unknown")
    return reasons


@dataclass(frozen=True, slots=True)
class Decision:
    """winner: None when there is none. reason: one sentence. tied: others that cost the same."""

    winner: str | None
    reason: str
    tied: tuple[str, ...] = ()


def decide(items: Iterable[Measured], baseline: str, invalid: Sequence[str]) -> Decision:
    """The rule above. invalid: why the measurement as a whole does not count."""
    if invalid:
        return Decision(None, f"no winner: the measurement is invalid: {'; '.join(dict.fromkeys(invalid))}")
    good = sorted((item for item in items if item.eligible), key=lambda item: item.usd_per_million or 0.0)
    if not good:
        return Decision(
            None, "no winner: no candidate meets the SLO and passes the quality gate at a known cost"
        )
    least = good[0].usd_per_million or 0.0
    names = [item.name for item in good if (item.usd_per_million or 0.0) <= least * (1 + TIE)]
    winner = baseline if baseline in names else names[0]
    tied = tuple(name for name in names if name != winner)
    cost = next(item.usd_per_million or 0.0 for item in good if item.name == winner)
    return Decision(winner, _sentence(winner, tied, len(good), winner == baseline, cost), tied)


def _sentence(winner: str, tied: Sequence[str], eligible: int, is_baseline: bool, cost: float) -> str:
    price = f"${cost:,.3f} per million output tokens"
    if tied:
        why = "the baseline stays" if is_baseline else f"{winner} is taken, by less than that"
        return f"tie: {', '.join([winner, *tied])} cost the same within {TIE:.0%} ({price}), so {why}"
    if eligible == 1:
        return f"{winner} is the only one that meets the SLO and passes the quality gate: {price}"
    return f"{winner} is the cheapest of {eligible} that meet the SLO and pass the quality gate: {price}"
