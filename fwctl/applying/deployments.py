"""What apply does for one deployment, action by action, except replacing it under another ID."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fwctl.applying import writes
from fwctl.applying.compare import moved, reads_back
from fwctl.applying.effects import ActionFailedError, Ended, Look, Procedure
from fwctl.applying.model import Outcome, Verify
from fwctl.applying.problems import stale
from fwctl.applying.routers import change_members
from fwctl.applying.settle import deletion_ended, id_is_free, serves_no_more, settle, until_gone
from fwctl.applying.verify import answered
from fwctl.applying.work import (
    ADDONS,
    CREATE,
    DELETE,
    LOAD,
    ROUTERS,
    SCALE,
    TAG_SET,
    TAG_UNSET,
    UNDELETE,
    UNLOAD,
    UPDATE,
    Work,
)
from fwctl.live.identity import LEAVING
from fwctl.live.marker import split_description
from fwctl.live.model import LiveDeployment, LiveState, Marker
from fwctl.live.normalise import all_tags
from fwctl.planning.model import Step

# Only the marker moves: nothing restarts, so there is nothing to wait for.
MARKING = frozenset({"mark", "adopt"})
LATER = (*ADDONS, *ROUTERS)  # calls that need a ready deployment


def change(work: Work) -> Procedure[Ended]:
    """Everything but a deletion: re-read what exists, write, wait, load addons, ask for an answer."""
    planned = work.change.live
    if work.change.actions == ("wait",):
        return (yield from follow(work))
    if planned is not None and work.change.actions != ("create",):
        note = yield from _recheck(work, planned)
        if note:
            return Ended(note=note)
    notes: list[str] = []
    for step in work.change.steps:
        if step.verb not in LATER:
            notes += [(yield from perform(work, step))]
    ended = yield from finish(work, work.written_id)
    return replace(
        ended,
        deployment_id=work.written_id,
        note="; ".join(dict.fromkeys(n for n in (*notes, ended.note) if n)),
    )


def follow(work: Work) -> Procedure[Ended]:
    """Waits for an operation that something else began."""
    live = work.change.live
    if live is not None and live.state == "DELETING":
        ended = yield from until_gone(work, live.deployment_id, deletion_ended)
        return replace(ended, note=ended.note or "its deletion has ended; plan again for what follows")
    return (yield from finish(work, work.change.deployment_id))


def finish(work: Work, deployment_id: str) -> Procedure[Ended]:
    """From the written deployment to the serving one."""
    if MARKING.issuperset(work.change.actions):
        return Ended()
    ended = yield from settle(work, deployment_id)
    if ended.outcome is Outcome.DONE:
        for step in work.steps(*ADDONS):
            yield from perform(work, step)
        if work.options.verify is Verify.REQUEST and not parked(work):
            ended = yield from answered(work, deployment_id)
    return ended


def parked(work: Work) -> bool:
    """True for a deployment that nobody can ask for an answer."""
    return bool(work.wanted.get("replicas.max") == 0)


def _recheck(work: Work, planned: LiveDeployment) -> Procedure[str]:
    """Reads the deployment right before it is changed. Answers with a note when nothing is left to do;
    raises when someone else changed it since the plan."""
    state: LiveState = yield Look()
    now = state.deployments.get(work.change.deployment_id)
    different = moved(planned, now, work.managed)
    if different and _already_done(work, now):
        return writes.OTHER_RUN
    if different:
        raise ActionFailedError(
            stale(f"{work.change.deployment_id} moved since the plan: {'; '.join(different)}")
        )
    return ""


def _already_done(work: Work, now: LiveDeployment | None) -> bool:
    """Another run has made exactly this change, marker included."""
    written = [marker_in(step) for step in work.steps(CREATE, UPDATE) if "description" in step.fields]
    if now is None or now.marker is None or not written or written[-1] is None:
        return False
    same_marker = replace(now.marker, field_digests={}) == replace(written[-1], field_digests={})
    return same_marker and reads_back(work.wanted, now)


def marker_in(step: Step) -> Marker | None:
    """The marker that a create or update writes."""
    return split_description(str(step.fields.get("description", "")))[1]


def perform(work: Work, step: Step) -> Procedure[str]:
    """One call of the change, settled whatever its answer is. Answers with a note, usually empty."""
    return (yield from _BY_VERB[step.verb](work, step))


def _create(work: Work, step: Step) -> Procedure[str]:
    return (yield from writes.create(work, step))


def _purge(work: Work, step: Step) -> Procedure[str]:
    """A deletion inside a change frees the ID for the create that follows."""
    note = yield from writes.delete(work, step)
    ended = yield from until_gone(work, step.target, id_is_free)
    if ended.problem is not None:
        raise ActionFailedError(ended.problem)
    return note


def _undelete(work: Work, step: Step) -> Procedure[str]:
    def back(state: LiveState) -> bool:
        live = state.deployments.get(step.target)
        return live is not None and live.state not in LEAVING

    return (yield from _repeatable(work, step, back))


def _repeatable(
    work: Work, step: Step, happened: Callable[[LiveState], bool], *settled_by: str
) -> Procedure[str]:
    pause_s = work.options.retry_pause_s
    return (yield from writes.repeatable(step, happened, pause_s=pause_s, settled_by=settled_by))


def _tags_set(work: Work, step: Step) -> Procedure[str]:
    tags: Mapping[str, str] = step.fields["tags"]

    def there(state: LiveState) -> bool:
        return tags.items() <= _tags(state, step).items()

    return (yield from _repeatable(work, step, there))


def _tags_unset(work: Work, step: Step) -> Procedure[str]:
    def gone(state: LiveState) -> bool:
        return _tags(state, step).keys().isdisjoint(step.fields["tags"])

    return (yield from _repeatable(work, step, gone, "not_found"))


def _tags(state: LiveState, step: Step) -> Mapping[str, str]:
    live = state.deployments.get(step.target)
    return all_tags(live) if live is not None else {}


def _load(work: Work, step: Step) -> Procedure[str]:
    return (yield from _repeatable(work, step, lambda state: _loaded(state, step), "already_exists"))


def _unload(work: Work, step: Step) -> Procedure[str]:
    return (yield from _repeatable(work, step, lambda state: not _loaded(state, step), "not_found"))


def _loaded(state: LiveState, step: Step) -> bool:
    return set(step.fields["addons.load"]).issubset(state.loaded_addons.get(step.target, ()))


_BY_VERB: Mapping[str, Callable[[Work, Step], Procedure[str]]] = {
    CREATE: _create,
    UPDATE: writes.update,
    SCALE: writes.update,
    DELETE: _purge,
    UNDELETE: _undelete,
    TAG_SET: _tags_set,
    TAG_UNSET: _tags_unset,
    LOAD: _load,
    UNLOAD: _unload,
}


def destroy(work: Work) -> Procedure[Ended]:
    """A deletion: re-read, delete, follow it until the deployment no longer serves."""
    planned = work.change.live
    state: LiveState = yield Look()
    now = state.deployments.get(work.change.deployment_id)
    if now is None or now.state in LEAVING:
        return Ended(note=writes.OTHER_RUN)
    different = moved(planned, now, work.managed) if planned is not None else ()
    if different:
        raise ActionFailedError(
            stale(f"{work.change.deployment_id} moved since the plan: {'; '.join(different)}")
        )
    notes: list[str] = []
    for step in work.change.steps:
        notes += [(yield from _towards_deletion(work, step))]
    ended = yield from until_gone(work, work.change.deployment_id, serves_no_more)
    return replace(ended, note="; ".join(note for note in (*notes, ended.note) if note))


def _towards_deletion(work: Work, step: Step) -> Procedure[str]:
    """A plain deletion has one call; a rollback first makes the deployment that stays serve again."""
    if step.verb == DELETE:
        return (yield from writes.delete(work, step))
    if step.verb in ROUTERS:
        going = work.change.deployment_id
        staying = {item.target for item in work.steps(UPDATE)} - {going}
        ended = yield from change_members(
            step.target,
            work.account,
            pause_s=work.options.retry_pause_s,
            join=sorted(staying),
            leave=(going,),
        )
        return ended.note
    return (yield from perform(work, step))
