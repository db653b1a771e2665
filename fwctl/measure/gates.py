"""Conditions under which a comparison fails, and what the measurements say about each.

A condition that is neither met nor ruled out is inconclusive, which is not a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.arm import RunArm
from fwctl.measure.summary import quantile_name
from fwctl.spec.closest import did_you_mean
from fwctl.stats.quantiles import estimate

TIMES = {
    "ttft": "ttft_s",
    "ttfv": "ttfv_s",
    "total": "total_s",
    "tpot": "tpot_s",
    "ttft_from_schedule": "ttft_from_schedule_s",
}
ERROR_RATE, COST, GOODPUT, TOKENS, REQUESTS = (
    "error_rate",
    "cost",
    "goodput",
    "tokens_per_s",
    "requests_per_s",
)
# Names without a percentile -> units that a limit of theirs may have.
UNITS: dict[str, tuple[str, ...]] = {
    ERROR_RATE: ("%",),
    COST: ("x", "$"),
    GOODPUT: ("%",),
    TOKENS: ("x", ""),
    REQUESTS: ("x", ""),
}
_TIME_UNITS = {"x": 1.0, "s": 1.0, "ms": 1e-3}
_CONDITION = re.compile(
    r"\s*([a-z_]+?)(?:_p([0-9]{1,2}(?:\.[0-9]{1,3})?))?\s*([<>])=?\s*(\$?)([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(x|%|ms|s|)\s*"
)
_HELP = "for example 'ttft_p95 > 1.10x', 'ttft_p95 > 0.8s', 'error_rate > 1%' or 'cost > 1.2x'"


class Outcome(StrEnum):
    """What became of a condition."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Condition:
    """`name` `operator` `limit`. quantile: of a time, else None. relative: the limit is a ratio to the base;
    otherwise it is in seconds, a share, or the unit of the name. needed: it says at which load the rest
    holds, so that missing it proves nothing. source: who asked for it."""

    text: str
    name: str
    operator: str
    limit: float
    relative: bool = False
    quantile: float | None = None
    needed: bool = False
    source: str = "--fail-if"


@dataclass(frozen=True, slots=True)
class _Measured:
    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def parse_condition(text: str, source: str = "--fail-if") -> Condition:
    """`ttft_p95 > 1.10x`. Raises UsageError with what can be written instead."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise _wrong(text, _HELP)
    name, percentile, operator, dollar, number, unit = match.groups()
    if name not in TIMES and name not in UNITS:
        near = did_you_mean(
            name if percentile is None else f"{name}_p95", [*(f"{time}_p95" for time in TIMES), *UNITS]
        )
        raise _wrong(text, near or f"known: {', '.join([*(f'{time}_p95' for time in TIMES), *UNITS])}")
    unit = dollar or unit
    if name in TIMES:
        if percentile is None:
            raise _wrong(text, f"say which percentile: {name}_p50 or {name}_p95")
        if not 0 < float(percentile) < 100:
            raise _wrong(text, "a percentile lies between p1 and p99.9")
        if unit not in _TIME_UNITS:
            raise _wrong(text, "a time takes x (times the base), s or ms")
        q, limit = float(percentile) / 100, float(number) * _TIME_UNITS[unit]
        return Condition(text.strip(), name, operator, limit, unit == "x", q, source=source)
    if percentile is not None:
        raise _wrong(text, f"{name} has no percentiles")
    if unit not in UNITS[name]:
        words = {"x": "x (times the base)", "%": "%", "$": "$ before the number", "": "a plain number"}
        raise _wrong(text, f"{name} takes {' or '.join(words[item] for item in UNITS[name])}")
    limit = float(number) / 100 if unit == "%" else float(number)
    return Condition(text.strip(), name, operator, limit, unit == "x", source=source)


def _wrong(text: str, step: str) -> UsageError:
    return UsageError(f"--fail-if: {text[:80]!r} is not a condition", next_steps=[step])


# Objectives of a spec -> the condition under which they are missed.
_OBJECTIVES = {
    "slo.ttft_p95_ms": "ttft_p95 > {:.6f}ms",
    "slo.tpot_p95_ms": "tpot_p95 > {:.6f}ms",
    "slo.total_p95_ms": "total_p95 > {:.6f}ms",
}


def slo_conditions(own: Mapping[str, Any], name: str) -> list[Condition]:
    """Conditions of a deployment's `slo:`; `own` holds its fields by path."""
    source = f"slo of {name}"
    found = [
        Condition(
            f"{path} {own[path]:g}",
            part.name,
            part.operator,
            part.limit,
            quantile=part.quantile,
            source=source,
        )
        for path, text in _OBJECTIVES.items()
        if path in own
        for part in (parse_condition(text.format(own[path])),)
    ]
    if "slo.error_rate" in own:
        share = float(str(own["slo.error_rate"]).rstrip("%")) / 100
        found.append(
            Condition(f"slo.error_rate {own['slo.error_rate']}", ERROR_RATE, ">", share, source=source)
        )
    if "slo.at.rps" in own:
        text = f"slo.at.rps {own['slo.at.rps']:g}"
        found.append(Condition(text, REQUESTS, "<", own["slo.at.rps"], needed=True, source=source))
    return found


