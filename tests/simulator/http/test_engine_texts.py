"""Tokens, seeded text, schemas, patterns and grammars."""

from __future__ import annotations

import json
import random
import re
from itertools import islice
from typing import Any

import jsonschema
import pytest

from fwctl.simulator.http.engine import prose, schemas
from fwctl.simulator.http.engine.grammar import Grammar, GrammarError
from fwctl.simulator.http.engine.regexgen import PatternError, matching
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer


def test_tokens_are_words_with_their_space_digits_by_three_and_single_marks() -> None:
    assert Tokenizer.split("Hello, world 12345!") == ["Hello", ",", " world", " ", "123", "45", "!"]
    assert Tokenizer.split("überß\n\n  x") == ["ü", "ber", "ß", "\n\n  ", "x"]


def test_an_id_is_the_same_in_every_tokenizer_and_leads_back_to_its_text() -> None:
    one, other = Tokenizer(), Tokenizer()
    ids = one.ids(["Hello", ",", " world"])
    assert ids == other.ids(["Hello", ",", " world"])
    assert one.text_of(ids) == "Hello, world"
    assert Tokenizer().text_of([7]) == " <7>"


def test_draws_depend_on_their_names_alone() -> None:
    assert rng("a", 1).random() == rng("a", 1).random()
    assert rng("a", 1).random() != rng("a", 2).random()


def test_prose_varies_and_reads_as_sentences() -> None:
    text = "".join(islice(prose.pieces(rng(1)), 200))
    assert re.match(r"[A-Z][a-z]* ", text)
    assert ". " in text
    assert len(set(text.split())) > 40


@pytest.mark.parametrize(("match", "low", "high"), [(1.0, 1.0, 1.0), (0.8, 0.65, 0.95), (0.0, 0.0, 0.35)])
def test_an_edited_text_keeps_about_the_share_asked_for(match: float, low: float, high: float) -> None:
    source = Tokenizer.split("zebra " * 1000)
    kept = sum(a == b for a, b in zip(source, prose.edited(source, match, rng(2)), strict=True))
    assert low <= kept / len(source) <= high


SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]},
    {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 3},
    {"enum": ["x", 2, None]},
    {"const": {"k": [1]}},
    {"type": ["string", "null"]},
    {"type": "string", "minLength": 30, "maxLength": 33},
    {"type": "string", "maxLength": 0},
    {"type": "string", "format": "date-time"},
    {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$", "minLength": 6, "maxLength": 6},
    {"type": "integer", "minimum": 3, "maximum": 3},
    {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 6},
    {"type": "integer", "multipleOf": 7, "minimum": 10},
    {"type": "integer", "maximum": -5},
    {"type": "number", "minimum": 0.5, "maximum": 0.6},
    {"type": "number", "multipleOf": 0.5, "minimum": 1, "maximum": 2},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
    {"type": "array", "prefixItems": [{"const": 1}, {"const": "b"}], "items": False},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 3},
    {"type": "array", "maxItems": 0},
    {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"oneOf": [{"const": 1}, {"const": "one"}]},
    {"allOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"required": ["b"]}]},
    {"$ref": "#/$defs/p", "$defs": {"p": {"type": "object", "properties": {"x": {"$ref": "#/$defs/p"}}}}},
    {"allOf": [{"$ref": "#/$defs/p"}], "$defs": {"p": {"const": 3}}},
    {
        "$ref": "#/$defs/tree",
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "left": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
                    "right": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
                },
                "required": ["left", "right"],
            }
        },
    },
    {"properties": {"a": {"type": "null"}}},
    {"items": {"type": "string"}},
    {"type": "boolean"},
    {},
    True,
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: json.dumps(schema)[:50])
def test_values_obey_their_schema(schema: Any) -> None:
    for seed in range(25):
        jsonschema.validate(schemas.value_for(schema, rng(seed)), schema)


