"""What the evidence files say to rules and gates, of a spec alone and of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fwctl.cli.command import Call
from fwctl.cli.evidence_files import Found, around_each, find_evidence
from fwctl.cli.evidence_fit import conversations_of, own_conversations
from fwctl.cli.places import lock_of
from fwctl.errors import InvalidSpecError
from fwctl.spec.model import Evidence, Spec

if TYPE_CHECKING:
    from fwctl.planning.context import Context
    from fwctl.records.lockfile import LockFile


def offline_evidence(
    call: Call, paths: Sequence[str], gates_follow: bool = False
) -> Callable[[Spec], Evidence | None]:
    """For `spec.load`: what the files beside the specs say, without a look at the platform."""

    def gather(spec: Spec) -> Evidence | None:
        found = find_evidence(call, paths, spec)
        lock = _lock(call, paths)
        fitting, models = own_conversations(call, spec), _own_precision(lock)
        if not found.there:
            nothing = not (fitting or models)
            return None if nothing else Evidence({}, {}, models, fitting, read=False)
        from fwctl.planning.evidence import offline_settings, weigh

        settings = offline_settings(spec, lock)
        around = around_each(call, spec, found)
        known = weigh(
            found.stored,
            settings,
            around,
            model_precision=models,
            conversations=fitting,
            read=found.there,
        )
        return replace(known, gates_follow=gates_follow)

    return gather


def _lock(call: Call, paths: Sequence[str]) -> LockFile | None:
    """A lock that cannot be read is the plan's to report, and `--no-lock` goes on without it."""
    try:
        return lock_of(call, paths)
    except InvalidSpecError:
        return None


def _own_precision(lock: LockFile | None) -> dict[str, str]:
    models = lock.models if lock is not None else {}
    return {name: facts.default_precision for name, facts in models.items() if facts.default_precision}


def planned_evidence(call: Call, context: Context, found: Found) -> Evidence:
    """What the records say about each deployment as this plan will make it run."""
    from fwctl.planning.evidence import settings_of, weigh

    models = {
        name: model.default_precision
        for name, model in context.live.models.items()
        if model is not None and model.default_precision
    }
    if not found.stored:
        return Evidence({}, {}, models, conversations_of(context.spec, context.fit), read=found.there)
    return weigh(
        found.stored,
        settings_of(context),
        around_each(call, context.spec, found),
        model_precision=models,
        conversations=conversations_of(context.spec, context.fit),
        read=found.there,
    )
