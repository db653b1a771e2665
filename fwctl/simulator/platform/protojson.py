"""Protobuf JSON as the platform reads it: strict about names and types, either casing, with places.

Messages follow Go's protojson: `proto: (line 1:203): unknown field "loadTargets"`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from fwctl.simulator.platform import schema
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.timing import parse_rfc3339, parse_wire_duration

Doc = dict[str, Any]
_INT32 = 2**31
_INT64 = 2**63
_MAX_DEPTH = 64


class _Reader:
    """Converts decoded JSON; knows the text only to say where a name stands."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _place(self, word: str) -> str:
        found = re.search(rf'"{re.escape(word)}"', self._text)
        at = found.start() if found else 0
        line = self._text.count("\n", 0, at) + 1
        return f"(line {line}:{at - self._text.rfind(chr(10), 0, at)})"

    def error(self, word: str, message: str) -> PlatformError:
        return invalid(f"proto: {self._place(word)}: {message}")

    def message(self, name: str, value: Any, key: str) -> Doc:
        if not isinstance(value, dict):
            raise self.error(key, f"unexpected token {json.dumps(value)[:40]}")
        known = schema.fields(name)
        doc: Doc = {}
        for written, item in value.items():
            field = schema.camel(written)
            if field not in known:
                raise self.error(written, f'unknown field "{written}"')
            if field in doc:
                raise self.error(written, f'duplicate field "{written}"')
            if item is not None:
                doc[field] = self.value(known[field].rstrip("!"), item, field, written)
        return doc

    def value(self, kind: str, value: Any, field: str, written: str) -> Any:
        if kind.startswith("[]"):
            if not isinstance(value, list):
                raise self.error(written, f"invalid value for {field} field: expected a list")
            return [self.value(kind[2:], item, field, written) for item in value]
        if kind.startswith("map<string,"):
            if not isinstance(value, dict):
                raise self.error(written, f"invalid value for {field} field: expected an object")
            inner = kind[len("map<string,") : -1]
            return {key: self.value(inner, item, field, written) for key, item in value.items()}
        if schema.is_message(kind):
            return self.message(kind, value, written)
        if schema.is_enum(kind):
            return self._enum(kind, value, field, written)
        try:
            return _SCALARS.get(kind, _any)(value)
        except (ValueError, TypeError, OverflowError):
            raise self.error(
                written, f"invalid value for {kind} field {field}: {json.dumps(value)[:80]}"
            ) from None

    def _enum(self, kind: str, value: Any, field: str, written: str) -> str:
        known = schema.enum(kind)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(known):
            return known[value]
        if value not in known:
            raise self.error(written, f"invalid value for enum field {field}: {json.dumps(value)[:80]}")
        return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _integer(value: Any, bound: int) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise TypeError
    number = int(value)
    if not -bound <= number < bound:
        raise ValueError
    return number


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _instant(value: Any) -> str:
    parse_rfc3339(_text(value))
    return str(value)


def _duration(value: Any) -> str:
    parse_wire_duration(_text(value))
    return str(value)


def _any(value: Any) -> Any:
    return value


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "string": _text,
    "bool": _boolean,
    "int32": lambda value: _integer(value, _INT32),
    "int64": lambda value: str(_integer(value, _INT64)),
    "float": _number,
    "timestamp": _instant,
    "duration": _duration,
}


def parse(message: str, text: str) -> Doc:
    """A resource in REST shape from JSON text. Raises InvalidArgument as the platform words it."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise invalid(f"proto: syntax error: {str(error)[:120]}") from None
    if _depth(value) > _MAX_DEPTH:
        raise invalid("proto: exceeded maximum recursion depth")
    return _Reader(text).message(message, value, "")


def convert(message: str, value: Any) -> Doc:
    """The same for JSON that is already decoded."""
    return parse(message, json.dumps(value))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"invalid value {name}")


def _depth(value: Any) -> int:
    level, rows = 0, [value]
    while rows and level <= _MAX_DEPTH:
        level += 1
        inner: list[Any] = []
        for row in rows:
            children = row.values() if isinstance(row, dict) else row if isinstance(row, list) else ()
            inner += [child for child in children if isinstance(child, dict | list)]
        rows = inner
    return level
