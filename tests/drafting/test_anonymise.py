"""What is found never survives, and what stays keeps its shape."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.drafting.anonymise import Anonymiser, Survey, each_text
from fwctl.drafting.findings import find, rules
from fwctl.drafting.pseudonyms import Pseudonyms, digest
from fwctl.errors import UsageError

KEY = b"k" * 32
TABLE = rules(["Anna Müller", "Bob"], {"ticket": r"TCK-[0-9]+"})


def clean(*texts: str) -> list[str]:
    survey = Survey(TABLE)
    for text in texts:
        survey.read(text)
    anonymiser = Anonymiser(survey, KEY)
    return [anonymiser.text(text) for text in texts]


def found_in(text: str) -> set[str]:
    return {text[hit.begin : hit.end] for hit in find(text, TABLE)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to anna.mueller@example.org today", "email"),
        ("from 192.168.17.4 at noon", "address"),
        ("see https://intern.example.org/x", "address"),
        ("fe80:0:0:0:202:b3ff:fe1e:8329", "address"),
        ("call +49 30 1234-5678 or", "number"),
        ("order 8731940", "number"),
        ("key fw_3ZabcdEFGH0123456789", "key"),
        ("Authorization: Bearer abcdef123456", "key"),
        ("token 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "key"),
        ("dear ANNA MÜLLER,", "name"),
        ('"\\nBob said', "name"),
        ("as of TCK-42", "ticket"),
    ],
)
def test_what_points_at_people_or_opens_doors_is_found(text: str, kind: str) -> None:
    assert kind in {hit.kind for hit in find(text, TABLE)}


@pytest.mark.parametrize("text", ["in 2024", "3.14", "Bobby", "10000", "v1.2.3", "a@b", "http localhost"])
def test_what_answers_are_made_of_stays(text: str) -> None:
    assert clean(text) == [text]


OTHERS = rules(["Zoë Müller", "Łukasz", "Nguyễn Văn An", "O'Brien", "李小龙"])


@pytest.mark.parametrize(
    "value",
    [
        "jörg.müller@exämple.de",
        "用户@例子.公司",
        '"odd name"@example.com',
        "+49 (0)30 1234567",
        "555) 123-4567",
        "555\u2013123\u20134567",
        "٠١٢٣٤٥٦٧٨٩",
        "DE89 3704 0044 0532 0130 00",
        "GB29 NWBK 6016 1331 9268 19",
        "2001:db8::1",
        "fe80::1ff:fe23:4567:890a",
        "00-1A-2B-3C-4D-5E",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "sk-proj-abcDEF123456abcDEF",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
        "zoë  müller",
        "ZOË MÜLLER",
        unicodedata.normalize("NFD", "Zoë Müller"),
        unicodedata.normalize("NFD", "Nguyễn Văn An"),
        "Łukasz",
        "O\u2019Brien",
        "李小龙",
    ],
)
def test_of_other_countries_and_other_spellings_nothing_is_left(value: str) -> None:
    (hit,) = find(f"so {value}, then", OTHERS)
    assert (hit.begin, hit.end) == (3, 3 + len(value))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text(alphabet="abc '.", min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=12),
    st.text(alphabet="abc '.,", max_size=40),
)
def test_a_list_of_names_finds_what_its_names_find_one_by_one(names: list[str], text: str) -> None:
    def places(*listed: str) -> set[int]:
        hits = find(text, rules(listed)[-1:])
        return {place for hit in hits for place in range(hit.begin, hit.end)}

    assert {at for name in names for at in places(name)} >= places(*names)
    assert all(places(*names) & places(name) for name in names if places(name))


def test_long_lists_of_alike_names_are_found() -> None:
    alike = ["a" * count for count in range(1, 300)]
    table = rules([*alike, *(f"name{number}" for number in range(20_000))])
    assert [hit[:2] for hit in find("so aaaa, name19999 and name20000", table[-1:])] == [(3, 7), (9, 18)]


def test_user_and_password_of_an_address_are_found() -> None:
    (after,) = clean("postgres://admin:hunter2@db.internal:5432/orders")
    assert not re.search("admin|hunter2|internal", after)
    assert re.fullmatch(r"postgres://[a-z]{5}:[a-z]{6}[0-9]@[a-z]{2}\.[a-z]{8}:5432/orders", after)
    (after,) = clean("Authorization: Basic YWRtaW46aHVudGVyMg==")
    assert "YWRtaW46" not in after


@pytest.mark.parametrize("text", ["std::vector", "a[::2]", "at 12:30:45", "Basic concepts", "Bearer of news"])
def test_code_and_prose_are_left_alone(text: str) -> None:
    assert clean(text) == [text]


def test_a_value_known_by_what_stands_before_it_is_gone_everywhere() -> None:
    one, two, three = clean(
        "Authorization: Bearer abc-123def",
        "the token abc-123def is mine",
        "https://in.example.org, in.example.org",
    )
    assert "abc-123def" not in one + two
    assert re.findall("[a-z]{3}-[0-9]{3}[a-z]{3}", one) == re.findall("[a-z]{3}-[0-9]{3}[a-z]{3}", two)
    assert "example" not in three


def test_json_in_a_string_of_json_is_looked_through() -> None:
    inner = json.dumps({"who": "Anna M\u00fcller", "n": 8731940})
    (after,) = clean(json.dumps({"said": inner}))
    got = json.loads(json.loads(after)["said"])
    assert list(got) == ["who", "n"]
    assert len(got["who"]) == len("Anna Müller")
    assert not {"Anna", "ller"} & set(re.findall("[A-Za-z]+", got["who"]))
    assert got["n"] != 8731940


def test_the_same_value_has_the_same_stand_in_of_the_same_shape() -> None:
    one, two = clean("Bob has order 8731940, Bob!", "order 8731940")
    number = re.findall("[0-9]+", one)[0]
    assert number != "8731940"
    assert len(number) == 7
    assert two == f"order {number}"
    first, last = re.findall("^[A-Z][a-z]{2}", one)[0], re.findall("[A-Z][a-z]{2}(?=!)", one)[0]
    assert first == last != "Bob"


def test_the_structure_of_json_survives_with_escapes_and_numbers() -> None:
    text = '{"name": "\\u0042ob", "id": 8731940, "mail": "a.b@example.org", "n": [1, 2.5, 0.123456789]}'
    (after,) = clean(text)
    before, got = json.loads(text), json.loads(after)
    assert list(got) == list(before)
    assert got["name"] != "Bob"
    assert isinstance(got["id"], int)
    assert len(str(got["id"])) == 7
    assert re.fullmatch(r"[a-z]\.[a-z]@[a-z]{7}\.[a-z]{3}", got["mail"])
    assert got["n"][:2] == [1, 2.5]
    assert len(after) == len(text.replace("\\u0042", "B"))


VALUES = st.one_of(
    st.text(alphabet="abAB01 ._@-/:,+\"'\\{}[]\n", max_size=30),
    st.emails(),
    st.integers(0, 10**12).map(str),
    st.sampled_from(["Bob", "Anna Müller", "fw_3ZabcdEFGH0123456789", "10.1.2.3", "TCK-7"]),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(VALUES, max_size=8).map(" ".join), st.lists(VALUES, max_size=8).map(" ".join))
def test_nothing_that_was_found_survives_in_any_output(one: str, two: str) -> None:
    outputs = clean(one, two)
    gone = found_in(one) | found_in(two)
    for output in outputs:
        assert not found_in(output) & gone
    assert [len(output) for output in outputs] == [len(one), len(two)]


JSON = st.recursive(
    st.one_of(
        VALUES, st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False), st.none()
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def shape(value: object) -> object:
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return len(value) if isinstance(value, str) else type(value)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), JSON, max_size=4))
def test_json_answers_keep_their_structure(document: dict[str, object]) -> None:
    text = json.dumps(document)
    (after,) = clean(text)
    assert shape(json.loads(after)) == shape(document)
    gone = {item for piece in texts(document) for item in found_in(piece)}
    assert not {item for piece in texts(json.loads(after)) for item in found_in(piece)} & gone


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def test_where_every_value_of_a_shape_is_taken_the_stand_in_is_a_calm_one() -> None:
    every = {digest(str(number)) for number in range(10)}
    assert Pseudonyms(KEY, every).of("7") == "1"
    assert Pseudonyms(KEY, {digest(letter) for letter in "abcdefghijklmnopqrstuvwxyz"}).of("q") == "x"


def test_the_report_counts_and_holds_no_value() -> None:
    survey = Survey(TABLE)
    survey.read("Bob, Bob and bob@example.org")
    survey.read("nothing")
    report = survey.report()
    assert report["by_kind"]["name"] == {"places": 2, "values": 1}
    assert (report["texts"], report["texts_changed"]) == (2, 1)
    assert "Bob" not in json.dumps(report)


@pytest.mark.parametrize(
    ("pattern", "said"), [("(", "no regular expression"), ("a*", "empty"), ("a" * 501, "longer")]
)
def test_a_rule_that_cannot_work_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rules(own={"mine": pattern})


def test_texts_in_objects_are_changed_and_keys_are_not() -> None:
    assert each_text({"a": ["b", 1], "c": {"a": "a"}}, str.upper) == {"a": ["B", 1], "c": {"a": "A"}}
