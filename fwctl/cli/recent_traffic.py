"""Requests of the last hour, for the deployments that a plan deletes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import timedelta
from typing import TYPE_CHECKING

from fwctl.cli.command import Call
from fwctl.errors import FwctlError
from fwctl.planning.guards.finding import removes
from fwctl.planning.model import Plan

if TYPE_CHECKING:
    from fwctl.cli.metrics_page import MetricsPage
    from fwctl.cli.session import Session


def deleted(plan: Plan) -> frozenset[str]:
    """IDs of the live deployments that the plan deletes. Parking what has replicas is refused without a flag
    anyway, so nobody asks about it."""
    return frozenset(change.deployment_id for change in plan.changes if change.live and removes(change))


def recent_traffic(call: Call, session: Session, ids: Set[str], page: MetricsPage) -> dict[str, float]:
    """Requests in the last hour by deployment ID, at least; an ID of which nobody can tell is left out.

    The metrics page has rates of the last minute, which show that there is traffic. firectl has sums of whole
    days, which show that there was none.
    """
    serving = _rates(page)
    found = {name: max(1.0, serving[name] * 60) for name in ids if name in serving}
    try:
        sums = _sums(call, session)
    except FwctlError as error:
        if error.error_class in ("auth", "suspended"):
            raise
        call.output.message(f"recent traffic could not be read: {error.message}")
        return found
    return {name: 0.0 for name in ids if not sums.get(name)} | found


def _rates(page: MetricsPage) -> Mapping[str, float]:
    """Requests a second by deployment ID, of samples that can be trusted."""
    page.refresh()
    if page.page is None or page.at is None:
        return {}
    at = page.at
    return {
        name: found.requests_per_s
        for name, found in page.page.items()
        if found.requests_per_s and not found.stale(at)
    }


def _sums(call: Call, session: Session) -> dict[str, float]:
    """Requests since a midnight that lies at least an hour back."""
    from fwctl.operate.daily_requests import requests_of

    an_hour_ago = call.env.clock.now() - timedelta(hours=1)
    return requests_of(session.requests_by_day(an_hour_ago.date()))
