from __future__ import annotations

import pytest

from fwctl.units import format_duration, format_gib, format_usd, parse_duration, short_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("30s", 30),
        ("5m", 300),
        ("5m0s", 300),
        ("300s", 300),
        ("1h30m", 5400),
        ("1h0m0s", 3600),
        ("7d", 604800),
        ("1.5h", 5400),
        ("250ms", 0.25),
        (" 10m ", 600),
    ],
)
def test_durations_of_people_and_of_go_are_read(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5 m", "-5m", "5x", "1h30", "٥m", "1e3s", "1_0s", "9" * 400 + "h", "300y"]
)
def test_anything_else_is_no_duration(text):
    with pytest.raises(ValueError):
        parse_duration(text)


def test_a_message_about_a_huge_text_stays_short():
    with pytest.raises(ValueError) as caught:
        parse_duration("x" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (30, "30s"),
        (90, "1m30s"),
        (300, "5m0s"),
        (3600, "1h0m0s"),
        (90061.5, "25h1m1.5s"),
        (0.25, "0.25s"),
        (59.9999999999, "1m0s"),
        (-90, "-1m30s"),
        (-1e-12, "0s"),
    ],
)
def test_durations_are_written_as_go_writes_them(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (300, "5m"),
        (600, "10m"),
        (5400, "1h30m"),
        (45, "45s"),
        (3600, "1h"),
        (3605, "1h0m5s"),
        (0, "0s"),
        (70, "1m10s"),
    ],
)
def test_the_short_form_drops_only_what_is_zero(seconds, text):
    assert short_duration(seconds) == text
    assert parse_duration(text) == seconds


def test_sizes_are_binary_gibibytes():
    assert format_gib(80 * 2**30) == "80.00 GiB"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(8, "$8.00/h"), (1234.5, "$1,234.50/h"), (-6.5, "-$6.50/h"), (-0.001, "$0.00/h"), (None, "unknown")],
)
def test_money_has_two_decimals_and_an_unknown_amount_says_so(amount, text):
    assert format_usd(amount, "/h") == text
