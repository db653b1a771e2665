"""From records to grades: broken answers apart, interrupted gradings continued, outages told from models."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.measure.target import Target
from fwctl.quality.cases import load_cases, request_warnings, require_grammars
from fwctl.quality.grading import grade_run, last_attempts, read_grades
from fwctl.quality.structured_counts import formats_of, lost_reasoning, structured_counts
from fwctl.quality.totals import problems, totals
from tests.quality.runs import record, write_records, write_suite
from tests.quality.support import means

EXACT = {"prompt": "?", "expected": "yes"}
JSON = {"prompt": "?", "expected": {"a": 1}, "grader": "json", "response_format": {"type": "json_object"}}


def grades(folder: Path) -> dict[str, Any]:
    return {row["prompt_id"]: row for row in read_grades(folder / "grades.jsonl")}


def test_broken_answers_are_a_class_of_their_own(tmp_path: Path) -> None:
    rows = {
        "right": record("right", "yes"),
        "wrong": record("wrong", "no"),
        "empty": record("empty", " \n"),
        "no-token": record("no-token", "", error_class="empty"),
        "cut": record("cut", "ye", finish_reason="length"),
        "thought": record("thought", "", finish_reason="length", reasoning_tokens=90),
        "torn": record("torn", "ye", error_class="truncated"),
        "aloud": record("aloud", "<think>Is it no?\nNo.</think>\n\nyes"),
        "only-aloud": record("only-aloud", "<think>Is it", finish_reason="length"),
        "refused": record("refused", "", error_class="rate_limited", finish_reason=None),
        "loop": record("loop", "no " * 200),
        "tool": record("tool", "", finish_reason="tool_calls"),
    }
    cases = write_suite(tmp_path, [{"id": name, **EXACT} for name in rows])
    write_records(tmp_path, list(rows.values()))
    grade_run(tmp_path, cases, means(tmp_path))
    assert {name: row["outcome"] for name, row in grades(tmp_path).items()} == {
        "right": "right",
        "wrong": "wrong",
        "empty": "empty",
        "no-token": "empty",
        "cut": "truncated",
        "thought": "truncated",
        "torn": "truncated",
        "aloud": "right",
        "only-aloud": "truncated",
        "refused": "failed",
        "loop": "degenerate",
        "tool": "wrong",
    }
    assert grades(tmp_path)["refused"]["note"] == "rate_limited"
    assert grades(tmp_path)["only-aloud"]["note"] == "length: the tokens were used up by reasoning"
    assert grades(tmp_path)["thought"]["note"] == "length: the tokens were used up by reasoning"


def test_json_that_breaks_its_format_is_wrong_and_whitespace_is_degenerate(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": name, **JSON} for name in ("bad", "run", "good")])
    rows = [
        record("bad", "{", error_class="invalid_json"),
        record("run", "{" + " " * 300, error_class="invalid_json"),
        record("good", '{"a": 1}'),
    ]
    write_records(tmp_path, rows)
    grade_run(tmp_path, cases, means(tmp_path))
    found = grades(tmp_path)
    assert [found[name]["outcome"] for name in ("bad", "run", "good")] == ["wrong", "degenerate", "right"]


def test_prompts_that_expect_nothing_only_have_to_be_answered(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": "a", "prompt": "?"}, {"id": "b", "prompt": "?"}])
    write_records(tmp_path, [record("a", "words", finish_reason="length"), record("b", "")])
    grade_run(tmp_path, cases, means(tmp_path))
    assert [row["outcome"] for row in grades(tmp_path).values()] == ["unasked", "empty"]
    assert cases.by_type == {}


def test_warm_up_and_all_attempts_but_the_last_are_left_out(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": "a", **JSON}])
    rows = [
        record("warmup-0", "x", measured=False),
        record("a", '{"a"', error_class="length", finish_reason="length", output_tokens=8),
        record("a", '{"a":', error_class="length", attempt=2, measured=False, output_tokens=16),
        record("a", '{"a": 1}', attempt=3, measured=False, output_tokens=20),
    ]
    write_records(tmp_path, rows)
    grade_run(tmp_path, cases, means(tmp_path))
    assert grades(tmp_path)["a"]["outcome"] == "right"
    last = last_attempts(tmp_path / "records.jsonl")
    found = structured_counts(rows, last, formats_of(cases, [Target("m", "http://x", "m")]))["m"]
    assert (found["n"], found["retries"], found["wasted_tokens"]) == (1, 2, 24)
    assert (found["valid"]["value"], found["formats"]) == (1.0, {"json_object": 1})


def test_reasoning_that_a_schema_switched_off_is_seen_in_the_answers(tmp_path: Path) -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    cases = write_suite(tmp_path, [{"id": "a", **EXACT}, {"id": "b", **EXACT, "response_format": schema}])
    free, bound = record("a", "yes", reasoning_tokens=50), record("b", "{}", reasoning_tokens=None)
    formats = formats_of(cases, [Target("m", "http://x", "accounts/acme/deployments/d")])
    told = lost_reasoning([free, bound], formats)
    assert "it reasoned in 1 answers, and in none of 1 with json_schema" in told[0]
    assert lost_reasoning([free, bound | {"reasoning_tokens": 9}], formats) == []
    assert lost_reasoning([free | {"reasoning_tokens": 0}, bound], formats) == []
    unsaid = free | {"reasoning_tokens": None, "ttft_s": 0.1, "ttfv_s": 2.0}
    assert len(lost_reasoning([unsaid, bound], formats)) == 1


def test_an_interrupted_grading_goes_on_behind_a_torn_line(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": name, **EXACT} for name in ("a", "b", "c")])
    write_records(tmp_path, [record(name, "yes") for name in ("a", "b", "c")])
    grade_run(tmp_path, cases, means(tmp_path))
    whole = (tmp_path / "grades.jsonl").read_text()
    first, second, _ = whole.splitlines(keepends=True)
    (tmp_path / "grades.jsonl").write_text(first + second[:20])
    grade_run(tmp_path, cases, means(tmp_path))
    assert (tmp_path / "grades.jsonl").read_text() == whole


def test_answers_whose_grader_failed_are_graded_again(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("def f(answer, expected, prompt):\n    raise ValueError('not yet')\n")
    grader = {"type": "function", "function": "mine.py:f"}
    cases = write_suite(tmp_path, [{"id": "a", "prompt": "?", "grader": grader}])
    write_records(tmp_path, [record("a", "yes")])
    grade_run(tmp_path, cases, means(tmp_path))
    assert grades(tmp_path)["a"]["outcome"] == "ungraded"
    mine.write_text("def f(answer, expected, prompt):\n    return True\n")
    grade_run(tmp_path, cases, means(tmp_path))
    assert grades(tmp_path)["a"]["outcome"] == "right"


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}\n", "grades.jsonl:1: this is not a grade"), ("[\n", "grades.jsonl:1: this is not a grade")],
)
def test_a_damaged_file_of_grades_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "grades.jsonl").write_text(text)
    with pytest.raises(UsageError, match=message):
        list(read_grades(tmp_path / "grades.jsonl"))


def test_records_without_text_or_of_other_prompts_are_refused(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": "a", **EXACT}])
    write_records(tmp_path, [record("a", None)])
    with pytest.raises(UsageError, match="no text of the answers"):
        grade_run(tmp_path, cases, means(tmp_path))
    write_records(tmp_path, [record("z", "yes")])
    with pytest.raises(UsageError, match="'z', which the suite does not have"):
        grade_run(tmp_path, cases, means(tmp_path))


@pytest.mark.parametrize(
    "change",
    [{"text": ["yes"]}, {"ttfv_s": "0"}, {"output_tokens": 1.5}, {"repeat": True}, {"target": None}],
)
def test_a_record_with_a_field_of_another_type_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    cases = write_suite(tmp_path, [{"id": "a", **EXACT}])
    write_records(tmp_path, [record("a", "yes") | change])
    with pytest.raises(UsageError, match=f"prompt 'a' has no usable `{next(iter(change))}`"):
        grade_run(tmp_path, cases, means())


def test_a_failure_of_a_later_version_is_a_failure(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": "a", **EXACT}])
    write_records(tmp_path, [record("a", "", error_class="of_tomorrow")])
    grade_run(tmp_path, cases, means())
    assert (grades(tmp_path)["a"]["outcome"], grades(tmp_path)["a"]["note"]) == ("failed", "of_tomorrow")


def test_a_prompt_with_a_grader_that_cannot_work_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"suite.jsonl: prompt 'b': the grader exact needs `expected`"):
        write_suite(tmp_path, [{"id": "a", **EXACT}, {"id": "b", "prompt": "?", "grader": "exact"}])
    with pytest.raises(UsageError, match="asks a model: give --judge-url and --judge-model"):
        write_suite(tmp_path, [{"id": "a", **EXACT, "grader": "judge"}])


def test_the_digest_of_the_graders_changes_with_what_decides_a_mark(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("def f(answer, expected, prompt):\n    return True\n")
    rows = [{"id": "a", "prompt": "?", "grader": {"type": "function", "function": "mine.py:f"}}]
    first = write_suite(tmp_path, rows)
    mine.write_text("def f(answer, expected, prompt):\n    return False\n")
    assert load_cases(first.suite, means(tmp_path)).digest != first.digest
    assert write_suite(tmp_path, [{"id": "a", **EXACT}]).digest != first.digest


def test_requests_that_cannot_succeed_are_stopped_and_doubtful_ones_counted(tmp_path: Path) -> None:
    grammar = {"type": "grammar", "grammar": "root ::= item"}
    cases = write_suite(tmp_path, [{"id": "a", **EXACT, "response_format": grammar}])
    with pytest.raises(UsageError, match="prompt 'a': the grammar, line 1, column 10: the rule 'item'"):
        require_grammars(cases, [Target("m", "http://x", "m")])
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    cases = write_suite(tmp_path, [{"id": str(n), **EXACT, "response_format": schema} for n in range(3)])
    target = Target("m", "http://x", "accounts/fireworks/models/deepseek-r1", schema_in_prompt=False)
    found = request_warnings(cases, [target])
    assert len(found) == 2
    assert "keeps a reasoning model from reasoning; use json_object" in found[0]
    assert found[0].endswith("(3 prompts)")


def test_totals_have_intervals_and_types() -> None:
    rows = [
        {"target": "m", "type": kind, "prompt_id": f"{kind}{n}", "repeat": 0, "outcome": outcome}
        for kind, n, outcome in [
            *(("chat", n, "right") for n in range(9)),
            ("chat", 9, "wrong"),
            ("math", 0, "truncated"),
        ]
    ]
    found = totals(rows)["m"]
    # Wilson for 9 of 10: 0.5958 to 0.9821 (Newcombe 1998, method 3, for r/n = 9/10).
    accuracy = found["types"]["chat"]["accuracy"]
    assert (accuracy["value"], accuracy["n"]) == (0.9, 10)
    assert accuracy["low"] == pytest.approx(0.5958, abs=1e-3)
    assert accuracy["high"] == pytest.approx(0.9821, abs=1e-3)
    assert found["types"]["math"]["accuracy"]["value"] is None
    assert (found["n"], found["truncated"], found["problems"]) == (11, 1, [])


def test_repeats_do_not_narrow_an_interval() -> None:
    row = {"target": "m", "type": "chat", "outcome": "right"}
    once = totals([{**row, "prompt_id": str(n), "repeat": 0} for n in range(20)])["m"]["accuracy"]
    rows = [{**row, "prompt_id": str(n), "repeat": r} for n in range(20) for r in range(5)]
    assert totals(rows)["m"]["accuracy"]["low"] == pytest.approx(once["low"])


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ({"right": 94, "empty": 6}, "are empty"),
        ({"right": 94, "failed": 6}, "failed on the way"),
        ({"right": 79, "truncated": 21}, "are cut off"),
        ({"right": 94, "ungraded": 6}, "could not be graded"),
        ({"wrong": 10}, "none of 10 graded answers is right"),
    ],
)
def test_an_outage_is_not_taken_for_a_bad_model(counts: dict[str, int], word: str) -> None:
    assert word in problems(counts)[0]


@pytest.mark.parametrize(
    ("outcome", "note", "told"),
    [
        ("failed", "http_401", "8 of 8 answers failed on the way, 8 with http_401: check the key"),
        ("failed", "timeout_ttft", "8 with timeout_ttft: repeat the run when the deployment is well"),
        ("ungraded", "KeyError: 'x' in g.py", "8 because of: KeyError: 'x' in g.py"),
        ("failed", None, "8 with no reason given"),
    ],
)
def test_an_outage_says_its_reason_and_what_to_do(outcome: str, note: str | None, told: str) -> None:
    row = {"target": "m", "type": "chat", "repeat": 0, "outcome": outcome, "note": note}
    assert told in totals([{**row, "prompt_id": str(n)} for n in range(8)])["m"]["problems"][0]


def test_a_target_without_one_record_is_a_problem() -> None:
    assert totals([], ["m"])["m"]["problems"] == ["not one answer was recorded"]


def test_a_weak_model_is_not_taken_for_an_outage() -> None:
    assert problems(Counter({"right": 1, "wrong": 99})) == []
    assert problems({"wrong": 9}) == []
    assert problems({"right": 95, "empty": 5}) == []
    assert problems({}) == []


def test_grades_hold_no_text_of_the_model(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": "a", **EXACT}, {"id": "b", **JSON}])
    write_records(tmp_path, [record("a", "a secret"), record("b", '{"secret": 1}')])
    grade_run(tmp_path, cases, means(tmp_path))
    assert "secret" not in json.dumps(grades(tmp_path))
