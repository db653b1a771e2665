"""From the answered call to a deployment that is ready: shared polls, stages, ends and deadlines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fwctl.applying.compare import differences
from fwctl.applying.effects import ActionFailedError, Ended, Poll, Procedure
from fwctl.applying.model import Outcome, Problem
from fwctl.applying.problems import failed, from_error, timed_out
from fwctl.applying.work import Work
from fwctl.errors import FwctlError
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.units import short_duration

# A list can lag behind a write; 98 s were seen for a deleted deployment (public transcript, 2026-07-13).
LAG_GRACE_S = 120.0
SETTLED = "READY"
BROKEN = "FAILED"


def stage_of(live: LiveDeployment) -> str:
    """pending | downloading | initializing | ready | scaled to zero | parked | the state in lower case."""
    counts = live.replicas
    for name in ("downloading", "initializing", "pending"):
        if getattr(counts, name):
            return name
    if live.state != SETTLED:
        return live.state.lower()
    if counts.max == 0:
        return "parked"
    if counts.min == 0 and counts.ready == 0:
        return "scaled to zero"
    return "ready" if _enough(live) else "pending"


def _enough(live: LiveDeployment) -> bool:
    """READY alone can mean zero ready replicas, so the floor must be there too."""
    return live.replicas.ready >= min(live.replicas.min, live.replicas.max)


@dataclass(slots=True)
class _Watch:
    """Memory of one wait."""

    work: Work
    deployment_id: str
    began_s: float
    seen: bool = False
    stage: str = ""
    quarrel_s: float | None = field(default=None)  # since when a settled deployment shows other values

    def elapsed_s(self) -> float:
        return self.work.clock.monotonic() - self.began_s


def settle(work: Work, deployment_id: str) -> Procedure[Ended]:
    """Follows a written deployment until it is ready, or once when the run does not wait.

    Raises ActionFailedError as soon as the platform says that it failed or that it is gone.
    """
    watch = _Watch(work, deployment_id, work.clock.monotonic())
    while True:
        try:
            state: LiveState = yield Poll()
        except FwctlError as error:  # nothing is known, so nothing has failed
            return Ended(Outcome.IN_PROGRESS, problem=from_error(error))
        live = state.deployments.get(deployment_id)
        ended = _absent(watch, live) if live is None or live.state in LEAVING else _present(watch, live)
        if ended is not None:
            return ended
        if not work.options.wait:
            return Ended(Outcome.IN_PROGRESS, f"accepted; `fwctl wait {work.change.name}` follows it")
        if watch.elapsed_s() >= work.options.wait_timeout_s:
            return _gave_up(watch, live)


def _absent(watch: _Watch, live: LiveDeployment | None) -> Ended | None:
    """Not there, or on its way out: an end if it was seen before, else the list may lag behind."""
    what = "is not in the list of deployments" if live is None else f"is {live.state}"
    if watch.seen or live is not None or watch.elapsed_s() >= LAG_GRACE_S:
        raise ActionFailedError(
            failed(
                f"{watch.deployment_id} {what}, though the call was accepted: someone else deleted it",
                (f"fwctl apply --target {watch.work.change.name}",),
            )
        )
    return None


def _present(watch: _Watch, live: LiveDeployment) -> Ended | None:
    watch.seen = True
    stage = stage_of(live)
    if stage != watch.stage:
        watch.stage = stage
        watch.work.progress(live, stage)
    if live.state == BROKEN:
        raise ActionFailedError(broken(live, watch.work.change.name))
    if live.state != SETTLED:
        return None
    unlike = differences(watch.work.wanted, live)
    if unlike:
        return _quarrel(watch, live, unlike)
    watch.quarrel_s = None
    if not _enough(live):
        return None
    watch.work.ready(live, watch.elapsed_s())
    return Ended()


def broken(live: LiveDeployment, name: str) -> Problem:
    """The problem of a deployment in state FAILED, with the server's own words."""
    said = live.status_message or "the platform gives no reason"
    return failed(
        f"{live.deployment_id} is FAILED ({live.status_code}): {said}",
        (
            f"fwctl status  # what it costs now: {live.replicas.ready} replicas run",
            f"fwctl destroy {name}  # then correct the spec and apply again",
        ),
        "failed_state",
    )


def _quarrel(watch: _Watch, live: LiveDeployment, unlike: tuple[str, ...]) -> Ended | None:
    """Ready with other values than asked for: a lagging list for a while, then a failure."""
    now = watch.work.clock.monotonic()
    if watch.quarrel_s is None:
        watch.quarrel_s = now
    if watch.work.options.wait and now - watch.quarrel_s < LAG_GRACE_S:
        return None
    raise ActionFailedError(
        failed(
            f"{live.deployment_id} was written, but reads back otherwise: {'; '.join(unlike)}",
            ("fwctl plan",),
            "read_back",
        )
    )


def _gave_up(watch: _Watch, live: LiveDeployment | None) -> Ended:
    counts = live.replicas if live else None
    seen = f"{watch.stage}, {counts.ready} of {counts.min} replicas ready" if counts else "not listed yet"
    waited = short_duration(round(watch.work.options.wait_timeout_s))
    return Ended(
        Outcome.IN_PROGRESS,
        problem=timed_out(
            f"{watch.deployment_id} is not ready after {waited} ({seen}); it is left alone and goes on",
            (f"fwctl wait {watch.work.change.name}", f"fwctl status {watch.work.change.name}"),
        ),
    )


def serves_no_more(live: LiveDeployment | None) -> bool:
    """A deletion has begun."""
    return live is None or live.state in LEAVING


def id_is_free(live: LiveDeployment | None) -> bool:
    """Nothing holds the ID any more."""
    return live is None


def deletion_ended(live: LiveDeployment | None) -> bool:
    """Nothing is on its way out; the ID may still be held."""
    return live is None or live.state != "DELETING"


def until_gone(
    work: Work, deployment_id: str, over: Callable[[LiveDeployment | None], bool]
) -> Procedure[Ended]:
    """Follows a deletion until `over` says so. A run that does not wait only waits for a free ID, which
    the next call needs."""
    began_s = work.clock.monotonic()
    while True:
        state: LiveState = yield Poll()
        live = state.deployments.get(deployment_id)
        if over(live):
            return Ended()
        if not work.options.wait and over is not id_is_free:
            return Ended(Outcome.IN_PROGRESS, "the deletion was accepted")
        if work.clock.monotonic() - began_s >= work.options.wait_timeout_s:
            what = live.state if live else "listed"
            return Ended(
                Outcome.IN_PROGRESS,
                problem=timed_out(
                    f"{deployment_id} is still {what} after the deletion was accepted", ("fwctl apply",)
                ),
            )
