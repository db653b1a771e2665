"""Structured output is judged in the right order, and never repaired."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.inference.failures import ErrorClass
from fwctl.inference.structured import (
    judge,
    next_max_tokens,
    runs_away,
    schema_of,
    schema_problem,
    warnings,
    with_instruction,
)

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
FORMAT = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
OBJECT = {"type": "json_object"}
USER = [{"role": "user", "content": "Hello"}]


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        ('{"a": 1}', "stop", None),
        ('{"a": 1}', "length", ErrorClass.LENGTH),
        ("", "length", ErrorClass.LENGTH),
        (" \n", "stop", ErrorClass.EMPTY),
        ('{"a": 1', "stop", ErrorClass.INVALID_JSON),
        ("[" * 100_000, "stop", ErrorClass.INVALID_JSON),
        ('{"a": "1"}', "stop", ErrorClass.SCHEMA_VIOLATION),
        ("{}", "stop", ErrorClass.SCHEMA_VIOLATION),
        ('<think>{"a": "no"}</think>\n{"a": 1}', "stop", None),
        ('<think>{"a": 1}', "stop", ErrorClass.EMPTY),
        ('{"a": 1} <think>', "stop", ErrorClass.INVALID_JSON),
    ],
)
def test_order_of_the_checks(text: str, finish: str, expected: ErrorClass | None) -> None:
    failure = judge(text, finish, FORMAT)
    assert (failure.error_class if failure else None) == expected


def test_messages_do_not_hold_what_the_model_said() -> None:
    failure = judge('{"a": "secret words"}', "stop", FORMAT)
    assert failure is not None
    assert failure.message == "the answer breaks `type` at /a"


def test_other_formats_are_only_checked_for_what_they_promise() -> None:
    assert judge('{"b": 2}', "stop", OBJECT) is None
    assert judge("yes", "stop", {"type": "grammar", "grammar": 'root ::= "yes"'}) is None


def test_a_broken_schema_is_our_fault() -> None:
    failure = judge("{}", "stop", {"type": "json_object", "schema": {"type": "no such type"}})
    assert failure is not None
    assert failure.error_class is ErrorClass.HARNESS


@pytest.mark.parametrize(
    ("response_format", "expected"),
    [
        (FORMAT, SCHEMA),
        ({"type": "json_schema", "json_schema": SCHEMA}, SCHEMA),
        ({"type": "json_object", "schema": SCHEMA}, SCHEMA),
        (OBJECT, None),
    ],
)
def test_the_schema_is_found_in_every_place(response_format: dict[str, Any], expected: Any) -> None:
    assert schema_of(response_format) == expected


def test_the_model_is_told_the_schema() -> None:
    first, *rest = with_instruction(USER, FORMAT)
    assert '"required": ["a"]' in first["content"]
    assert rest == USER
    assert "JSON" in with_instruction(USER, OBJECT)[0]["content"]
    assert with_instruction(USER, {"type": "text"}) == USER


def test_a_reasoning_model_and_a_silent_prompt_are_warned_about() -> None:
    found = warnings("accounts/fireworks/models/deepseek-r1", FORMAT, USER)
    assert "use json_object" in found[0]
    assert "does not mention JSON" in found[1]
    assert warnings("llama", FORMAT, with_instruction(USER, FORMAT)) == []


def test_a_grammar_with_a_missing_rule_is_found_before_it_is_sent() -> None:
    grammar = 'root ::= item ("," item)* # a list of words\nitem ::= [a-z]+ | numb\nws ::= " "'
    found = warnings("m", {"type": "grammar", "grammar": grammar}, USER)
    assert found == ["the grammar: line 2, column 19: the rule 'numb' is used and not defined"]


def test_an_effort_keeps_a_reasoning_model_reasoning() -> None:
    messages = with_instruction(USER, FORMAT)
    assert warnings("deepseek-r1", FORMAT, messages, {"reasoning_effort": "low"}) == []


def test_a_schema_never_opens_a_connection() -> None:
    schema = {"properties": {"a": {"$ref": "http://127.0.0.1:1/schema"}}}
    assert "another document" in str(schema_problem(schema))
    failure = judge('{"a": 1}', "stop", {"type": "json_object", "schema": schema})
    assert failure is not None
    assert failure.error_class is ErrorClass.HARNESS


def test_a_schema_that_refers_to_nothing_is_our_fault() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/none"}}}
    failure = judge('{"a": 1}', "stop", {"type": "json_object", "schema": schema})
    assert failure is not None
    assert failure.error_class is ErrorClass.HARNESS


def test_whitespace_runaway() -> None:
    assert runs_away(['{"a":', *[" \n"] * 200])
    assert runs_away(['{"a":' + " " * 300])
    assert not runs_away(['{"a"', ": 1}", "\n"])
    assert not runs_away(["a" + " " * 200, "b", " " * 200])


def test_tokens_double_up_to_the_cap() -> None:
    assert [next_max_tokens(n, 3000) for n in (1000, 2000, 3000)] == [2000, 3000, None]
