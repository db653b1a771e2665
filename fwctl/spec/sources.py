"""The texts of a run, and places in them.

All files of a run share one space of character offsets, so a place is two integers wherever its text
came from; lines and columns are worked out only for what is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from fwctl.errors import Position

Span = tuple[int, int]

_LINE_END = re.compile(r"\r\n|\n|\r")
# A key that sounds like a secret, with something behind it that is no reference.
_SECRET_KEY = re.compile(
    r"(?i)(?:api[_-]?keys?|secret|password)[\"']?\s*:(?!\s*\[?\s*[\"']?\$\{env:[^}]*\}[\"']?\s*[\]},]|\s*$)"
)
LONGEST_SNIPPET = 1000  # characters; a longer line is no help and would be copied for every problem


class Source:
    """One file: the name as given, its text, and where it begins in the run's offsets."""

    __slots__ = ("_line_starts", "base", "file", "hidden_lines", "text")

    def __init__(self, file: str, text: str, base: int) -> None:
        self.file = file
        self.text = text
        self.base = base
        self.hidden_lines: set[int] = set()
        self._line_starts: list[int] | None = None

    @property
    def line_starts(self) -> list[int]:
        """Offset of the first character of every line, counted from the start of this file."""
        if self._line_starts is None:
            self._line_starts = [0, *(found.end() for found in _LINE_END.finditer(self.text))]
        return self._line_starts

    def line_of(self, offset: int) -> int:
        """1-based line of an offset of the run."""
        return bisect_right(self.line_starts, offset - self.base)

    def line_text(self, line: int) -> str:
        """Text of a 1-based line, without its end."""
        starts = self.line_starts
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")

    def snippet(self, line: int) -> str | None:
        """The line to show under a message; None where it is too long or may hold a written-out secret."""
        if line in self.hidden_lines:
            return None
        starts = self.line_starts
        end = starts[line] if line < len(starts) else len(self.text)
        if end - starts[line - 1] > LONGEST_SNIPPET:
            return None
        text = self.line_text(line)
        return None if _SECRET_KEY.search(text) else text

    def position(self, start: int, end: int) -> Position:
        if start == end == self.base:
            return Position(self.file, 1, 1, 1, 1)
        starts = self.line_starts
        first, last = self.line_of(start), self.line_of(max(start, end))
        return Position(
            self.file,
            first,
            start - self.base - starts[first - 1] + 1,
            last,
            max(start, end) - self.base - starts[last - 1] + 1,
        )


class Sources:
    """Every file of a run in one space of offsets."""

    __slots__ = ("_bases", "_sources")

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._bases: list[int] = []

    def add(self, file: str, text: str) -> Source:
        base = self._bases[-1] + len(self._sources[-1].text) + 1 if self._sources else 0
        source = Source(file, text, base)
        self._sources.append(source)
        self._bases.append(base)
        return source

    def of(self, offset: int) -> Source:
        return self._sources[bisect_right(self._bases, offset) - 1]

    def position(self, span: Span) -> Position:
        return self.of(span[0]).position(*span)

    def hide(self, span: Span) -> None:
        """Never show the lines of this span: they hold a secret that somebody wrote out."""
        source = self.of(span[0])
        source.hidden_lines.update(range(source.line_of(span[0]), source.line_of(span[1]) + 1))
