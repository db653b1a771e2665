"""Argument lists in source code: `"firectl", "deployment", "create", model` in any language. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fwctl.importing.words import Word, reference, word

_START = re.compile(r"""(["'`])(?:[\w.~${}-]*/)*firectl(?:\.exe)?\1\s*,""")
_STRING = re.compile(r"""[rbfu]?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)\s*""")
_NAME = re.compile(r"\$?[A-Za-z_][\w.]*")
_OPEN, _CLOSE = "([{", ")]}"
_LONGEST_CHARACTERS = 4000


def argument_lists(text: str) -> Iterator[tuple[int, list[Word]]]:
    """(offset of the binary, words after it) for every list in this text."""
    for start in _START.finditer(text):
        items = list(_items(text, start.end()))
        if items:
            yield start.start(), [_word(item) for item in items]


def _items(text: str, at: int) -> Iterator[str]:
    """The items up to the bracket that closes the list; a list that is an argument is opened."""
    end = min(len(text), at + _LONGEST_CHARACTERS)
    item, depth, inner = "", 0, False
    while at < end:
        string = _STRING.match(text, at)
        character = text[at]
        if string is not None:
            item, at = item + string.group(), string.end()
            continue
        at += 1
        if character == "[" and not item.strip() and not depth and not inner:
            inner = True
            continue
        if character in _CLOSE and not depth:
            break
        if character == "," and not depth:
            yield from [item.strip()] if item.strip() else []
            item = ""
            continue
        depth += (character in _OPEN) - (character in _CLOSE)
        item += character
    if item.strip():
        yield item.strip()


def _word(item: str) -> Word:
    string = _STRING.fullmatch(item)
    if string is not None:
        return word(re.sub(r"\\(.)", r"\1", string[1][1:-1]))
    if item.startswith(("*", "...")) or item.endswith("..."):
        return Word(item[:60], array=True)
    if re.fullmatch(r"-?[0-9.]+", item):
        return Word(item)
    if _NAME.fullmatch(item):
        return Word(reference(item.rsplit(".", 1)[-1]))
    return Word(item[:60], computed=True)
