"""The commands from the command line to document and text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.main import run
from fwctl.env import SystemClock
from tests.cli.support import make_env
from tests.speculation import traffic


def fwctl(folder: Path, *argv: str) -> tuple[int, str, str]:
    env: Any = make_env(folder, {}, terminal=False, stdin="")
    code = run(["speculate", *argv], env)
    return code, env.stdout.text(), env.stderr.text()


def document(folder: Path, *argv: str) -> dict[str, Any]:
    code, text, errors = fwctl(folder, *argv, "--format", "json")
    assert code == 0, errors + text
    return dict(json.loads(text))


def test_explain_by_hand(tmp_path: Path) -> None:
    found = document(tmp_path, "explain", "--acceptance", "0.8", "--draft-tokens", "4", "--draft-cost", "0.1")
    assert found["expected_tokens_per_pass"] == pytest.approx(3.3616)
    assert found["speedup"] == pytest.approx(3.3616 / 1.4)
    # 4.3286 / 1.7 at 5: 3.68928 / 1.5 = 2.4595; at 6: 3.951424 / 1.6 = 2.4696; at 7: 4.161 / 1.7 = 2.4477.
    assert found["best_draft_tokens"] == 6
    assert found["break_even_acceptance"] == pytest.approx(0.2871, abs=1e-4)
    # 0.2871 + 0.08243 + 0.02366 + 0.00679 = 0.4, what four draft tokens cost.
    assert found["break_even_verify_cost"] == pytest.approx(2.3616 / 4 - 0.1)
    assert [row["draft_tokens"] for row in found["by_draft_tokens"]] == list(range(9))


def test_explain_reads_shares_by_position(tmp_path: Path) -> None:
    found = document(tmp_path, "explain", "--acceptance", "0.7,0.5,0.4", "--draft-cost", "0")
    assert found["expected_tokens_per_pass"] == pytest.approx(2.6)
    assert (found["acceptance"], found["draft_tokens"], found["conditional"]) == (None, 3, None)
    # Conditional counts: 0.8, then 60 of 80 of them: 0.8 * 0.75 = 0.6; 1 + 0.8 + 0.6.
    counted = document(tmp_path, "explain", "--acceptance", "1:80/100,2:60/80")
    assert counted["expected_tokens_per_pass"] == pytest.approx(2.4)
    assert counted["conditional"] is True


def test_explain_for_people(tmp_path: Path) -> None:
    code, text, _ = fwctl(
        tmp_path, "explain", "--acceptance", "0.62", "--draft-tokens", "4", "--draft-cost", "0.08"
    )
    assert code == 0
    assert "tokens per pass        2.3905" in text
    assert "speed-up               1.81 x" in text
    assert "█ <- asked <- best" in text
    _, text, _ = fwctl(
        tmp_path, "explain", "--acceptance", "0.1", "--draft-cost", "0.9", "--verify-cost", "0.2"
    )
    assert "slower than plain decoding" in text
    assert "break-even acceptance  none" in text
    _, text, _ = fwctl(tmp_path, "explain", "--acceptance", "1:80/100,2:60/100")
    assert "Accepted up to position 1 to 2: 80.0 %, 60.0 %" in text
    assert "out of all drafts" in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--acceptance", "1.2"), "0 to 1"),
        (("--acceptance", "nan"), "0 to 1"),
        (("--acceptance", "inf,0.2"), "0 to 1"),
        (("--acceptance", "much"), "position:hits/total"),
        (("--acceptance", "0.5,0.6"), "cannot rise"),
        (("--acceptance", "1:5/10,2:4/11"), "rise with the position"),
        (("--acceptance", ",".join(["0.1"] * 65)), "more than 64"),
        (("--acceptance", "0.5", "--draft-tokens", "0"), "1 to 64"),
        (("--acceptance", "0.5,0.2", "--draft-tokens", "3"), "1 to 2"),
        (("--acceptance", "0.5", "--draft-cost", "-1"), "cost"),
        (("--acceptance", "0.5", "--verify-cost", "nan"), "cost"),
    ],
)
def test_explain_refuses_to_guess(tmp_path: Path, argv: tuple[str, ...], message: str) -> None:
    code, _, errors = fwctl(tmp_path, "explain", *argv)
    assert code == 64
    assert message in errors


def test_replay_tells_each_type_of_request_apart(tmp_path: Path) -> None:
    traffic.write(
        tmp_path / "t.jsonl", traffic.chat(40), traffic.edit(40), traffic.quoting(40), traffic.narrow(40)
    )
    found = document(tmp_path, "replay", "t.jsonl", "--lengths", "2,4", "--draft-tokens", "2,8")
    by_type = {name: item["recommendation"]["source"] for name, item in found["by_type"].items()}
    assert by_type == {"chat": "none", "edit": "prediction", "narrow": "draft", "quoting": "ngram"}
    assert found["overall"]["n_requests"] == 160
    assert found["overall"]["recommendation"]["source"] != "draft"  # recorded for a quarter of them only
    code, text, _ = fwctl(tmp_path, "replay", "t.jsonl", "--lengths", "2,4", "--draft-tokens", "2,8")
    assert code == 0
    assert "recommended: none" in text
    assert '"ngram_length": 2' in text


def test_replay_says_what_it_left_out(tmp_path: Path) -> None:
    lines = [
        {"prompt": "a", "completion": "b", "error_class": "timeout_total"},
        {"prompt": "a"},
        {"prompt": "one two", "completion": "three four", "draft_tokens": [1]},
    ]
    with gzip.open(tmp_path / "t.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    _, text, _ = fwctl(tmp_path, "replay", "t.jsonl.gz", "--index-tokens", "0")
    assert "left out: 1 lines, failed request" in text
    assert "left out: 1 lines, no answer" in text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no lines"),
        ("\n \n", "no lines"),
        ('[{"prompt": "a"}]\n{"prompt": "a"}\n7\n', "1 x no answer; 2 x not an object"),
    ],
)
def test_files_without_any_request_to_replay_are_an_error(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "t.jsonl").write_text(text)
    code, shown, errors = fwctl(tmp_path, "replay", "t.jsonl")
    assert (code, shown) == (64, "")
    assert f"t.jsonl: no request with an answer ({why})" in errors


class Hasty(SystemClock):
    """Every look at it is 20 seconds after the last."""

    looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return 20.0 * self.looks


def test_a_long_replay_says_how_far_it_is(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        traffic.write(tmp_path / name, traffic.chat(3))
    env: Any = make_env(tmp_path, {}, terminal=False, stdin="")
    env.clock = Hasty()
    assert run(["speculate", "replay", "a.jsonl", "b.jsonl"], env) == 0
    assert "1 of 2 parts\n2 of 2 parts" in env.stderr.text()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("t.jsonl",), "'t.jsonl' does not exist"),
        (("bad.jsonl",), "bad.jsonl:2: this is not JSON"),
        (("bad.jsonl", "--jobs", "0"), "--jobs"),
        (("bad.jsonl", "--engine", "spark"), "--engine"),
        (("bad.jsonl", "--margin", "nan"), "--margin"),
        (("bad.jsonl", "--share", "0"), "--share"),
        (("bad.jsonl", "--share", "nan"), "--share"),
        (("bad.jsonl", "--lengths", "0,2"), "1 to 64"),
        (("bad.jsonl", "--draft-tokens", "65"), "1 to 64"),
        (("bad.jsonl", "--draft-tokens", "2,x"), "whole numbers"),
        (("bad.jsonl", "--draft-cost", "nan"), "cost"),
        (("bad.jsonl", "--prediction-cap", "0"), "--prediction-cap"),
        (("bad.jsonl", "--index-tokens", "-1"), "--index-tokens"),
        (("bad.jsonl", "--suite", "none.jsonl"), "prompt set"),
    ],
)
def test_replay_refuses_what_it_cannot_use(tmp_path: Path, argv: tuple[str, ...], message: str) -> None:
    (tmp_path / "bad.jsonl").write_text('{"prompt": "a", "completion": "b"}\n{"prompt": \n')
    code, _, errors = fwctl(tmp_path, "replay", *argv)
    assert code == 64
    assert message in errors
