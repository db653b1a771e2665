"""Native routers: who stands behind the stable name, read and written one change at a time.

`router update` replaces the whole list and resets the strategy unless it is passed, so both are taken
from what the router has now, and a list is never written empty.
"""

from __future__ import annotations

from collections.abc import Collection

from fwctl.applying.effects import ActionFailedError, Ended, Look, Procedure
from fwctl.applying.model import Outcome
from fwctl.applying.problems import refused
from fwctl.applying.work import ROUTER_CREATE, ROUTER_UPDATE
from fwctl.applying.writes import OTHER_RUN, repeatable
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveState
from fwctl.live.routers import members
from fwctl.planning.steps import router_step


def change_members(
    router: str, account: str, *, pause_s: float, join: Collection[str] = (), leave: Collection[str] = ()
) -> Procedure[Ended]:
    """Puts deployments (IDs) behind a router and takes others away; members that neither names stay.

    pause_s: before a call without an answer is looked into. Deployments that do not exist are not put
    there. Raises ActionFailedError instead of emptying it.
    """
    state: LiveState = yield Look()
    row = state.routers.get(router)
    joining = frozenset(key for key in join if _exists(state, key))
    before = members(row)
    after = (before | joining) - frozenset(leave)
    if join and not joining and not leave:
        return Ended(Outcome.SKIPPED, "none of the deployments that were to stand behind it exists")
    if after == before:
        return Ended(note=OTHER_RUN)
    if not after:
        raise ActionFailedError(
            refused(
                f"router {router} would stand before no deployment at all",
                (f"firectl router delete {router}  # if nobody uses it any more",),
            )
        )
    verb = ROUTER_UPDATE if row is not None else ROUTER_CREATE
    step = router_step(verb, router, account, after, row)
    note = yield from repeatable(
        step,
        lambda now: members(now.routers.get(router)) == after,
        pause_s=pause_s,
        settled_by=("already_exists",),
    )
    return Ended(note=note)


def _exists(state: LiveState, key: str) -> bool:
    live = state.deployments.get(key)
    return live is not None and live.state not in LEAVING
