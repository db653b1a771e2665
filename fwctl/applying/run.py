"""One apply from plan to report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from fwctl.applying import deployments, replacement, routers
from fwctl.applying.calls import Caller
from fwctl.applying.effects import Ended, Procedure
from fwctl.applying.engine import Engine
from fwctl.applying.events import Events
from fwctl.applying.model import ApplyOptions, ApplyResult, OnEvent, Outcome, Platform, Problem, Result
from fwctl.applying.outcome import exit_code, model_strings, next_steps
from fwctl.applying.schedule import Item
from fwctl.applying.work import ADDONS, ROUTERS, Work
from fwctl.catalog.field import Effect
from fwctl.env import Env
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment
from fwctl.planning.model import Change, Plan
from fwctl.records.folderlock import folder_lock
from fwctl.records.history import HISTORY_NAME, History, Start
from fwctl.records.journal import Journal, unfinished
from fwctl.records.outputs import write_outputs
from fwctl.spec.model import Spec

if TYPE_CHECKING:
    from fwctl.firectl.client import Firectl

SLOW = frozenset({Effect.ROLLING_RESTART, Effect.REPLACE})
REPLACING = ("create", "delete")  # beside the old one; ("delete", "create") is a recreate
INLINE = (REPLACING, ("delete",))  # a replacement and its rollback change their router in between
STARTS = frozenset({"create", "unpark", "undelete"})


def apply(
    plan: Plan, *, spec: Spec, firectl: Firectl, env: Env, options: ApplyOptions, on_event: OnEvent
) -> ApplyResult:
    """Carries out a plan through firectl, under the folder's apply lock.

    Raises RefusedError when another apply holds the lock; everything that goes wrong with a deployment
    is in the result instead.
    """
    from fwctl.applying.platform import FirectlPlatform

    verbs = {step.verb for change in plan.changes for step in change.steps}
    platform = FirectlPlatform(
        firectl, env, addons=not verbs.isdisjoint(ADDONS), routers=not verbs.isdisjoint(ROUTERS)
    )
    with folder_lock(options.folder / "apply.lock", env.clock, "fwctl apply") as note:
        result = Run(plan, spec, platform, env, options, on_event).carry_out((note,) if note else ())
    problem = _write_outputs(spec, env, result)
    return replace(result, notes=(*result.notes, problem)) if problem else result


def _write_outputs(spec: Spec, env: Env, result: ApplyResult) -> str | None:
    """Writes `settings.outputs`, relative to the current folder; answers with what went wrong."""
    name = spec.settings.get("outputs")
    if not name:
        return None
    try:
        write_outputs(env.cwd / str(name), spec.account, spec.deployments.keys(), result.model_strings)
    except OSError as error:
        return f"settings.outputs: {name} cannot be written ({error.strerror or error})"
    return None


def wait(
    names: Mapping[str, str],
    *,
    spec: Spec,
    firectl: Firectl,
    env: Env,
    options: ApplyOptions,
    on_event: OnEvent,
) -> ApplyResult:
    """Follows deployments (logical name -> deployment ID) until they are ready; changes nothing."""
    from fwctl.applying.platform import FirectlPlatform

    changes = tuple(Change(name, key, ("wait",)) for name, key in sorted(names.items()))
    plan = Plan(spec.account, spec.stack, changes, "")
    platform = FirectlPlatform(firectl, env, addons=False, routers=False)
    return Run(plan, spec, platform, env, options, on_event, "wait").carry_out()


@dataclass(slots=True)
class Run:
    """An apply on any platform, without the lock."""

    plan: Plan
    spec: Spec
    platform: Platform
    env: Env
    options: ApplyOptions
    on_event: OnEvent
    command: str = "apply"

    def carry_out(self, notes: tuple[str, ...] = ()) -> ApplyResult:
        """Does what the plan says and reports; the order of the report is the plan's."""
        clock, folder = self.env.clock, self.options.folder
        events = Events(self.on_event, clock, heartbeat_s=self.options.heartbeat_s)
        events.begin(self.command, account=self.plan.account, stack=self.plan.stack)
        earlier = tuple(
            f"an earlier apply ended during `{call.call}`; what the platform shows decides, not the journal"
            for call in unfinished(folder / "journal")
        )
        journal = Journal(folder / "journal", clock, self.env.redactor)
        notes = (*notes, *earlier, *((journal.problem,) if journal.problem else ()))
        for text in notes:
            events.note(text)
        caller = Caller(self.platform, journal, self.options.crash)
        try:
            results = self._results(caller, events)
        finally:
            journal.close()
        stopped = self.options.interrupt.exit_code if self.options.interrupt.stop.is_set() else None
        code = exit_code(results, changed=caller.changed, interrupted=stopped)
        events.end(int(code))
        return ApplyResult(
            results=tuple(results),
            model_strings=model_strings(self.spec, self.plan, results),
            exit_code=code,
            changed=caller.changed,
            notes=notes,
            next_steps=next_steps(results),
        )

    def _results(self, caller: Caller, events: Events) -> list[Result]:
        """One result for each change that is not a no-op, in plan order."""
        changes = [change for change in self.plan.changes if change.actions != ("no-op",)]
        open_changes = [change for change in changes if "blocked" not in change.actions]
        addresses = frozenset(change.address for change in open_changes)
        items = [_item(change, addresses, self._work(change, events)) for change in open_changes]
        pause_s = self.options.retry_pause_s
        items += _router_items(items, open_changes, account=self.plan.account, pause_s=pause_s)
        engine = Engine(
            items,
            platform=self.platform,
            clock=self.env.clock,
            options=self.options,
            caller=caller,
            events=events,
        )
        done = iter(engine.run())
        listed = [_blocked(change) if "blocked" in change.actions else next(done) for change in changes]
        return [*listed, *done]

    def _work(self, change: Change, events: Events) -> Work:
        history = History(self.options.folder / HISTORY_NAME)

        def progress(live: LiveDeployment, stage: str) -> None:
            counts = {name: getattr(live.replicas, name) for name in live.replicas.__slots__}
            events.emit("progress", change, stage=stage, state=live.state, replicas=counts)

        def ready(live: LiveDeployment, seconds: float) -> None:
            if STARTS.intersection(change.actions):
                history.record_start(self._start(live, seconds))

        return Work(
            change=change,
            entry=self.spec.deployments.get(change.name),
            account=self.plan.account,
            stack=self.plan.stack,
            options=self.options,
            clock=self.env.clock,
            progress=progress,
            ready=ready,
        )

    def _start(self, live: LiveDeployment, seconds: float) -> Start:
        model, shape, accelerator = (
            str(live.fields.get(path, "")) for path in ("model", "shape", "accelerator.type")
        )
        return Start(
            time=self.env.clock.now(),
            deployment_id=live.deployment_id,
            model=model,
            shape=shape,
            accelerator=accelerator,
            region=live.running_region or "",
            ready_s=float(seconds),
        )


