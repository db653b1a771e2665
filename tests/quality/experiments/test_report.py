"""What an experiment says at its end: the table, the document, the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.command import Call
from fwctl.cli.experiment_result import document, proposed_for, recommendation
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.errors import UsageError
from fwctl.quality.experiments.evidence import records
from fwctl.quality.experiments.state import Round
from fwctl.report import text
from fwctl.report.layout import Style
from fwctl.report.model import Report
from tests.cli.support import make_env
from tests.planning.support import NOW
from tests.quality.experiments.support import TEXT, Behaviour, FakeWorld, course, experiment_in

SHAPES = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct"
WRONG = frozenset(range(40))
BEHAVIOURS = {
    "bf16": Behaviour(2.0),
    "fp8": Behaviour(0.5),
    "b200": Behaviour(0.4, wrong=WRONG, errors=frozenset({79})),
}


def done(folder: Path) -> tuple[Any, Any, FakeWorld]:
    world = FakeWorld(folder, behaviours=BEHAVIOURS)
    found = course(world)
    found.prepare()
    return found, found.go(), world


def shown(command: str, body: dict[str, Any], width: int | None = None) -> list[str]:
    return text.render(Report(command, body), Style(width=width)).splitlines()


def test_the_table_says_who_won_and_what_kept_the_others_from_it(tmp_path: Path) -> None:
    found, state, world = done(tmp_path)
    body = document(state, world.live(found.spec).deployments)
    lines = shown("experiment run", {"experiment": body, "recommendation": None})
    assert lines[0].startswith("Experiment shapes (done): 2 passes, $")
    rows = {line.split()[0]: " ".join(line.split()) for line in lines[3:6]}
    # bf16: 4 x 100 / 2 s = 200 tokens/s, $2.90/3600/200*1e6 = $4.028. fp8: 800/s, $8.00: $2.778.
    assert rows["bf16"] == "bf16 absent 100 ms 2,000 ms 200 0 of 160 met baseline $4.028"
    assert rows["fp8"] == "fp8 kept 100 ms 500 ms 800 0 of 160 met pass $2.778"
    assert rows["b200"].startswith("b200 absent 100 ms 400 ms 1,000 2 of 160 missed fail")
    assert any(line.startswith("  b200: misses the SLO: errors 1.2%, allowed 1.0%") for line in lines)
    assert lines[-1].startswith(
        "fp8 is the cheapest of 2 that meet the SLO and pass the quality gate: $2.778"
    )


def test_nothing_is_cut_in_a_narrow_terminal(tmp_path: Path) -> None:
    found, state, world = done(tmp_path)
    body = document(state, world.live(found.spec).deployments)
    lines = shown("experiment status", {"experiment": body}, width=40)
    assert "candidate: b200" in lines
    assert "$/M tokens: $2.778" in lines


def test_a_recommendation_is_shown_as_it_is_to_be_applied() -> None:
    diff = "--- a/chat.yaml\n+++ b/chat.yaml\n-  precision: BF16\n+  precision: FP8\n"
    found = {"deployment": "chat", "changes": {"precision": "FP8"}, "diff": diff, "yaml": "x"}
    lines = shown("experiment run", {"experiment": None, "recommendation": found})
    assert lines == ["Recommendation for chat:", "", *diff.splitlines()]
    nothing = {**found, "changes": {}}
    assert shown("experiment run", {"experiment": None, "recommendation": nothing}) == [
        "Recommendation: leave chat as it is."
    ]


def test_the_list_tells_whose_time_is_over() -> None:
    row = {
        "name": "shapes",
        "phase": None,
        "spent_usd": None,
        "winner": None,
        "candidates": ["shapes-fp8-ab12"],
        "expires": "2026-11-30T11:00:00+00:00",
        "expired": True,
    }
    lines = shown("experiment list", {"stack": "prod", "experiments": [row]})
    assert "not of this folder" in lines[1]
    assert lines[1].endswith("2026-11-30T11:00:00+00:00 (over)")
    assert shown("experiment list", {"stack": "prod", "experiments": []}) == [
        "no experiments in this folder, and none of stack prod on the platform"
    ]


def test_stop_says_how_many_went() -> None:
    assert shown("experiment stop", {"experiment": None, "deleted": 1}) == ["1 candidate deleted"]


def test_each_candidate_is_evidence_of_what_it_ran(tmp_path: Path) -> None:
    found, state, _ = done(tmp_path)
    kept = {
        item.results["candidate"]: item
        for item in records(found.experiment, state, found.suite, "prompts.jsonl", NOW)
    }
    assert {name: item.passed for name, item in kept.items()} == {"bf16": True, "fp8": True, "b200": False}
    fp8 = kept["fp8"]
    assert (fp8.kind, fp8.precision, fp8.replicas) == ("experiment", "FP8", 1)
    assert (fp8.accelerator, fp8.accelerator_count) == ("NVIDIA_H100_80GB", 1)
    assert fp8.shape_version is not None
    assert fp8.shape_version.endswith("/versions/v1")
    assert fp8.results["winner"] == "fp8"
    assert fp8.suite_digest == found.suite.digest


def test_an_invalid_measurement_is_no_evidence(tmp_path: Path) -> None:
    found, state, _ = done(tmp_path)
    spoilt = state.at(state.phase, rounds=(*state.rounds, Round("pass-3-try-3", 1.0, False, ("late",))))
    assert list(records(found.experiment, spoilt, found.suite, "prompts.jsonl", NOW)) == []


SPEC = """\
apiVersion: fwctl/v1
account: acme
stack: prod
deployments:
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-SHAPE
    region: US
    replicas: {min: 1, max: 2}
