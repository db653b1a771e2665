"""Answers that no reader would call one: loops, walls of whitespace, broken characters.

The thresholds are far outside of what people and programs write: a text that repeats one phrase of at
most a few sentences to its very end, at least six times over, or whose last 200 words hold hardly any new
four-word phrase.
"""

from __future__ import annotations

import re

TAIL_CHARACTERS = 4000
LOOP_CHARACTERS = 240
LOOP_TIMES = 6
WHITESPACE_RUN = 256
NGRAM_WORDS = 4
WINDOW_WORDS = 200
LEAST_NEW_SHARE = 0.15
BROKEN_SHARE = 0.05
LEAST_CHARACTERS = 40
# Controls other than tab, newline, form feed and return, and the mark for what could not be decoded.
_NEVER_SHOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffd]")


def degenerate(text: str) -> str | None:
    """Why the text is degenerate, in words; None when it is not. Time grows linearly with the tail."""
    if len(text) < LEAST_CHARACTERS:
        return None
    body = text.rstrip()
    if len(text) - len(body) >= WHITESPACE_RUN:
        return f"ends in {len(text) - len(body)} characters of whitespace"
    broken = len(_NEVER_SHOWN.findall(text))
    if broken > BROKEN_SHARE * len(text):
        return f"{broken} of {len(text)} characters cannot be shown"
    tail = body[-TAIL_CHARACTERS:]
    if (period := _loop(tail)) is not None:
        return f"ends in a loop of {period} characters"
    return _stuck(tail)


def _loop(tail: str) -> int | None:
    """Length of the shortest phrase that the end of the text repeats, by the failure function of Knuth,
    Morris and Pratt over the reversed text."""
    turned = tail[::-1]
    fail = [0] * len(turned)
    matched = 0
    for place in range(1, len(turned)):
        while matched and turned[place] != turned[matched]:
            matched = fail[matched - 1]
        matched += turned[place] == turned[matched]
        fail[place] = matched
        length, period = place + 1, place + 1 - matched
        if length >= LOOP_CHARACTERS and length >= LOOP_TIMES * period:
            return period
    return None


def _stuck(tail: str) -> str | None:
    words = tail.split()[-WINDOW_WORDS:]
    if len(words) < WINDOW_WORDS:
        return None
    phrases = list(zip(*(words[at:] for at in range(NGRAM_WORDS)), strict=False))
    share = len(set(phrases)) / len(phrases)
    if share >= LEAST_NEW_SHARE:
        return None
    return f"only {share:.0%} of the last phrases of {NGRAM_WORDS} words are new"
