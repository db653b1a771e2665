"""The schema for editors: a valid schema itself, equal to its checked copy, and no stricter than validate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from fwctl.spec.jsonschema import schema

ROOT = Path(__file__).parents[2]
CASES: list[dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "spec_cases.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(schema())
VALID = [case for case in CASES if case["exit"] == 0]
# Faults that an editor can see; the others (YAML itself, rules across fields, several files) are fwctl's.
SEEN_BY_EDITORS = [
    "no-shape",
    "shape-null",
    "replicas-missing",
    "unknown-key",
    "enum-spelling",
    "string-count",
    "bool-count",
    "window-as-int",
    "long-display-name",
    "bad-id",
    "no-deployments",
    "unknown-kind",
]


def test_is_a_valid_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("case", VALID, ids=[case["id"] for case in VALID])
def test_valid_specs_validate(case: dict[str, Any]) -> None:
    for name, text in case["files"].items():
        if not name.startswith("."):
            VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize("name", SEEN_BY_EDITORS)
def test_faults_are_seen_while_typing(name: str) -> None:
    case = next(case for case in CASES if case["id"] == name)
    assert any(not VALIDATOR.is_valid(yaml.safe_load(text)) for text in case["files"].values())


@pytest.mark.parametrize("kind", ["Targets", "Routes", "Watch", "Adapt", "Experiment"])
def test_other_kinds_have_their_own_body(kind: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "Adapt": {
            "deployment": "chat",
            "specs": ["chat.yaml"],
            "collect": {"traces": ["t.jsonl"]},
            "train": {"base_models": ["m"]},
            "evaluate": {"spend_cap": "$20"},
        },
        "Targets": {"targets": {}},
        "Routes": {"routes": {}},
        "Experiment": {
            "candidates": {"a": {}, "b": {}},
            "suite": "p.jsonl",
            "spend_cap": "$20",
            "time_to_live": "4h",
        },
    }
    body = bodies.get(kind, {"anything": 1})
    assert VALIDATOR.is_valid({"apiVersion": "fwctl/v1", "kind": kind, **body})
    assert not VALIDATOR.is_valid({"kind": kind, **body})


def test_experiments_are_helped_like_deployments() -> None:
    path = Path(__file__).parents[2] / "configs/experiments/evaluation-shapes.yaml"
    valid = yaml.safe_load(path.read_text())
    assert VALIDATOR.is_valid(valid)
    for change in ({"spend_cpa": "$2"}, {"base": {"regoin": "US"}}, {"load": {"rate": "5/s"}}):
        assert not VALIDATOR.is_valid({**valid, **change})
    assert not VALIDATOR.is_valid({**valid, "candidates": {"a": {}}})


def test_pipelines_are_helped_key_by_key() -> None:
    page = (ROOT / "docs/adapt.md").read_text()
    text = page.partition("$ cat > adapt.yaml <<'END'\n")[2].partition("> END")[0]
    valid = yaml.safe_load("".join(line.removeprefix("> ") for line in text.splitlines(keepends=True)))
    assert VALIDATOR.is_valid(valid)
    for key, value in (("colect", {}), ("train", {}), ("evaluate", {"spend_cap": "$2", "draft_tokens": 5})):
        assert not VALIDATOR.is_valid({**valid, key: value})


def test_unknown_top_level_keys_are_seen_but_anchor_holders_are_not() -> None:
    valid = yaml.safe_load(CASES[0]["files"]["spec.yaml"])
    assert VALIDATOR.is_valid({**valid, "x-common": {"a": 1}})
    assert not VALIDATOR.is_valid({**valid, "acount": "acme"})
