"""What an experiment has cost, and what its next step will. Replicas x price x time; pure arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from fwctl.live.model import LiveDeployment
from fwctl.quality.experiments.model import Load
from fwctl.quality.experiments.state import Spending

# Replicas stop 5 minutes after the last request (the scale-to-zero window that every candidate has); one
# minute more for the platform to notice.
TAIL_S = 360.0
# Until something was measured. A start takes minutes (docs.fireworks.ai, on-demand deployments, read
# 2026-11-30), and 30 tokens a second is a slow stream.
START_S = 900.0
SLOW_TOKENS_PER_S = 30.0
FIRST_TOKEN_S = 1.0
USUAL_MAX_TOKENS = 256
HEADROOM = 1.25  # a measured round may take this much longer the next time


def billed_replicas(item: LiveDeployment) -> int:
    """Replicas that hold GPUs: ready ones, and those that are loading."""
    return item.replicas.ready + item.replicas.initializing + item.replicas.downloading


def running(items: Iterable[LiveDeployment], usd_per_hour: Mapping[str, float | None]) -> tuple[float, bool]:
    """Dollars an hour of what runs now, and whether something runs whose price is unknown.

    usd_per_hour: of one replica, by deployment ID.
    """
    total, unpriced = 0.0, False
    for item in items:
        count, price = billed_replicas(item), usd_per_hour.get(item.deployment_id)
        if count and price is None:
            unpriced = True
        total += count * (price or 0.0)
    return total, unpriced


def sampled(spending: Spending, now: datetime, usd_per_hour: float, *, unpriced: bool = False) -> Spending:
    """Spending up to now. Between two looks the dearer of both held; after a long gap (fwctl was not
    running) it held until the platform had scaled to zero."""
    seconds = 0.0
    if spending.sampled is not None:
        seconds = max(0.0, (now - datetime.fromisoformat(spending.sampled)).total_seconds())
    dearer = max(spending.usd_per_hour, usd_per_hour)
    usd = spending.usd + dearer * min(seconds, TAIL_S) / 3600
    if seconds > TAIL_S:
        usd += usd_per_hour * (seconds - TAIL_S) / 3600
    return replace(
        spending,
        usd=usd,
        usd_per_hour=usd_per_hour,
        sampled=now.isoformat(),
        unpriced=spending.unpriced or unpriced,
    )


def since_creation(
    items: Iterable[LiveDeployment], usd_per_hour: Mapping[str, float | None], now: datetime
) -> float:
    """The most that deployments whose bookkeeping was lost can have cost: every replica since creation."""
    total = 0.0
    for item in items:
        if item.created is not None:
            hours = max(0.0, (now - item.created).total_seconds()) / 3600
            most = int(item.fields.get("replicas.max", 1) or 1)
            total += hours * most * (usd_per_hour.get(item.deployment_id) or 0.0)
    return total


def round_s(load: Load, max_tokens: Iterable[int | None], measured_s: Iterable[float]) -> float:
    """Seconds that one pass of the suite will take; every candidate gets its own share of the load."""
    known = list(measured_s)
    if known:
        return max(known) * HEADROOM
    each = [FIRST_TOKEN_S + (limit or USUAL_MAX_TOKENS) / SLOW_TOKENS_PER_S for limit in max_tokens]
    if load.rate_per_s is not None:
        return len(each) / load.rate_per_s + max(each, default=0.0)
    warmup = load.warmup * (FIRST_TOKEN_S + 32 / SLOW_TOKENS_PER_S)
    return (sum(each) + warmup) / load.concurrency
