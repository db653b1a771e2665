"""Replacing a deployment under another ID while the old one serves.

build -> prove -> switch -> drain -> delete the old -> take the role off. Where a run stands is read from
the platform alone (which deployments exist, and the step in the new one's marker), so any run on any
machine goes on from there. Until the switch every failure leaves the old one serving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fwctl.applying import routers, writes
from fwctl.applying.compare import moved
from fwctl.applying.deployments import marker_in, parked, perform
from fwctl.applying.effects import ActionFailedError, Ended, Look, Pause, Procedure
from fwctl.applying.model import Outcome
from fwctl.applying.problems import refused, stale
from fwctl.applying.settle import serves_no_more, settle, until_gone
from fwctl.applying.verify import answered
from fwctl.applying.work import ADDONS, CREATE, DELETE, ROUTERS, TAGS, UPDATE, Work
from fwctl.live.identity import LEAVING, SWITCHED
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.model import Step

TRAFFIC = "recent_traffic"


def blue_green(work: Work) -> Procedure[Ended]:
    """Carries a replacement as far as it goes in this run."""
    key = work.change.next_id or work.change.deployment_id
    state: LiveState = yield Look()
    if not _has_switched(state, key):
        _check_old(work, state)
        ended = yield from _until_switched(work, key)
        if ended.outcome is not Outcome.DONE:
            return ended
    return replace((yield from _retire(work, key)), deployment_id=key)


def _has_switched(state: LiveState, key: str) -> bool:
    new = state.deployments.get(key)
    return new is not None and new.marker is not None and new.marker.step == SWITCHED


def _check_old(work: Work, state: LiveState) -> None:
    """The deployment that serves must still be the one that was planned for."""
    planned, now = work.change.live, state.deployments.get(work.change.deployment_id)
    different = moved(planned, now, work.managed) if planned is not None else ()
    if different:
        raise ActionFailedError(
            stale(f"{work.change.deployment_id} moved since the plan: {'; '.join(different)}")
        )


def _until_switched(work: Work, key: str) -> Procedure[Ended]:
    try:
        return (yield from _build_and_switch(work, key))
    except ActionFailedError as failed:
        problem = failed.problem
        told = f"{problem.message} ({work.change.deployment_id} still serves; {key} costs while it exists)"
        steps = (*problem.next_steps, f"fwctl apply --rollback {work.change.name}  # delete {key}")
        raise ActionFailedError(replace(problem, message=told, next_steps=steps)) from None


def _build_and_switch(work: Work, key: str) -> Procedure[Ended]:
    first, switch = _split(work, key)
    for step in first:
        if step.verb in (CREATE, *TAGS):
            yield from perform(work, step)
    ended = yield from _prove(work, key, [step for step in first if step.verb in ADDONS])
    if ended.outcome is not Outcome.DONE:
        return ended
    yield from _join_router(work, key)
    yield from writes.update(work, switch)
    return ended


def _split(work: Work, key: str) -> tuple[Sequence[Step], Step]:
    """The calls that build the new deployment, and the one that switches to it."""
    for number, step in enumerate(work.change.steps):
        marker = marker_in(step) if step.verb == UPDATE else None
        if marker is not None and marker.step == SWITCHED:
            return work.change.steps[:number], step
    raise ActionFailedError(stale(f"the switch to {key} was taken back since the plan"))


def _prove(work: Work, key: str, addons: Sequence[Step]) -> Procedure[Ended]:
    """The new one is ready, has its adapters, answers a real request and passes the gates."""
    ended = yield from settle(work, key)
    if ended.outcome is not Outcome.DONE:
        return ended
    for step in addons:
        yield from perform(work, step)
    if not parked(work):
        ended = yield from answered(work, key)
        if ended.outcome is not Outcome.DONE:
            return ended
    state: LiveState = yield Look()
    live = state.deployments.get(key)
    reasons = work.options.gate(work.change, live) if live is not None else (f"{key} is gone",)
    if reasons:
        raise ActionFailedError(refused(f"{key} may not take over: {'; '.join(reasons)}", ("fwctl plan",)))
    return Ended()


def _join_router(work: Work, key: str) -> Procedure[None]:
    """Both stand behind the router; traffic moves by replica counts."""
    router = work.change.desired.get("router")
    if router is not None:
        yield from routers.change_members(
            str(router), work.account, pause_s=work.options.retry_pause_s, join=(key,)
        )


def _retire(work: Work, key: str) -> Procedure[Ended]:
    """From the switch to the end: the old one goes, the new one loses its role."""
    old_id = work.change.deployment_id
    if work.options.wait and work.options.drain_s > 0:
        yield Pause(work.options.drain_s)
    router = work.change.desired.get("router")
    if router is not None:
        yield from routers.change_members(
            str(router), work.account, pause_s=work.options.retry_pause_s, join=(key,), leave=(old_id,)
        )
    for step in work.steps(DELETE):
        waiting = yield from _delete_old(work, step, key)
        if waiting is not None:
            return waiting
    for step in _after_delete(work.change.steps):
        yield from (writes.update(work, step) if step.verb == UPDATE else perform(work, step))
    return Ended(note=f"{key} serves in place of {old_id}")


def _delete_old(work: Work, step: Step, key: str) -> Procedure[Ended | None]:
    """None when the old one is gone; how the run ends when it has to stay for now."""
    state: LiveState = yield Look()
    old: LiveDeployment | None = state.deployments.get(step.target)
    if old is None or old.state in LEAVING:
        return None
    try:
        yield from writes.delete(work, step)
    except ActionFailedError as failed:
        if failed.problem.error_class != TRAFFIC:
            raise
        return Ended(
            Outcome.IN_PROGRESS,
            f"{key} serves; {step.target} had requests within the last hour, so the platform keeps it, and "
            f"both cost; the next apply deletes it (or --allow-traffic-loss {work.change.name} now)",
        )
    gone = yield from until_gone(work, step.target, serves_no_more)
    return None if gone.outcome is Outcome.DONE else gone


def _after_delete(steps: Sequence[Step]) -> Sequence[Step]:
    last = max((number for number, step in enumerate(steps) if step.verb == DELETE), default=-1)
    return [step for step in steps[last + 1 :] if step.verb not in ROUTERS]
