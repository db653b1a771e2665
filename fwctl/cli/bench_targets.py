"""What stands behind the logical name of a target: the specs, what an apply wrote down, or live state."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.errors import FwctlError, UsageError

if TYPE_CHECKING:
    from fwctl.live.model import LiveDeployment, LiveState
    from fwctl.measure.targets_file import Resolved
    from fwctl.spec.model import Deployment, Spec


class DeploymentNames:
    """Resolves logical names, with one look at the platform for all of them.

    specs: paths as of `--specs`. Where firectl does not answer, the model string comes from the file of
    `settings.outputs`, and no price is known.
    """

    def __init__(self, call: Call, specs: Sequence[str] = ()) -> None:
        self.call = call
        self.specs = specs
        self._spec: Spec | None = None
        self._live: LiveState | None = None

    def __call__(self, name: str, account: str | None) -> Resolved:
        """Raises UsageError for a name that the specs do not have or that does not run."""
        from fwctl.measure.objectives import slo_seconds
        from fwctl.measure.targets_file import Resolved

        if name.startswith("accounts/"):
            return Resolved(name, name)
        spec = self.spec()
        entry = spec.deployments.get(name)
        if entry is None or account not in (None, spec.account):
            raise _unknown(name, account, spec)
        try:
            item = self._running(spec, entry)
        except FwctlError as error:
            if isinstance(error, UsageError) or (found := self._written(spec, entry)) is None:
                raise
            self.call.output.message(f"{error.message}; the model string of {name} is that of the last apply")
            return found
        base = f"accounts/{item.account}/deployments/{item.deployment_id}"
        router = entry.fields.get("router")
        model = f"accounts/{item.account}/routers/{router}" if router else base
        return Resolved(model, base, self._usd_per_hour(spec, item), slo_seconds(entry.own))

    def spec(self) -> Spec:
        """The specs, read once. Raises InvalidSpecError or UsageError."""
        from fwctl.cli.places import has_specs
        from fwctl.cli.session import load_specs, require_valid

        if self._spec is None:
            if not has_specs(self.call, self.specs):
                raise UsageError(
                    "a target names a deployment, and there are no specs",
                    next_steps=["--specs PATH", "write model: with the model string"],
                )
            self._spec = require_valid(self.call, load_specs(self.call, self.specs))
        return self._spec

    def _written(self, spec: Spec, wanted: Deployment) -> Resolved | None:
        """What the file of `settings.outputs` holds, as the last apply left it."""
        from fwctl.measure.objectives import slo_seconds
        from fwctl.measure.targets_file import Resolved

        outputs = spec.settings.get("outputs")
        path = self.call.env.cwd / str(outputs)
        if not outputs or not path.is_file():
            return None
        try:
            entry: Any = json.loads(path.read_bytes())["models"][wanted.name]
            base, router = entry["base"], entry["router"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Resolved(str(router or base), str(base), None, slo_seconds(wanted.own))

    def _running(self, spec: Spec, entry: Deployment) -> LiveDeployment:
        from fwctl.cli.session import Session
        from fwctl.live.identity import match

        if self._live is None:
            with Session(self.call, spec.account) as session:
                self._live = session.live(spec)
        pair = match(spec.deployments.values(), self._live.deployments, spec.stack).by_name[entry.name]
        if pair.current is None:
            raise UsageError(
                f"deployment {entry.name!r} does not run", next_steps=["fwctl apply", "fwctl status"]
            )
        return pair.current

    def _usd_per_hour(self, spec: Spec, item: LiveDeployment) -> float | None:
        from fwctl.cli.prices import price_list
        from fwctl.live.cost import usd_per_hour

        assert self._live is not None  # item comes from there
        return usd_per_hour(item, price_list(self.call, spec), self._live.shapes)


def _unknown(name: str, account: str | None, spec: Spec) -> UsageError:
    from fwctl.spec.closest import did_you_mean

    if account not in (None, spec.account):
        return UsageError(f"the target is of account {account!r}, the specs are of {spec.account!r}")
    near = did_you_mean(name, spec.deployments)
    return UsageError(f"the specs have no deployment {name!r}", next_steps=[near] if near else [])
