"""Known answers, and precisions that miss some of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.simulator.http import answers
from fwctl.simulator.http.engine import request as requests
from fwctl.simulator.http.knobs import KnobError
from tests.simulator.http.support import MINIMAL, serving

ROWS = [{"id": str(n), "prompt": f"What is {n} + {n}?", "expected": str(2 * n)} for n in range(200)]


def ask(question: str) -> requests.Request:
    return requests.read({"model": "m", "messages": [{"role": "user", "content": question}]}, chat=True)


def test_a_prompt_set_is_its_own_answer_file(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": " hi "}],
            "answer": "yes",
        },
        {"prompt": "object", "expected": {"a": 1}},
        {"prompt": "no answer"},
    ]
    file = tmp_path / "set.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    known = answers.read(file)
    assert known == {"hi": "yes", "object": '{"a": 1}'}
    assert answers.answer_for(known, ask("hi"), "FP8", None) == "yes"
    assert answers.answer_for(known, ask("other"), "FP8", None) is None
    text = requests.read({"model": "m", "prompt": " hi"}, chat=False)
    assert answers.answer_for(known, text, "", None) == "yes"
    ids = requests.read({"model": "m", "prompt": [1]}, chat=False)
    assert answers.answer_for(known, ids, "", None) is None


def test_what_a_lower_share_misses_a_higher_one_misses_too() -> None:
    known = {row["prompt"]: row["expected"] for row in ROWS}

    def missed(precision: str) -> set[str]:
        share = "FP8=0.1,FP4=0.3"
        return {q for q in known if answers.answer_for(known, ask(q), precision, share) is None}

    assert missed("BF16") == set()
    assert missed("fp8") < missed("FP4")
    # Binomial: 200 x 0.1 and 200 x 0.3, three deviations.
    assert 7 <= len(missed("FP8")) <= 33
    assert 40 <= len(missed("FP4")) <= 80
    assert answers.answer_for(known, ask(ROWS[0]["prompt"]), "any", "1") is None


@pytest.mark.parametrize("text", ["much", "FP8=2", "-1", "=0.5", "FP8=nan"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(KnobError, match="wrong_share"):
        answers.shares(text)


@pytest.mark.parametrize(
    "line", ["{", "[]", "3", '{"expected": "x"}', '{"messages": [3], "answer": "x"}', "[" * 9999]
)
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(f'{{"prompt": "a", "answer": "b"}}\n{line}\n')
    with pytest.raises(KnobError, match="line 2"):
        answers.read(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name in ("missing.jsonl", "bytes"):
        with pytest.raises(KnobError, match=f"{name} cannot be read"):
            answers.read(tmp_path / name)


def test_the_server_answers_from_the_file_and_misses_by_precision(tmp_path: Path) -> None:
    (tmp_path / "set.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    settings = {"FIRECTL_SIM_ANSWERS": "set.jsonl", "FIRECTL_SIM_WRONG_SHARE": "FP8=1"}
    with serving(tmp_path, **settings) as sim:
        right = sim.deploy("bf16")
        wrong = sim.deploy("fp8", deploymentShape=MINIMAL.replace("minimal", "fast"))
        messages = [{"role": "user", "content": "What is 21 + 21?"}]
        texts = [
            sim.chat(name, messages=messages).json()["choices"][0]["message"]["content"]
            for name in (right, wrong)
        ]
    assert texts[0] == "42"
    assert texts[1] != "42"
