"""How long a replacement takes and what its overlap costs, for the notes of a plan."""

from __future__ import annotations

from statistics import median

from fwctl.live.model import LiveDeployment
from fwctl.planning.context import Context
from fwctl.planning.cost import per_hour, use_of_live
from fwctl.planning.desired import Desired
from fwctl.units import format_usd, short_duration


def start_time(context: Context, desired: Desired) -> str:
    """The usual start-up of this model, from earlier applies of this folder."""
    known = context.starts.get(str(desired.values.get("model")), ())
    if not known:
        return "how long is not known, no start of this model is recorded here"
    many = f"{len(known)} earlier starts" if len(known) > 1 else "one earlier start"
    return f"about {short_duration(round(median(known)))} (median of {many} of this model here)"


def overlap_cost(context: Context, live: LiveDeployment) -> str:
    """What the old deployment costs at its floor for as long as it stays beside the new one."""
    use = use_of_live(context, live)
    return format_usd(per_hour(context, use, use.floor), "/h")
