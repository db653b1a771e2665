"""Runs as a document for reports: figures, distributions, the course of the run, and sweeps.

Its size does not grow with the number of requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan, log10
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.arm import read_records, read_summary
from fwctl.measure.summary import Facts, figures, latencies
from fwctl.measure.table import METRICS, SCHEDULED, Table
from fwctl.stats.quantiles import quantile_sorted

CURVE = 100  # steps of a distribution
BINS = 16
MOST_DOTS = 600
MOST_CROSSES = 200
SHOWN = ("ttft_s", "total_s", "tpot_s")


def digest_of(cwd: Path, folders: Sequence[str], quantiles: Sequence[float]) -> dict[str, Any]:
    """`runs`, one for each folder, and `sweeps` over the loads of each target. Raises UsageError."""
    names = list(dict.fromkeys(folders))
    runs = [_run(cwd / name, name, quantiles) for name in names]
    many = len(names) > 1
    for run in runs:
        for arm in run["targets"]:
            arm["label"] = f"{run['dir']}:{arm['target']}" if many else arm["target"]
    arms = [arm for run in runs for arm in run["targets"]]
    return {"runs": runs, "sweeps": _sweeps(arms)}


def _run(folder: Path, name: str, quantiles: Sequence[float]) -> dict[str, Any]:
    summary = read_summary(folder)
    table = Table(read_records(folder / "records.jsonl"))
    if not len(table):
        raise UsageError(f"{name} holds no measured records")
    known = summary.get("targets")
    known = known if isinstance(known, Mapping) else {}
    starts = [value for value in table.numbers["start_s"] if isfinite(value)]
    origin = min(starts, default=0.0)
    targets = table.groups("target", table.all())
    return {
        "dir": name,
        "run_id": summary.get("run_id"),
        "valid": not summary["invalid_reasons"],
        "interrupted": bool(summary.get("interrupted")),
        "invalid_reasons": summary["invalid_reasons"],
        "warnings": [str(text) for text in summary.get("warnings") or ()],
        "suite_digest": summary["suite_digest"],
        "cache": summary.get("cache"),
        "targets": [
            {
                "target": str(target),
                **_arm(table, rows, _facts(known.get(target)), quantiles),
                "timeline": _timeline(table, rows, origin),
            }
            for target, rows in targets.items()
        ],
    }


def _arm(table: Table, rows: Sequence[int], facts: Facts, quantiles: Sequence[float]) -> dict[str, Any]:
    metrics = (*METRICS, SCHEDULED) if table.open_loop(rows) else METRICS
    loads, types = table.groups("load", rows), table.groups("type", rows)
    found = figures(table, rows, metrics, facts, quantiles, one_load=len(loads) == 1)
    concurrency, rate = next(iter(loads)) if len(loads) == 1 else (None, None)
    good = table.good(rows)
    return {
        "concurrency": concurrency,
        "rate_per_s": rate,
        "figures": found,
        "types": {
            str(name): latencies(table, part, metrics, quantiles)
            for name, part in sorted(types.items(), key=lambda item: -len(item[1]))[:20]
            if len(types) > 1
        },
        "distributions": {metric: _distribution(table, metric, good) for metric in SHOWN},
    }


def _facts(known: Any) -> Facts:
    """Prices and objectives that the run had, from its summary."""
    if not isinstance(known, Mapping):
        return Facts()
    price, aims = known.get("usd_per_hour"), known.get("goodput")
    prices, slo = known.get("token_prices"), aims.get("slo_s") if isinstance(aims, Mapping) else None
    return Facts(
        float(price) if isinstance(price, int | float) else None,
        prices if isinstance(prices, Mapping) else {},
        slo if isinstance(slo, Mapping) else {},
    )


def _distribution(table: Table, metric: str, good: Sequence[int]) -> dict[str, Any] | None:
    """`curve`: values at 0 %, 1 % … 100 %; `bins`: (low, high, count) of equal width on a log scale."""
    values = sorted(table.values(metric, good))
    if not values:
        return None
    curve = [quantile_sorted(values, at / CURVE) for at in range(CURVE + 1)]
    return {"n": len(values), "curve": curve, "bins": _bins(values)}


def _bins(values: Sequence[float]) -> list[tuple[float, float, int]]:
    low, high = values[0], values[-1]
    if low <= 0 or low == high:
        return [(low, high, len(values))]
    width = log10(high / low) / BINS
    counts = [0] * BINS
    for value in values:
        counts[min(int(log10(value / low) / width), BINS - 1)] += 1
    return [(low * 10 ** (width * at), low * 10 ** (width * (at + 1)), n) for at, n in enumerate(counts)]


def _timeline(table: Table, rows: Sequence[int], origin: float) -> dict[str, Any]:
    """`dots` (seconds since the run began, time to first token) and `failed` moments, thinned evenly."""
    starts, ttft = table.numbers["start_s"], table.numbers["ttft_s"]
    good = set(table.good(rows))
    dots = [
        (starts[row] - origin, ttft[row])
        for row in rows
        if row in good and isfinite(starts[row]) and not isnan(ttft[row])
    ]
    failed = [starts[row] - origin for row in rows if row not in good and isfinite(starts[row])]
    return {
        "dots": _thin(dots, MOST_DOTS),
        "failed": _thin(failed, MOST_CROSSES),
        "n": len(dots),
        "n_failed": len(failed),
    }


def _thin(items: Sequence[Any], most: int) -> list[Any]:
    if len(items) <= most:
        return list(items)
    return [items[at * len(items) // most] for at in range(most)]


def _sweeps(arms: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Targets that were measured at several loads, in ascending order of the load."""
    groups: dict[tuple[str, str], list[tuple[float, Mapping[str, Any]]]] = {}
    for arm in arms:
        name = arm["label"].rpartition("@")[0] or arm["label"]
        for unit in ("concurrency", "rate_per_s"):
            if arm[unit] is not None:
                groups.setdefault((name, unit), []).append((arm[unit], arm))
    found = []
    for (name, unit), members in groups.items():
        if len({load for load, _ in members}) > 1:
            points = [
                {"load": load, "label": arm["label"], "figures": arm["figures"]}
                for load, arm in sorted(members, key=lambda item: item[0])
            ]
            found.append({"target": name, "unit": unit, "points": points})
    return found