def _blocked(change: Change) -> Result:
    why = "; ".join(item.message for item in change.blocked_by) or "the plan blocks it"
    steps = tuple(item.suggestion for item in change.blocked_by if item.suggestion)
    problem = Problem("refused", why, steps, Exit.REFUSED, "refused")
    outcome = Outcome.SKIPPED
    return Result(change.name, change.address, change.deployment_id, change.actions, outcome, problem=problem)


def _item(change: Change, open_addresses: frozenset[str], work: Work) -> Item:
    after = frozenset(f"deployments/{name}" for name in change.after)
    return Item(
        name=change.name,
        address=change.address,
        deployment_id=change.deployment_id,
        actions=change.actions,
        procedure=partial(_procedure(change), work),
        after=after & open_addresses,
        last=change.actions == ("delete",),
        exclusive=work.options.wait and any(field.effect in SLOW for field in change.fields),
    )


def _router_items(items: list[Item], changes: list[Change], *, account: str, pause_s: float) -> list[Item]:
    """One item a router for everything that is to stand behind it, after those have ended; replacements
    and rollbacks do it themselves, one after the other when they share a router."""
    members: dict[str, list[Change]] = {}
    for change in changes:
        for step in change.steps:
            if step.verb in ROUTERS:
                members.setdefault(step.target, []).append(change)
    found = []
    by_address = {item.address: item for item in items}
    for router, behind in sorted(members.items()):
        unique = list(dict.fromkeys(change.address for change in behind))
        inline = [address for address in unique if by_address[address].actions in INLINE]
        for before, later in pairwise(inline):
            by_address[later].waits |= {before}
        joining = tuple(by_address[address].deployment_id for address in unique if address not in inline)
        if joining:
            waits = frozenset(unique)
            found.append(_router_item(router, joining, waits, account=account, pause_s=pause_s))
    return found


def _router_item(
    router: str, joining: tuple[str, ...], waits: frozenset[str], *, account: str, pause_s: float
) -> Item:
    return Item(
        name=router,
        address=f"routers/{router}",
        deployment_id=router,
        actions=("update",),
        procedure=partial(routers.change_members, router, account, pause_s=pause_s, join=joining),
        waits=waits,
    )


def _procedure(change: Change) -> Callable[[Work], Procedure[Ended]]:
    if change.actions == ("delete",):
        return deployments.destroy
    if change.actions == REPLACING:
        return replacement.blue_green
    return deployments.change
