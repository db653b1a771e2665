"""What stands behind the logical name of a target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.bench_targets import DeploymentNames
from fwctl.errors import FwctlError, UsageError
from tests.cli.conftest import Box
from tests.cli.support import fwctl, make_env


class Output:
    """Takes messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, *parts: Any) -> None:
        self.lines.append("".join(map(str, parts)))


def call(folder: Path, variables: dict[str, str]) -> Any:
    from fwctl.cli.command import Call
    from fwctl.cli.options import resolve

    env = make_env(folder, variables)
    return Call(env, resolve({}, variables), Output())  # type: ignore[arg-type]


def test_a_running_deployment_has_a_model_string_and_a_price(box: Box) -> None:
    with pytest.raises(UsageError, match="'chat' does not run"):
        DeploymentNames(call(box.folder, box.variables), [box.specs])("chat", None)
    assert fwctl(box.env(), "apply", box.specs, "--yes").code == 0
    names = DeploymentNames(call(box.folder, box.variables), [box.specs])
    found = names("chat", None)
    assert found.model == found.deployment
    assert found.model.endswith("/deployments/chat")
    assert found.usd_per_hour is not None
    assert found.usd_per_hour > 0
    with pytest.raises(UsageError) as caught:
        names("chta", None)
    assert caught.value.next_steps == ("did you mean chat?",)
    with pytest.raises(UsageError, match="the target is of account 'other'"):
        names("chat", "other")


def test_without_firectl_the_file_of_the_last_apply_serves(box: Box) -> None:
    text = (box.folder / "configs/chat.yaml").read_text()
    box.write(text + "settings: {outputs: out.json}\n")
    variables = {**box.variables, "FWCTL_FIRECTL": "/no/such/firectl"}
    names = DeploymentNames(call(box.folder, variables), [box.specs])
    with pytest.raises(FwctlError):
        names("chat", None)
    base = "accounts/acme/deployments/chat"
    (box.folder / "out.json").write_text(json.dumps({"models": {"chat": {"base": base, "router": None}}}))
    found = names("chat", None)
    assert (found.model, found.deployment, found.usd_per_hour) == (base, base, None)
    (box.folder / "out.json").write_text("{")
    with pytest.raises(FwctlError):
        names("chat", None)


def test_full_names_need_no_specs(tmp_path: Path) -> None:
    names = DeploymentNames(call(tmp_path, {}))
    assert names("accounts/acme/deployments/d", None).model == "accounts/acme/deployments/d"
    with pytest.raises(UsageError, match="there are no specs"):
        names("chat", None)