def test_a_schema_may_come_as_text() -> None:
    assert schemas.value_for('{"const": 5}', rng(1)) == 5
    with pytest.raises(schemas.SchemaError, match="not JSON"):
        schemas.value_for("{", rng(1))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (False, "a schema is an object or true"),
        ([], "a schema is an object or true"),
        ({"type": "thing"}, "#/type: 'thing' is not a JSON type"),
        ({"enum": []}, "#/enum: not a list"),
        ({"anyOf": []}, "#/anyOf: not a list"),
        ({"$ref": "http://example.com/x"}, "only references inside"),
        ({"$ref": "#/nope"}, "points to no schema"),
        ({"$ref": "#"}, "circle"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "no integer lies between 5 and 4"),
        ({"type": "number", "minimum": 5, "maximum": 4}, "no number lies between 5 and 4"),
        ({"type": "string", "pattern": "("}, "#/pattern: the pattern '(' is not understood"),
        ({"type": "string", "pattern": "aaaa", "maxLength": 2}, "no text of the right length"),
        ({"type": "string", "minLength": 10**9}, "too long a text"),
        (
            {"type": "array", "items": {"const": 1}, "uniqueItems": True, "minItems": 2},
            "too few different values",
        ),
        ({"type": "object", "properties": []}, "properties is an object"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "too large a value"),
        ({"allOf": [3]}, "#/allOf: a schema is an object"),
        ({"type": "string", "minLength": "x"}, "the schema is malformed"),
        ({"type": "array", "minItems": 10**7, "items": {"type": "null"}}, "too large a value"),
    ],
)
def test_a_schema_for_which_no_value_can_be_made_is_refused_with_its_place(schema: Any, message: str) -> None:
    with pytest.raises(schemas.SchemaError, match=re.escape(message)):
        schemas.value_for(schema, rng(1))


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}$",
        r"[^a-z]",
        r"\w+@\w+\.(com|org)",
        r"(a|b)\1",
        r"x*?y+",
        r"\S\s\W\D",
        r"a(?=b)?b",
        r".[.]",
        r"(?P<n>q)(?:r)",
        r"[^\x00-\x7f]|z",
        r"(?>ab)c++",
    ],
)
def test_texts_match_their_pattern(pattern: str) -> None:
    for seed in range(10):
        assert re.search(pattern, matching(pattern, rng(seed)))


@pytest.mark.parametrize("pattern", ["(", "a{5000}{5000}", r"(?=b)a", r"[^\x00-\x7f]\x00^", "(?i:a)(?(1)b|c"])
def test_a_pattern_without_a_text_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        matching(pattern, rng(1))


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        ('root ::= "yes" | "no"', "yes|no"),
        ('root ::= item+\nitem ::= [0-9]{2} " " # a comment', r"(\d\d )+"),
        ('root ::= ("a" | "b")* "c"?', "[ab]*c?"),
        ('root ::= "\\"q\\"\\n\\x41\\u0042"', '"q"\nAB'),
        ("root ::= [^a-z]{3,} .", "[^a-z]{3,}."),
        ("root ::= [\\]\\-x]{1,2}", r"[\]\-x]{1,2}"),
        ('root ::= list\nlist ::= "[" (root ("," root)*)? "]"', r"[\[\],]+"),
    ],
)
def test_texts_obey_their_grammar(source: str, pattern: str) -> None:
    grammar = Grammar(source)
    for seed in range(20):
        assert re.fullmatch(pattern, grammar.text(random.Random(seed)))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no rule named root"),
        ('top ::= "x"', "no rule named root"),
        ("root ::= missing", "rule root: missing is not defined"),
        ("root ::= []", "rule root: an empty character class"),
        ('root ::= "x" )', "a rule begins with"),
        ('root ::= ("x"', "closing parenthesis"),
        ("root ::= root", "no text ever ends"),
        ('root ::= "x" root', "no text ever ends"),
        ("root = x", "line 1: unexpected '='"),
        ('root ::= "a"\n€', "line 2: unexpected"),
        ("root ::= [^ -~]", "empty character class"),
        ('root ::= "x"{30000}', "too long a text"),
    ],
)
def test_a_grammar_that_cannot_be_obeyed_is_refused(source: str, message: str) -> None:
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar(source).text(random.Random(1))
