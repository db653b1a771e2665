"""What is risky about routes, found without sending anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.errors import Severity
from fwctl.routing.lint import lint
from fwctl.routing.reading import read_given
from fwctl.spec.files import Given

ENVIRON = {"FIREWORKS_API_KEY": "fw_own", "OTHER_KEY": "k"}
OTHER = '{base_url: "https://other.example/v1", model: m, api_key: "${env:OTHER_KEY}"'


def findings(*targets: str, rest: str = "") -> list[str]:
    text = "apiVersion: fwctl/v1\nkind: Routes\naccount: acme\nroutes:\n  chat:\n" + rest + "    targets:\n"
    text += "".join(f"      - {target}\n" for target in targets)
    found = read_given(Given("routes.yaml", text.encode()), ENVIRON, Path())
    assert found.routes is not None, found.diagnostics
    return [f"{item.position.line if item.position else 0} {item.code}" for item in lint(found.routes)]


def test_targets_of_two_accounts_are_fine() -> None:
    assert findings("{deployment: a}", OTHER + "}") == []


@pytest.mark.parametrize(
    ("targets", "wanted"),
    [
        (("{deployment: a}",), ["7 FW601"]),
        (("{deployment: a}", "{deployment: b}"), ["5 FW601"]),
        (("{deployment: a, region: US}", OTHER + ", region: US}"), ["8 FW601"]),
        (("{deployment: a}", OTHER + ", lacks: [tools]}"), ["8 FW602"]),
        (("{deployment: a, context_length: 9}", OTHER + ", context_length: 8}"), ["8 FW602"]),
        (("{deployment: a, lacks: [tools]}", OTHER + ", lacks: [tools]}"), []),
        (("{model: accounts/acme/models/lora}", OTHER + "}"), ["7 FW603"]),
        (('{model: "accounts/acme/models/lora#accounts/acme/deployments/d"}', OTHER + "}"), []),
        (("{model: accounts/fireworks/models/m}", OTHER + "}"), []),
        (("{deployment: a}", '{base_url: "https://other.example/v1", model: m}'), ["8 FW605"]),
        (("{deployment: a}", '{base_url: "http://127.0.0.1:8080/v1", model: m}'), []),
    ],
)
def test_each_risk_is_named_at_its_line(targets: tuple[str, ...], wanted: list[str]) -> None:
    assert findings(*targets) == wanted


def test_a_first_target_that_may_use_up_the_deadline_is_named() -> None:
    rest = "    timeouts: {first_token: 30s, total: 30s}\n"
    assert findings("{deployment: a}", OTHER + "}", rest=rest) == ["8 FW604"]


def test_only_the_withdrawn_adapter_is_an_error() -> None:
    head = "apiVersion: fwctl/v1\nkind: Routes\naccount: acme\n"
    text = head + "routes:\n  c: {targets: [{model: accounts/acme/models/x}]}\n"
    found = read_given(Given("routes.yaml", text.encode()), ENVIRON, Path())
    assert found.routes is not None
    errors = [item.code for item in lint(found.routes) if item.severity is Severity.ERROR]
    assert errors == ["FW603"]
