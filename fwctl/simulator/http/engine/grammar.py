"""A reader of GBNF grammars (`response_format: {type: grammar}`) and texts drawn from them."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_DEEP = 12
_BUDGET = 20_000
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_TOKEN = re.compile(
    r"(?P<space>(?:[ \t\r\n]|#[^\n]*)+)|(?P<name>[A-Za-z][A-Za-z0-9_-]*)|(?P<define>::=)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<chars>\[(?:[^\]\\]|\\.)*\])'
    r"|(?P<count>\{\d+(?:,\d*)?\})|(?P<mark>[()|*+?.])",
    re.DOTALL,
)


class GrammarError(Exception):
    """The grammar is malformed or endless; the text names the line."""


@dataclass(frozen=True)
class _Node:
    """kind: text, chars, rule, sequence, choice, repeat."""

    kind: str
    text: str = ""
    parts: tuple[_Node, ...] = ()
    low: int = 0
    high: int = 0


def _unescape(body: str) -> str:
    def one(match: re.Match[str]) -> str:
        hexa, char = match[1], match[2]
        return chr(int(hexa[1:], 16)) if hexa else _ESCAPES.get(char, char)

    return re.sub(r"\\(?:(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|(.))", one, body, flags=re.DOTALL)


def _characters(body: str) -> str:
    """The characters of a class; a negated one is drawn from printable ASCII."""
    negated = body.startswith("^")
    body = body[1:] if negated else body
    allowed: list[str] = []
    units = re.findall(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.|.", body, re.DOTALL)
    i = 0
    while i < len(units):
        first = _unescape(units[i])
        if i + 2 < len(units) and units[i + 1] == "-":
            last = _unescape(units[i + 2])
            allowed += [chr(code) for code in range(ord(first), min(ord(last), ord(first) + 255) + 1)]
            i += 3
        else:
            allowed.append(first)
            i += 1
    if negated:
        return "".join(chr(code) for code in range(32, 127) if chr(code) not in allowed)
    return "".join(allowed)


class _Reader:
    def __init__(self, source: str) -> None:
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(source):
            line = source.count("\n", 0, at) + 1
            found = _TOKEN.match(source, at)
            if found is None:
                raise GrammarError(f"line {line}: unexpected {source[at]!r}")
            if found.lastgroup != "space":
                self.tokens.append((str(found.lastgroup), found[0], line))
            at = found.end()
        self.at = 0

    def kind(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead][0] if self.at + ahead < len(self.tokens) else "end"

    def text(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def fail(self, what: str) -> GrammarError:
        line = self.tokens[min(self.at, len(self.tokens) - 1)][2] if self.tokens else 1
        return GrammarError(f"line {line}: {what}")

    def rules(self) -> dict[str, _Node]:
        out: dict[str, _Node] = {}
        while self.kind() != "end":
            if self.kind() != "name" or self.kind(1) != "define":
                raise self.fail(f"a rule begins with `name ::=`, not {self.text()!r}")
            name = self.text()
            self.at += 2
            out[name] = self.choice()
        return out

    def choice(self) -> _Node:
        options = [self.sequence()]
        while self.text() == "|":
            self.at += 1
            options.append(self.sequence())
        return options[0] if len(options) == 1 else _Node("choice", parts=tuple(options))

    def sequence(self) -> _Node:
        parts: list[_Node] = []
        while self.kind() in {"text", "chars"} or self.text() in {"(", "."} or self.is_reference():
            parts.append(self.repeated(self.atom()))
        return _Node("sequence", parts=tuple(parts))

    def is_reference(self) -> bool:
        return self.kind() == "name" and self.kind(1) != "define"

    def atom(self) -> _Node:
        kind, text, _ = self.tokens[self.at]
        self.at += 1
        if kind == "text":
            return _Node("text", _unescape(text[1:-1]))
        if kind == "chars":
            return _Node("chars", _characters(text[1:-1]))
        if kind == "name":
            return _Node("rule", text)
        if text == ".":
            return _Node("chars", _characters("^"))
        inner = self.choice()
        if self.text() != ")":
            raise self.fail("a closing parenthesis is missing")
        self.at += 1
        return inner

    def repeated(self, node: _Node) -> _Node:
        while self.kind() == "count" or self.text() in {"*", "+", "?"}:
            mark = self.text()
            self.at += 1
            if mark[0] == "{":
                low_text, comma, high_text = mark[1:-1].partition(",")
                low = int(low_text)
                high = int(high_text) if high_text else low + 3 if comma else low
            else:
                low, high = {"*": (0, 3), "+": (1, 4), "?": (0, 1)}[mark]
            node = _Node("repeat", parts=(node,), low=low, high=max(low, high))
        return node


class Grammar:
    """A parsed grammar whose rules all exist. Raises GrammarError."""

    def __init__(self, source: str) -> None:
        self._rules = _Reader(source).rules()
        if "root" not in self._rules:
            raise GrammarError("line 1: there is no rule named root")
        for name, node in self._rules.items():
            self._check(name, node)
        self._depths = self._shortest()
        if self._depths["root"] is None:
            raise GrammarError("line 1: no text ever ends under this grammar")

    def _check(self, name: str, node: _Node) -> None:
        if node.kind == "rule" and node.text not in self._rules:
            raise GrammarError(f"rule {name}: {node.text} is not defined")
        if node.kind == "chars" and not node.text:
            raise GrammarError(f"rule {name}: an empty character class")
        for part in node.parts:
            self._check(name, part)

    def _shortest(self) -> dict[str, int | None]:
        """Fewest levels in which each rule can end; None: it never does."""
        depths: dict[str, int | None] = dict.fromkeys(self._rules)
        for _ in self._rules:
            for name, node in self._rules.items():
                inner = self._node_depth(node, depths)
                depths[name] = None if inner is None else inner + 1
        return depths

    def _node_depth(self, node: _Node, depths: dict[str, int | None]) -> int | None:
        if node.kind == "rule":
            return depths[node.text]
        if node.kind == "repeat" and node.low == 0:
            return 0
        inner = [self._node_depth(part, depths) for part in node.parts]
        known = [depth for depth in inner if depth is not None]
        if node.kind == "choice":
            return min(known, default=None)
        return None if len(known) < len(inner) else max(known, default=0)

    def text(self, rng: random.Random) -> str:
        """One text of the grammar. Raises GrammarError when it would be too long."""
        self._left = _BUDGET
        return self._make(_Node("rule", "root"), 0, rng)

    def _make(self, node: _Node, depth: int, rng: random.Random) -> str:
        self._left -= 1
        if self._left < 0 or depth > 200:
            raise GrammarError("the grammar needs too long a text")
        if node.kind == "text":
            return node.text
        if node.kind == "chars":
            return rng.choice(node.text)
        if node.kind == "rule":
            return self._make(self._rules[node.text], depth + 1, rng)
        if node.kind == "choice":
            return self._make(self._option(node, depth, rng), depth, rng)
        if node.kind == "repeat":
            high = node.low if depth >= _DEEP else min(node.high, node.low + 3)
            return "".join(self._make(node.parts[0], depth, rng) for _ in range(rng.randint(node.low, high)))
        return "".join(self._make(part, depth, rng) for part in node.parts)

    def _option(self, node: _Node, depth: int, rng: random.Random) -> _Node:
        ending = [(self._node_depth(part, self._depths), i) for i, part in enumerate(node.parts)]
        able = [(d, i) for d, i in ending if d is not None]
        if depth >= _DEEP:
            return node.parts[min(able)[1]]
        return node.parts[rng.choice(able)[1]]
