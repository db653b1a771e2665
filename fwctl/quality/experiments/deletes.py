"""Deleting candidates, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from fwctl.applying.model import ApplyResult
from fwctl.errors import FwctlError, InterruptedByUserError, WaitTimeoutError
from fwctl.exitcodes import Exit
from fwctl.quality.experiments.candidates import deletion, leavers, require_own
from fwctl.quality.experiments.world import World
from fwctl.spec.model import Spec


def remove(world: World, spec: Spec, *, name: str, keep: str | None) -> int:
    """Delete the candidates of experiment `name` but `keep`, and those of the stack whose time has passed;
    how many. Raises RefusedError and FwctlError."""
    empty = replace(spec, deployments={})
    live = world.live(empty)
    now = world.clock.now()
    going = leavers(live, spec.stack, now, name=name, keep=keep)
    if not going:
        return 0
    plan = world.plan(empty, live, deletion(going, now))
    require_own(plan, spec.stack)
    require_done(world.apply(plan, empty, serve=False), name)
    return len(going)


def require_done(result: ApplyResult, name: str) -> None:
    """Raises InterruptedByUserError, WaitTimeoutError or FwctlError unless all was done."""
    if result.exit_code is Exit.OK:
        return
    steps = [
        "run it again: it goes on from here; replicas stop by themselves 5 minutes after the load",
        f"fwctl experiment stop {name}",
    ]
    if result.exit_code in (Exit.INTERRUPTED, Exit.TERMINATED):
        raise InterruptedByUserError("the experiment was interrupted", next_steps=steps)
    said = "; ".join(item.problem.message for item in result.results if item.problem)
    error = WaitTimeoutError if result.exit_code is Exit.TIMEOUT else FwctlError
    raise error(said or "not everything was done", next_steps=steps)
