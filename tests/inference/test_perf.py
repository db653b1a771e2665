"""Metrics as numbers or strings, in headers or body; acceptance in both of its meanings."""

from __future__ import annotations

import pytest

from fwctl.inference.perf import UnknownAcceptanceError, from_body, from_headers, parse_acceptance


def test_strings_and_numbers_are_the_same() -> None:
    expected = {"prompt-tokens": 12.0, "server-time-to-first-token": 0.25}
    assert from_body({"prompt-tokens": 12, "server-time-to-first-token": "0.25"}) == expected


def test_header_names_carry_a_prefix_and_any_case() -> None:
    headers = {"Fireworks-Prompt-Tokens": "12", "Content-Type": "x", "fireworks-backend-host": "h1"}
    assert from_headers(headers) == {"prompt-tokens": 12.0, "backend-host": "h1"}


def test_underscores_and_the_older_name_are_understood() -> None:
    assert from_body({"speculation_matched_tokens": "3"}) == {"speculation-prompt-matched-tokens": 3.0}


@pytest.mark.parametrize("value", ["n/a", None, True, [], "nan", -1, "inf", 10**400])
def test_an_unreadable_value_is_absent_not_zero(value: object) -> None:
    assert from_body({"prompt-tokens": value}) == {}


@pytest.mark.parametrize("metrics", [None, [], "x", {"unknown": 1}, {"deployment": 7}])
def test_anything_else_gives_nothing(metrics: object) -> None:
    assert from_body(metrics) == {}


# By hand: of 100 passes 80, 60 and 45 came so far, so a pass gives 1 + 1.85 tokens. In the last two some
# drafts were shorter than three tokens.
@pytest.mark.parametrize(
    ("text", "conditional"),
    [
        ("1:80/100,2:60/100,3:45/100", False),
        ("1:80/100, 2:60/80, 3:45/60", True),
        ("1:80/100,2:60/90,3:45/90", False),
        ("1:80/100,2:60/70,3:45/60", True),
    ],
)
def test_the_meanings_of_acceptance_agree(text: str, conditional: bool) -> None:
    found = parse_acceptance(text)
    assert found.reached == pytest.approx((0.8, 0.6, 0.45))
    assert found.tokens_per_pass == pytest.approx(2.85)
    assert (found.conditional, found.drafts) == (conditional, 100)


def test_nothing_drafted_after_a_total_miss_is_zero() -> None:
    assert parse_acceptance("0:0/10,1:0/0").reached == (0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1:2",
        "1:5/4",
        "1:0/0",
        "2:1/2",
        "1:1/2,3:1/2",
        "1:80/100,2:60/110",
        "1:80/100,2:60/80,3:60/90",
        "1:50/100,2:60/100",
        "x:1/2",
    ],
)
def test_what_is_ambiguous_is_refused(text: str) -> None:
    with pytest.raises(UnknownAcceptanceError):
        parse_acceptance(text)
