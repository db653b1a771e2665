"""How much a plan will ask of this machine, and how many processes that takes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from math import ceil
from typing import Any

from fwctl.errors import RefusedError
from fwctl.measure.plan import Plan, Shape

LOOKED_AT = 1000
DEFAULT_TOKENS = 512  # of a prompt without max_tokens
# Tokens a second of one stream under load. Alone, a small model on fast hardware may reach 300; what was
# late is then found by the bounds of the run.
STREAM_TOKENS_PER_S = 100.0
# Without a self-test. Half of what was measured on 2 virtual cores; source: docs/performance.md.
UNKNOWN_CARRIED_PER_S = 7_000


def predicted_events_per_s(plan: Plan, shape: Shape) -> float:
    """Most chunks a second that a load can bring, when every answer uses its max_tokens."""
    arms = len(plan.targets)
    if shape.rate_per_s is None:
        return arms * shape.concurrency * STREAM_TOKENS_PER_S
    lengths = [
        int(prompt.body.get("max_tokens", DEFAULT_TOKENS))
        for prompt in islice(plan.suite.prompts(), LOOKED_AT)
    ]
    return arms * shape.rate_per_s * sum(lengths) / max(1, len(lengths))


def needed(plan: Plan, selftest: Mapping[str, Any] | None) -> int:
    """Workers that can carry every level of the plan, when every answer uses its max_tokens."""
    return _workers(_most(plan), selftest)


def processes(plan: Plan, selftest: Mapping[str, Any] | None, cores: int) -> int:
    """`needed`, where this machine has the cores for it. Raises RefusedError when it has not."""
    most = _most(plan)
    found = _workers(most, selftest)
    if found > cores:
        raise RefusedError(
            f"the plan can bring {most:,.0f} chunks a second; one process carries {_carried(selftest):,} "
            f"here, and there are {cores} cores",
            next_steps=[
                "a smaller --concurrency or --rate",
                f"--workers {found} tries it; the run is invalid when the client was late",
            ],
        )
    return found


def _most(plan: Plan) -> float:
    return max(predicted_events_per_s(plan, shape) for shape in plan.shapes)


def _workers(events_per_s: float, selftest: Mapping[str, Any] | None) -> int:
    return max(1, ceil(events_per_s / _carried(selftest)))


def _carried(selftest: Mapping[str, Any] | None) -> int:
    return selftest["carries_events_per_s"] if selftest else UNKNOWN_CARRIED_PER_S
