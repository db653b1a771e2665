"""Every captured output, printed by a child: what fwctl makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.errors import FwctlError
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from tests.firectl.support import SAMPLES, STEADY, make_runner

READS = {
    "deployment": lambda firectl: firectl.get_deployment("x"),
    "deployments": lambda firectl: firectl.list_deployments(),
    "versions": lambda firectl: firectl.match_shapes("m"),
}

# file -> (failure class of the call or None, {read: what it finds, or a part of the error})
ENDS: dict[str, tuple[str | None, dict[str, object]]] = {
    "create-shapeless-success.txt": (None, {"deployment": "text instead of JSON"}),
    "create-model-failed-2025.txt": ("unknown", {"deployment": "header too large"}),
    "create-deployment-help-head50.txt": (None, {"deployments": "text instead of JSON"}),
    "delete-deployment-2024.txt": (None, {"deployments": "does not tell", "deployment": "printed nothing"}),
    "delete-model-in-use.txt": (None, {"deployment": "text instead of JSON"}),
    "delete-two-then-list-deleting.txt": (None, {"deployments": "text instead of JSON"}),
    "delete-verb-noun.txt": (None, {"deployments": "text instead of JSON"}),  # its last line is a script's
    "deployment-get-json-ready.json": (None, {"deployment": 2, "deployments": "no list"}),
    "deployment-list-creating-with-replica.txt": (None, {"deployments": "text instead of JSON"}),
    "docs-create-record-quickstart.txt": (None, {"deployment": "text instead of JSON"}),
    "docs-shape-error-strings.txt": (None, {"deployment": "text instead of JSON"}),
    "docs-tags-annotations.json": (None, {"deployment": 1, "deployments": "no list"}),
    "list-deployment-shape-versions.txt": (None, {"versions": "text instead of JSON"}),
    "match-json.json": (None, {"versions": 1}),
    "match-response-sdk-test.json": (None, {"versions": 1, "deployments": "no list"}),
    "rest-get-deployment-excerpt.json": (None, {"deployment": 6}),
    "rest-create-400-accelerator-required.json": (None, {"deployment": "not an object"}),
    "rest-create-400-bad-enum.json": (None, {"deployment": "not an object", "deployments": "no list"}),
    "rest-create-400-unknown-field-loadTargets.json": (None, {"deployment": "not an object"}),
    "rest-create-400-unknown-field-load_targets.json": (None, {"deployment": "not an object"}),
    "script-log-already-exists.txt": (None, {"deployments": "text instead of JSON"}),
    "set-api-key-help.txt": (None, {"deployments": "text instead of JSON"}),
    "signin-help.txt": (None, {"deployments": "text instead of JSON"}),
}


def printing(tmp_path: Path, name: str) -> Firectl:
    return Firectl(make_runner(tmp_path, f"cat {SAMPLES / name}"), Capabilities("1.8.9"), retry=STEADY)


def test_every_sample_is_tried():
    assert {path.name for path in SAMPLES.iterdir()} - {"README.md"} >= set(ENDS)


@pytest.mark.parametrize("name", ENDS)
def test_a_captured_output_is_understood_or_refused_with_a_reason(tmp_path: Path, name: str):
    failure, reads = ENDS[name]
    firectl = printing(tmp_path, name)
    assert firectl.run(["x"]).error_class == failure
    for read, expected in reads.items():
        if isinstance(expected, int):
            assert len(READS[read](firectl)) == expected
            continue
        with pytest.raises(FwctlError, match=str(expected)):
            READS[read](firectl)


def test_a_known_failure_text_behind_an_exit_code_is_classified_too(tmp_path: Path):
    for name, error_class in (
        ("delete-model-in-use.txt", "precondition"),
        ("docs-shape-error-strings.txt", "unknown"),
    ):
        runner = make_runner(tmp_path, f"cat {SAMPLES / name} >&2; exit 1")
        assert runner.call(["x"]).error_class == error_class
