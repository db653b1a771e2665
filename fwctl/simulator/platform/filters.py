"""List filters: the part of AIP-160 that people use.

`state = "READY" AND (display_name:"chat" OR NOT min_replica_count > 0)`; fields in snake or camel case,
dots reach into messages, `:` means contains (or the key or item is present), `*` any present value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fwctl.simulator.platform import schema
from fwctl.simulator.platform.errors import invalid

Doc = dict[str, Any]
Predicate = Callable[[Doc], bool]

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<op><=|>=|!=|=|<|>|:|\(|\))|(?P<word>[^\s"'<>=!:()]+))"""
)
_MAX_LENGTH = 10_000
_MAX_DEPTH = 50
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=", ":")


def _tokens(text: str) -> list[tuple[str, str]]:
    if len(text) > _MAX_LENGTH:
        raise invalid("invalid filter: too long")
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise invalid(f'invalid filter: cannot read "{text[at : at + 20]}"')
        kind = match.lastgroup or ""
        value = match[kind]
        found.append((kind, re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "text" else value))
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        self._at += 1
        return token

    def _word(self, word: str) -> bool:
        if self._peek() == ("word", word):
            self._at += 1
            return True
        return False

    def whole(self) -> Predicate:
        found = self.either()
        if self._peek()[0] != "end":
            raise invalid(f'invalid filter: unexpected "{self._peek()[1]}"')
        return found

    def either(self) -> Predicate:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise invalid("invalid filter: nested too deeply")
        parts = [self.both()]
        while self._word("OR"):
            parts.append(self.both())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else lambda doc: any(part(doc) for part in parts)

    def both(self) -> Predicate:
        parts = [self.one()]
        while self._word("AND") or self._peek()[1] not in {"", ")", "OR"}:
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else lambda doc: all(part(doc) for part in parts)

    def one(self) -> Predicate:
        if self._word("NOT"):
            inner = self.one()
            return lambda doc: not inner(doc)
        kind, value = self._next()
        if (kind, value) == ("op", "("):
            inner = self.either()
            if self._next() != ("op", ")"):
                raise invalid("invalid filter: missing )")
            return inner
        if kind not in {"word", "text"}:
            raise invalid(f'invalid filter: unexpected "{value}"' if value else "invalid filter: incomplete")
        operator = self._peek()[1]
        if self._peek()[0] != "op" or operator not in _OPERATORS:
            return lambda doc: _mentions(doc, value)
        self._next()
        kind, wanted = self._next()
        if kind not in {"word", "text"}:
            raise invalid(f'invalid filter: "{value} {operator}" has no value')
        return _comparison(value, operator, wanted)


def _mentions(value: Any, wanted: str) -> bool:
    if isinstance(value, dict):
        return any(_mentions(item, wanted) for key, item in value.items() if key != "_sim")
    if isinstance(value, list):
        return any(_mentions(item, wanted) for item in value)
    return wanted.lower() in str(value).lower()


def _lookup(doc: Doc, path: list[str]) -> Any:
    value: Any = doc
    for part in path:
        value = value.get(part, value.get(schema.camel(part))) if isinstance(value, dict) else None
    return value


def _comparison(field: str, operator: str, wanted: str) -> Predicate:
    path = field.split(".")
    if operator == ":":
        return lambda doc: _has(_lookup(doc, path), wanted)
    return lambda doc: _compare(_lookup(doc, path), operator, wanted)


def _has(value: Any, wanted: str) -> bool:
    if wanted == "*":
        return value not in (None, "", 0, False, [], {})
    if isinstance(value, dict):
        return wanted in value
    if isinstance(value, list):
        return wanted in [str(item) for item in value]
    return value is not None and wanted.lower() in _as_text(value).lower()


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compare(value: Any, operator: str, wanted: str) -> bool:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        same = _as_text(value if value is not None else "") == wanted or (
            value is None and wanted in {"0", "false"}
        )
        return {"=": same, "!=": not same}.get(operator, False)
    left: Any = value
    right: Any = wanted
    if isinstance(value, int | float):
        try:
            right = float(wanted)
        except ValueError:
            return operator == "!="
    if operator in {"=", "!="} and isinstance(value, str) and "*" in wanted:
        same = re.fullmatch(".*".join(map(re.escape, wanted.split("*"))), value, re.DOTALL) is not None
        return same == (operator == "=")
    return _ORDER[operator](left, right)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


def parse(text: str) -> Predicate:
    """A predicate over documents in REST shape; the empty filter takes all. Raises InvalidArgument."""
    tokens = _tokens(text)
    return _Parser(tokens).whole() if tokens else lambda _: True
