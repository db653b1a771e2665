"""Loops, whitespace and broken characters are found; what people and programs write is not."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from time import perf_counter

import pytest

from fwctl.quality.degenerate import degenerate

WORDS = ["ship", "sails", "dawn", "while", "gulls", "cry", "over", "grey", "water", "keeper", "counts"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The answer is 4." + " The answer is 4." * 40, "loop of 17 characters"),
        ("Let me think. " + "!" * 400, "loop of 1 characters"),
        ("{" + " \n" * 300, "characters of whitespace"),
        ("\ufffd\x00" * 60, "cannot be shown"),
        ("答案是四。" * 60, "loop of 5 characters"),
        ("Intro. " + "ab" * 300 + "\n\n", "loop of 2 characters"),
    ],
)
def test_degenerate_text_is_named(text: str, why: str) -> None:
    assert why in str(degenerate(text))


def test_a_loop_with_variations_is_found() -> None:
    random = Random(1)
    phrases = ["so the total is", "and the sum is", "which gives us"]
    text = " ".join(random.choice(phrases[:2]) for _ in range(120))
    assert "phrases of 4 words are new" in str(degenerate(text)) or "loop" in str(degenerate(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        "no " * 10,
        "-" * 80 + "\nTotal: 4\n",
        "| a | b |\n|---|---|\n" + "".join(f"| {n} | {n * n} |\n" for n in range(60)),
        json.dumps([{"id": n, "name": f"item {n * 7919 % 101}", "ok": n % 2 == 0} for n in range(80)]),
        "ha" * 30,
        "x = [" + ", ".join(["0"] * 64) + "]",
    ],
)
def test_what_is_written_is_not_degenerate(text: str) -> None:
    assert degenerate(text) is None


def test_the_documentation_is_not_degenerate() -> None:
    for path in sorted((Path(__file__).parents[2] / "docs").glob("*.md")):
        assert degenerate(path.read_text()) is None, path.name


def test_random_prose_is_not_degenerate() -> None:
    random = Random(2)
    assert degenerate(" ".join(random.choice(WORDS) for _ in range(600))) is None


def test_a_huge_answer_takes_no_time() -> None:
    started = perf_counter()
    degenerate("ab" * 2_000_000 + "c" * 39)
    degenerate("a b " * 1_000_000)
    assert perf_counter() - started < 2
