"""Pieces of Markdown in which what users and servers wrote is never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fwctl.report.layout import safe

# Marks that Markdown reads anywhere in a line; an underscore inside a word is none.
_SPECIAL = re.compile(r"[\\`*{}\[\]|<>~&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_AT_START = re.compile(r"^(?=[-+=#])|^(?P<digits>\d+)(?=[.)])")
# What GitHub turns into mentions, references, emoji and formulas after Markdown was read; a comment or
# an element inside stops it and shows nothing.
_AFTERWARDS = re.compile(r"[@#](?=\w)|:(?=[a-z0-9_+-]+:)|\$")
_SPLIT = {"@": "@<!-- -->", "#": "#<!-- -->", ":": ":<!-- -->", "$": "<span>$</span>"}


def escape(text: str) -> str:
    """Data as Markdown text: shown exactly as written; no markup, mention, reference or formula."""
    text = _within(text).lstrip(" ")
    return _AT_START.sub(lambda match: (match["digits"] or "") + "\\", text)


def _within(text: str) -> str:
    """Data that something stands before."""
    text = _SPECIAL.sub(r"\\\g<0>", safe(text))
    return _AFTERWARDS.sub(lambda match: _SPLIT[match.group()], text)


def prose(text: str) -> str:
    """A sentence in which words between backticks are code; anything else is shown as written."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    first, *rest = parts
    shown = [code(part) if at % 2 and part else _within(part) for at, part in enumerate(rest, 1)]
    return escape(first) + "".join(shown)


def code(text: str) -> str:
    """Data as inline code, with a fence longer than any run of backticks in it.

    A bar would end the cell of a table, within code too, and cannot be escaped there behind a backslash;
    such data is written as an element.
    """
    text = safe(text)
    if "|" in text:
        return f"<code>{escape(text)}</code>".replace("\\|", "&#124;")
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(lines: Sequence[str], language: str) -> list[str]:
    """Data as a code block, with a fence longer than any run of backticks in it."""
    shown = [safe(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *shown, fence]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines behind a title that opens on a click; the title is HTML already."""
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = ()) -> list[str]:
    """A table of cells that are Markdown already. right: names of the columns that hold numbers."""
    numbers = set(right)
    rule = "|".join("---:" if name in numbers else "---" for name in header)
    lines = ["| " + " | ".join(header) + " |", f"|{rule}|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
