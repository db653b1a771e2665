"""The desk of a drafting pipeline, made of firectl, the harness and a terminal; and its promotion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.confirm import ask
from fwctl.cli.experiment_world import PlatformWorld
from fwctl.cli.keys import server_key
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.session import Session
from fwctl.drafting.adapt import Adapt
from fwctl.drafting.adapt_file import load_adapt
from fwctl.drafting.deciding import changes
from fwctl.drafting.state import State, Step
from fwctl.errors import InvalidSpecError, RefusedError, UsageError
from fwctl.records.atomic import replace_file
from fwctl.spec.model import Deployment

if TYPE_CHECKING:
    from fwctl.firectl.client import Firectl


class CallDesk:
    """What a pipeline needs, from one invocation."""

    def __init__(self, call: Call, session: Session, *, yes: bool) -> None:
        self.call = call
        self.session = session
        self.yes = yes
        self.root: Path = call.env.cwd / STATE_FOLDER
        self.environ: Mapping[str, str] = call.env.environ
        self.poll_s = call.settings.poll_interval_s
        self.world = PlatformWorld(call, session)

    @property
    def platform(self) -> Firectl:
        return self.session.firectl

    def confirm(self, question: str) -> None:
        ask(self.call, f"type yes to {question}", "yes", yes=self.yes)

    def draft_key(self, url: str) -> str | None:
        return server_key(self.call, url, None, "evaluate.draft_url")

    def say(self, text: str) -> None:
        self.world.say(text)

    def reached(self, point: str) -> None:
        """Nothing: the seam of the recovery tests."""


def read(call: Call, file: str) -> tuple[Adapt, Deployment]:
    """The file, and the entry of the specs that it is about. Raises InvalidSpecError, UsageError."""
    from fwctl.spec.closest import did_you_mean
    from fwctl.spec.load import load

    adapt = load_adapt(call.env.cwd / file, environ=call.env.environ, shown_as=file)
    folder = Path(file).parent
    loaded = load(
        [folder / name for name in adapt.specs],
        environ=call.env.environ,
        defaults=call.settings.defaults,
        need_secrets=False,
        strict=False,
        evidence=None,
    )
    if loaded.spec is None:
        raise InvalidSpecError(
            f"the specs of {file} are not valid",
            next_steps=["fwctl validate " + " ".join(str(folder / name) for name in adapt.specs)],
            diagnostics=loaded.diagnostics,
        )
    if (loaded.spec.account, loaded.spec.stack) != (adapt.account, adapt.stack):
        raise UsageError(
            f"{file} is for account {adapt.account}, stack {adapt.stack}; its specs are for account "
            f"{loaded.spec.account}, stack {loaded.spec.stack}"
        )
    entry = loaded.spec.deployments.get(adapt.deployment)
    if entry is None:
        near = did_you_mean(adapt.deployment, loaded.spec.deployments)
        raise UsageError(
            f"{file} is about deployment {adapt.deployment!r}, which its specs do not have",
            next_steps=[near] if near else [f"specs: files that hold {adapt.deployment}"],
        )
    return replace(adapt, settings=loaded.spec.settings), entry


def document(adapt: Adapt, state: State) -> dict[str, Any]:
    """The `adapt` object of docs/json.md."""
    steps = {step.value: state.result(step) for step in Step}
    return {
        "name": adapt.name,
        "account": adapt.account,
        "deployment": adapt.deployment,
        "round": state.round,
        **{name: None if result is None else dict(result) for name, result in steps.items()},
    }


def promotion(
    call: Call, adapt: Adapt, entry: Deployment, state: State, *, write: bool
) -> dict[str, Any] | None:
    """The decision as a change of the spec, written when asked for; None while nothing is promoted."""
    from fwctl.quality.experiments import patch

    decision, evaluated = state.result(Step.DECIDE), state.result(Step.EVALUATE)
    wanted = changes(decision, evaluated, entry) if decision and evaluated else {}
    if decision is None or decision["verdict"] != "promote":
        return None
    overrides = list(entry.own.get("overrides", ()))
    if wanted and "shape" in entry.fields and "speculation" not in overrides:
        wanted["overrides"] = [*overrides, "speculation"]
    place = entry.position_of("")
    text = after = None
    if place is not None and wanted:
        before = (call.env.cwd / place.file).read_text(encoding="utf-8")
        after = patch.edited(
            place.file, before, entry, wanted, environ=call.env.environ, account=adapt.account
        )
        text = patch.diff(place.file, before, after) if after is not None else None
    if write and wanted:
        if place is None or after is None:
            raise RefusedError(
                "the spec cannot be changed without a doubt",
                next_steps=[
                    "write these lines yourself:",
                    *patch.snippet(adapt.deployment, wanted).splitlines(),
                ],
            )
        replace_file(call.env.cwd / place.file, after.encode())
    return {
        "deployment": adapt.deployment,
        "file": place.file if place else None,
        "changes": wanted,
        "diff": text,
        "yaml": patch.snippet(adapt.deployment, wanted) if wanted else None,
        "written": bool(write and wanted),
    }