"""


def advice(folder: Path, shape: str, behaviours: dict[str, Behaviour]) -> Any:
    """The recommendation for a spec that runs this shape."""
    world = FakeWorld(folder, behaviours=behaviours)
    found = course(world, TEXT.replace("baseline: bf16", "baseline: bf16\ndeployment: chat"))
    found.prepare()
    state = found.go()
    path = folder / "chat.yaml"
    path.write_text(SPEC.replace("SHAPE", shape))
    env = make_env(folder)
    call = Call(env, Settings(), Output(env))
    return recommendation(call, found.experiment, state, [str(path)])


def test_the_spec_is_changed_to_the_winner(tmp_path: Path) -> None:
    found = advice(tmp_path, "minimal", BEHAVIOURS)
    assert found["changes"] == {"shape": f"{SHAPES}-fast"}
    assert f"+    shape: {SHAPES}-fast" in found["diff"].splitlines()


def test_in_a_tie_a_spec_that_is_in_it_stays(tmp_path: Path) -> None:
    # $2.90 at 145 tokens/s and $8.00 at 400 cost the same: 4 x 100 tokens in 2.7586 s and in 1 s.
    equal = {"bf16": Behaviour(400 / 145), "fp8": Behaviour(1.0), "b200": Behaviour(2.5)}
    found = advice(tmp_path, "fast", equal)
    assert (found["changes"], found["diff"]) == ({}, None)


def test_an_entry_of_another_model_or_of_no_spec_is_refused(tmp_path: Path) -> None:
    other = SPEC.replace("models/llama-v3p1-8b-instruct", "models/qwen3-8b")
    with pytest.raises(UsageError, match="all candidates run"):
        advise_only(tmp_path, other)
    with pytest.raises(UsageError, match="is about deployment 'chat', which the specs do not have"):
        advise_only(tmp_path, SPEC.replace("  chat:", "  talk:"))


def advise_only(folder: Path, text: str) -> None:
    experiment, _ = experiment_in(folder, TEXT.replace("baseline: bf16", "baseline: bf16\ndeployment: chat"))
    path = folder / "chat.yaml"
    path.write_text(text.replace("SHAPE", "fast"))
    env = make_env(folder)
    proposed_for(Call(env, Settings(), Output(env)), experiment, [str(path)])
