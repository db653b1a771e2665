"""Evaluations from the command line: on the simulator with a planted regression, and on a small server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fwctl.quality.example import example
from tests.cli.support import Done, fwctl, make_env
from tests.quality.servers import Body, serving
from tests.simulator.http.support import KEY
from tests.simulator.http.support import serving as simulated

PROMPTS = 200
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-{}"
BASE, CANDIDATE = (f"accounts/acme/deployments/{name}" for name in ("bf16", "fp8"))


def call(folder: Path, *argv: str, **variables: str) -> Done:
    return fwctl(make_env(folder, {"KEY": KEY, **variables}), *argv)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A 16-bit arm twice and an FP8 arm that misses 8 % of the answers."""
    folder = tmp_path_factory.mktemp("eval")
    rows = [
        {
            "id": f"p{n}",
            "type": ("math", "extract")[n % 2],
            "prompt": f"What is {n} plus {n}?",
            "expected": str(2 * n),
            "grader": "numeric",
            "max_tokens": 4000,
            "temperature": 0,
        }
        for n in range(1, PROMPTS + 1)
    ]
    suite = folder / "suite.jsonl"
    suite.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with simulated(folder, FIRECTL_SIM_ANSWERS=str(suite), FIRECTL_SIM_WRONG_SHARE="FP8=0.08") as sim:
        sim.deploy("bf16", deploymentShape=SHAPE.format("bf16"))
        sim.deploy("fp8", deploymentShape=SHAPE.format("fast"))
        url = f"{sim.url}/inference/v1"
        words = ("eval", "run", "--suite", "suite.jsonl", "--target-url", url, "--api-key-env", "KEY")
        both = call(folder, *words, "--model", BASE, "--model", CANDIDATE, "--out", "ab")
        assert both.code == 0, both.err
        assert (
            "200 graded prompts: at 6 % discordance this suite can rule out a loss of 4.3 points" in both.err
        )
        again = call(folder, *words, "--model", BASE, "--out", "aa", "--format", "json")
        assert again.code == 0, again.err
        assert again.document["summary"]["quality"]["targets"][BASE]["right"] == PROMPTS
    return folder


def test_a_planted_regression_is_found(runs: Path) -> None:
    found = call(runs, "eval", "compare", "ab:bf16", "ab:fp8", "--format", "json")
    assert found.code == 4
    document = found.document
    assert document["verdict"] == "fail"
    shown = call(runs, "eval", "compare", "ab:bf16", "ab:fp8")
    assert "next: fwctl eval show ab:bf16 ab:fp8 prints what was lost" in shown.err
    lost = document["quality"]["only_base"]
    # 8 % of 200 are 16; three standard errors are 11.5.
    assert 5 <= lost <= 27
    assert document["quality"]["only_candidate"] == 0
    assert document["quality"]["p_value"] == pytest.approx(2 / 2**lost)


def test_a_deployment_against_itself_passes_and_has_no_floor_to_speak_of(runs: Path) -> None:
    found = call(runs, "eval", "compare", "ab:bf16", "aa", "--floor", "aa")
    assert found.code == 0
    assert "pass: aa against ab:bf16" in found.out
    assert "the base differs from itself on 0 % of 200 pairs" in found.out


def test_a_narrow_margin_is_inconclusive_unless_that_is_allowed(runs: Path) -> None:
    words = ("eval", "compare", "ab:bf16", "aa", "--margin", "0.005")
    assert call(runs, *words).code == 4
    found = call(runs, *words, "--allow-inconclusive")
    assert found.code == 0
    # log(0.05) / log(0.995) = 597.6.
    assert "about 598 prompts would decide it (now 200)" in found.out


@pytest.mark.parametrize("format_name", ["text", "markdown", "html", "junit", "github"])
def test_every_format_says_what_failed(runs: Path, format_name: str) -> None:
    found = call(runs, "eval", "compare", "ab:bf16", "ab:fp8", "--format", format_name)
    assert found.code == 4
    assert "eval_quality" in found.out
    assert "a loss is shown" in found.out
    run = call(runs, "eval", "grade", "aa", "--format", format_name)
    assert run.code == 0, run.err
    assert "200 of 200 graded answers are right" in run.out + run.err or format_name == "junit"


