"""The deployments behind the targets of a run: their replicas while it goes on, and their lock entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.places import has_specs
from fwctl.cli.session import Session, load_specs, require_valid

if TYPE_CHECKING:
    from fwctl.measure.target import Target

Sample = Callable[[], Mapping[str, int]]


@contextmanager
def sampling(call: Call, targets: Sequence[Target]) -> Iterator[Sample | None]:
    """Yields what reads the ready replicas by target; None when no target names a deployment."""
    from fwctl.live.normalise import account_of, normalise_deployment, short_id

    named = {target.name: target.deployment for target in targets if target.deployment}
    if not named:
        yield None
        return
    with ExitStack() as stack:
        accounts = {account_of(deployment) for deployment in named.values()}
        sessions = {account: stack.enter_context(Session(call, account)) for account in sorted(accounts)}

        def sample() -> dict[str, int]:
            ready = {}
            for deployment in sorted(set(named.values())):
                firectl = sessions[account_of(deployment)].firectl
                ready[deployment] = normalise_deployment(
                    firectl.get_deployment(short_id(deployment))
                ).replicas.ready
            return {name: ready[deployment] for name, deployment in named.items()}

        yield sample


def lock_entries(call: Call, specs: Sequence[str], targets: Sequence[Target]) -> dict[str, Any] | None:
    """What fwctl.lock says about the deployments of the targets, by target; None when it says nothing."""
    from dataclasses import asdict

    from fwctl.cli.places import lock_of
    from fwctl.live.normalise import short_id
    from fwctl.planning.locked import wanted_of

    named = {target.name: short_id(target.deployment) for target in targets if target.deployment}
    lock = lock_of(call, specs) if named and has_specs(call, specs) else None
    if lock is None:
        return None
    spec = require_valid(call, load_specs(call, specs))
    names = {entry.deployment_id: entry.name for entry in spec.deployments.values()}
    wanted = {item.deployment: item for item in wanted_of(spec)}
    found = {}
    for target, deployment_id in named.items():
        item = wanted.get(names.get(deployment_id, ""))
        entry = lock.shape(item.shape, item.model) if item else None
        if item is not None and entry is not None:
            found[target] = {"shape": item.shape, **asdict(entry)}
    return found or None
