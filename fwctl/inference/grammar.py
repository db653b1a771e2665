"""GBNF grammars, read far enough to find what no server could work with, before anything is sent.

Source: the grammar of GBNF in llama.cpp, grammars/README.md. Rules, literals, character classes, groups,
repetitions and comments are read; whether a grammar is ambiguous or left-recursive is not judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_CHARACTERS = 1_000_000
MOST_PROBLEMS = 20

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*)
      | (?P<define>[A-Za-z0-9][A-Za-z0-9_-]*[ \t]*::=)
      | (?P<name>[A-Za-z0-9][A-Za-z0-9_-]*)
      | (?P<literal>"(?:\\.|[^"\\])*"|!?<[^<>\n]+>)
      | (?P<class>\[(?:\\.|[^\]\\])*\])
      | (?P<repeat>[*+?]|\{\s*\d+\s*(?:,\s*\d*\s*)?\})
      | (?P<bar>\|)
      | (?P<open>\()
      | (?P<close>\))
      | (?P<any>\.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERANDS = frozenset({"name", "literal", "class", "any", "close"})


@dataclass(slots=True)
class _Read:
    """Rules and problems with their offsets in the text."""

    defined: set[str] = field(default_factory=set)
    used: dict[str, int] = field(default_factory=dict)
    problems: list[tuple[int, str]] = field(default_factory=list)
    depth: int = 0
    before: str = ""


def problems(grammar: str) -> list[str]:
    """What is wrong with a grammar, each with `line L, column C`; empty when nothing was found."""
    if len(grammar) > MOST_CHARACTERS:
        return [f"line 1, column 1: the grammar is longer than {MOST_CHARACTERS} characters"]
    read, at = _Read(), 0
    while at < len(grammar) and len(read.problems) < MOST_PROBLEMS:
        token = _TOKEN.match(grammar, at)
        if token is None:
            read.problems.append((at, f"{grammar[at]!r} begins nothing that GBNF knows"))
            return _placed(read, grammar)
        _take(read, token)
        at = token.end()
    if read.depth > 0:
        read.problems.append((at, "a group is not closed"))
    if "root" not in read.defined:
        read.problems.append((0, "there is no rule `root`"))
    read.problems += [
        (place, f"the rule {name!r} is used and not defined")
        for name, place in read.used.items()
        if name not in read.defined
    ]
    return _placed(read, grammar)


def _take(read: _Read, token: re.Match[str]) -> None:
    kind, text, place = str(token.lastgroup), token.group(), token.start()
    if kind == "space":
        return
    wrong: str | None = None
    if kind == "define":
        wrong = _define(read, text.removesuffix("::=").rstrip())
    elif not read.defined:
        wrong = "a rule begins with its name and `::=`"
    elif kind == "name":
        read.used.setdefault(text, place)
    elif kind == "repeat" and read.before not in _OPERANDS:
        wrong = f"{text} has nothing to repeat"
    elif kind in ("open", "close"):
        wrong = _group(read, 1 if kind == "open" else -1)
    if wrong is not None:
        read.problems.append((place, wrong))
    read.before = kind


def _define(read: _Read, name: str) -> str | None:
    known = name in read.defined
    read.defined.add(name)
    if read.depth:
        read.depth = 0
        return "a group is not closed"
    return f"the rule {name!r} is defined twice" if known else None


def _group(read: _Read, step: int) -> str | None:
    read.depth += step
    if read.depth < 0:
        read.depth = 0
        return "a group is closed that was not opened"
    return None


def _placed(read: _Read, grammar: str) -> list[str]:
    found = sorted(read.problems)[:MOST_PROBLEMS]
    return [f"{_place(grammar, at)}: {text}" for at, text in found]


def _place(grammar: str, at: int) -> str:
    line_start = grammar.rfind("\n", 0, at) + 1
    return f"line {grammar.count(chr(10), 0, at) + 1}, column {at - line_start + 1}"
