"""Pages in Markdown and the like: which lines are code, and what editors make of its characters. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from fwctl.importing.words import BINARY

SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".org", ".html", ".htm")
_FENCE = re.compile(r"^\s*(?:[-*>]\s+)*(?:```|~~~)")
_INDENTED = re.compile(r"^(?: {4}|\t| {3}(?=\S))")
# What may stand before a command outside of code: nothing, a prompt, a bullet, a variable, an open quote.
_BEFORE = re.compile(
    r"^\s*(?:(?:[-*+>$%!#]|\d+[.)]|sudo|time|env|if|until|while|watch(?: -\w+)*|\w+=\S*)\s*)*$"
    r"|[`\"'($=!|&>][\s`]*$"
)
_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|nbsp|#\d+);")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u3000]")
_NOTHING = re.compile("[\u200b-\u200d\u2060\ufeff]")
_DASH = re.compile(r"(?<=\s)[\u2013\u2014]-?(?=[A-Za-z])|(?<=\s)-[\u2010-\u2014](?=[A-Za-z])")


def code_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The same lines, prose that only mentions firectl made empty."""
    fenced = False
    for number, line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            yield number, ""
            continue
        text = html.unescape(line) if _ENTITY.search(line) else line
        yield number, text if fenced or _INDENTED.match(text) or _is_code(text) else ""


def _is_code(line: str) -> bool:
    """True for a line without a mention too: it may continue a command."""
    mentions = list(BINARY.finditer(line))
    return not mentions or any(_BEFORE.search(line[: item.start()]) for item in mentions)


def straight(line: str) -> str:
    """The line with the quotes, dashes and blanks of a keyboard."""
    line = _NOTHING.sub("", _SPACES.sub(" ", line))
    line = _DASH.sub("--", line)
    if '"' not in line:
        line = re.sub("[\u201c\u201d\u201e]", '"', line)
    return line if set(line) & set("'\"") else re.sub("[\u2018\u2019]", "'", line)
