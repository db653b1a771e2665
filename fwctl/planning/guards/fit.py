"""Memory: what the fit check said of each deployment, and the context that model and shape admit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.live.normalise import account_of
from fwctl.planning.context import Context
from fwctl.planning.guards.finding import FAIL, PASS, UNKNOWN, WARN, Finding, active
from fwctl.planning.model import Change

_PLATFORM_ACCOUNT = "fireworks"
_SIZING = ("create", "update", "adopt", "unpark", "replace")


def fit(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Blocks what certainly cannot work; an estimate on a validated shape only warns unless told."""
    for change in changes:
        result = context.fit.get(change.name)
        if result is not None and change.primary != "delete":
            yield _verdict(context, change, result)


def _verdict(context: Context, change: Change, result: Mapping[str, Any]) -> Finding:
    verdict = str(result.get("verdict", "unknown"))
    gate = _gate(context, change)
    said = f"{change.name}: {verdict} ({_evidence(result)})"
    reasons = "; ".join(str(reason) for reason in result.get("reasons", ()))
    message = f"{said}: {reasons}" if reasons and verdict != "fits" else said
    certain = _certain(change, result) if verdict == "does-not-fit" else None
    if verdict == "fits":
        return Finding("fit", PASS, message, change.name)
    stops = certain is not None or gate == "block"
    if stops:
        blocks = (change,) if change.primary in _SIZING else ()
        way_out = "`fwctl fit-check` shows what would fit" + ("" if certain else "; or `gates.fit: warn`")
        because = f"{message} [{certain}]" if certain else message
        return Finding("fit", FAIL, because, change.name, blocks, way_out, path="gates.fit")
    status = {"unknown": UNKNOWN, "tight": WARN}.get(verdict, WARN)
    return Finding("fit", PASS if gate == "ignore" else status, message, change.name)


def _gate(context: Context, change: Change) -> str:
    if context.options.require_fit:
        return "block"
    entry = context.spec.deployments.get(change.name)
    return str(entry.own.get("gates.fit", "warn")) if entry else "warn"


def _evidence(result: Mapping[str, Any]) -> str:
    return f"evidence: {result.get('evidence', 'unknown')}"


def _certain(change: Change, result: Mapping[str, Any]) -> str | None:
    """Why a shortage is more than an estimate on a shape that the vendor validated, None when it is not."""
    weights, usable = result.get("weights_bytes_per_gpu"), result.get("usable_bytes_per_gpu")
    if weights is not None and usable is not None and weights > usable:
        return "the weights alone are larger than the memory"
    if result.get("evidence") == "measured":
        return "the memory pool is measured"
    if "shape" not in change.desired:
        return "no validated shape vouches for it"
    if account_of(str(change.desired.get("model", ""))) != _PLATFORM_ACCOUNT:
        return "the weights are your own, no validated shape vouches for them"
    return None


def context_length(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """A context beyond what the shape or the model admits is refused by every request that uses it."""
    for change in active(changes):
        wanted = _context_wanted(context, change)
        limit, whose = _limit(context, change)
        if wanted is not None and limit is not None and wanted > limit:
            yield Finding(
                "context",
                FAIL,
                f"{change.name} needs a context of {wanted} tokens, {whose} admits {limit}",
                change.name,
                (change,),
                "lower `workload` or `max_context_length`, or choose another shape or model",
                path="workload",
            )


def _context_wanted(context: Context, change: Change) -> int | None:
    entry = context.spec.deployments.get(change.name)
    if entry is None:
        return None
    own = entry.own
    lengths = [own.get("workload.context_tokens"), change.desired.get("max_context_length")]
    if "workload.input_tokens.p95" in own:
        lengths.append(own["workload.input_tokens.p95"] + own.get("workload.output_tokens.p95", 0))
    return max((length for length in lengths if length), default=None)


def _limit(context: Context, change: Change) -> tuple[int | None, str]:
    version = context.versions_by_name.get(str(change.desired.get("shape", "")))
    own = change.desired.get("max_context_length") or None
    carried = version.snapshot.get("max_context_length") if version and own is None else None
    model = context.live.models.get(str(change.desired.get("model", "")))
    rows = [
        (own, "max_context_length"),
        (carried, "the shape"),
        (model.context_length if model else None, "the model"),
    ]
    known = [(limit, whose) for limit, whose in rows if limit]
    return min(known, default=(None, ""), key=lambda row: row[0])
