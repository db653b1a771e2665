"""What two runs must have in common for their difference to mean something."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.arm import RunArm
from fwctl.spec.closest import did_you_mean, listed

MAX_CACHED_DIFFERENCE = 0.05
# What may be named by `--expect-change` beside every key of the locks.
KNOWN = ("accelerator", "cache", "load", "model", "precision", "region", "replicas", "shape", "shape_version")


def reasons(base: RunArm, candidate: RunArm, expected: Collection[str]) -> list[str]:
    """Why the comparison is invalid, nothing when it is fair.

    expected: names of what was meant to differ. Raises UsageError for a name that nothing has.
    """
    found = [
        f"{word}: {reason}"
        for word, arm in (("base", base), ("candidate", candidate))
        for reason in arm.summary["invalid_reasons"]
    ]
    if base.summary["suite_digest"] != candidate.summary["suite_digest"]:
        found.append("the prompt sets differ")
    one, two = base.cached_share, candidate.cached_share
    if one is not None and two is not None and abs(one - two) > MAX_CACHED_DIFFERENCE:
        told = f"{one * 100:.0f} % and {two * 100:.0f} %"
        found.append(
            f"the shares of cached prompt tokens differ by more than 5 points: {told}; "
            "run both with --cache cold or both with --cache warm"
        )
    left, right = dict(settings(base)), dict(settings(candidate))
    _check_names(expected, {*left, *right})
    for name in sorted(left.keys() | right.keys()):
        first, second = left.get(name), right.get(name)
        if first == second or first is None or second is None or _is_expected(name, expected):
            continue
        found.append(
            f"{name} differs: {_short(first)} and {_short(second)}; "
            f"if that is meant, --expect-change {name.rpartition('.')[2]}"
        )
    return found


def settings(arm: RunArm) -> Iterator[tuple[str, Any]]:
    """Dotted name and value of what a run was made with, as far as it is known."""
    loads = sorted(
        f"{load[0]} at a time" if load[1] is None else f"{load[1]:g}/s"
        for load in arm.table.groups("load", arm.table.all())
        if load != (None, None)
    )
    if loads:
        yield "load", ", ".join(loads)
    if isinstance(arm.summary.get("cache"), str):
        yield "cache", arm.summary["cache"]
    samples = arm.summary.get("replicas")
    if isinstance(samples, list) and samples and isinstance(samples[-1], Mapping):
        ready = samples[-1].get("ready")
        name = arm.target if isinstance(ready, Mapping) and arm.target in ready else _plain(arm.target)
        if isinstance(ready, Mapping) and name in ready:
            yield "replicas", ready[name]
    yield from _leaves(lock_of(arm.summary.get("lock"), arm.target), "")


def lock_of(lock: object, target: str) -> object:
    """The part of a run's lock that is about one target, or all of it when it is not split."""
    if not isinstance(lock, Mapping):
        return {}
    inner = lock.get("targets", lock)
    for name in (target, _plain(target)):
        if isinstance(inner, Mapping) and name in inner:
            return inner[name]
    return {} if "targets" in lock else lock


def _plain(target: str) -> str:
    """Without the level of a sweep: `fast@8` -> `fast`."""
    return target.rpartition("@")[0] or target


def _leaves(value: object, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{name}.{key}" if name else str(key))
    elif name:
        yield name, value


def _is_expected(name: str, expected: Collection[str]) -> bool:
    parts = name.split(".")
    return name in expected or any(part in expected for part in parts)


def _check_names(expected: Collection[str], names: Collection[str]) -> None:
    known = sorted({*KNOWN, *names, *(part for name in names for part in name.split("."))})
    for name in expected:
        if name not in known:
            steps = [did_you_mean(name, known) or listed(known, "see the lock in summary.json")]
            raise UsageError(f"--expect-change: nothing is called {name[:80]!r}", next_steps=steps)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
