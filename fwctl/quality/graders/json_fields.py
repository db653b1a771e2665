"""JSON compared field by field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec, plain

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*?)\n?```\Z", re.DOTALL | re.IGNORECASE)
_MISSING = object()
DEEPEST = 64


def check(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001 - all graders share it
    fields = spec.options.get("fields")
    if fields is not None and (not fields or not all(isinstance(name, str) and name for name in fields)):
        return "`fields` is a list of names such as `city` or `address.city`"
    if not 0 <= spec.options.get("abs", 0) < float("inf"):
        return "`abs` is a tolerance from 0"
    try:
        wanted = _value(spec.expected)
    except ValueError:
        return "`expected` is a JSON value, or its text"
    if fields:
        lost = [name for name in fields if _at(wanted, name) is _MISSING]
        return f"`expected` has no field {lost[0][:40]!r}" if lost else None
    return None


def grade(items: Sequence[Item], means: Means) -> Iterator[Mark]:  # noqa: ARG001
    return (_one(item) for item in items)


def _one(item: Item) -> Mark:
    text, options = item.text.strip(), item.spec.options
    fence = _FENCE.match(text)
    if fence and options.get("fenced"):
        text = fence[1]
    try:
        answer = _value(text)
    except ValueError:
        note = "the answer is JSON within a code fence" if fence else "the answer is not JSON"
        return plain(right=False, note=note)
    wanted = _value(item.spec.expected)
    if fields := options.get("fields"):
        wanted = {name: _at(wanted, name) for name in fields}
        answer = {name: value for name in fields if (value := _at(answer, name)) is not _MISSING}
    leaves, found = dict(_leaves(wanted)), dict(_leaves(answer))
    equal = sum(name in found and _same(found[name], value, options) for name, value in leaves.items())
    extra = 0 if options.get("extra") else len(found.keys() - leaves.keys())
    count = len(leaves) + extra
    wrong = [name for name, value in leaves.items() if name not in found or found[name] != value]
    note = f"{count - equal} of {count} fields differ" + (f", first {wrong[0][:60]}" if wrong else "")
    return Mark(equal == count, equal / count, None if equal == count else note)


def _value(text: Any) -> Any:
    """A JSON value from its text; anything but a text is one already. Raises ValueError."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _at(value: Any, name: str) -> Any:
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _MISSING
    return value


def _leaves(value: Any, at: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every value that holds no other, by its path; empty objects and lists are values."""
    inner: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    if not inner or depth >= DEEPEST:
        yield at or "/", value
        return
    for key, item in inner:
        yield from _leaves(item, f"{at}/{key}", depth + 1)


def _same(answer: Any, wanted: Any, options: Mapping[str, Any]) -> bool:
    """Numbers are equal within `abs`, true is no 1, text is compared without the space around it."""
    kinds = isinstance(answer, bool), isinstance(wanted, bool)
    if any(kinds):
        return all(kinds) and answer == wanted
    if isinstance(answer, int | float) and isinstance(wanted, int | float):
        return bool(answer == wanted or abs(answer - wanted) <= options.get("abs", 0))
    if isinstance(answer, str) and isinstance(wanted, str):
        return answer.strip() == wanted.strip()
    return bool(answer == wanted)
