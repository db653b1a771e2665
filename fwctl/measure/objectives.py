"""The `slo:` block of a deployment, and whether measurements meet it. Pure.

Nothing is decided by a point estimate: an objective is met when the whole interval lies within the limit,
missed when the whole interval lies beyond it, and open in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fwctl.stats.binomial import wilson
from fwctl.stats.quantiles import estimate

Q = 0.95


class Verdict(StrEnum):
    """OPEN: too few answers to tell, which is no pass."""

    MET = "met"
    MISSED = "missed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Objective:
    """key: its last part in the spec. metric: of a record; None for the share of failed requests.
    limit: seconds, or a share from 0 to 1."""

    key: str
    metric: str | None
    limit: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One objective against one set of answers; value, low and high in the unit of the limit."""

    objective: Objective
    verdict: Verdict
    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        return {
            "objective": self.objective.key,
            "limit": self.objective.limit,
            "verdict": self.verdict.value,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
        }


_TIMES = {"ttft_p95_ms": "ttft_s", "tpot_p95_ms": "tpot_s", "total_p95_ms": "total_s"}
DEFAULT_ERROR_RATE = 0.01  # where a spec says nothing about failures


def objectives_of(own: Mapping[str, Any]) -> tuple[Objective, ...]:
    """The objectives of a spec entry (`slo.…` by path); a limit on failures always stands among them."""
    times = [
        Objective(key, metric, float(own[f"slo.{key}"]) / 1000)
        for key, metric in _TIMES.items()
        if f"slo.{key}" in own
    ]
    text = own.get("slo.error_rate")
    share = float(str(text).strip().rstrip("%")) / 100 if text is not None else DEFAULT_ERROR_RATE
    return (*times, Objective("error_rate", None, share))


def slo_seconds(own: Mapping[str, Any]) -> dict[str, float]:
    """Objectives that a single request can meet, seconds by metric: what goodput counts."""
    return {item.metric: item.limit for item in objectives_of(own) if item.metric is not None}


def judge(
    rows: Sequence[Mapping[str, Any]], objectives: Iterable[Objective], *, confidence: float = 0.95
) -> tuple[Judged, ...]:
    """Every objective against records. Times count from the moment a request was due, where it had one."""
    good = [row for row in rows if row.get("error_class") is None]
    found = []
    for item in objectives:
        if item.metric is None:
            found.append(_share(item, len(rows) - len(good), len(rows), confidence))
        else:
            values = [value for row in good if (value := time_of(row, item.metric)) is not None]
            found.append(_time(item, values, confidence))
    return tuple(found)


def time_of(row: Mapping[str, Any], metric: str) -> float | None:
    """A time in seconds; what a request waited before it was sent is part of all but the time per token."""
    value = row.get(metric)
    if value is None or metric == "tpot_s":
        return value
    due, sent = row.get("ttft_from_schedule_s"), row.get("ttft_s")
    waited = due - sent if due is not None and sent is not None else 0.0
    return float(value + max(0.0, waited))


def _time(item: Objective, values: Sequence[float], confidence: float) -> Judged:
    found = estimate(values, Q, confidence)
    return _judged(item, found.value, found.low, found.high, found.n)


def _share(item: Objective, failed: int, n: int, confidence: float) -> Judged:
    if not n:
        return _judged(item, None, None, None, 0)
    low, high = wilson(failed, n, confidence)
    if not failed:  # no failure seen leaves an upper bound that only thousands of requests bring below 1 %
        return Judged(item, Verdict.MET, 0.0, low, high, n)
    return _judged(item, failed / n, low, high, n)


def _judged(item: Objective, value: float | None, low: float | None, high: float | None, n: int) -> Judged:
    verdict = Verdict.OPEN
    if low is not None and high is not None:
        if high <= item.limit:
            verdict = Verdict.MET
        elif low > item.limit:
            verdict = Verdict.MISSED
    return Judged(item, verdict, value, low, high, n)


def judge_summary(target: Mapping[str, Any], objectives: Iterable[Objective]) -> tuple[Judged, ...]:
    """The same from one target of a summary.json, whose intervals are 95 % ones."""
    found = []
    for item in objectives:
        if item.metric is None:
            found.append(_share(item, target["n"] - target["n_ok"], target["n"], 0.95))
            continue
        name = (
            "ttft_from_schedule_s" if item.metric == "ttft_s" and "ttft_from_schedule_s" in target else None
        )
        at = target[name or item.metric]["p95"]
        found.append(_judged(item, at["value"], at["low"], at["high"], at["n"]))
    return tuple(found)


def overall(judged: Sequence[Judged]) -> Verdict:
    """Missed when one is missed, met when all are met."""
    verdicts = {item.verdict for item in judged}
    if Verdict.MISSED in verdicts:
        return Verdict.MISSED
    return Verdict.OPEN if Verdict.OPEN in verdicts or not verdicts else Verdict.MET
