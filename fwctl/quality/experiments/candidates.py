"""Which live deployments are an experiment's own, which IDs new ones get, and what may be deleted. Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import count

from fwctl.errors import RefusedError
from fwctl.live.identity import has_expired, is_candidate
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.digest import canonical_json
from fwctl.planning.model import Plan
from fwctl.planning.options import Intent, PlanOptions
from fwctl.quality.experiments.model import SEPARATOR, Experiment
from fwctl.spec.model import Spec

_HASH_DIGITS = 4


def own(live: Mapping[str, LiveDeployment], stack: str, name: str) -> tuple[LiveDeployment, ...]:
    """Deployments that this experiment made and that are still there, by ID."""
    return tuple(
        item
        for _, item in sorted(live.items())
        if is_candidate(item, stack) and item.marker is not None and experiment_of(item.marker.name) == name
    )


def experiment_of(logical: str) -> str:
    """`shapes` of `shapes--fp8`."""
    return logical.partition(SEPARATOR)[0]


def candidate_of(item: LiveDeployment) -> str:
    """`fp8` of the deployment marked `prod/shapes--fp8`."""
    return item.marker.name.partition(SEPARATOR)[2] if item.marker else ""


def with_ids(experiment: Experiment, live: LiveState) -> Spec:
    """The candidates with the IDs they have or get.

    A new ID is the same for every runner that sees the same platform, so that two of them cannot create
    two; and it is nobody else's, deleted deployments included, because they hold their ID for a week.
    """
    there = {candidate_of(item): item.deployment_id for item in _mine(experiment, live)}
    entries = {}
    for name in experiment.candidates:
        entry = experiment.entry(name)
        key = there.get(name) or _free_id(experiment, name, live)
        entries[entry.name] = replace(entry, deployment_id=key)
    return replace(experiment.spec, deployments=entries)


def _mine(experiment: Experiment, live: LiveState) -> tuple[LiveDeployment, ...]:
    return own(live.deployments, experiment.spec.stack, experiment.name)


def _free_id(experiment: Experiment, name: str, live: LiveState) -> str:
    entry = experiment.entry(name)
    facts = [experiment.spec.stack, entry.name, dict(entry.fields)]
    for attempt in count():
        text = canonical_json([*facts, attempt])
        digits = base64.b32encode(sha256(text.encode()).digest())[:_HASH_DIGITS].decode().lower()
        key = f"{experiment.name}-{name}-{digits}"
        if key not in live.deployments:
            break
    return key


def leavers(
    live: LiveState, stack: str, now: datetime, *, name: str, keep: str | None
) -> tuple[LiveDeployment, ...]:
    """What is to be deleted: of the experiment `name` all but the candidate `keep`, and everything of the
    stack's other experiments whose time has passed."""
    going = []
    for _, item in sorted(live.deployments.items()):
        if not is_candidate(item, stack) or item.marker is None:
            continue
        mine = experiment_of(item.marker.name) == name
        if (mine and candidate_of(item) != keep) or has_expired(item, now):
            going.append(item)
    return tuple(going)


def deletion(items: Iterable[LiveDeployment], end: datetime) -> PlanOptions:
    """The choices of a plan that deletes exactly these. Their traffic was the experiment's own."""
    ids = tuple(item.deployment_id for item in items)
    return PlanOptions(
        intent=Intent.DESTROY,
        intent_names=ids,
        allow_delete=ids,
        allow_traffic_loss=ids,
        max_deletes=len(ids),
        expires=end,
    )


def require_own(plan: Plan, stack: str) -> None:
    """Raises RefusedError when a plan would delete what no experiment of this stack has made."""
    for change in plan.changes:
        if "delete" in change.actions and (change.live is None or not is_candidate(change.live, stack)):
            raise RefusedError(
                f"{change.deployment_id} carries no marker of an experiment of stack {stack!r}; it stays",
                deployment=change.name,
            )
