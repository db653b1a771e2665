"""Cron expressions: crontab(5) without extensions."""

from __future__ import annotations

import pytest

from fwctl.spec.cron import problem_of


@pytest.mark.parametrize(
    "text",
    [
        "0 8 * * 1-5",
        "*/5 * * * *",
        "0 0 1,15 * *",
        "0 0 * * MON-FRI",
        "0 0 29 feb *",
        "5/10 0-6/2 * * 7",
        "59 23 31 12 0",
        "0 0 31 2 1",
        "0  8\t* * *",
    ],
)
def test_good_expressions(text: str) -> None:
    assert problem_of(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 fields"),
        ("@daily", "1 fields"),
        ("* * * *", "4 fields"),
        ("* * * * * *", "6 fields"),
        ("60 * * * *", "minute 60 is not between 0 and 59"),
        ("* 24 * * *", "hour 24"),
        ("* * 0 * *", "day of month 0"),
        ("* * * 13 *", "month 13"),
        ("* * * * 8", "day of week 8"),
        ("*/0 * * * *", "step 0"),
        ("*/60 * * * *", "step 60"),
        ("5-1 * * * *", "runs backwards"),
        ("a * * * *", "does not know 'a'"),
        ("* * * jänner *", "cannot be read"),
        ("* * * * L", "does not know 'l'"),
        ("1,,2 * * * *", "cannot be read"),
        ("-1 * * * *", "cannot be read"),
        ("? * * * *", "cannot be read"),
        ("* * * * 1#2", "cannot be read"),
        ("0 0 30 2 *", "never matches"),
        ("0 0 31 4,6,9,11 *", "never matches"),
        ("0 " * 200, "400 characters"),
    ],
)
def test_bad_expressions_say_why(text: str, words: str) -> None:
    problem = problem_of(text)
    assert problem is not None
    assert words in problem
