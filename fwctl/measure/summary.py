"""Records to the summary of a run. Percentiles come with intervals; a mean is never shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from fwctl.measure.table import METRICS, SCHEDULED, Row, Table
from fwctl.measure.throughput import throughput, usd_per_million_output_tokens, window
from fwctl.stats.binomial import wilson
from fwctl.stats.quantiles import estimate, quantile

QUANTILES = (0.50, 0.95)
# Above these the client was the bottleneck. Seconds at the 95th percentile.
LAG_BOUNDS_S = {"dispatch_lag_s": 0.050, "queue_lag_s": 0.250, "event_loop_lag_s": 0.025}
# What a gate on answers looks at, apart from the transport.
ANSWER_ERRORS = ("truncated", "length", "empty", "invalid_json", "schema_violation", "content_filter")
MOST_TYPES = 50


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a target beside its records.

    slo_s: most that a request may take, seconds, by metric (`ttft_s`, `tpot_s`, `total_s`).
    """

    usd_per_hour: float | None = None
    token_prices: Mapping[str, float] = field(default_factory=dict)
    slo_s: Mapping[str, float] = field(default_factory=dict)


def summarise(
    records: Iterable[Row],
    loop_lag_s: Sequence[float],
    *,
    suite_digest: str,
    open_loop: bool,
    facts: Mapping[str, Facts] | None = None,
    quantiles: Sequence[float] = QUANTILES,
) -> dict[str, Any]:
    """summary.json without what only the caller knows (run, lock, selftest). Warm-up is left out.

    records: any iterable, read once; memory is that of `Table`.
    """
    table = records if isinstance(records, Table) else Table(records)
    lags: dict[str, Sequence[float]] = {
        name: table.values(name, table.all()) for name in ("dispatch_lag_s", "queue_lag_s")
    }
    lags["event_loop_lag_s"] = loop_lag_s
    p95 = {name: quantile(values, 0.95) if values else None for name, values in lags.items()}
    reasons = [
        f"{name} p95 is {value * 1000:.0f} ms, above {LAG_BOUNDS_S[name] * 1000:.0f} ms: the client was late"
        for name, value in p95.items()
        if value is not None and value > LAG_BOUNDS_S[name]
    ]
    if not len(table):
        reasons.append("nothing was measured")
    metrics = (*METRICS, SCHEDULED) if open_loop else METRICS
    arms = table.groups("target", table.all())
    targets = {
        name: _target(table, arms[name], metrics, (facts or {}).get(name, Facts()), quantiles)
        for name in sorted(arms)
    }
    return {
        "targets": targets,
        "lags_p95": p95,
        "valid": not reasons,
        "invalid_reasons": reasons,
        "warnings": [
            f"{name}: {text}"
            for name, item in targets.items()
            for text in _warnings(item, table.error_notes.get(name))
        ],
        "suite_digest": suite_digest,
    }


def _target(
    table: Table, rows: Sequence[int], metrics: Sequence[str], facts: Facts, quantiles: Sequence[float]
) -> dict[str, Any]:
    """One target: its figures, the same by load when there were several, and by type of prompt."""
    loads, types = table.groups("load", rows), table.groups("type", rows)
    found = figures(table, rows, metrics, facts, quantiles, one_load=len(loads) == 1)
    if len(loads) > 1:
        found["loads"] = [
            {
                "concurrency": load[0],
                "rate_per_s": load[1],
                **figures(table, part, metrics, facts, quantiles),
            }
            for load, part in loads.items()
        ]
    if len(types) > 1:
        most = sorted(types, key=lambda name: (-len(types[name]), str(name)))[:MOST_TYPES]
        found["types"] = {str(name): latencies(table, types[name], metrics, quantiles) for name in most}
    return found


def latencies(
    table: Table, rows: Sequence[int], metrics: Sequence[str], quantiles: Sequence[float]
) -> dict[str, Any]:
    """`n`, `n_ok`, `errors`, and of the requests that went well the times and what drafts gave."""
    errors = {word: count for word, count in table.counts("error_class", rows).items() if word is not None}
    good = table.good(rows)
    return {
        "n": len(rows),
        "n_ok": len(good),
        "errors": dict(sorted(errors.items())),
        **{metric: _estimates(table.values(metric, good), quantiles) for metric in metrics},
        "speculation": table.drafts(good).to_json(),
    }


