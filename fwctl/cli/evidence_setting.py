"""What a deployment runs at the moment at which something measured on it becomes evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fwctl.cli.command import Call
from fwctl.cli.places import lock_of
from fwctl.cli.session import Session
from fwctl.errors import UsageError
from fwctl.records.freshness import Setting
from fwctl.spec.model import Deployment, Spec


class Measured(NamedTuple):
    """replicas, region and resource (`accounts/A/deployments/ID`): as they are live, None offline."""

    setting: Setting
    replicas: int | None = None
    region: str | None = None
    resource: str | None = None


def measured(call: Call, paths: Sequence[str], spec: Spec, name: str, *, offline: bool) -> Measured:
    """The setting of a logical name, from what runs, or offline from spec and fwctl.lock.

    Raises UsageError for a name that the specs do not have, and for what cannot be known.
    """
    entry = spec.deployments.get(name)
    if entry is None:
        names = [f"--deployment {known}" for known in sorted(spec.deployments)][:5]
        raise UsageError(f"--deployment: {name!r} is not in the specs", next_steps=names)
    return Measured(_offline(call, paths, spec, name)) if offline else _live(call, spec, entry)


def _offline(call: Call, paths: Sequence[str], spec: Spec, name: str) -> Setting:
    from fwctl.planning.evidence import offline_settings

    setting = offline_settings(spec, lock_of(call, paths))[name]
    if "shape_version" in setting.unknown:
        raise UsageError(
            f"the version of the shape of {name} is not known without fwctl.lock",
            next_steps=["fwctl lock", "leave out --offline"],
        )
    return setting


def _live(call: Call, spec: Spec, entry: Deployment) -> Measured:
    from fwctl.live.identity import match
    from fwctl.planning.evidence import setting_of_live

    with Session(call, spec.account) as session:
        state = session.live(spec)
    current = match([entry], state.deployments, spec.stack).by_name[entry.name].current
    if current is None:
        raise UsageError(
            f"{entry.name} does not run, so what it ran cannot be read",
            next_steps=["--offline takes the setting from spec and fwctl.lock"],
        )
    resource = f"accounts/{current.account}/deployments/{current.deployment_id}"
    return Measured(setting_of_live(current), current.replicas.ready, current.running_region, resource)


def as_named(call: Call, name: str | None) -> str | None:
    """A prompt set as evidence names it: relative to the folder of the call where it lies below it."""
    if name is None:
        return None
    path = Path(name)
    return (path.relative_to(call.env.cwd) if path.is_relative_to(call.env.cwd) else path).as_posix()
