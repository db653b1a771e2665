"""`--set NAME.field=value`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import InvalidSpecError, UsageError
from fwctl.planning.what_if import parse_sets
from fwctl.spec.load import load
from fwctl.spec.model import Spec

YAML = """\
apiVersion: fwctl/v1
account: acme
deployments:
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    replicas: {min: 1, max: 2}
    region: US
    traffic: batch
"""


@pytest.fixture
def wanted(tmp_path: Path) -> Spec:
    (tmp_path / "chat.yaml").write_text(YAML)
    loaded = load([tmp_path / "chat.yaml"], environ={})
    assert loaded.spec is not None, loaded.diagnostics
    return loaded.spec


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("chat.replicas.max=6", "replicas.max", 6),
        ("chat.region=eu-frankfurt-1", "region", "EU_FRANKFURT_1"),
        ("chat.autoscaling.scale_up_window=90s", "autoscaling.scale_up_window", "1m30s"),
        ("chat.long_prompt=true", "long_prompt", True),
        ('chat.autoscaling.load_targets={"default": 0.5}', "autoscaling.load_targets", {"default": 0.5}),
        ("chat.slo.ttft_p95_ms=800", "slo.ttft_p95_ms", 800.0),
        ("chat.gates.fit=block", "gates.fit", "block"),
        ("chat.display_name=a=b", "display_name", "a=b"),
    ],
)
def test_a_value_is_read_like_the_specs_own(wanted: Spec, text: str, path: str, value: Any) -> None:
    assert parse_sets(wanted, [text], {}) == {"chat": {path: value}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("chat", "is not NAME.field=value"),
        ("chat=4", "is not NAME.field=value"),
        ("chta.replicas.max=4", "not in the spec; did you mean chat?"),
        ("zzz.replicas.max=4", "not in the spec; known: chat"),
        ("chat.replicas.mx=4", "cannot change 'replicas.mx'; did you mean replicas.max?"),
        ("chat.id=other", "cannot change 'id'; edit the spec instead"),
        ("chat.direct_route.api_keys=[]", "cannot change"),
        ("chat.autoscaling.load_targets=default", "written as JSON"),
    ],
)
def test_what_names_no_field_is_wrong_usage(wanted: Spec, text: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_sets(wanted, [text], {})
    assert why in "; ".join([str(caught.value), *caught.value.next_steps])


@pytest.mark.parametrize(
    "text",
    ["chat.replicas.max=many", "chat.replicas.max=2000", "chat.long_prompt=yes", "chat.slo.ttft_p95_ms=x"],
)
def test_a_value_that_the_field_cannot_have_is_an_error(wanted: Spec, text: str) -> None:
    with pytest.raises(InvalidSpecError):
        parse_sets(wanted, [text], {})


def test_a_minimum_above_the_maximum_is_an_error(wanted: Spec) -> None:
    with pytest.raises(InvalidSpecError, match=r"larger than replicas\.max"):
        parse_sets(wanted, ["chat.replicas.min=3"], {})
    assert parse_sets(wanted, ["chat.replicas.min=3", "chat.replicas.max=4"], {}) == {
        "chat": {"replicas.min": 3, "replicas.max": 4}
    }


def test_an_absent_value_of_the_shape_stays_absent(wanted: Spec) -> None:
    assert parse_sets(wanted, ["chat.shape=none", "chat.accept_shapeless_risk=true"], {})["chat"] == {
        "accept_shapeless_risk": True
    }
