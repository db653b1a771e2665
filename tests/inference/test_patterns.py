"""Patterns of a schema never hang whoever checks an answer."""

from __future__ import annotations

from time import perf_counter

import pytest

from fwctl.inference.failures import ErrorClass
from fwctl.inference.patterns import quick
from fwctl.inference.structured import judge


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        r"^\d{4}-\d{2}-\d{2}$",
        "^(red|green)$",
        r"^\(\d+\)$",
        "[]*+]x",
        "^(?:ab)+$",
        "",
        "(?P<n>a)b",
    ],
)
def test_ordinary_patterns_are_quick(pattern: str) -> None:
    assert quick(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "((a*)b)*", r"(a)\1+", "a*b*c*d*", "(?:(?:x|y){2,}z){3}"]
)
def test_patterns_that_could_take_long_are_not(pattern: str) -> None:
    assert not quick(pattern)


def test_a_pattern_of_exponential_time_is_left_out() -> None:
    values = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    names = {"patternProperties": {"(b+)+$": {}}, "additionalProperties": False}
    long = {"patternProperties": {"^b+$": {}}, "additionalProperties": False}
    started = perf_counter()
    for schema, text in (
        (values, '{"a": "' + "a" * 60 + '!"}'),
        (names, '[{"' + "b" * 60 + '!": 1}]'),
        (long, '{"' + "b" * 600 + '!": 1}'),
    ):
        assert judge(text, "stop", {"type": "json_object", "schema": schema}) is None
    assert perf_counter() - started < 1


def test_an_ordinary_pattern_is_checked() -> None:
    schema = {
        "properties": {"day": {"pattern": r"^\d{4}-\d{2}$"}},
        "patternProperties": {"^n_": {"type": "integer"}},
    }
    wanted = {"type": "json_object", "schema": schema}
    assert judge('{"day": "2026-05", "n_a": 1}', "stop", wanted) is None
    for text, broken in (('{"day": "May"}', "`pattern` at /day"), ('{"n_a": "1"}', "`type` at /n_a")):
        failure = judge(text, "stop", wanted)
        assert failure is not None
        assert (failure.error_class, broken in failure.message) == (ErrorClass.SCHEMA_VIOLATION, True)
    assert judge('{"day": 5, "x": "' + "y" * 600 + '"}', "stop", wanted) is None
    assert judge("[1]", "stop", wanted) is None


def test_two_hundred_answers_are_checked_in_no_time() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    started = perf_counter()
    for number in range(200):
        judge(f'{{"a": {number}}}', "stop", {"type": "json_object", "schema": schema})
    assert perf_counter() - started < 2
