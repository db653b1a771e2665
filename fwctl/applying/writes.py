"""Mutating calls whose answer may be missing: create, update and delete, each settled by reading first."""

from __future__ import annotations

from collections.abc import Callable

from fwctl.applying.compare import differences, reads_back
from fwctl.applying.effects import ActionFailedError, Call, Look, Pause, Procedure
from fwctl.applying.model import CallResult, Problem
from fwctl.applying.problems import DEFINITE_CLASSES, failed, of_call, refused
from fwctl.applying.work import Work
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.model import Step

TAKEN = "already_exists"
MOST_TRIES = 2
OTHER_RUN = "done by another run"
UNANSWERED = "the call gave no clear answer, but the platform shows the result"


def create(work: Work, step: Step) -> Procedure[str]:
    """Makes a deployment exist once. Answers with a note, empty when the call simply succeeded.

    Never retried blindly: whatever is not a clear refusal is settled by reading live state, and only
    an absent deployment is tried a second time.
    """
    tries = 1
    result: CallResult = yield Call(step)
    while not result.ok:
        if result.error_class in DEFINITE_CLASSES:
            raise ActionFailedError(of_call(result))
        if result.error_class != TAKEN:
            yield Pause(work.options.retry_pause_s)  # what is on its way gets time to arrive
        state: LiveState = yield Look()
        live = state.deployments.get(step.target)
        if live is not None:
            return _existing(work, live, result)
        if tries == MOST_TRIES:
            raise ActionFailedError(of_call(result))
        tries += 1
        result = yield Call(step)
    return ""


def _existing(work: Work, live: LiveDeployment, result: CallResult) -> str:
    """The ID is taken: by ourselves a moment ago, by another run, or by something else."""
    if live.state in LEAVING:
        raise ActionFailedError(held(live, work))
    marker = live.marker
    if marker is not None and (marker.stack, marker.name) != (work.stack, work.change.name):
        raise ActionFailedError(
            refused(
                f"{live.deployment_id} exists and belongs to {marker.stack}/{marker.name}",
                ("give this deployment another `id:`",),
            )
        )
    unlike = differences(work.wanted, live)
    if unlike:
        raise ActionFailedError(
            failed(
                f"{live.deployment_id} exists already and is different: {'; '.join(unlike)}",
                ("fwctl plan",),
                TAKEN,
            )
        )
    return OTHER_RUN if result.error_class == TAKEN else UNANSWERED


def held(live: LiveDeployment, work: Work) -> Problem:
    """A deleted deployment still owns the ID."""
    until = f" until {live.purge:%Y-%m-%d %H:%M} UTC" if live.purge else " for up to 7 days"
    return failed(
        f"the ID {live.deployment_id} is held by a deleted deployment{until}",
        (
            f"fwctl undo {work.change.name}  # bring the deleted one back, then apply",
            "give this deployment another `id:`",
            "set `lifecycle.reuse_deleted_id: hard_delete` to purge the deleted one and free its ID",
        ),
        TAKEN,
    )


def update(work: Work, step: Step) -> Procedure[str]:
    """Changes a deployment in place; safe to repeat, but still read first when the answer is missing."""
    wanted = {path: value for path, value in work.wanted.items() if path in step.fields}

    def happened(state: LiveState) -> bool:
        live = state.deployments.get(step.target)
        return reads_back(wanted, live) and live is not None and _describes(live, step)

    return (yield from repeatable(step, happened, pause_s=work.options.retry_pause_s))


def _describes(live: LiveDeployment, step: Step) -> bool:
    """The description, with the marker in it, is the one that was sent."""
    there = str(live.raw.get("description", ""))
    return "description" not in step.fields or there.strip() == str(step.fields["description"]).strip()


def delete(work: Work, step: Step) -> Procedure[str]:
    """Deletes a deployment; one that is gone already counts as deleted."""

    def gone(state: LiveState) -> bool:
        live = state.deployments.get(step.target)
        return live is None or live.state in LEAVING

    return (yield from repeatable(step, gone, pause_s=work.options.retry_pause_s, settled_by=("not_found",)))


def repeatable(
    step: Step, happened: Callable[[LiveState], bool], *, pause_s: float, settled_by: tuple[str, ...] = ()
) -> Procedure[str]:
    """A call that may be made twice. settled_by: refusals that may mean it was done before."""
    tries = 1
    result: CallResult = yield Call(step)
    while not result.ok:
        refused_as_done = result.error_class in settled_by
        if result.error_class in DEFINITE_CLASSES and not refused_as_done:
            raise ActionFailedError(of_call(result))
        if not refused_as_done:
            yield Pause(pause_s)
        state: LiveState = yield Look()
        if happened(state):
            return OTHER_RUN if refused_as_done else UNANSWERED
        if tries == MOST_TRIES or refused_as_done:
            raise ActionFailedError(of_call(result))
        tries += 1
        result = yield Call(step)
    return ""
