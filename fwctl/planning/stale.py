"""Whether a plan that was reviewed is still the plan, and what moved when it is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.errors import StalePlanError
from fwctl.planning.digest import UNREVIEWED, digest
from fwctl.planning.document import plan_to_json
from fwctl.planning.model import Plan

_SHOWN = 10


def moved(stored: Mapping[str, Any], now: Plan) -> tuple[str, ...]:
    """What differs between a stored plan's JSON and the plan of now; empty when both are the same plan."""
    if stored["digest"] == digest(now):
        return ()
    return tuple(_differences(stored, plan_to_json(now)))


def require_same(stored: Mapping[str, Any], now: Plan) -> None:
    """Raises StalePlanError with what moved when the plan is another one."""
    found = moved(stored, now)
    if found:
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise StalePlanError(
            "the plan is stale: " + "; ".join([*found[:_SHOWN], *more]),
            next_steps=("fwctl plan --out FILE, review it, and apply that",),
        )


def require_digest(expected: str, now: Plan) -> None:
    """Raises StalePlanError when the plan does not have the digest of `--expect`."""
    actual = digest(now)
    if actual != expected.strip().lower():
        raise StalePlanError(
            f"the plan has digest {actual}, {expected[:80]} was expected",
            next_steps=("fwctl plan shows what would be done now and its digest",),
        )


def _differences(stored: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key in ("account", "stack"):
        if stored[key] != now[key]:
            yield f"{key} was {stored[key]}, is {now[key]}"
    before, after = _by_address(stored), _by_address(now)
    for pair in sorted({*before, *after}):
        yield from _difference(pair[0], before.get(pair), after.get(pair))


def _by_address(plan: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {
        (change["address"], change["deployment_id"]): change
        for change in plan["changes"]
        if change["actions"][0] not in UNREVIEWED
    }


def _difference(
    address: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> Iterator[str]:
    if before is None or after is None:
        words = [_words(side) if side else "nothing" for side in (before, after)]
        yield f"{address}: {words[0]} was planned, now it is {words[1]}"
        return
    if before["actions"] != after["actions"]:
        reason = f" ({after['reason']})" if after.get("reason") else ""
        yield f"{address}: {_words(before)} was planned, now it is {_words(after)}{reason}"
    yield from _field_differences(address, _by_path(before), _by_path(after))


def _words(change: Mapping[str, Any]) -> str:
    return "+".join(change["actions"])


def _by_path(change: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {item["path"]: (item["before"], item["after"]) for item in change["fields"]}


def _field_differences(
    address: str, before: Mapping[str, tuple[Any, Any]], after: Mapping[str, tuple[Any, Any]]
) -> Iterator[str]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old != new:
            yield f"{address} {path}: {_move(old)} was planned, now it is {_move(new)}"


def _move(pair: tuple[Any, Any] | None) -> str:
    return "no change" if pair is None else f"{pair[0]} -> {pair[1]}"
