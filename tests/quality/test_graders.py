"""Graders of text, numbers and JSON, and the table they stand in."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fwctl.quality.graders import GRADERS, module_of, read
from fwctl.quality.graders.numeric import last_number
from tests.quality.support import marks, rights, spec_of, wrong


def test_every_row_of_the_table_has_its_module() -> None:
    for kind in GRADERS:
        module = module_of(kind)
        assert callable(module.check)
        assert callable(module.grade)


def test_a_prompt_without_grader_and_expectation_is_not_graded() -> None:
    assert read(None, None, "contains") is None


def test_the_default_grades_what_only_expects_something() -> None:
    assert getattr(read(None, "4", "numeric"), "kind", None) == "numeric"
    assert getattr(read(None, "4", None), "kind", None) == "exact"


@pytest.mark.parametrize(
    ("grader", "expected", "message"),
    [
        ("exakt", "a", "no grader 'exakt'; there are exact, contains"),
        (5, "a", "a name, or an object"),
        ({"options": 1}, "a", "a name, or an object"),
        ({"type": "exact", "case": True}, "a", "no option 'case'; its options: ignore_case"),
        ({"type": "exact", "ignore_case": 1}, "a", "ignore_case of the grader exact is of the wrong type"),
        ({"type": "numeric", "abs": True}, 1, "abs of the grader numeric is of the wrong type"),
        ("exact", None, "needs `expected`"),
        ("exact", " ", "none of them empty"),
        ("contains", ["a", 1], "none of them empty"),
        ("numeric", "none", "is a number"),
        ("numeric", True, "is a number"),
        ({"type": "numeric", "rel": -1}, 1, "tolerances from 0"),
        ({"type": "numeric", "decimal": ";"}, 1, ". or ,"),
        ("json", "{", "a JSON value, or its text"),
        ({"type": "json", "fields": []}, {"a": 1}, "a list of names"),
        ({"type": "json", "fields": ["b"]}, {"a": 1}, "no field 'b'"),
        ({"type": "json", "abs": float("inf")}, {"a": 1}, "a tolerance from 0"),
        ("regex", None, "give `pattern`"),
        ({"type": "regex", "pattern": "("}, None, "no regular expression"),
        ("json_schema", None, "give `schema`"),
        ({"type": "json_schema", "schema": {"type": "none such"}}, None, "not a valid JSON Schema"),
        ({"type": "json_schema", "schema": {"$ref": "file:///etc/passwd"}}, None, "another document"),
        (
            {"type": "json_schema", "schema": {"properties": {"a": {"type": "no"}}}},
            None,
            "at /properties/a/type",
        ),
        ({"type": "json_schema", "schema": {"$ref": "#/$defs/a"}}, None, "refers to '#/$defs/a', which"),
        ({"type": "function", "function": "grade"}, None, "file.py:name"),
        ({"type": "function", "function": "a.py:f", "time_limit_s": 0}, None, "number of seconds"),
        ("judge", None, "a `rubric`"),
        ("similarity", [], "none of them empty"),
        ({"type": "similarity", "threshold": 2}, "a", "a cosine"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_sent(grader: Any, expected: Any, message: str) -> None:
    assert message in wrong(grader, expected)


def test_a_reference_begins_in_the_nearest_schema_with_an_id() -> None:
    inner = {"$id": "inner", "$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}
    spec_of({"type": "json_schema", "schema": {"$id": "outer", "$defs": {"inner": inner}}})
    spec_of({"type": "json_schema", "schema": {"anyOf": [{"type": "null"}, {"$ref": "#/anyOf/0"}]}})


def test_exact() -> None:
    assert rights("exact", "Oslo", "Oslo", " Oslo\n", "oslo", "Oslo.") == [True, True, False, False]
    assert rights({"type": "exact", "ignore_case": True}, ["Oslo", "Wien"], "WIEN", "Rom") == [True, False]
    assert rights("exact", 42, "42") == [True]
    # One letter in two spellings: e with an accent, and e followed by the accent.
    assert rights("exact", "caf\u00e9", "cafe\u0301") == [True]


def test_contains() -> None:
    assert rights("contains", "Oslo", "It is Oslo.", "It is Rome.") == [True, False]
    found = marks("contains", ["red", "green"], "red and green", "red")
    assert [(mark.right, mark.score) for mark in found] == [(True, 1.0), (False, 0.5)]
    assert rights({"type": "contains", "any": True}, ["red", "green"], "red", "blue") == [True, False]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The answer is 1,296.", "1296"),
        ("48 * 27 = 1296", "1296"),
        ("It costs $1,234,567.50 in total.", "1234567.50"),
        ("1'000'000", "1000000"),
        ("minus one: -1", "-1"),
        ("\u22123.5 degrees", "-3.5"),
        ("between 3-4", "4"),
        ("6.02e23", "6.02e23"),
        ("about .5", "0.5"),
        ("1,2345", "2345"),
        ("1,2,3", "3"),
        ("12,34,567", "1234567"),
        ("version 1.2.3", "1.2"),
        ("steps 1, 2 and 3.", "3"),
        ("12345678901234567890", "12345678901234567890"),
        ("v2 has none", None),
        ("none", None),
        ("9" * 500, None),
    ],
)
def test_the_last_number_of_a_text(text: str, number: str | None) -> None:
    assert last_number(text) == (None if number is None else Decimal(number))


def test_a_comma_can_stand_before_a_fraction() -> None:
    assert last_number("1.234,5 Euro", ",") == Decimal("1234.5")


def test_numeric() -> None:
    assert rights("numeric", 1296, "= 1,296", "1296.0", "1295", "many") == [True, True, False, False]
    assert rights({"type": "numeric", "abs": 0.01}, 3.14, "3.15", "3.16") == [True, False]
    assert rights({"type": "numeric", "rel": 0.1}, "-100", "-110", "-111") == [True, False]
    # 20 digits: as floating point both would be the same.
    assert rights("numeric", "12345678901234567890", "12345678901234567891") == [False]
    assert rights("numeric", 0.3, "0.30000000000000004", "0.3") == [False, True]


def test_json_by_field() -> None:
    expected = {"city": "Oslo", "pieces": 3, "tags": ["a", "b"]}
    good = json.dumps({"tags": ["a", "b"], "pieces": 3.0, "city": " Oslo "})
    found = marks("json", expected, good, '{"city": "Oslo", "pieces": 4, "tags": ["a", "b"]}', "Oslo", "[1]")
    assert [mark.right for mark in found] == [True, False, False, False]
    assert found[1].score == 0.75
    assert found[1].note == "1 of 4 fields differ, first /pieces"
    assert found[2].note == "the answer is not JSON"


def test_json_that_has_more_than_expected_differs() -> None:
    more = '{"a": 1, "b": 2}'
    assert rights("json", {"a": 1}, more) == [False]
    assert rights({"type": "json", "extra": True}, {"a": 1}, more) == [True]
    assert rights({"type": "json", "fields": ["a"]}, {"a": 1, "b": 3}, more) == [True]
    assert rights({"type": "json", "fields": ["x.0.y"]}, {"x": [{"y": 1}]}, '{"x": [{"y": 1}]}', "{}") == [
        True,
        False,
    ]


def test_true_is_no_number_in_json() -> None:
    assert rights("json", {"a": 1}, '{"a": true}') == [False]
    assert rights("json", {"a": True}, '{"a": true}', '{"a": 1}') == [True, False]
    assert rights({"type": "json", "abs": 0.1}, {"a": 1}, '{"a": 1.05}', '{"a": "1"}') == [True, False]


def test_json_in_a_fence_counts_only_when_asked_for() -> None:
    fenced = '```json\n{"a": 1}\n```'
    found = marks("json", '{"a": 1}', fenced)[0]
    assert (found.right, found.note) == (False, "the answer is JSON within a code fence")
    assert rights({"type": "json", "fenced": True}, '{"a": 1}', fenced) == [True]


def test_hostile_json_is_only_wrong() -> None:
    deep = "[" * 3000 + "]" * 3000
    assert rights("json", {"a": 1}, "[" * 100_000, deep, '{"a": NaN}', "") == [False, False, False, False]


def test_notes_never_hold_what_the_model_said(tmp_path: Path) -> None:
    said = "a secret of a customer"
    for grader, expected in (("numeric", 1), ("json", {"a": 1}), ("exact", "x")):
        assert said not in str(marks(grader, expected, said)[0].note)
