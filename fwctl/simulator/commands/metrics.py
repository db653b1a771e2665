"""firectl deployment-metrics list"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import check_output, table
from fwctl.simulator.platform import names, traffic
from fwctl.simulator.timing import parse_rfc3339, rfc3339

Doc = dict[str, Any]

_DAY_S = 86_400.0
# Metric -> value of summed traffic over a span in seconds.
_METRICS: dict[str, Callable[[Doc, float], float]] = {
    "tokens-per-second": lambda sums, span_s: sums["generated_tokens"] / span_s,
    "tokens-prompt-per-second": lambda sums, span_s: sums["prompt_tokens"] / span_s,
    "requests-per-second": lambda sums, span_s: sums["requests"] / span_s,
    "requests-total": lambda sums, _: sums["requests"],
    "requests-error-rate": lambda sums, _: sums["errors"] / max(1, sums["requests"]),
    "latency": lambda sums, _: sums["latency_ms"] / max(1, sums["requests"]),
    "first-token-latency": lambda sums, _: sums["first_token_ms"] / max(1, sums["requests"]),
    "prompt-cache-hit-rate": lambda sums, _: sums["cached_prompt_tokens"] / max(1, sums["prompt_tokens"]),
    "load": lambda sums, span_s: sums["latency_ms"] / 1000 / span_s,
}


def _day(text: str, flag: str) -> float:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise CommandError(f'invalid value "{text}" for --{flag}, must be YYYY-MM-DD')
    try:
        return parse_rfc3339(text)
    except ValueError:
        raise CommandError(f'invalid value "{text}" for --{flag}, must be YYYY-MM-DD') from None


def list_series(ctx: Context) -> None:
    metric = ctx.flags.get("metric", "")
    if metric not in _METRICS:
        raise CommandError(f'invalid metric "{metric}", must be one of {{{", ".join(_METRICS)}}}')
    if ctx.flags.get("group-by", "deployment") != "deployment":
        raise CommandError('invalid value for --group-by, must be "deployment"')
    now = ctx.clock.now()
    end_s = _day(ctx.flags["end"], "end") if "end" in ctx.flags else now
    start_s = _day(ctx.flags["start"], "start") if "start" in ctx.flags else end_s - 7 * _DAY_S
    step_s = ctx.flags.get("interval", _DAY_S)
    if step_s <= 0 or end_s <= start_s or (end_s - start_s) / step_s > 10_000:
        raise CommandError("invalid time range or interval")
    with wrapped(ctx, "listing deployment metrics"), ctx.reading() as world:
        world.readable(ctx.account)
        hours = list(traffic.hours(world, ctx.account, start_s, end_s))
    _print(ctx, series(hours, metric, start_s, step_s))


def series(hours: list[Doc], metric: str, start_s: float, step_s: float) -> list[Doc]:
    """One series a deployment; a step without traffic has no value."""
    sums: dict[str, dict[int, Doc]] = {}
    for hour in hours:
        step = int((hour["hourS"] - start_s) // step_s)
        total = sums.setdefault(hour["deployment"], {}).setdefault(
            step, dict.fromkeys(traffic.Usage._fields, 0)
        )
        for field in traffic.Usage._fields:
            total[field] += hour[field]
    return [
        {
            "labels": {"deployment": deployment},
            "values": [
                {"timestamp": int(start_s + step * step_s), "value": f"{_METRICS[metric](total, step_s):g}"}
                for step, total in sorted(steps.items())
            ],
        }
        for deployment, steps in sorted(sums.items())
    ]


def _print(ctx: Context, rows: list[Doc]) -> None:
    check_output(ctx)
    if ctx.output == "json":
        ctx.print(json.dumps({"series": rows}, indent=2))
        return
    cells = [
        [names.id_of(row["labels"]["deployment"]), rfc3339(point["timestamp"])[:10], point["value"]]
        for row in rows
        for point in row["values"]
    ]
    ctx.print(table(("DEPLOYMENT", "TIME", "VALUE"), cells))
