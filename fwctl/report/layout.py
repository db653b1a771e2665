"""Text for terminals: styles, glyphs, wrapping and tables, without ever cutting a word.

Strings handed in are data. Control characters in them are shown as escapes and nothing in them is
read as markup, so what a user or a server wrote appears exactly as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from unicodedata import east_asian_width

# C0, C1, line and paragraph separators, bidirectional controls and lone surrogates: they could move
# the cursor, forge a line or reorder what is read.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

_SGR = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}

_ASCII = {
    "→": "->",
    "✓": "ok",
    "✗": "x",
    "…": "...",
    "─": "-",
    "█": "#",
    "▒": "=",
    "░": ".",
    "▓": "%",
    "≥": ">=",
    "·": "-",
}


def safe(text: str) -> str:
    """The text with every control character spelled out."""

    def spell(match: re.Match[str]) -> str:
        char = match.group()
        if char in _NAMED:
            return _NAMED[char]
        code = ord(char)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return _UNSAFE.sub(spell, text)


def columns(text: str) -> int:
    """Terminal columns that the text takes; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


@dataclass(frozen=True, slots=True)
class Style:
    """How the output looks. width None: lines are never wrapped (pipes, files, CI logs).

    For formats that name files from the root of the repository: folder is where relative names of files
    begin and root the repository, both absolute. manual: base of links to the documentation, with its
    last slash.
    """

    width: int | None = None
    color: bool = False
    unicode: bool = True
    folder: str = ""
    root: str = ""
    manual: str = ""

    def glyph(self, char: str) -> str:
        return char if self.unicode else _ASCII.get(char, "?")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line with a style, for example `Span("error", "bold red")`."""

    text: str
    style: str = ""


Part = str | Span


@dataclass(slots=True)
class Page:
    """Collects lines and renders them for one style."""

    style: Style
    _lines: list[str] = field(default_factory=list)

    def line(self, *parts: Part, indent: int = 0, hang: int = 2) -> None:
        """One line, wrapped between words when it is wider than the terminal.

        indent: columns before the line; hang: further columns before its continuation lines.
        """
        spans = [part if isinstance(part, Span) else Span(part) for part in parts]
        spans = [Span(safe(span.text), span.style) for span in spans]
        for number, row in enumerate(_wrap(spans, self.style.width, indent, hang)):
            pad = " " * (indent + (hang if number else 0))
            self._lines.append((pad + "".join(self._paint(span) for span in row)).rstrip())

    def raw(self, *parts: Part) -> None:
        """One line that is never wrapped: code, snippets, commands to copy."""
        spans = [part if isinstance(part, Span) else Span(part) for part in parts]
        self._lines.append("".join(self._paint(Span(safe(span.text), span.style)) for span in spans).rstrip())

    def blank(self) -> None:
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def table(
        self, header: Sequence[str], rows: Iterable[Sequence[Part]], *, indent: int = 0, right: str = ""
    ) -> None:
        """Aligned columns; one `name: value` block a row when they do not fit the width.

        right: the header names, separated by commas, whose columns are numbers.
        """
        cells = [[part if isinstance(part, Span) else Span(part) for part in row] for row in rows]
        cells = [[Span(safe(span.text), span.style) for span in row] for row in cells]
        widths = [
            max(columns(name), *(columns(row[at].text) for row in cells)) if cells else columns(name)
            for at, name in enumerate(header)
        ]
        total = indent + sum(widths) + 2 * (len(widths) - 1)
        if self.style.width is not None and total > self.style.width:
            self._stack(header, cells, indent)
            return
        numbers = {name.strip() for name in right.split(",")}
        self._row([Span(name, "bold") for name in header], header, widths, numbers, indent)
        for row in cells:
            self._row(row, header, widths, numbers, indent)

    def text(self) -> str:
        """Everything so far, ending in a newline when there is anything."""
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        return "\n".join(self._lines) + "\n" if self._lines else ""

    def _row(
        self, row: list[Span], header: Sequence[str], widths: list[int], numbers: set[str], indent: int
    ) -> None:
        out = []
        for name, span, width in zip(header, row, widths, strict=True):
            pad = " " * (width - columns(span.text))
            painted = self._paint(span)
            out.append(pad + painted if name in numbers else painted + pad)
        self._lines.append((" " * indent + "  ".join(out)).rstrip())

    def _stack(self, header: Sequence[str], cells: list[list[Span]], indent: int) -> None:
        for number, row in enumerate(cells):
            if number:
                self.blank()
            for name, span in zip(header, row, strict=True):
                if span.text:
                    self.line(f"{name}: " if name.strip() else "", span, indent=indent)

    def _paint(self, span: Span) -> str:
        codes = [_SGR[word] for word in span.style.split()]
        if not (self.style.color and codes and span.text):
            return span.text
        return f"\x1b[{';'.join(codes)}m{span.text}\x1b[0m"


def _wrap(spans: list[Span], width: int | None, indent: int, hang: int) -> list[list[Span]]:
    """The spans broken into rows at spaces; a word longer than the width stays whole."""
    if width is None or indent + sum(columns(span.text) for span in spans) <= width:
        return [spans]
    rows: list[list[Span]] = [[]]
    room = used = 0
    room = width - indent
    for word in _words(spans):
        size = sum(columns(span.text) for span in word)
        bare = sum(columns(span.text.rstrip(" ")) for span in word[-1:]) + sum(
            columns(span.text) for span in word[:-1]
        )
        if used and used + bare > room:
            rows.append([])
            used, room = 0, width - indent - hang
            if not bare:
                continue
        rows[-1].extend(word)
        used += size
    return rows


def _words(spans: list[Span]) -> list[list[Span]]:
    """Groups of spans that must stay on one line: a word and the spaces after it."""
    words: list[list[Span]] = []
    current: list[Span] = []
    for span in spans:
        for piece in re.findall(r"[^ ]+ *| +", span.text):
            current.append(Span(piece, span.style))
            if piece.endswith(" "):
                words.append(current)
                current = []
    if current:
        words.append(current)
    return words
