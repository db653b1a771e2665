"""Traces without what points at people: every found value gets a stand-in, and a report says how many.

Two passes: the first finds, the second replaces, so that no stand-in is a value that stood somewhere else.
Texts that are JSON are walked string by string and number by number, also JSON in a string of JSON; keys,
too, may hold what is found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fwctl.drafting.findings import LONGEST_LIST, Hit, Rule, bare, find
from fwctl.drafting.pseudonyms import Pseudonyms, digest

_LARGEST_JSON = 4 * 2**20
# A string of JSON, or a number: whatever else there is holds no text of a person.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')


@dataclass(slots=True)
class Survey:
    """What the first pass found: values by kind, as digests, and how often.

    bare: values that a rule knows by what stands before them alone; without it they are replaced, too.
    """

    table: Sequence[Rule]
    taken: set[int] = field(default_factory=set)
    places: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    touched: int = 0
    bare: set[str] = field(default_factory=set)

    def read(self, text: str) -> None:
        """Note what is found in one text."""
        self.texts += 1
        found = False
        for piece in _pieces(text):
            for hit in find(piece, self.table):
                found = True
                self._note(piece, hit)
        self.touched += found

    def read_text(self, text: str) -> str:
        """`read`, handed on for `each_text`."""
        self.read(text)
        return text

    def _note(self, text: str, hit: Hit) -> None:
        self.places[hit.kind] += 1
        value = text[hit.begin : hit.end]
        mark = digest(value)
        if mark not in self.taken:
            self.taken.add(mark)
            self.values[hit.kind] += 1
            if not value.isalpha() and len(self.bare) < LONGEST_LIST and not self._known(value):
                self.bare.add(value)

    def _known(self, value: str) -> bool:
        """Whether the rules find all of it where it stands alone."""
        return [(hit.begin, hit.end) for hit in find(value, self.table)] == [(0, len(value))]

    def report(self) -> dict[str, Any]:
        """Counts only: the values themselves are what must not be told."""
        return {
            "texts": self.texts,
            "texts_changed": self.touched,
            "by_kind": {
                kind: {"places": count, "values": self.values[kind]}
                for kind, count in sorted(self.places.items())
            },
        }


class Anonymiser:
    """The second pass."""

    def __init__(self, survey: Survey, key: bytes) -> None:
        self._table = (*survey.table, bare(survey.bare)) if survey.bare else survey.table
        self._stand_ins = Pseudonyms(key, survey.taken)

    def text(self, text: str) -> str:
        """The text with stand-ins; one that is JSON stays JSON of the same structure."""
        if not _is_json(text):
            return self._plain(text)
        return _PIECE.sub(lambda match: self._of_json(match.group()), text)

    def _of_json(self, piece: str) -> str:
        if not piece.startswith('"'):
            return self._plain(piece)
        said = json.loads(piece)
        fresh = self.text(said)
        return piece if fresh == said else json.dumps(fresh, ensure_ascii=piece.isascii())

    def _plain(self, text: str) -> str:
        parts, at = [], 0
        for begin, end, _ in find(text, self._table):
            parts += [text[at:begin], self._stand_ins.of(text[begin:end])]
            at = end
        return "".join([*parts, text[at:]]) if at else text


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a JSON value with every text changed, keys of objects excepted."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {key: each_text(item, change) for key, item in value.items()}
    return value


def _pieces(text: str) -> Iterable[str]:
    return _of_json(text) if _is_json(text) else (text,)


def _of_json(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(text):
        piece = match.group()
        if piece.startswith('"'):
            yield from _pieces(json.loads(piece))
        else:
            yield piece


def _is_json(text: str) -> bool:
    if len(text) > _LARGEST_JSON or text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
