"""Patterns of a schema, checked only where they cannot take long.

A server can send any text, and Python's regular expressions can take exponential time over it. What is not
checked here is left to whoever can stop a process (the grader `json_schema` of an evaluation does).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

LONGEST_TEXT = 512
# Unbounded repeats side by side cost text^repeats; three of them over 512 characters are a second.
MOST_REPEATS = 3

_TOKEN = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?[:=!>]|\?<[=!]|\?P<\w+>)?)"
    r"|(?P<close>\))|(?P<repeat>[*+]|\{\d*,\d*\}|\{\d+\})|(?P<bar>\|)|.",
    re.DOTALL,
)


@lru_cache(maxsize=256)
def quick(pattern: str) -> bool:
    """True when matching 512 characters cannot take long: no repeat or choice within a repeat, no
    back-reference, few repeats. Errs on the side of False."""
    varied = [False]
    repeats = 0
    closed = False
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "escape" and token.group()[1].isdigit():
            return False
        if kind == "repeat":
            if closed:
                return False
            repeats += 1
            varied[-1] = True
        elif kind == "bar":
            varied[-1] = True
        elif kind == "open":
            varied.append(False)
        closed = False
        if kind == "close" and len(varied) > 1:
            closed = varied.pop()
            varied[-1] = varied[-1] or closed
    return repeats <= MOST_REPEATS


def checkable(schema: Any, value: Any) -> bool:
    """False when names of fields meet patterns (`patternProperties`) that could take long over them."""
    patterns = list(_name_patterns(schema))
    return all(map(quick, patterns)) and (not patterns or _longest_name(value) <= LONGEST_TEXT)


def _name_patterns(schema: Any) -> Iterator[str]:
    for key, inner in _items(schema):
        if key == "patternProperties" and isinstance(inner, Mapping):
            yield from inner
        yield from _name_patterns(inner)


def _longest_name(value: Any) -> int:
    return max((max(len(str(key)), _longest_name(inner)) for key, inner in _items(value)), default=0)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return (("", inner) for inner in value) if isinstance(value, list) else ()


@lru_cache(maxsize=8)
def guarded(kind: Any) -> Any:
    """A validator class of jsonschema that leaves out patterns which could take long."""
    from jsonschema import ValidationError, validators

    extend: Any = validators.extend

    def pattern(validator: Any, wanted: str, instance: Any, _schema: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "string") or len(instance) > LONGEST_TEXT or not quick(wanted):
            return
        if not re.search(wanted, instance):
            yield ValidationError("the text does not match the pattern")

    return extend(kind, {"pattern": pattern})