def figures(
    table: Table,
    rows: Sequence[int],
    metrics: Sequence[str],
    facts: Facts,
    quantiles: Sequence[float],
    *,
    one_load: bool = True,
) -> dict[str, Any]:
    """Everything about these requests. What needs one load is null where there were several."""
    found = latencies(table, rows, metrics, quantiles)
    good = table.good(rows)
    span = window(table, rows) if one_load else None
    system = throughput(table, rows, span)
    prompt, cached = table.total("prompt_tokens", good), table.total("cached_tokens", good)
    limited: Sequence[int] = table.groups("error_class", rows).get("rate_limited", ())
    limits = {word or "unknown": count for word, count in table.counts("limited_by", limited).items()}
    low, high = wilson(len(rows) - len(good), len(rows))
    return {
        **found,
        "error_rate": {"value": 1 - len(good) / len(rows) if rows else None, "low": low, "high": high},
        "answer_errors": {word: found["errors"].get(word, 0) for word in ANSWER_ERRORS},
        "rate_limited_by": dict(sorted(limits.items())),
        "output_tokens": _lengths(table, good),
        "output_tokens_per_s_per_user": _estimates(_user_rates(table, good), (0.05, 0.50)),
        "throughput": system,
        "goodput": _goodput(table, rows, good, facts.slo_s, system["requests_per_s"]),
        "cached_share": cached / prompt if cached is not None and prompt else None,
        "tokens_source": {str(word or "none"): n for word, n in table.counts("tokens_source", good).items()},
        "usd_per_hour": facts.usd_per_hour,
        "token_prices": dict(facts.token_prices),
        "usd_per_million_output_tokens": usd_per_million_output_tokens(
            table,
            rows,
            system["output_tokens_per_s"],
            usd_per_hour=facts.usd_per_hour,
            token_prices=facts.token_prices,
        ),
    }


def quantile_name(q: float) -> str:
    """`p95` for 0.95, `p99.9` for 0.999."""
    return f"p{q * 100:02.6g}" if q >= 0.1 else f"p0{q * 100:.6g}"


def _estimates(values: Sequence[float], quantiles: Sequence[float]) -> dict[str, Any]:
    ordered = sorted(values)
    return {quantile_name(q): estimate(ordered, q).to_json() for q in quantiles}


def _lengths(table: Table, good: Sequence[int]) -> dict[str, Any]:
    """Output lengths, so that an arm that talks longer is seen beside its total time."""
    values = sorted(table.values("output_tokens", good))
    ends = {"min": values[0] if values else None, "max": values[-1] if values else None}
    return {**_estimates(values, QUANTILES), **ends, "sum": sum(values) if values else None}


def _user_rates(table: Table, good: Sequence[int]) -> list[float]:
    """Tokens a second that one user saw, n / (last token - first token)."""
    tokens, tpot = table.numbers["output_tokens"], table.numbers["tpot_s"]
    return [
        tokens[row] / ((tokens[row] - 1) * tpot[row]) for row in good if tokens[row] >= 2 and tpot[row] > 0
    ]


def _goodput(
    table: Table,
    rows: Sequence[int],
    good: Sequence[int],
    slo_s: Mapping[str, float],
    rate: float | None,
) -> dict[str, Any] | None:
    """Requests that went well within every objective; failures stay in the denominator. None without one.

    A time that is not known meets no objective, except that a single token has no time per token.
    """
    if not slo_s:
        return None
    columns = [(table.numbers[name], limit, name == "tpot_s") for name, limit in slo_s.items()]
    met = sum(
        all(column[row] <= limit or (lenient and isnan(column[row])) for column, limit, lenient in columns)
        for row in good
    )
    low, high = wilson(met, len(rows))
    return {
        "slo_s": dict(slo_s),
        "n_met": met,
        "share": {"value": met / len(rows) if rows else None, "low": low, "high": high},
        "requests_per_s": met / len(rows) * rate if rows and rate is not None else None,
    }


def _warnings(item: Mapping[str, Any], error_note: str | None) -> list[str]:
    found = []
    if error_note is not None:
        found.append(f"{item['errors'].get('not_a_stream', 0)} of {item['n']} requests got {error_note}")
    missing = item["n_ok"] - item["tokens_source"].get("usage", 0)
    if missing:
        found.append(
            f"{missing} of {item['n_ok']} answers carry no usage; tokens, time per token and cost of them "
            "are left out or estimated"
        )
    return found