def test_steps_of_a_workflow_get_the_verdict(runs: Path) -> None:
    words = ("eval", "compare", "ab:bf16", "ab:fp8", "--format", "github")
    assert (
        call(runs, *words, GITHUB_OUTPUT=str(runs / "out"), GITHUB_STEP_SUMMARY=str(runs / "page")).code == 4
    )
    assert "verdict=fail\n" in (runs / "out").read_text()
    assert "## ❌ fwctl eval compare: fail" in (runs / "page").read_text()
    assert call(runs, "eval", "grade", "aa", "--format", "github", GITHUB_OUTPUT=str(runs / "run")).code == 0
    assert "passed=1\n" in (runs / "run").read_text()


def test_the_prompts_that_were_lost_are_named(runs: Path) -> None:
    found = call(runs, "eval", "compare", "ab:bf16", "ab:fp8", "--format", "json").document["quality"]
    assert len(found["lost_prompts"]) == found["only_base"]
    assert found["gained_prompts"] == []
    assert (
        f"lost: {', '.join(found['lost_prompts'][:10])}"
        in call(runs, "eval", "compare", "ab:bf16", "ab:fp8").out
    )


def test_lost_prompts_are_shown_with_both_answers(runs: Path) -> None:
    words = ("eval", "show", "ab:bf16", "ab:fp8")
    found = call(runs, *words, "--limit", "1", "--format", "json").document
    (first,) = found["answers"]
    number = int(first["expected"]) // 2
    assert (first["question"], first["base"]["text"]) == (
        f"What is {number} plus {number}?",
        first["expected"],
    )
    assert (first["base"]["outcome"], first["candidate"]["outcome"]) == ("right", "wrong")
    shown = call(runs, *words, "--limit", "1").out
    assert (
        f"  asked: What is {number} plus {number}?\n  expected: {2 * number}\n  base: right\n    {2 * number}"
        in shown
    )
    assert f"and {found['count'] - 1} more; --limit shows them" in shown
    assert call(runs, *words, "--what", "gained").out == "0 gained: ab:fp8 against ab:bf16\n"
    assert call(runs, *words, "--what", "better").code == 64
    assert call(runs, *words, "--limit", "0").code == 64


def test_answers_are_not_graded_by_other_prompts(runs: Path) -> None:
    rows = [json.loads(line) for line in (runs / "suite.jsonl").read_text().splitlines()]
    changed = "".join(json.dumps({**row, "prompt": "What?"}) + "\n" for row in rows)
    (runs / "changed.jsonl").write_text(changed)
    found = call(runs, "eval", "grade", "aa", "--suite", "changed.jsonl")
    assert (found.code, "asks other prompts than the run" in found.err) == (64, True)


def test_junit_counts_every_check(runs: Path) -> None:
    found = call(runs, "eval", "compare", "ab:bf16", "ab:fp8", "--format", "junit").out
    assert len(re.findall("<testcase", found)) >= 3
    assert '<testcase classname="fwctl.checks" name="eval_broken"/>' in found


def test_grading_again_with_another_grader_starts_anew(runs: Path) -> None:
    rows = [json.loads(line) for line in (runs / "suite.jsonl").read_text().splitlines()]
    changed = "".join(json.dumps({**row, "grader": "exact", "expected": "no"}) + "\n" for row in rows)
    (runs / "other.jsonl").write_text(changed)
    found = call(runs, "eval", "grade", "aa", "--suite", "other.jsonl")
    assert found.code == 1
    assert "none of 200 graded answers is right" in found.out
    assert call(runs, "eval", "compare", "ab:bf16", "aa").code == 4
    assert call(runs, "eval", "grade", "aa").code == 0


def test_an_evaluation_never_overwrites_another(runs: Path) -> None:
    words = ("eval", "run", "--suite", "suite.jsonl", "--target-url", "http://127.0.0.1:1/v1", "--model", "m")
    found = call(runs, *words, "--out", "aa")
    assert found.code == 64
    assert "exists already" in found.err


