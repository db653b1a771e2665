"""Rules about replicas: at their ceiling, missing, cold, stuck. Pure.

Anchors: kubernetes-mixin's KubeHpaMaxedOut (current == max for 15 minutes), and a public monitor of this
platform: KV blocks from 0.8 degraded and from 0.98 unhealthy, prefill queue p90 over 500 ms degraded.
"""

from __future__ import annotations

import math
from datetime import timedelta

from fwctl.operate.exporter import DeploymentMetrics
from fwctl.operate.rules_model import Answer, Hit, Limits, Proposal, Subject
from fwctl.units import short_duration

_RETRY = "429"


def ceiling(subject: Subject) -> int:
    """The most replicas there can be, revocable ones included."""
    extra = subject.live.raw.get("max_with_revocable_replica_count")
    revocable = int(extra) if isinstance(extra, int | str) and str(extra).isdigit() else 0
    return max(subject.live.replicas.max, revocable)


def rolling(subject: Subject) -> bool:
    """True while the platform moves it to another version of its model."""
    target, active = (subject.live.raw.get(key) for key in ("target_model_version", "active_model_version"))
    return bool(target) and target != active


def parked(subject: Subject) -> bool:
    return subject.live.replicas.max == 0


def _at_ceiling(subject: Subject) -> bool:
    """At max and wanting it; replicas that are wanted and not given are another rule's business."""
    counts, most = subject.live.replicas, ceiling(subject)
    busy = counts.ready >= most and counts.desired >= most
    return busy and not parked(subject) and not rolling(subject) and subject.live.state == "READY"


def at_max(subject: Subject, limits: Limits) -> Hit | Answer:
    """At its ceiling, with room to grow only by raising it. A fixed size (min = max) is not in itself bad."""
    del limits
    counts = subject.live.replicas
    if not _at_ceiling(subject) or counts.min >= ceiling(subject):
        return Answer.NO
    most = f"{counts.ready} of at most {ceiling(subject)} replicas are ready"
    return Hit(
        f"{most} and {counts.desired} are wanted{_load(subject.metrics)}",
        "raise replicas.max, or lower the load",
        _more(subject),
    )


def saturated(subject: Subject, limits: Limits) -> Hit | Answer:
    """At its ceiling and requests suffer for it."""
    if not _at_ceiling(subject):
        return Answer.NO
    if subject.metrics is None:
        return Answer.UNKNOWN
    why = _suffering(subject.metrics, limits)
    if not why:
        return Answer.NO
    counts = subject.live.replicas
    fixed = " (min = max)" if counts.min >= ceiling(subject) else ""
    return Hit(
        f"all {counts.ready} replicas are in use{fixed} and {' and '.join(why)}",
        "raise replicas.max now; requests wait or are refused",
        _more(subject),
    )


def _suffering(metrics: DeploymentMetrics, limits: Limits) -> list[str]:
    """What shows that there are too few replicas."""
    why = []
    if metrics.kv_blocks is not None and metrics.kv_blocks >= limits["kv_blocks"]:
        why.append(f"{metrics.kv_blocks:.0%} of the KV blocks are used")
    for name, text in (("prefill", "prefill"), ("generation", "generation")):
        found = metrics.quantile(f"latency_{name}_queue_ms", 0.9)
        if found is not None and found.value > limits["queue_ms"]:
            why.append(f"the {text} queue takes {found} ms (p90)")
    if metrics.errors.get(_RETRY, 0.0) > 0:
        why.append(f"{metrics.errors[_RETRY]:.2f} requests a second get 429")
    return why


def _load(metrics: DeploymentMetrics | None) -> str:
    if metrics is None or metrics.requests_per_s is None:
        return ""
    return f", {metrics.requests_per_s:.1f} requests a second"


def _more(subject: Subject) -> Proposal | None:
    """A quarter more replicas, at least one; only for a deployment that the specs name."""
    if subject.entry is None:
        return None
    counts = subject.live.replicas
    extra = max(1, math.ceil(counts.max / 4))
    price = subject.usd_per_replica_hour
    return Proposal(
        f"{subject.entry.name}.replicas.max={counts.max + extra}", None if price is None else price * extra
    )


def never_tested(subject: Subject, limits: Limits) -> Hit | Answer:
    """The specs allow more replicas than any measurement covered."""
    del limits
    if subject.tested_replicas is None:
        return Answer.UNKNOWN
    if subject.live.replicas.max <= subject.tested_replicas or parked(subject):
        return Answer.NO
    return Hit(
        f"replicas.max is {subject.live.replicas.max}, measured were {subject.tested_replicas} at most",
        "measure it at its ceiling with `fwctl bench run`",
    )


