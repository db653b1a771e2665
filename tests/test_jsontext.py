from __future__ import annotations

import pytest

from fwctl.jsontext import JsonTextError, decoded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": {"a": 2}}', {"a": 1, "b": {"a": 2}}),
        (b"\xef\xbb\xbf[1.5, null]", [1.5, None]),
        (b'"\\ud800"', "\ud800"),
        ("[" * 500 + "]" * 500, None),
    ],
)
def test_what_is_json_is_read(text: bytes | str, value: object) -> None:
    found = decoded(text)
    assert value is None or found == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value at column 1"),
        ('{\n "a": }', "Expecting value at line 2, column 7"),
        ("{\r\n", "Expecting property name enclosed in double quotes at column 2"),
        (b"ab\xff", "byte 3 (0xff) is not UTF-8"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' stands twice in an object"),
        ("[NaN]", "NaN is not a number"),
        ("[-Infinity]", "-Infinity is not a number"),
        ("9" * 5000, "a number has more than 4300 digits"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "it is nested too deeply"),
    ],
)
def test_what_two_readers_could_take_differently_is_refused(text: bytes | str, why: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        decoded(text)
    assert str(caught.value).endswith(why)


def test_a_message_holds_no_more_of_the_text_than_the_beginning_of_a_key() -> None:
    key = "k" * 1000
    with pytest.raises(JsonTextError) as caught:
        decoded(f'{{"{key}": "secret-1", "{key}": "secret-2"}}')
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 120