def test_cut_off_json_is_asked_again_with_more_tokens(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    row = {"id": "a", "prompt": "Give a.", "expected": {"a": 1}, "grader": "json", "response_format": wanted}
    (tmp_path / "s.jsonl").write_text(json.dumps({**row, "max_tokens": 100}) + "\n")

    def answer(body: Body) -> tuple[str, str]:
        return ('{"a": 1}', "stop") if body["max_tokens"] >= 400 else ('{"a": 1', "length")

    words = ("eval", "run", "--suite", "s.jsonl", "--model", "m", "--format", "json")
    with serving(answer) as (url, asked):
        done = call(tmp_path, *words, "--target-url", url, "--out", "a")
        figures = done.document["summary"]["quality"]["targets"]["m"]
        capped = call(tmp_path, *words, "--target-url", url, "--out", "b", "--max-tokens-cap", "200")
        never = call(tmp_path, *words, "--target-url", url, "--out", "c", "--max-tokens-cap", "0")
    assert [body["max_tokens"] for body in asked] == [100, 200, 400, 100, 200, 100]
    assert (figures["right"], figures["structured"]["retries"]) == (1, 2)
    # Each cut-off answer has two words, which the server counts as tokens.
    assert figures["structured"]["wasted_tokens"] == 4
    assert "JSON Schema" in asked[0]["messages"][0]["content"]
    lines = (tmp_path / "a/records.jsonl").read_text().splitlines()
    assert [(json.loads(line)["attempt"], json.loads(line)["measured"]) for line in lines] == [
        (1, True),
        (2, False),
        (3, False),
    ]
    assert capped.document["summary"]["quality"]["targets"]["m"]["truncated"] == 1
    assert never.document["summary"]["quality"]["targets"]["m"]["structured"]["length"] == 1


def test_an_outage_exits_1_and_is_not_called_wrong(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "prompt": "?", "expected": "yes"}\n')
    words = ("eval", "run", "--suite", "s.jsonl", "--model", "m", "--out", "a", "--no-schema-in-prompt")
    with serving(lambda body: 500) as (url, _):
        found = call(tmp_path, *words, "--target-url", url)
    assert found.code == 1
    assert "1 of 1 answers failed on the way" in found.out


def test_what_is_wrong_with_the_judge_is_said_in_the_summary(tmp_path: Path) -> None:
    row = {"id": "a", "prompt": "?", "expected": "yes", "grader": "judge"}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n")

    def answer(body: Body) -> tuple[str, str]:
        text = body["messages"][-1]["content"]
        if "reference:" not in text:
            return "yes", "stop"
        first = text.index("reference:") < text.index("answer:")
        return json.dumps({"verdict": "pass" if first else "fail"}), "stop"

    with serving(answer) as (url, _):
        words = ("eval", "run", "--suite", "s.jsonl", "--target-url", url, "--model", "m", "--out", "a")
        refused = call(tmp_path, *words)
        found = call(tmp_path, *words, "--judge-url", url, "--judge-model", "j")
    assert (refused.code, "give --judge-url and --judge-model" in refused.err) == (64, True)
    assert found.code == 0
    assert "the judge agrees with itself in 0 % of 1 answers when the order is swapped" in found.out
    again = call(tmp_path, "eval", "grade", "a", "--judge-url", url, "--judge-model", "j", "--format", "json")
    quality = again.document["summary"]["quality"]
    assert (quality["judge"]["swap"]["n"], len(quality["warnings"])) == (1, 1)


def test_the_judge_can_be_a_target_of_the_file(tmp_path: Path) -> None:
    row = {"id": "a", "prompt": "?", "expected": "yes", "grader": "judge"}
    (tmp_path / "s.jsonl").write_text(json.dumps(row) + "\n")

    def answer(body: Body) -> tuple[str, str]:
        return (json.dumps({"verdict": "pass"}) if body["model"] == "strict" else "yes"), "stop"

    with serving(answer) as (url, _):
        (tmp_path / "targets.yaml").write_text(
            f"apiVersion: fwctl/v1\nkind: Targets\ndefaults: {{base_url: {url}}}\n"
            "targets: {m: {model: m}, j: {model: strict}, k: {model: strict, extra: {top_p: 1}}}\n"
        )
        words = ("eval", "run", "--suite", "s.jsonl", "--target", "m")
        found = call(tmp_path, *words, "--judge", "j", "--out", "a", "--format", "json")
        again = call(tmp_path, "eval", "grade", "a", "--judge", "j", "--targets", "targets.yaml")
        both = call(tmp_path, *words, "--judge", "j", "--judge-url", url)
        more = call(tmp_path, *words, "--judge", "k")
    assert (found.code, again.code) == (0, 0), found.err + again.err
    assert found.document["summary"]["quality"]["judge"]["model"] == "strict"
    assert "--judge names a server already" in both.err
    assert "a grader sends neither headers nor extra" in more.err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("run", "--suite", "s.jsonl"), "no targets.yaml and no --target-url"),
        (("run", "--suite", "s.jsonl", "--target-url", "http://x/v1"), "--target-url needs --model"),
        (("run", "--suite", "s.jsonl", "--model", "m"), "belong to --target-url"),
        (("run", "--suite", "s.jsonl", "--target-url", "ftp://x", "--model", "m"), "must begin with http"),
        (
            ("run", "--suite", "s.jsonl", "--target-url", "http://x", "--model", "m", "--model", "m"),
            "given twice",
        ),
        (("run", "--suite", "s.jsonl", "--concurrency", "0"), "--concurrency is a number from 1"),
        (("run", "--suite", "s.jsonl", "--repeat", "0"), "--repeat is a number from 1"),
        (("run", "--suite", "s.jsonl", "--max-tokens-cap", "-1"), "--max-tokens-cap"),
        (("run", "--suite", "s.jsonl", "--margin", "2"), "shares such as 0.02"),
        (("run", "--suite", "s.jsonl", "--targets", "t.yaml", "--target-url", "http://x"), "give either"),
        (
            (
                "run",
                "--suite",
                "s.jsonl",
                "--target-url",
                "http://x",
                "--model",
                "m",
                "--judge-url",
                "http://x",
            ),
            "--judge-url and --judge-model belong together",
        ),
        (
            (
                "run",
                "--suite",
                "s.jsonl",
                "--target-url",
                "http://x",
                "--model",
                "m",
                "--api-key-env",
                "NONE",
            ),
            "NONE is not set",
        ),
        (("outlook",), "give either --suite or --prompts"),
        (("outlook", "--prompts", "0"), "numbers from 1"),
        (("compare", "a", "b", "--margin", "0"), "--margin is a share"),
        (("compare", "a", "b", "--offline"), "belong to --deployment"),
        (("compare", "a", "b"), "a is no folder of an evaluation"),
        (("grade", "a"), "holds no run that can be graded"),
    ],
)
def test_a_wrong_option_is_refused(tmp_path: Path, argv: tuple[str, ...], message: str) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a", "prompt": "?", "expected": "yes"}\n')
    found = call(tmp_path, "eval", *argv)
    assert (found.code, message in found.err) == (64, True), found.err


def test_the_example_can_be_graded_as_it_is(tmp_path: Path) -> None:
    assert call(tmp_path, "eval", "init").out == example()
    (tmp_path / "s.jsonl").write_text(example())
    with serving(lambda body: ("Oslo 1296 2026-05-03 ship", "stop")) as (url, _):
        words = ("eval", "run", "--suite", "s.jsonl", "--target-url", url, "--model", "m", "--format", "json")
        found = call(tmp_path, *words).document["summary"]["quality"]["targets"]["m"]
    assert (found["n"], found["right"]) == (6, 2)


def test_the_outlook_of_a_set_and_of_a_number_agree(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(example())
    words = ("eval", "outlook", "--format", "json")
    of_set: Any = call(tmp_path, *words, "--suite", "s.jsonl").document["outlook"]
    of_number: Any = call(tmp_path, *words, "--prompts", "6").document["outlook"]
    assert (of_set["pairs"], of_set["pairs_needed"]) == (6, 928)
    assert of_set["rules_out"] == of_number["rules_out"]
    assert set(of_set["types"]) == {"chat", "edit", "extract", "math"}
