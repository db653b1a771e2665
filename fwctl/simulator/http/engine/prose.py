"""Seeded English-looking text, token by token, and seeded edits of a given text."""

from __future__ import annotations

import random
from collections.abc import Iterator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NOUNS = _words(
    "answer model request system result value table user file report service order market city "
    "garden window signal engine letter measure sample token layer memory server price record river "
    "bridge season teacher"
)
_VERBS = _words(
    "shows returns holds needs changes keeps explains reads writes moves follows counts covers "
    "reaches supports replaces describes finds opens joins"
)
_ADJECTIVES = _words(
    "small clear second common recent stable useful simple careful early local quiet open large "
    "exact separate short long steady plain"
)
_LINKS = ("and", "because", "while", "so that", "although", "when", "before", "after")
_DETERMINERS = ("the", "a", "this", "each", "every", "one", "that")


def _clause(rng: random.Random) -> list[str]:
    words = [rng.choice(_DETERMINERS)]
    if rng.random() < 0.5:
        words.append(rng.choice(_ADJECTIVES))
    words += [rng.choice(_NOUNS), rng.choice(_VERBS), rng.choice(_DETERMINERS)]
    if rng.random() < 0.3:
        words.append(rng.choice(_ADJECTIVES))
    return [*words, rng.choice(_NOUNS)]


def pieces(rng: random.Random) -> Iterator[str]:
    """An endless text as tokens; the first has no leading space."""
    lead = ""
    while True:
        words = _clause(rng)
        if rng.random() < 0.4:
            words += [*rng.choice(_LINKS).split(), *_clause(rng)]
        yield lead + words[0].capitalize()
        for word in words[1:]:
            yield " " + word
        yield "."
        lead = "\n\n" if rng.random() < 0.08 else " "


def edited(source: list[str], match: float, rng: random.Random) -> Iterator[str]:
    """The tokens of `source` with the share `1 - match` of them replaced, in short runs, as edits are."""
    words = pieces(rng)
    next(words)
    run = 0
    # Runs of three on average: the chance to begin one that leaves `match` untouched.
    begin = (1 - match) / (1 + 2 * match)
    for piece in source:
        if run == 0 and rng.random() < begin:
            run = rng.choice((2, 3, 4))
        if run > 0 and piece.strip():
            run -= 1
            yield next(words)
        else:
            yield piece
