"""What in a text points at a person or opens a door: patterns by kind. Pure.

The defaults err on the side of finding too much: what they replace costs a drafter little, since
pseudonyms keep the shape of what they stand for. Numbers below SHORTEST_NUMBER digits stay: years, counts
and prices are what answers are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from unicodedata import normalize

from fwctl.errors import UsageError

SHORTEST_NUMBER = 5
LONGEST_LIST = 100_000
_LONGEST_RULE = 500
_MOST_LEVELS = 40  # groups in groups of one pattern, far below what Python can follow
# A word may begin behind an escape of JSON or of a programming language: "\nAnna".
_BEGIN = r"(?:(?<![^\W_])|(?<=\\[nrtbf]))"
_END = r"(?![^\W_])"
_DIGIT_GAP = r"[\s./()\u2010-\u2015-]{0,2}"
_HEX = "[0-9A-Fa-f]{1,4}"
_HEXES = f"{_HEX}(?::{_HEX}){{0,6}}"
_KEYS = "fw|sk|pk|rk|gh[oprsu]|glpat|hf|xox[abp]|AIza|AKIA|ASIA"  # how keys of well-known services begin


class Rule(NamedTuple):
    """kind: what the report calls it. pattern: the whole match is replaced."""

    kind: str
    pattern: re.Pattern[str]


class Hit(NamedTuple):
    """A place in a text."""

    begin: int
    end: int
    kind: str


# In this order: where two rules meet, the earlier one names the kind.
DEFAULTS: tuple[Rule, ...] = (
    Rule("key", re.compile(r"-----BEGIN [A-Z ]{3,40}-----[^-]{1,20000}-----END [A-Z ]{3,40}-----")),
    Rule("key", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    Rule("key", re.compile(rf"\b(?:{_KEYS})[_-]?[A-Za-z0-9_-]{{12,}}")),
    Rule("key", re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{6,}")),
    Rule("key", re.compile(r"(?i)(?<=\bbasic )(?=[A-Z+/]*[0-9=])[A-Z0-9+/]{6,}={0,2}")),
    Rule("key", re.compile(r"(?<=://)[^\s/@:]{1,100}:[^\s/@]{1,100}(?=@)")),
    Rule(
        "key",
        re.compile(
            r"\b(?=[A-Za-z0-9_+/-]{0,400}[0-9])(?=[A-Za-z0-9_+/-]{0,400}[A-Za-z])[A-Za-z0-9_+/-]{32,}={0,2}"
        ),
    ),
    Rule("email", re.compile(r'(?:[\w.%+-]{1,64}|"[^"\n@]{1,64}")@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}')),
    Rule("address", re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")),
    Rule("address", re.compile(rf"(?<![\w:])(?:{_HEX}:){{4,7}}{_HEX}(?![\w:])")),
    Rule("address", re.compile(rf"(?<![\w:])(?=[a-fA-F:]*[0-9]){_HEXES}::(?:{_HEXES})?(?![\w:])")),
    Rule("address", re.compile(r"(?<![\w-])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w-])")),
    Rule("address", re.compile(r"(?<=://)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")),
    Rule("number", re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")),  # IBAN
    Rule("number", re.compile(rf"(?<![\w.])\+?\d(?:{_DIGIT_GAP}\d){{8,18}}(?![\w])")),
    Rule("number", re.compile(rf"\d{{{SHORTEST_NUMBER},}}")),
)
KINDS = ("key", "email", "address", "number", "name")
_OTHER_LETTERS = {" ": r"\s+", "'": "['’]"}  # of a listed name
_CALM = re.compile(r"^\D*1?0*\D*$")  # 0000 and 10000 tell nothing, and stand in where nothing is free


def rules(names: Iterable[str] = (), own: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
    """The user's rules (kind -> pattern), the default ones, and one for a list of names.

    UsageError for a pattern that does not compile, is too long, or matches nothing at all.
    """
    found = [*(_own(kind, pattern) for kind, pattern in (own or {}).items()), *DEFAULTS]
    listed = sorted({name.strip() for name in names if name.strip()})
    if len(listed) > LONGEST_LIST:
        raise UsageError(f"a list of names holds at most {LONGEST_LIST:,}, not {len(listed):,}")
    if listed:
        words = _any_of(form for name in listed for form in _forms(name))
        found.append(Rule("name", re.compile(f"{_BEGIN}(?:{words}){_END}", re.IGNORECASE)))
    return tuple(found)


def _forms(name: str) -> Iterator[list[str]]:
    """Patterns of a name, letter by letter: accents as one letter or as a mark of their own, any blanks, any
    apostrophe."""
    for form in dict.fromkeys(normalize(kind, name) for kind in ("NFC", "NFD")):
        yield [_OTHER_LETTERS.get(letter) or re.escape(letter) for letter in " ".join(form.split())]


_Tree = dict[str, "_Tree"]


def _any_of(forms: Iterable[Iterable[str]]) -> str:
    """One pattern for all, a tree by letters: a long list costs little more at a place than a short one."""
    root: _Tree = {}
    for letters in forms:
        node = root
        for letter in letters:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _pattern(root)


def _pattern(node: _Tree, level: int = 0) -> str:
    """The longest way through a tree that fits; "" marks where one may end."""
    if level == _MOST_LEVELS:
        return f"(?:{'|'.join(sorted(_ways(node), key=len, reverse=True))})"
    chain = ""
    while len(node) == 1 and "" not in node:
        ((letter, node),) = node.items()
        chain += letter
    branches = [letter + _pattern(child, level + 1) for letter, child in node.items() if letter]
    if not branches:
        return chain
    return f"{chain}(?:{'|'.join(branches)})" + ("?" if "" in node else "")


def _ways(node: _Tree) -> Iterator[str]:
    """Every way through a tree, one behind the other."""
    open_ = [("", node)]
    while open_:
        way, here = open_.pop()
        for letter, child in here.items():
            if letter:
                open_.append((way + letter, child))
            else:
                yield way


def _own(kind: str, pattern: str) -> Rule:
    if len(pattern) > _LONGEST_RULE:
        raise UsageError(f"the rule {kind!r} is longer than {_LONGEST_RULE} characters")
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"the rule {kind!r} is no regular expression: {error}") from None
    if compiled.match(""):
        raise UsageError(f"the rule {kind!r} matches the empty text", next_steps=["anchor it to some text"])
    return Rule(kind, compiled)


def bare(values: Iterable[str]) -> Rule:
    """A rule for values that were found by what stood in front of them, such as `Bearer`, anywhere else."""
    words = _any_of(map(re.escape, value) for value in sorted(values))
    return Rule("key", re.compile(f"{_BEGIN}(?:{words}){_END}"))


def find(text: str, table: Sequence[Rule]) -> list[Hit]:
    """All hits in order; those that overlap are one, of the kind of the earlier rule."""
    hits = [
        (match.start(), match.end(), rank, rule.kind)
        for rank, rule in enumerate(table)
        for match in rule.pattern.finditer(text)
        if match.end() > match.start() and _is_news(match.group(), rule.kind)
    ]
    return list(_joined(sorted(hits)))


def _is_news(value: str, kind: str) -> bool:
    return kind != "number" or _CALM.match(value) is None


def _joined(hits: Iterable[tuple[int, int, int, str]]) -> Iterator[Hit]:
    open_: tuple[int, int, int, str] | None = None
    for hit in hits:
        if open_ is None or hit[0] >= open_[1]:
            if open_ is not None:
                yield Hit(open_[0], open_[1], open_[3])
            open_ = hit
        else:
            rank, kind = min(open_[2:], hit[2:])
            open_ = (open_[0], max(open_[1], hit[1]), rank, kind)
    if open_ is not None:
        yield Hit(open_[0], open_[1], open_[3])
