"""The recommendation: a diff that reads back as exactly the winner, else the lines to write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fwctl.quality.experiments.patch import diff, edited, snippet, wanted
from fwctl.spec.files import Given
from fwctl.spec.load import load_given
from fwctl.spec.model import Deployment
from tests.quality.experiments.support import TEXT, experiment_in

SHAPES = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct"
SPEC = f"""\
apiVersion: fwctl/v1
account: acme
stack: prod
deployments:
  # The one people talk to.
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: {SHAPES}-minimal # 16 bit
    accelerator: {{type: NVIDIA_A100_80GB, count: 1}}
    precision: BF16
    region: US
    replicas: {{min: 1, max: 2}}
"""
FLOW = f"  chat: {{model: accounts/fireworks/models/m, shape: {SHAPES}-fast, replicas: {{min: 1, max: 2}}}}\n"
RUNS_AS = {
    "shape": f"{SHAPES}-fast/versions/v1",
    "accelerator.type": "NVIDIA_H100_80GB",
    "accelerator.count": 1,
    "precision": "FP8",
}


def entry_of(text: str) -> Deployment:
    loaded = load_given([Given("configs/chat.yaml", text.encode())], environ={})
    assert loaded.spec is not None, loaded.diagnostics
    return loaded.spec.deployments["chat"]


def changes_for(folder: Path, winner: str, entry: Deployment | None, text: str = TEXT) -> dict[str, Any]:
    experiment, _ = experiment_in(folder, text)
    return wanted(experiment, winner, RUNS_AS, entry)


def patch(text: str, changes: dict[str, Any]) -> str | None:
    after = edited("configs/chat.yaml", text, entry_of(text), changes, environ={}, account="acme")
    return diff("configs/chat.yaml", text, after) if after is not None else None


def test_what_the_candidates_differ_in_is_proposed_and_pins_follow_the_shape(tmp_path: Path) -> None:
    changes = changes_for(tmp_path, "fp8", entry_of(SPEC))
    assert changes == {
        "shape": f"{SHAPES}-fast",
        "accelerator.type": "NVIDIA_H100_80GB",
        "precision": "FP8",
    }
    found = patch(SPEC, changes)
    assert found is not None
    assert [line for line in found.splitlines() if line[:1] in "+-"] == [
        "--- a/configs/chat.yaml",
        "+++ b/configs/chat.yaml",
        f"-    shape: {SHAPES}-minimal # 16 bit",
        "-    accelerator: {type: NVIDIA_A100_80GB, count: 1}",
        "-    precision: BF16",
        f"+    shape: {SHAPES}-fast # 16 bit",
        "+    accelerator: {type: NVIDIA_H100_80GB, count: 1}",
        "+    precision: FP8",
    ]


def test_a_spec_that_says_all_that_already_needs_nothing(tmp_path: Path) -> None:
    same = SPEC.replace("-minimal", "-fast").replace("A100", "H100").replace("BF16", "FP8")
    assert changes_for(tmp_path, "fp8", entry_of(same)) == {}


def test_fields_that_the_spec_lacks_go_behind_the_shape(tmp_path: Path) -> None:
    arm = "speculation: {mode: ngram, ngram_length: 3, draft_tokens: 4}"
    text = TEXT.replace("  fp8: {shape", f"  fp8: {{{arm}, shape")
    changes = changes_for(tmp_path, "fp8", entry_of(SPEC), text)
    found = patch(SPEC, changes)
    assert found is not None
    assert f"+    {arm}" in found.splitlines()


@pytest.mark.parametrize(
    "changed",
    [
        SPEC.replace(f"shape: {SHAPES}-minimal", f"shape: &s {SHAPES}-minimal"),
        SPEC.replace("    precision: BF16\n", "    precision: >-\n      BF16\n"),
        SPEC.replace("    precision: BF16\n", "").replace(
            "deployments:", "defaults: {precision: BF16}\ndeployments:"
        ),
    ],
)
def test_a_text_that_would_not_read_back_gives_no_diff_or_a_right_one(tmp_path: Path, changed: str) -> None:
    entry = entry_of(changed)
    changes = changes_for(tmp_path, "fp8", entry)
    found = patch(changed, changes)
    assert found is None or "+    precision: FP8" in found or "precision: FP8}" in found


def test_a_field_that_has_to_go_is_said_in_the_lines(tmp_path: Path) -> None:
    arm = "speculation: {mode: ngram, ngram_length: 3, draft_tokens: 4}"
    drafting = SPEC.replace("    region: US", f"    {arm}\n    overrides: [speculation]\n    region: US")
    text = TEXT.replace("  fp8: {shape", f"  fp8: {{{arm}, shape")
    changes = changes_for(tmp_path, "b200", entry_of(drafting), text)
    assert changes["speculation.mode"] is None
    assert patch(drafting, changes) is None
    assert "    # without speculation.mode" in snippet("chat", changes).splitlines()


def test_without_a_spec_the_lines_are_given(tmp_path: Path) -> None:
    changes = changes_for(tmp_path, "fp8", None)
    assert snippet("fp8", changes) == f"deployments:\n  fp8:\n    shape: {SHAPES}-fast\n"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (SPEC, {"precision": "FP9"}),  # would not be valid
        (SPEC.replace(", count: 1", ""), {"accelerator.count": 2}),  # its group stands in braces already
        (SPEC.replace(SPEC[SPEC.index("  chat:") :], FLOW), {"long_prompt": True}),  # no line of its own
    ],
)
def test_what_cannot_be_changed_safely_gives_no_diff(text: str, changes: dict[str, Any]) -> None:
    assert patch(text, changes) is None


def test_values_are_written_as_yaml() -> None:
    found = patch(SPEC, {"long_prompt": True, "display_name": 'A "b": c'})
    assert found is not None
    added = [line for line in found.splitlines() if line.startswith("+ ")]
    assert added == ["+    long_prompt: true", '+    display_name: "A \\"b\\": c"']