def cold_start(subject: Subject, limits: Limits) -> Hit | Answer:
    """People wait for a replica to start."""
    del limits
    interactive = subject.entry is not None and subject.entry.own.get("traffic") == "interactive"
    counts = subject.live.replicas
    if not interactive or counts.ready or parked(subject) or not counts.desired:
        return Answer.NO
    return Hit(
        f"interactive traffic meets no ready replica: {counts.desired} wanted, {_stages(subject)}",
        "keep one warm with replicas.min: 1, or a schedule for working hours",
        None
        if subject.entry is None or counts.min
        else Proposal(f"{subject.entry.name}.replicas.min=1", subject.usd_per_replica_hour),
    )


def _stages(subject: Subject) -> str:
    counts = subject.live.replicas
    parts = [
        f"{count} {word}"
        for count, word in (
            (counts.pending, "waiting for GPUs"),
            (counts.downloading, "downloading"),
            (counts.initializing, "initializing"),
        )
        if count
    ]
    return ", ".join(parts) or "none on its way"


def not_given(subject: Subject, limits: Limits) -> Hit | Answer:
    """Replicas that the autoscaler wants and the platform does not give."""
    del limits
    counts = subject.live.replicas
    missing = min(counts.desired, ceiling(subject)) - counts.ready
    if subject.live.state != "READY" or missing <= 0 or rolling(subject) or parked(subject):
        return Answer.NO
    return Hit(
        f"{counts.desired} replicas are wanted and {counts.ready} ready: {_stages(subject)}",
        "waiting for GPUs means the region is full: allow another region, or reserve capacity",
    )


def failed(subject: Subject, limits: Limits) -> Hit | Answer:
    del limits
    if subject.live.state != "FAILED":
        return Answer.NO
    why = subject.live.status_message
    return Hit(f"its state is FAILED{f': {why}' if why else ''}", "`fwctl plan` shows the way back")


def stuck(subject: Subject, limits: Limits) -> Hit | Answer:
    """Longer on its way than earlier starts of this model took."""
    if subject.live.state not in ("CREATING", "UPDATING"):
        return Answer.NO
    if subject.state_since is None:
        return Answer.UNKNOWN
    took = (subject.now - subject.state_since).total_seconds()
    usual = subject.typical_start_s
    most = limits["seconds"] if usual is None else max(limits["least_seconds"], limits["times"] * usual)
    if took <= most:
        return Answer.NO
    known = "" if usual is None else f"; earlier starts took up to {short_duration(round(usual))}"
    return Hit(
        f"{subject.live.state} for {short_duration(round(took))}, {_stages(subject)}{known}",
        "`fwctl status` shows the stage; `fwctl wait` waits on, `fwctl destroy` gives up",
    )


def idle_deletion(subject: Subject, limits: Limits) -> Hit | Answer:
    """The platform deletes a deployment with min 0 after seven days without a request."""
    counts = subject.live.replicas
    if counts.min or parked(subject) or subject.live.state != "READY":
        return Answer.NO
    if subject.last_request is None:
        return Answer.UNKNOWN
    left = subject.last_request + timedelta(days=limits["deleted_after_days"]) - subject.now
    if left > timedelta(days=limits["days_before"]):
        return Answer.NO
    return Hit(
        f"no request since {subject.last_request:%Y-%m-%d %H:%MZ}; the platform deletes it at about "
        f"{subject.now + left:%Y-%m-%d %H:%MZ}",
        "send it one request, or `fwctl destroy` it if nobody needs it",
    )


def outlived(subject: Subject, limits: Limits) -> Hit | Answer:
    """A hold or an experiment whose end has passed."""
    del limits
    marker = subject.live.marker
    if marker is None:
        return Answer.NO
    if marker.expires is not None and marker.expires <= subject.now:
        return Hit(f"its experiment ended at {marker.expires:%Y-%m-%d %H:%MZ}", "`fwctl destroy` removes it")
    if marker.hold_until is not None and marker.hold_until <= subject.now:
        return Hit(
            f"its hold ended at {marker.hold_until:%Y-%m-%d %H:%MZ} and is still written on it",
            "`fwctl release` ends the hold, the next apply changes the deployment again",
        )
    return Answer.NO