def quantiles_of(conditions: Iterable[Condition]) -> list[float]:
    """Percentiles that the conditions ask for, as fractions."""
    return sorted({item.quantile for item in conditions if item.quantile is not None})


def judge_gates(
    conditions: Sequence[Condition], document: Mapping[str, Any], base: RunArm, candidate: RunArm
) -> list[dict[str, Any]]:
    """One row a condition, in order. document: of `compare_runs`, with the quantiles of the conditions."""
    return [_judged(item, document, base, candidate) for item in conditions]


def passed(gates: Iterable[Mapping[str, Any]], *, allow_inconclusive: bool) -> bool:
    """True when every gate passed, or at least none failed where that is enough."""
    good = {Outcome.PASSED.value} | ({Outcome.INCONCLUSIVE.value} if allow_inconclusive else set())
    return all(gate["outcome"] in good for gate in gates)


def _judged(item: Condition, document: Mapping[str, Any], base: RunArm, candidate: RunArm) -> dict[str, Any]:
    found = _measured(item, document, base, candidate)
    outcome = Outcome.INVALID if document["invalid_reasons"] else _outcome(item, found)
    reasons = {Outcome.INCONCLUSIVE: found.reason, Outcome.INVALID: "the comparison is invalid"}
    return {
        "condition": item.text,
        "source": item.source,
        "outcome": outcome.value,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "limit": item.limit,
        "relative": item.relative,
        "name": item.name if item.quantile is None else f"{item.name}_{quantile_name(item.quantile)}",
        "reason": reasons.get(outcome),
    }


def _outcome(item: Condition, found: _Measured) -> Outcome:
    if found.low is None or found.high is None:
        return Outcome.INCONCLUSIVE
    if item.operator == ">":
        holds, ruled_out = found.low > item.limit, found.high <= item.limit
    else:
        holds, ruled_out = found.high < item.limit, found.low >= item.limit
    if holds:
        return Outcome.INCONCLUSIVE if item.needed else Outcome.FAILED
    return Outcome.PASSED if ruled_out else Outcome.INCONCLUSIVE


def _measured(item: Condition, document: Mapping[str, Any], base: RunArm, candidate: RunArm) -> _Measured:
    if item.quantile is not None:
        return _ratio(item, document) if item.relative else _time(item, candidate)
    if item.name == ERROR_RATE:
        found = document["error_rate"]["candidate"]
        # No failure at all leaves a bound that only hundreds of requests bring below 1 %; where the limit
        # would have let one be expected, none is good enough.
        high = 0.0 if not found["failed"] and found["n"] * item.limit >= 1 else found["high"]
        return _Measured(found["value"], found["low"], high, _open(found["n"], None))
    return _figure(item, base, candidate)


def _ratio(item: Condition, document: Mapping[str, Any]) -> _Measured:
    wanted = (TIMES[item.name], quantile_name(item.quantile or 0))
    for row in document["comparisons"]:
        if (row["metric"], row["quantile"]) == wanted:
            return _Measured(row["ratio"], row["low"], row["high"], _open(row["n_pairs"], row["n_needed"]))
    return _Measured(None, reason="it was not measured in both runs")


def _time(item: Condition, candidate: RunArm) -> _Measured:
    table = candidate.table
    found = estimate(table.values(TIMES[item.name], table.good(table.all())), item.quantile or 0)
    needed = found.n_needed if found.value is None else None
    return _Measured(found.value, found.low, found.high, _open(found.n, needed))


def _open(n: int, needed: int | None) -> str:
    """Why a condition cannot be decided."""
    return f"n={n}, needs {needed}" if needed else f"the limit lies within the interval, n={n}"


def _figure(item: Condition, base: RunArm, candidate: RunArm) -> _Measured:
    """Figures without an interval of their own, except the share of goodput."""
    if item.name == GOODPUT:
        found = (candidate.figures.get("goodput") or {}).get("share") or {}
        reason = "the run had no objectives" if not found else None
        return _Measured(found.get("value"), found.get("low"), found.get("high"), reason)
    values = [_number(arm, item.name) for arm in (base, candidate)]
    value = values[1]
    if item.relative:
        value = value / values[0] if value is not None and values[0] else None
    reason = "a price is not known" if item.name == COST else "it is not known"
    if item.needed:
        reason = f"the objectives hold at {item.limit:g} requests a second, and this run made fewer"
    return _Measured(value, value, value, reason)


def _number(arm: RunArm, name: str) -> float | None:
    figures = arm.figures
    if name == COST:
        value = figures.get("usd_per_million_output_tokens")
    else:
        key = "output_tokens_per_s" if name == TOKENS else "requests_per_s"
        value = (figures.get("throughput") or {}).get(key)
    return float(value) if isinstance(value, int | float) else None
