"""Strings that match a regular expression, for JSON Schema `pattern`."""

from __future__ import annotations

import random
import re
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as sre_parse  # type: ignore[import-not-found]
import warnings
from typing import Any

# Longest text for an open-ended repetition, and most nodes visited for one pattern.
_OPEN_REPEAT = 4
_BUDGET = 5_000
_PRINTABLE = [chr(code) for code in range(32, 127)]
_OTHERS = "éßøλжא漢"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "0123456789",
    sre.CATEGORY_SPACE: " ",
    sre.CATEGORY_WORD: "abcdefghijklmnopqrstuvwxyz0123456789_",
    sre.CATEGORY_NOT_DIGIT: "abcdef",
    sre.CATEGORY_NOT_SPACE: "abcdef",
    sre.CATEGORY_NOT_WORD: " -",
}


class PatternError(Exception):
    """The pattern cannot be parsed, or uses something for which no text can be made."""


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.groups: dict[int, str] = {}
        self.left = _BUDGET

    def run(self, parsed: Any) -> str:
        return "".join(self.one(op, argument) for op, argument in parsed)

    def one(self, op: Any, argument: Any) -> str:
        self.left -= 1
        if self.left < 0:
            raise PatternError("the pattern needs too long a text")
        maker = getattr(self, f"_{str(op).lower()}", None)
        if maker is None:
            raise PatternError(f"{str(op).lower()} is not supported in a pattern")
        text: str = maker(argument)
        return text

    def _literal(self, code: int) -> str:
        return chr(code)

    def _not_literal(self, code: int) -> str:
        return self.rng.choice([c for c in "abcdef" if ord(c) != code])

    def _any(self, _: Any) -> str:
        return self.rng.choice("abcdefghijklmnopqrstuvwxyz")

    def _at(self, _: Any) -> str:
        return ""

    def _assert(self, _: Any) -> str:
        return ""

    def _assert_not(self, _: Any) -> str:
        return ""

    def _in(self, items: Any) -> str:
        allowed: list[str] = []
        negated = False
        for op, argument in items:
            if op is sre.NEGATE:
                negated = True
            elif op is sre.RANGE:
                allowed += [chr(code) for code in range(argument[0], min(argument[1], argument[0] + 127) + 1)]
            elif op is sre.LITERAL:
                allowed.append(chr(argument))
            else:
                allowed += _CATEGORIES[argument]
        choices = allowed
        if negated:
            choices = [c for c in _PRINTABLE if c not in allowed] or [c for c in _OTHERS if c not in allowed]
        if not choices:
            raise PatternError("a character class of the pattern is empty")
        return self.rng.choice(choices)

    def _max_repeat(self, argument: Any) -> str:
        low, high, body = argument
        top = min(high, low + _OPEN_REPEAT)
        return "".join(self.run(body) for _ in range(self.rng.randint(low, top)))

    _min_repeat = _max_repeat
    _possessive_repeat = _max_repeat

    def _branch(self, argument: Any) -> str:
        return self.run(self.rng.choice(argument[1]))

    def _subpattern(self, argument: Any) -> str:
        group, *_, body = argument
        text = self.run(body)
        if group is not None:
            self.groups[group] = text
        return text

    def _atomic_group(self, body: Any) -> str:
        return self.run(body)

    def _groupref(self, group: int) -> str:
        return self.groups.get(group, "")


def matching(pattern: str, rng: random.Random) -> str:
    """A text in which `pattern` is found. Raises PatternError."""
    try:
        with warnings.catch_warnings():
            # Python warns of what a later version may read otherwise; the caller cannot act on it.
            warnings.simplefilter("ignore", FutureWarning)
            text = _Maker(rng).run(sre_parse.parse(pattern))
            found = re.search(pattern, text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"the pattern {pattern[:80]!r} is not understood: {error}") from None
    if found is None:
        raise PatternError(f"no text was found for the pattern {pattern[:80]!r}")
    return text
