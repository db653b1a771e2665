"""Two evaluations to one verdict: pass, fail, inconclusive or invalid, for the right reason."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fwctl.errors import RefusedError, UsageError
from fwctl.measure.target import from_json
from fwctl.quality.arms import Arm, read_arm
from fwctl.quality.checks import checks_of
from fwctl.quality.compare import compare_arms
from fwctl.quality.evaluate import stored_plan
from fwctl.quality.evidence import measured_at, require_same_deployment, require_verdict
from tests.quality.runs import record, write_arm, write_records

LINE = b'{"target": "m", "prompt_id": "p", "repeat": %s, "outcome": "%s", "type": "chat"}\n'
Outcomes = dict[tuple[str, int], str]


def outcomes(n: int, repeats: int = 1, **changed: int) -> Outcomes:
    """All right but for the first ones: `wrong=3, empty=2`."""
    found: Outcomes = {(f"p{at}", repeat): "right" for at in range(n) for repeat in range(repeats)}
    at = 0
    for outcome, count in changed.items():
        for _ in range(count):
            for repeat in range(repeats):
                found[f"p{at}", repeat] = outcome
            at += 1
    return found


def compared(folder: Path, base: Outcomes, candidate: Outcomes, **more: Any) -> dict[str, Any]:
    kind = more.pop("kind", None)
    write_arm(folder / "base", base, kind=kind)
    write_arm(folder / "candidate", candidate, kind=kind)
    floor = None
    if "floor" in more:
        write_arm(folder / "floor", more.pop("floor"), kind=kind)
        floor = read_arm(folder, "floor")
    margins = {"margin": 0.02, "broken_margin": 0.02} | more
    return compare_arms(read_arm(folder, "base"), read_arm(folder, "candidate"), floor=floor, **margins)


def said(found: dict[str, Any], **options: bool) -> dict[str, tuple[str, str]]:
    return {check["name"]: (check["status"], check["message"]) for check in checks_of(found, **options)}


def test_a_run_against_itself_passes(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(200, wrong=20), outcomes(200, wrong=20))
    assert (found["verdict"], found["quality"]["n_pairs"], found["quality"]["neither"]) == ("pass", 200, 20)
    assert said(found)["eval_quality"][0] == "pass"


def test_a_loss_is_found(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(400), outcomes(400, wrong=16))
    assert found["verdict"] == "fail"
    status, message = said(found)["eval_quality"]
    # 2 / 2^16 = 3.1e-05.
    assert (status, message) == (
        "fail",
        "4.0 points fewer right answers: a loss is shown (p = 3.1e-05), 2.0 points are allowed",
    )


def test_too_few_prompts_decide_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(60), outcomes(60))
    assert (found["verdict"], found["quality"]["n_needed"]) == ("inconclusive", 149)
    assert said(found)["eval_quality"][0] == "fail"
    assert said(found, allow_inconclusive=True)["eval_quality"][0] == "unknown"
    assert "about 149 prompts would decide it (now 60)" in said(found)["eval_quality"][1]


def test_broken_answers_are_no_wrong_answers_and_fail_on_their_own(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(300), outcomes(300, empty=9))
    assert (found["verdict"], found["quality"]["verdict"], found["quality"]["n_pairs"]) == (
        "fail",
        "pass",
        291,
    )
    assert found["broken"]["verdict"] == "fail"
    assert found["broken"]["classes"]["empty"] == {"base": 0, "candidate": 9}


def test_answers_that_are_broken_on_both_sides_are_no_loss(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(300, truncated=30), outcomes(300, truncated=30))
    assert found["verdict"] == "pass"


def test_one_type_that_gets_worse_fails_the_whole(tmp_path: Path) -> None:
    kind = {f"p{at}": "extract" if at < 40 else "chat" for at in range(2000)}
    found = compared(tmp_path, outcomes(2000), outcomes(2000, wrong=8), kind=kind)
    assert found["quality"]["verdict"] == "pass"
    assert found["verdict"] == "fail"
    chat, extract = found["types"]
    # Exact test of 8 against 0: 2 / 2^8 = 0.0078; of two types the smaller p is doubled.
    assert (extract["regressed"], extract["p_holm"]) == (True, pytest.approx(0.015625))
    assert chat["regressed"] is False
    assert said(found)["eval_type"] == ("fail", "extract: 20.0 points fewer right answers (p = 0.016, Holm)")


def test_many_types_do_not_find_a_loss_by_chance(tmp_path: Path) -> None:
    # 6 against 0 is p = 0.03125 for one type alone, and 0.25 among eight.
    kind = {f"p{at}": f"t{at // 100}" for at in range(800)}
    found = compared(tmp_path, outcomes(800), outcomes(800, wrong=6), kind=kind)
    assert found["types"][0]["p_holm"] == pytest.approx(0.25)
    assert found["verdict"] == "pass"


def test_an_outage_makes_the_comparison_invalid(tmp_path: Path) -> None:
    write_arm(tmp_path / "base", outcomes(20))
    write_arm(tmp_path / "candidate", outcomes(20, wrong=20), problems=["none of 20 graded answers is right"])
    arms = (read_arm(tmp_path, "base"), read_arm(tmp_path, "candidate"))
    found = compare_arms(*arms, margin=0.02, broken_margin=0.02)
    assert found["verdict"] == "invalid"
    assert said(found) == {"eval_valid": ("fail", "candidate: none of 20 graded answers is right")}


def test_a_type_without_one_right_answer_is_no_loss_of_quality(tmp_path: Path) -> None:
    kind = {f"p{at}": "cot" if at < 20 else "chat" for at in range(400)}
    found = compared(tmp_path, outcomes(400), outcomes(400, wrong=20), kind=kind)
    assert found["verdict"] == "invalid"
    assert found["invalid_reasons"][0].startswith("candidate: none of 20 answers of type cot is right")


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"suite": "sha256:b"}, "the prompt sets differ"), ({"graders": "sha256:h"}, "the graders differ")],
)
def test_what_cannot_be_compared_is_invalid(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    write_arm(tmp_path / "base", outcomes(20))
    write_arm(tmp_path / "candidate", outcomes(20), **change)
    arms = (read_arm(tmp_path, "base"), read_arm(tmp_path, "candidate"))
    found = compare_arms(*arms, margin=0.02, broken_margin=0.02)
    assert found["verdict"] == "invalid"
    assert reason in found["invalid_reasons"][0]


def test_a_run_that_is_not_whole_is_invalid(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(100), outcomes(98))
    assert found["invalid_reasons"] == ["2 of 100 answers of the base have no partner"]
    found = compared(tmp_path / "2", outcomes(10, unasked=10), outcomes(10, unasked=10))
    assert found["invalid_reasons"] == ["no prompt was graded on both sides"]


def test_a_second_run_of_the_base_gives_the_floor(tmp_path: Path) -> None:
    base, again = outcomes(200), outcomes(200, wrong=3)
    floor = compared(tmp_path, base, outcomes(200, wrong=4), floor=again)["floor"]
    assert (floor["source"], floor["n_pairs"], floor["discordance"]["value"]) == ("floor", 200, 0.015)
    assert (floor["candidate_discordance"], floor["problem"]) == (0.02, None)


def test_repeats_give_a_floor_without_a_second_run(tmp_path: Path) -> None:
    base = outcomes(100, repeats=2)
    base["p0", 1] = "wrong"
    floor = compared(tmp_path, base, outcomes(100, repeats=2))["floor"]
    assert (floor["source"], floor["n_pairs"], floor["discordance"]["value"]) == ("repeats", 100, 0.01)


def test_a_floor_that_moved_is_said(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(200), outcomes(200), floor=outcomes(200, wrong=8))
    assert "something moved between them" in found["floor"]["problem"]
    assert said(found)["eval_floor"][0] == "warn"


def test_copied_repeats_decide_as_one_and_say_so(tmp_path: Path) -> None:
    found = compared(tmp_path, outcomes(400, repeats=3), outcomes(400, repeats=3, wrong=12))
    quality = found["quality"]
    assert (quality["n_pairs"], quality["n_prompts"], quality["only_base"]) == (1200, 400, 36)
    assert quality["design_effect"] == pytest.approx(3, abs=0.02)


def test_an_arm_is_named_by_its_folder_and_target(tmp_path: Path) -> None:
    write_arm(tmp_path / "a", outcomes(2))
    assert read_arm(tmp_path, "a:m").target == "m"
    with pytest.raises(UsageError, match="no such target; it has: m"):
        read_arm(tmp_path, "a:z")
    with pytest.raises(UsageError, match="is no folder of an evaluation"):
        read_arm(tmp_path, "none")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench/summary.json").write_text('{"run_id": "r"}')
    with pytest.raises(UsageError, match="not the folder of a finished evaluation"):
        read_arm(tmp_path, "bench")
    for text, message in (("{", "is not JSON"), ("[]", "not the summary of a run")):
        (tmp_path / "bench/summary.json").write_text(text)
        with pytest.raises(UsageError, match=message):
            read_arm(tmp_path, "bench")


def arm(folder: Path) -> Arm:
    return Arm("runs/x", "m", folder, {}, {})


def test_only_a_verdict_is_evidence(tmp_path: Path) -> None:
    assert require_verdict({"verdict": "pass"}) is True
    assert require_verdict({"verdict": "fail"}) is False
    with pytest.raises(RefusedError, match="inconclusive comparison is no evidence"):
        require_verdict(
            {"verdict": "inconclusive", "quality": {"n_needed": 149}, "broken": {"n_needed": None}}
        )
    with pytest.raises(RefusedError, match="the prompt sets differ"):
        require_verdict({"verdict": "invalid", "invalid_reasons": ["the prompt sets differ"]})


def test_evidence_is_as_old_as_the_last_answer(tmp_path: Path) -> None:
    write_records(tmp_path, [])
    with pytest.raises(UsageError, match="no record says when"):
        measured_at(arm(tmp_path))
    rows = [record("a"), record("b", started_at="2026-11-30T14:00:00+02:00"), record("c", started_at="?")]
    write_records(tmp_path, [*rows, record("d", started_at="2026-11-30T11:00:00+00:00")])
    assert measured_at(arm(tmp_path)).isoformat() == "2026-11-30T12:00:00+00:00"


def test_evidence_for_another_deployment_is_refused(tmp_path: Path) -> None:
    target = '{"plan": {"targets": [{"name": "m", "model": "x#accounts/a/deployments/other"}]}}'
    (tmp_path / "run.json").write_text(target)
    require_same_deployment(arm(tmp_path), None)
    require_same_deployment(arm(tmp_path), "accounts/a/deployments/other")
    with pytest.raises(RefusedError, match="the deployment is accounts/a/deployments/chat"):
        require_same_deployment(arm(tmp_path), "accounts/a/deployments/chat")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("summary.json", b"\xff\xfe"),
        ("summary.json", b"[" * 100_000),
        ("summary.json", b'{"run_id": 1, "quality": 5}'),
        ("summary.json", b'{"run_id": 1, "quality": {"targets": {"m": 5}}}'),
        ("grades.jsonl", b"\xff\n"),
        ("grades.jsonl", b"5\n"),
        (
            "grades.jsonl",
            LINE % (b'"x"', b"right"),
        ),
        (
            "grades.jsonl",
            LINE % (b"0", b"splendid"),
        ),
    ],
)
def test_damaged_files_are_one_clear_error(tmp_path: Path, name: str, text: bytes) -> None:
    write_arm(tmp_path / "a", outcomes(2))
    (tmp_path / "a" / name).write_bytes(text)
    with pytest.raises(UsageError):
        read_arm(tmp_path, "a")


@pytest.mark.parametrize("name", ["summary.json", "grades.jsonl"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    write_arm(tmp_path / "a", outcomes(2))
    (tmp_path / "a" / name).unlink()
    os.mkfifo(tmp_path / "a" / name)
    with pytest.raises(UsageError, match="not a regular file"):
        read_arm(tmp_path, "a")


@pytest.mark.parametrize(
    "text",
    [b"{", b'{"plan": {"suite": 1, "targets": []}}', b'{"plan": {"suite": {"path": "a"}, "targets": [3]}}'],
)
def test_a_damaged_plan_of_a_run_is_no_plan(tmp_path: Path, text: bytes) -> None:
    write_arm(tmp_path / "a", outcomes(2))
    (tmp_path / "a" / "run.json").write_bytes(text)
    assert read_arm(tmp_path, "a").plan == {}


def test_a_pipe_in_the_place_of_the_plan_is_not_waited_for(tmp_path: Path) -> None:
    write_arm(tmp_path / "a", outcomes(2))
    os.mkfifo(tmp_path / "a" / "run.json")
    assert read_arm(tmp_path, "a").plan == {}
    with pytest.raises(UsageError, match="no run that can be graded"):
        stored_plan(tmp_path / "a", lambda row: from_json(row, {}))


@pytest.mark.deep
def test_types_of_equal_arms_fail_in_at_most_2_5_percent_together() -> None:
    random, failed, runs = Random(5), 0, 400
    for _ in range(runs):
        sides: list[dict[tuple[str, int], dict[str, str]]] = [{}, {}]
        for prompt in range(300):
            draw = random.choices(((True, True), (True, False), (False, True)), (0.8, 0.1, 0.1))[0]
            for side, right in zip(sides, draw, strict=True):
                outcome = "right" if right else "wrong"
                side[f"p{prompt}", 0] = {
                    "outcome": outcome,
                    "type": f"t{prompt % 6}",
                    "prompt_id": str(prompt),
                }
        summary = {"suite_digest": "s", "quality": {"graders": "g", "targets": {"m": {"problems": []}}}}
        arms = [Arm(name, "m", Path(), summary, side) for name, side in zip("ab", sides, strict=True)]
        found = compare_arms(*arms, margin=0.02, broken_margin=0.02)
        failed += any(row["regressed"] for row in found["types"])
    # 2.5 % of 400 are 10; three standard errors more are 19.
    assert failed <= 19
