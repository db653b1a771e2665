"""The cost report as the JSON document of docs/json.md, and what in it needs attention. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from fwctl.errors import Diagnostic, Severity
from fwctl.operate.cost import Cost
from fwctl.operate.cost_model import Figures, Line, Pool, Residual, total
from fwctl.operate.cost_serverless import Comparison
from fwctl.operate.cost_trend import CAUSES, Trend
from fwctl.operate.cost_waste import Wasted

HOUR_S = 3600
DOCS = "docs/cost.md"


@dataclass(frozen=True, slots=True)
class Findings:
    """All parts of the report. output_weight: how many prompt tokens a generated one counts as. tag: the
    tag that names cost centres, None for none."""

    cost: Cost
    trends: Sequence[Trend] = ()
    serverless: Sequence[Comparison] = ()
    wasted: Sequence[Wasted] = ()
    output_weight: int = 4
    tag: str | None = None


def rounded(value: Fraction | float | None, digits: int = 6) -> float | None:
    """The nearest decimal with that many digits, halves to the even neighbour; None stays None."""
    if value is None:
        return None
    exact = Fraction(value)
    with localcontext() as context:
        context.prec = 60
        quotient = Decimal(exact.numerator) / Decimal(exact.denominator)
        return float(quotient.quantize(Decimal(1).scaleb(-digits)))


def document(found: Findings) -> dict[str, Any]:
    """Every list in the order of docs/json.md; amounts in dollars, times in UTC."""
    cost, weight = found.cost, found.output_weight
    return {
        "from": cost.span.first.isoformat(),
        "to": cost.span.last.isoformat(),
        "output_weight": weight,
        "total": figures(total(line.figures for line in cost.lines), weight),
        "deployments": _deployments(cost.lines, weight),
        "days": [_line(line, weight) for line in cost.lines],
        "cost_centres": _centres(cost.lines, found.tag, weight) if found.tag else [],
        "reconciliation": [_residual(item) for item in cost.residuals],
        "gaps": [{"start": gap.start.isoformat(), "end": gap.end.isoformat()} for gap in cost.gaps],
        "pools": [_pool(pool) for pool in cost.pools],
        "unattributed": [
            {
                "day": day.isoformat(),
                "model": model,
                "prompt_tokens": tokens.prompt,
                "completion_tokens": tokens.completion,
            }
            for (day, model), tokens in sorted(cost.unattributed.items())
        ],
        "wasted": [_wasted(item, cost.lines) for item in found.wasted],
        "serverless": [_comparison(item) for item in found.serverless],
        "trends": [_trend(item) for item in found.trends],
    }


def figures(item: Figures, weight: int) -> dict[str, Any]:
    """Sums and ratios of one line or of many; what is not known is null."""
    split = item.split(weight)
    counted = item.tokens is not None
    return {
        "gpu_hours": rounded(item.gpu_s / HOUR_S),
        "starting_gpu_hours": rounded(item.starting_gpu_s / HOUR_S),
        "usd": rounded(item.usd),
        "on_demand_usd": rounded(item.on_demand_usd) if item.usd is not None else None,
        "reserved_usd": rounded(item.reserved_usd) if item.usd is not None else None,
        "unpriced_gpu_hours": rounded(item.unpriced_gpu_s / HOUR_S),
        "prompt_tokens": item.prompt if counted else None,
        "completion_tokens": item.completion if counted else None,
        "cached_prompt_tokens": item.cached if counted else None,
        "usd_per_million_tokens": rounded(item.usd_per_million),
        "usd_per_million_prompt_tokens": rounded(split[0]) if split else None,
        "usd_per_million_completion_tokens": rounded(split[1]) if split else None,
        "idle_share": rounded(item.idle_share),
        "occupancy": rounded(item.occupancy),
    }


def _line(line: Line, weight: int) -> dict[str, Any]:
    return {
        "day": line.key.day.isoformat(),
        **_who(line),
        "source": line.source,
        "tokens_source": line.tokens_source,
        "usd_per_gpu_hour": rounded(line.price),
        **figures(line.figures, weight),
    }


def _who(line: Line) -> dict[str, Any]:
    return {
        "deployment_id": line.key.deployment_id or None,
        "name": line.name,
        "label": line.label,
        "model": line.key.model,
        "accelerator": line.key.accelerator,
    }


def _deployments(lines: Iterable[Line], weight: int) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.label, line.key.deployment_id, line.key.accelerator].append(line)
    return [
        {
            **_who(group[-1]),
            "days": len({line.key.day for line in group}),
            **figures(total(line.figures for line in group), weight),
        }
        for _, group in sorted(groups.items())
    ]


def _centres(lines: Iterable[Line], tag: str, weight: int) -> list[dict[str, Any]]:
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.tags.get(tag, "")].append(line)
    return [
        {"tag": tag, "value": value or None, **figures(total(line.figures for line in group), weight)}
        for value, group in sorted(groups.items())
    ]


def _residual(item: Residual) -> dict[str, Any]:
    gap = item.gap_gpu_s
    return {
        "day": item.day.isoformat(),
        "accelerator": item.accelerator,
        "billed_gpu_hours": rounded(item.billed_gpu_s / HOUR_S),
        "sampled_gpu_hours": rounded(item.sampled_gpu_s / HOUR_S),
        "residual_gpu_hours": rounded(item.residual_gpu_s / HOUR_S),
        "residual_share": rounded(item.share),
        "agrees": item.agrees,
        "cause": item.cause,
        "gap_seconds": rounded(item.gap_s),
        "gap_gpu_hours": [rounded(part / HOUR_S) for part in gap] if gap and item.gap_s else None,
    }


def _pool(pool: Pool) -> dict[str, Any]:
    return {
        "accelerator": pool.accelerator,
        "gpus": pool.gpus,
        "gpu_hours": rounded(pool.gpu_s / HOUR_S),
        "used_gpu_hours": rounded(pool.used_gpu_s / HOUR_S),
        "unused_gpu_hours": rounded(pool.unused_gpu_s / HOUR_S),
        "unknown_gpu_hours": rounded(pool.unknown_gpu_s / HOUR_S),
        "usd": rounded(pool.usd),
        "unused_usd": rounded(pool.unused_usd),
    }


def _wasted(item: Wasted, lines: Iterable[Line]) -> dict[str, Any]:
    """The attempts at the mean cost of a token of that deployment, where the target names one."""
    last = item.target.rpartition("deployments/")[2]
    own = total(line.figures for line in lines if last in (line.key.deployment_id, line.name))
    each = own.usd_per_million
    return {
        "target": item.target,
        "kind": item.kind,
        "attempts": item.attempts,
        "prompt_tokens": item.prompt,
        "completion_tokens": item.completion,
        "attempts_without_tokens": item.unknown,
        "usd": None if each is None else rounded(each * (item.prompt + item.completion) / 1_000_000),
    }


def _comparison(item: Comparison) -> dict[str, Any]:
    return {
        "deployment_id": item.deployment_id or None,
        "label": item.label,
        "model": item.model,
        "dedicated_usd": rounded(item.dedicated_usd),
        "serverless_usd": rounded(item.serverless_usd),
        "tokens_per_day": rounded(item.tokens_per_day, 0),
        "break_even_tokens_per_day": rounded(item.break_even_tokens_per_day, 0),
        "cheaper": item.cheaper,
    }


def _trend(item: Trend) -> dict[str, Any]:
    return {
        "deployment_id": item.deployment_id or None,
        "label": item.label,
        "before_usd_per_million_tokens": rounded(item.before),
        "recent_usd_per_million_tokens": rounded(item.recent),
        "change": rounded(item.change),
        "rising": item.rising,
        "cause": item.cause,
        "factors": {name: rounded(value) for name, value in item.factors.items()},
    }


def diagnostics(found: Findings) -> tuple[Diagnostic, ...]:
    """What a person should look at, worst first."""
    cost = found.cost
    told = [_disagreement(item) for item in cost.residuals if not item.agrees]
    told += [_rising(item) for item in found.trends if item.rising]
    unpriced = sorted({line.key.accelerator for line in cost.lines if line.figures.unpriced_gpu_s})
    if unpriced:
        told.append(
            _note(
                "cost-price-unknown",
                f"no price is known for all of the use of {', '.join(unpriced)}; that use is in no amount",
                "give it in a file with --prices",
            )
        )
    return tuple(told)


def _note(code: str, message: str, fix: str, deployment: str | None = None) -> Diagnostic:
    return Diagnostic(Severity.WARNING, code, message, deployment, suggestion=fix, docs=f"{DOCS}#{code}")


def _disagreement(item: Residual) -> Diagnostic:
    share = "" if item.share is None else f" ({float(item.share):+.1%})"
    why = "; the samples have a gap that explains it" if item.cause == "gap" else ""
    return _note(
        "cost-sources-disagree",
        f"{item.day} {item.accelerator}: billed {float(item.billed_gpu_s / HOUR_S):.2f} GPU-hours, "
        f"samples say {float(item.sampled_gpu_s / HOUR_S):.2f}{share}{why}",
        "look for deployments that were not sampled, and for gaps; the billing export decides what is paid",
    )


def _rising(item: Trend) -> Diagnostic:
    return _note(
        "cost-rising",
        f"{item.label}: a million tokens cost ${float(item.recent):.2f} now and ${float(item.before):.2f} "
        f"before ({float(item.change):+.0%}); {CAUSES[item.cause or 'unknown']}",
        _FIXES[item.cause or "unknown"],
        item.label,
    )


_FIXES = {
    "price": "compare accelerators with `fwctl fit-check --matrix`",
    "idle": "lower replicas.min, or let it scale to zero",
    "occupancy": "fewer replicas with a higher load target carry the same requests",
    "work": "compare prompt lengths and cached shares, then look at the engine with `fwctl bench run`",
    "unknown": "let `fwctl watch` keep samples with the metrics page",
}
