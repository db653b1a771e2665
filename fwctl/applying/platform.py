"""The world of an apply, made of firectl and one HTTP request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwctl.applying.ask import ask
from fwctl.applying.model import Answer, CallResult
from fwctl.errors import AuthError, FwctlError
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.live.normalise import normalise_deployment, short_id
from fwctl.planning.model import Step

if TYPE_CHECKING:
    from fwctl.env import Env
    from fwctl.firectl.client import Firectl


class FirectlPlatform:
    """Calls and reads through firectl. addons, routers: whether the run has to do with them, so that
    they are read too."""

    def __init__(self, firectl: Firectl, env: Env, *, addons: bool, routers: bool) -> None:
        self._firectl = firectl
        self._env = env
        self._addons = addons
        self._routers = routers

    def argv(self, step: Step) -> tuple[str, ...]:
        try:
            words = self._firectl.argv(step.verb, step.target, step.fields)
        except FwctlError:  # `call` says why it cannot be built
            words = [*step.verb.split(), step.target]
        return tuple(self._env.redactor.mask_argv(["firectl", *words]))

    def call(self, step: Step) -> CallResult:
        outcome = self._firectl.perform(step.verb, step.target, step.fields)
        if outcome.ok:
            return CallResult(outcome.argv, seconds=outcome.seconds)
        return CallResult(
            outcome.argv,
            (outcome.error_class or "unknown"),
            outcome.message,
            outcome.next_steps,
            outcome.seconds,
        )

    def read(self) -> LiveState:
        found: dict[str, LiveDeployment] = {}
        for raw in self._firectl.list_deployments(show_deleted=True):
            live = normalise_deployment(raw)
            if live.account != self._firectl.account:
                raise AuthError(
                    f"asked for account {self._firectl.account!r}, but firectl answered with {live.name!r}",
                    next_steps=("fwctl doctor",),
                )
            if live.deployment_id not in found or found[live.deployment_id].state in LEAVING:
                found[live.deployment_id] = live
        return LiveState(
            account=self._firectl.account,
            deployments=found,
            loaded_addons=self._loaded() if self._addons else {},
            routers={short_id(str(row.get("name", ""))): row for row in self._routers_read()},
        )

    def _routers_read(self) -> list[dict[str, object]]:
        return self._firectl.list_routers() if self._routers else []

    def _loaded(self) -> dict[str, tuple[str, ...]]:
        """Deployment ID -> models on it, without those that are being taken off."""
        found: dict[str, list[str]] = {}
        for row in self._firectl.list_deployed_models():
            if row.get("state") != "UNDEPLOYING":
                found.setdefault(short_id(str(row.get("deployment", ""))), []).append(
                    str(row.get("model", ""))
                )
        return {key: tuple(sorted(models)) for key, models in found.items()}

    def ask(self, model: str) -> Answer:
        return ask(model, self._env)
