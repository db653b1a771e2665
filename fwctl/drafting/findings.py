"""What in a text points at a person or opens a door: patterns by kind. Pure.

The defaults err on the side of finding too much: what they replace costs a drafter little, since
pseudonyms keep the shape of what they stand for. Numbers below SHORTEST_NUMBER digits stay: years, counts
and prices are what answers are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fwctl.errors import UsageError

SHORTEST_NUMBER = 5
LONGEST_LIST = 100_000
_LONGEST_RULE = 500
# A word may begin behind an escape of JSON or of a programming language: "\nAnna".
_BEGIN = r"(?:(?<![^\W_])|(?<=\\[nrtbf]))"
_END = r"(?![^\W_])"
_DIGIT_GAP = r"[\s./()-]{0,2}"


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
    Rule(
        "key", re.compile(r"\b(?:fw|sk|pk|rk|ghp|gho|ghs|glpat|hf|xox[abp]|AIza|AKIA)[_-]?[A-Za-z0-9_-]{12,}")
    ),
    Rule("key", re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/=-]{6,}")),
    Rule(
        "key",
        re.compile(
            r"\b(?=[A-Za-z0-9_+/-]{0,400}[0-9])(?=[A-Za-z0-9_+/-]{0,400}[A-Za-z])[A-Za-z0-9_+/-]{32,}={0,2}"
        ),
    ),
    Rule("email", re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")),
    Rule("address", re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")),
    Rule(
        "address", re.compile(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f]{1,4}(?![0-9A-Fa-f:])")
    ),
    Rule("address", re.compile(r"(?<=://)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")),
    Rule("number", re.compile(rf"(?<![\w.])\+?[0-9](?:{_DIGIT_GAP}[0-9]){{8,18}}(?![\w])")),
    Rule("number", re.compile(rf"[0-9]{{{SHORTEST_NUMBER},}}")),
)
KINDS = ("key", "email", "address", "number", "name")
_CALM = re.compile(r"^[^0-9]*1?0*[^0-9]*$")  # 0000 and 10000 tell nothing, and stand in where nothing is free


def rules(names: Iterable[str] = (), own: Mapping[str, str] | None = None) -> tuple[Rule, ...]:
    """The user's rules (kind -> pattern), the default ones, and one for a list of names.

    UsageError for a pattern that does not compile, is too long, or matches nothing at all.
    """
    found = [*(_own(kind, pattern) for kind, pattern in (own or {}).items()), *DEFAULTS]
    listed = sorted({name.strip() for name in names if name.strip()}, key=len, reverse=True)
    if len(listed) > LONGEST_LIST:
        raise UsageError(f"a list of names holds at most {LONGEST_LIST:,}, not {len(listed):,}")
    if listed:
        words = "|".join(re.escape(name) for name in listed)
        found.append(Rule("name", re.compile(f"{_BEGIN}(?:{words}){_END}", re.IGNORECASE)))
    return tuple(found)


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


def find(text: str, table: Sequence[Rule]) -> list[Hit]:
    """All hits in order; those that touch or overlap are one, of the kind of the earlier rule."""
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
