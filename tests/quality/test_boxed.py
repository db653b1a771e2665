"""Patterns, schemas and functions of the user run in a child that can be stopped."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest

from fwctl.quality.graders.boxed import function_problem
from fwctl.quality.graders.means import Means
from tests.quality.support import marks, means, rights

FUNCTIONS = """
import os, sys, time

def length(answer, expected, prompt):
    print("this goes nowhere")
    os.write(1, b"neither does this")
    return len(answer) >= expected

def score(answer, expected, prompt):
    return {"score": 0.5, "note": prompt["id"]}

def fails(answer, expected, prompt):
    raise KeyError("no such key")

def odd(answer, expected, prompt):
    return "yes"

def leaves(answer, expected, prompt):
    if answer == "leave":
        os._exit(3)
    return True

def sleeps(answer, expected, prompt):
    time.sleep(60 if answer == "slow" else 0)
    return True

def secret(answer, expected, prompt):
    return "FIREWORKS_API_KEY" not in os.environ
"""


@pytest.fixture
def here(tmp_path: Path) -> Means:
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    return Means(tmp_path, {**means().environ, "FIREWORKS_API_KEY": "fw_secret"})


def test_regex() -> None:
    assert rights({"type": "regex", "pattern": "^2026-"}, None, "2026-05-03", "on 2026-05-03") == [
        True,
        False,
    ]
    assert rights("regex", "osl[o]", "Oslo", "oslo") == [False, True]
    options = {"type": "regex", "pattern": "oslo", "ignore_case": True, "full": True}
    assert rights(options, None, " OSLO\n", "in Oslo") == [True, False]


def test_a_pattern_of_exponential_time_is_stopped_and_the_rest_is_graded() -> None:
    started = perf_counter()
    found = marks({"type": "regex", "pattern": "(a+)+$"}, None, "aaa", "a" * 60 + "b", "aa")
    assert [mark.right for mark in found] == [True, None, True]
    assert found[1].note == "the grader took too long"
    assert perf_counter() - started < 10


def test_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    found = marks({"type": "json_schema", "schema": schema}, None, '{"n": 1}', '{"n": "1"}', "n")
    assert [mark.right for mark in found] == [True, False, False]
    assert found[1].note == "the answer breaks `type` at /n"


def test_a_function_grades_and_its_output_goes_nowhere(here: Means) -> None:
    grader = {"type": "function", "function": "mine.py:length"}
    assert rights(grader, 3, "abc", "ab", use=here) == [True, False]


def test_a_score_is_held_against_the_threshold(here: Means) -> None:
    grader = {"type": "function", "function": "mine.py:score", "threshold": 0.5}
    found = marks(grader, None, "x", use=here)[0]
    assert (found.right, found.score, found.note) == (True, 0.5, "p")


def test_an_exception_is_one_line_with_its_place(here: Means) -> None:
    found = marks({"type": "function", "function": "mine.py:fails"}, None, "x", "y", use=here)
    assert [mark.right for mark in found] == [None, None]
    assert found[0].note == "KeyError at mine.py:13: 'no such key'"


def test_a_result_of_another_kind_is_no_verdict(here: Means) -> None:
    found = marks({"type": "function", "function": "mine.py:odd"}, None, "x", use=here)[0]
    assert (found.right, found.note) == (
        None,
        "the function returned str, not True, False or a score from 0 to 1",
    )


def test_a_function_that_ends_its_process_costs_one_answer(here: Means) -> None:
    found = marks({"type": "function", "function": "mine.py:leaves"}, None, "a", "leave", "b", use=here)
    assert [mark.right for mark in found] == [True, None, True]
    assert found[1].note == "the grader ended its process"


def test_a_function_that_never_ends_is_given_up_after_three_answers(here: Means) -> None:
    grader = {"type": "function", "function": "mine.py:sleeps", "time_limit_s": 0.1}
    found = marks(grader, None, "ok", *["slow"] * 4, "ok", use=here)
    assert [mark.right for mark in found] == [True, None, None, None, None, None]


def test_keys_stay_with_the_parent(here: Means) -> None:
    assert rights({"type": "function", "function": "mine.py:secret"}, None, "x", use=here) == [True]


def test_a_function_that_cannot_be_loaded_is_found_before_anything_is_sent(here: Means) -> None:
    assert function_problem("mine.py:length", here) is None
    assert "ModuleNotFoundError at broken.py:1" in str(function_problem("broken.py:f", here))
    assert "no function 'nothing'" in str(function_problem("mine.py:nothing", here))
    assert "none.py is no regular file" in str(function_problem("none.py:f", here))
