"""Rules about where a deployment runs and for whom."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.catalog.enums import is_multi_region
from fwctl.catalog.precision_support import Support, support
from fwctl.errors import Severity
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View


@deployment_rule("FW306", Severity.ERROR)
def direct_route_region(d: View) -> Iterator[Finding]:
    """A direct route without one single region.

    What it checks: a deployment with `direct_route` names one region such as US_IOWA_1, neither an area
    nor GLOBAL nor none.

    Why it is bad: a direct route is an address in one data centre; the platform refuses it elsewhere.

    Example::

        region: US
        direct_route: {type: INTERNET}

    Use instead::

        region: US_IOWA_1
        direct_route: {type: INTERNET}
    """
    if not d.below("direct_route"):
        return
    region = d.get("region")
    if region is None and d.written("region"):
        return
    if region is None or is_multi_region(region):
        found = f"region {region} is several" if region else "no region is given"
        yield d.finding(
            ("direct_route.type", "direct_route"),
            f"a direct route needs one single region; {found}",
            "write one region, for example region: US_IOWA_1",
        )


@deployment_rule("FW309", Severity.ERROR)
def precision_on_accelerator(d: View) -> Iterator[Finding]:
    """A precision that the accelerator cannot serve.

    What it checks: the pair of `precision` and `accelerator.type` against a table. FP8 matrix
    multiplication needs Ada, Hopper, Blackwell or CDNA 3 (FP8_KV only stores the cache and runs
    anywhere); block-scaled FP4 needs Blackwell or CDNA 4; FP4 weights on Hopper exist as published
    shapes. Pairs that nobody publishes are warnings.

    Why it is bad: no shape has it, so the create fails or the engine falls back to something slower.

    Example::

        accelerator: {type: NVIDIA_A100_80GB, count: 1}
        precision: FP8

    Use instead::

        accelerator: {type: NVIDIA_H100_80GB, count: 1}
        precision: FP8
    """
    precision, accelerator = d.get("precision"), d.get("accelerator.type")
    if precision is None or accelerator is None:
        return
    row = support(precision, accelerator)
    if row is not None:
        severity = Severity.WARNING if row.support is Support.WARNING else Severity.ERROR
        yield d.finding(
            "precision",
            f"precision {precision} on {accelerator}: {row.why}",
            "take a shape of another precision or accelerator",
            severity,
        )


@deployment_rule("FW314", Severity.ERROR)
def preemptible_interactive(d: View) -> Iterator[Finding]:
    """Preemptible capacity for interactive traffic.

    What it checks: `preemptible: true` stands beside traffic batch or evaluation, or none.

    Why it is bad: preemptible replicas vanish in the middle of a request when somebody else needs them.

    Example::

        traffic: interactive
        preemptible: true

    Use instead::

        traffic: batch
        preemptible: true
    """
    if d.get("preemptible") is True and d.get("traffic") == "interactive":
        yield d.finding(
            "preemptible",
            "preemptible capacity can vanish in the middle of a user's request",
            "write preemptible: false, or traffic: batch or evaluation",
        )


@deployment_rule("FW406", Severity.WARNING)
def global_interactive(d: View) -> Iterator[Finding]:
    """Interactive traffic without a place.

    What it checks: `traffic: interactive` names an area or a region, not GLOBAL and not nothing.

    Why it is bad: the platform may place replicas on another continent, which adds its distance to every
    time to first token, and data may leave the area. GLOBAL placements also wait longest for weights.

    Example::

        traffic: interactive
        region: GLOBAL

    Use instead::

        traffic: interactive
        region: US
    """
    if d.get("traffic") != "interactive":
        return
    region = d.get("region")
    if region == "GLOBAL" or not d.written("region"):
        found = "region GLOBAL" if region else "no region"
        yield d.finding(
            "region", f"{found} for interactive traffic", "name an area or a region near the users"
        )
