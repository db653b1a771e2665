"""Files of kind Experiment: what they mean, and every mistake at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.catalog.experiment_fields import EXPERIMENT_FIELDS
from fwctl.catalog.run_fields import FILE_KINDS
from fwctl.errors import InvalidSpecError
from fwctl.quality.experiments.file import check_experiment, load_experiment
from fwctl.spec.files import Given
from tests.quality.experiments.support import TEXT

FP8 = "  fp8: {shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast}"
NGRAM = "speculation: {mode: ngram, ngram_length: 3, draft_tokens: 4}"


def problems(text: str) -> list[tuple[str, int]]:
    """Code and line of everything that is wrong."""
    experiment, found = check_experiment(Given("shapes.yaml", text.encode()), environ={})
    assert (experiment is None) == bool(found)
    return [(item.code, item.position.line) for item in found if item.position is not None]


def test_a_file_says_what_is_compared_and_how(tmp_path: Path) -> None:
    path = tmp_path / "e.yaml"
    path.write_text(TEXT)
    found = load_experiment(path, environ={})
    assert (found.name, found.candidates, found.baseline) == ("shapes", ("bf16", "fp8", "b200"), "bf16")
    assert (found.spend_cap_usd, found.time_to_live_s, found.margin) == (20.0, 14400.0, 0.1)
    assert dict(found.slo) == {"total_p95_ms": 3000.0, "error_rate": 0.01}
    assert found.suite == tmp_path / "prompts.jsonl"
    assert (found.load.concurrency, found.load.rate_per_s, found.load.repeat) == (4, None, 2)
    entry = found.entry("fp8")
    assert entry.name == "shapes--fp8"
    assert entry.fields["replicas.min"] == 0
    assert entry.fields["replicas.max"] == 1
    assert entry.fields["autoscaling.scale_to_zero_window"] == "5m0s"
    assert entry.fields["region"] == "US"
    assert not entry.protected


def test_a_candidate_is_read_like_a_deployment_and_wins_over_the_base() -> None:
    text = TEXT + f"  arm: {{region: EUROPE, shape: fast, {NGRAM}}}\n"
    experiment, _ = check_experiment(Given("e.yaml", text.encode()), environ={})
    assert experiment is not None
    assert experiment.entry("arm").fields["region"] == "EUROPE"
    assert experiment.entry("arm").fields["speculation.ngram_length"] == 3
    assert "speculation.mode" in experiment.varied["arm"]


def test_the_name_of_the_file_is_the_name_unless_it_says_another() -> None:
    text = TEXT.replace("name: shapes\n", "")
    experiment, _ = check_experiment(Given("exp/chat-fp8.yaml", text.encode()), environ={})
    assert experiment is not None
    assert experiment.name == "chat-fp8"
    _, found = check_experiment(Given("exp/Chat FP8.yaml", text.encode()), environ={})
    assert [item.code for item in found] == ["FW310"]
    assert "the name of the file" in found[0].message


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("kind: Experiment", "kind: Deployments", [("FW205", 2)]),
        ("account: acme\n", "", [("FW204", 1)]),
        ("suite: prompts.jsonl\n", "", [("FW204", 1)]),
        ("spend_cap: $20", "spend_cap: 20", [("FW202", 11)]),
        ("spend_cap: $20", 'spend_cap: "20"', [("FW208", 11)]),
        ("spend_cap: $20", "spend_cap: $0", [("FW208", 11)]),
        ("time_to_live: 4h", "time_to_live: 4", [("FW202", 12)]),
        ("time_to_live: 4h", "time_to_live: 5m", [("FW203", 12)]),
        ("time_to_live: 4h", "time_to_live: 8d", [("FW203", 12)]),
        ("margin: 10%", "margin: 0%", [("FW208", 10)]),
        ("margin: 10%", "margin: 10", [("FW202", 10)]),
        ("baseline: bf16", "baseline: bf61", [("FW205", 7)]),
        ("concurrency: 4", "concurrency: 0", [("FW203", 8)]),
        ("concurrency: 4", "concurrency: 4, rate: 2", [("FW203", 8)]),
        ("name: shapes", "name: a--b", [("FW310", 5)]),
        ("name: shapes", "nmae: shapes", [("FW201", 5)]),
        ("  region: US", "  regoin: US", [("FW201", 15)]),
        ("  region: US", "  replicas: {min: 1}", [("FW201", 15)]),
        ("  region: US", "  replicas: {min: 0}", []),
        ("  region: US", "  lifecycle: {after: [a]}", [("FW201", 15)]),
        ("  region: US", "  router: chat", [("FW201", 15)]),
        ("  fp8: {shape", "  fp8: {id: x, shape", [("FW201", 18)]),
        ("  fp8: {shape", "  FP8: {shape", [("FW310", 18)]),
        ("  fp8: {shape", "  on: {shape", [("FW105", 18)]),
        ("  fp8: {shape", "  fp8: {precision: FP9, shape", [("FW205", 18)]),
        ("  fp8: {shape", "  fp8: {speculation: {mode: draft}, shape", [("FW304", 18)] * 2),
        (FP8, "  fp8: 3", [("FW202", 18)]),
        (FP8, "  fp8: {}", [("FW301", 18)]),
        ("candidates:\n", "candidates: []\nx-old:\n", [("FW202", 16)]),
    ],
)
def test_a_mistake_is_told_where_it_stands(before: str, after: str, expected: list[tuple[str, int]]) -> None:
    assert before in TEXT
    found = problems(TEXT.replace(before, after, 1))
    assert found == expected


def test_two_to_four_candidates() -> None:
    one = TEXT[: TEXT.index("  fp8:")]
    assert problems(one) == [("FW203", 16)]
    five = TEXT + "  d: {shape: fast}\n  e: {shape: fast}\n"
    assert problems(five) == [("FW203", 16)]


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"[1, 2]", b"a: b: c", b"x" * 100, b"- &a [*a]"])
def test_any_bytes_are_answered_with_a_diagnostic(data: bytes) -> None:
    experiment, found = check_experiment(Given("e.yaml", data), environ={})
    assert experiment is None
    assert found


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError, match="is no valid experiment: 1 error"):
        load_experiment(tmp_path / "no.yaml", environ={})


def test_validate_knows_the_same_keys() -> None:
    kind = next(item for item in FILE_KINDS if item.name == "Experiment")
    keys = {row.path.partition(".")[0] for row in EXPERIMENT_FIELDS}
    assert kind.body is not None
    assert keys == {*kind.body, "apiVersion", "kind", "account", "stack"}
    assert set(kind.required) == {row.path for row in EXPERIMENT_FIELDS if row.required} - {"apiVersion"}
