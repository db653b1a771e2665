"""Records to the summary of a run, and two runs to a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.stats.paired import Verdict, compare
from fwctl.stats.quantiles import estimate, quantile

METRICS = ("ttft_s", "ttfv_s", "total_s", "tpot_s")
QUANTILES = {"p50": 0.50, "p95": 0.95}
# Above these the client was the bottleneck. Seconds at the 95th percentile.
LAG_BOUNDS_S = {"dispatch_lag_s": 0.050, "queue_lag_s": 0.250, "event_loop_lag_s": 0.025}

Row = Mapping[str, Any]


def summarise(
    records: Sequence[Row], loop_lag_s: Sequence[float], *, suite_digest: str, open_loop: bool
) -> dict[str, Any]:
    """summary.json without what only the caller knows (run, lock, selftest). Warm-up is left out."""
    rows = [row for row in records if row["measured"]]
    lags = {
        "dispatch_lag_s": _values(rows, "dispatch_lag_s"),
        "queue_lag_s": _values(rows, "queue_lag_s"),
        "event_loop_lag_s": list(loop_lag_s),
    }
    p95 = {name: quantile(values, 0.95) if values else None for name, values in lags.items()}
    reasons = [
        f"{name} p95 is {value * 1000:.0f} ms, above {LAG_BOUNDS_S[name] * 1000:.0f} ms: the client was late"
        for name, value in p95.items()
        if value is not None and value > LAG_BOUNDS_S[name]
    ]
    if not rows:
        reasons.append("nothing was measured")
    targets = sorted({str(row["target"]) for row in rows})
    metrics = (*METRICS, "ttft_from_schedule_s") if open_loop else METRICS
    return {
        "targets": {
            name: _target([row for row in rows if row["target"] == name], metrics) for name in targets
        },
        "lags_p95": p95,
        "valid": not reasons,
        "invalid_reasons": reasons,
        "suite_digest": suite_digest,
    }


def _target(rows: Sequence[Row], metrics: Iterable[str]) -> dict[str, Any]:
    good = [row for row in rows if row["error_class"] is None]
    found: dict[str, Any] = {
        "n": len(rows),
        "n_ok": len(good),
        "errors": dict(sorted(Counter(row["error_class"] for row in rows if row["error_class"]).items())),
    }
    for metric in metrics:
        values = _values(good, metric)
        found[metric] = {name: estimate(values, q).to_json() for name, q in QUANTILES.items()}
    prompt, cached = sum(_values(good, "prompt_tokens")), _values(good, "cached_tokens")
    found["cached_share"] = sum(cached) / prompt if cached and prompt else None
    return found


def _values(rows: Iterable[Row], name: str) -> list[float]:
    return [row[name] for row in rows if row.get(name) is not None]


def comparisons(
    base: Sequence[Row],
    candidate: Sequence[Row],
    *,
    invalid: Sequence[str],
    tolerance: float = 0.10,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """Rows of `bench compare`, paired by prompt and repeat over requests that went well on both sides."""
    left, right = _by_pair(base), _by_pair(candidate)
    both = sorted(left.keys() & right.keys())
    found = []
    for metric in METRICS:
        pairs = [
            (left[key][metric], right[key][metric])
            for key in both
            if left[key][metric] is not None and right[key][metric] is not None
        ]
        for name, q in QUANTILES.items():
            ratio = compare(pairs, q, tolerance=tolerance, seed=seed)
            found.append(
                {
                    "metric": metric,
                    "quantile": name,
                    "ratio": ratio.value,
                    "low": ratio.low,
                    "high": ratio.high,
                    "verdict": (Verdict.INVALID if invalid else ratio.verdict).value,
                    "n_pairs": ratio.n_pairs,
                    "n_needed": ratio.n_needed,
                }
            )
    return found


def _by_pair(rows: Iterable[Row]) -> dict[tuple[str, int], Row]:
    return {
        (row["prompt_id"], row["repeat"]): row
        for row in rows
        if row["measured"] and row["error_class"] is None
    }
