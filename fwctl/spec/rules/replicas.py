"""Rules about replica counts."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.errors import Severity
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View


@deployment_rule("FW302", Severity.ERROR)
def min_above_max(d: View) -> Iterator[Finding]:
    """Minimum replicas above the maximum.

    What it checks: `replicas.min` is at most `replicas.max`. A maximum of 0 parks the deployment and is
    always accepted. `replicas.max_with_revocable`, when written, is at least `replicas.max`.

    Why it is bad: the platform refuses it (min_replica_count cannot be greater than max_replica_count).

    Example::

        replicas: {min: 3, max: 2}

    Use instead::

        replicas: {min: 2, max: 3}
    """
    low, high = d.get("replicas.min"), d.get("replicas.max")
    if low is not None and high is not None and low > high and not d.parked:
        yield d.finding(
            "replicas.min",
            f"replicas.min {low} is above replicas.max {high}",
            f"raise replicas.max to {low} or lower replicas.min to {high}",
        )
    revocable = d.get("replicas.max_with_revocable")
    if revocable and high is not None and revocable < high:
        yield d.finding(
            "replicas.max_with_revocable",
            f"replicas.max_with_revocable {revocable} is below replicas.max {high}, which it includes",
            f"write at least {high}, or remove it",
        )


@deployment_rule("FW312", Severity.ERROR)
def interactive_scales_to_zero(d: View) -> Iterator[Finding]:
    """Interactive traffic with no replica that always runs.

    What it checks: `traffic: interactive` has `replicas.min` of at least 1, unless `replicas.max` is 0.

    Why it is bad: after an idle hour the first user waits minutes for a cold start, and gets 503
    meanwhile.

    Example::

        traffic: interactive
        replicas: {min: 0, max: 2}

    Use instead::

        traffic: interactive
        replicas: {min: 1, max: 2}
    """
    if d.get("traffic") == "interactive" and d.get("replicas.min") == 0 and not d.parked:
        yield d.finding(
            "replicas.min",
            "interactive traffic with replicas.min 0: a user would wait for a cold start",
            "write replicas.min: 1, or traffic: batch or evaluation when nobody waits for it",
        )


@deployment_rule("FW401", Severity.WARNING)
def scales_to_zero(d: View) -> Iterator[Finding]:
    """No replica that always runs.

    What it checks: `replicas.min` is 0 on a deployment whose traffic is batch, evaluation or not said.

    Why it is bad: the first request after an idle time waits for a cold start of minutes, and the
    platform deletes a deployment with minimum 0 that had no traffic for 7 days. For a nightly job that
    may be right: silence it with a reason.

    Example::

        traffic: batch
        replicas: {min: 0, max: 2}

    Use instead::

        traffic: batch
        replicas: {min: 0, max: 2}  # fwctl: ignore[FW401] nightly job
    """
    if d.get("traffic") != "interactive" and d.get("replicas.min") == 0 and not d.parked:
        yield d.finding(
            "replicas.min",
            "replicas.min 0: cold starts, and the platform deletes it after 7 days without traffic",
            "write replicas.min: 1, or silence this where a cold start is fine",
        )


@deployment_rule("FW403", Severity.WARNING, needs="read")
def never_tested(d: View) -> Iterator[Finding]:
    """A maximum that no load test has reached, or that leaves no room.

    What it checks: there is fresh bench evidence at `replicas.max` replicas (where evidence is read), and
    on interactive traffic `replicas.max` is above `replicas.min`.

    Why it is bad: limits outside the deployment (account-wide request limits, quota, the client) show
    only under load. With min = max the autoscaler has nothing to add when traffic rises.

    Example::

        traffic: interactive
        replicas: {min: 2, max: 2}

    Use instead::

        traffic: interactive
        replicas: {min: 2, max: 4}
    """
    low, high = d.get("replicas.min"), d.get("replicas.max")
    if high and low == high and d.get("traffic") == "interactive":
        yield d.finding(
            "replicas.max",
            f"replicas.min and replicas.max are both {high} on interactive traffic: no room to scale",
            "raise replicas.max",
        )
    if high and high > 1 and d.evidence is not None and d.evidence.read:
        tested = d.evidence.tested_replicas.get(d.name, 0)
        if tested < high:
            stale = d.evidence.not_tested.get(d.name)
            known = f"the highest load-tested count is {tested}" if tested else "no load test is on record"
            known += f" ({stale})" if stale else ""
            yield d.finding(
                "replicas.max",
                f"replicas.max {high} was never load-tested: {known}",
                f"run `fwctl bench capacity {d.name}`",
            )
