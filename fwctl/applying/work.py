"""What a procedure knows: its change, what the spec wants, and the run it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.applying.model import ApplyOptions
from fwctl.env import Clock
from fwctl.live.model import LiveDeployment
from fwctl.planning.model import Change, Step
from fwctl.spec.model import Deployment

Progress = Callable[[LiveDeployment, str], None]


@dataclass(frozen=True, slots=True)
class Work:
    """entry is None for a deployment that no spec names any more. progress: told each stage that a
    poll shows. ready: told the seconds from the first call to READY, for the history."""

    change: Change
    entry: Deployment | None
    account: str
    stack: str
    options: ApplyOptions
    clock: Clock
    progress: Progress
    ready: Callable[[LiveDeployment, float], None]

    @property
    def wanted(self) -> Mapping[str, Any]:
        """The values that the deployment must show in the end: as the plan resolved them, overlaid by
        what the calls send (parking, for example). Tags are set by calls of their own, so that a
        deployment without them is not yet wrong; the description that is sent holds the marker."""
        values = dict(self.change.desired)
        for step in self.steps(*WRITES):
            values.update({path: value for path, value in step.fields.items() if path != "description"})
        values.pop("tags", None)
        return values

    @property
    def managed(self) -> frozenset[str]:
        """The fields whose change by someone else makes the plan stale."""
        paths = {field.path for field in self.change.fields} | set(self.change.desired)
        if not paths and self.change.live is not None:
            return frozenset(self.change.live.fields)
        return frozenset(paths)

    @property
    def written_id(self) -> str:
        """The ID that the change leaves behind; a recreate may move it."""
        creates = self.steps(CREATE)
        return creates[-1].target if creates else self.change.deployment_id

    def model_string(self, deployment_id: str) -> str:
        return f"accounts/{self.account}/deployments/{deployment_id}"

    def steps(self, *verbs: str) -> tuple[Step, ...]:
        """The change's calls with one of these verbs, in order."""
        return tuple(step for step in self.change.steps if step.verb in verbs)


CREATE = "deployment create"
UPDATE = "deployment update"
SCALE = "deployment scale"
DELETE = "deployment delete"
UNDELETE = "deployment undelete"
TAG_SET = "deployment tag set"
TAG_UNSET = "deployment tag unset"
LOAD = "load-lora"
UNLOAD = "unload-lora"
ROUTER_CREATE = "router create"
ROUTER_UPDATE = "router update"
WRITES = (CREATE, UPDATE, SCALE)
TAGS = (TAG_SET, TAG_UNSET)
ADDONS = (LOAD, UNLOAD)
ROUTERS = (ROUTER_CREATE, ROUTER_UPDATE)
