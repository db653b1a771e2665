"""An index of earlier answers: where did the longest equal context stand, and what came then? Pure.

It shows what a draft that knows this traffic could reach, without training one. The index is an array of
places sorted by their context read backwards, so the neighbours of a new context are those that share
the longest end with it. It keeps 20 bytes a token of training text; building takes about 150 more.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from struct import pack

from fwctl.speculation.verify import Offer

DEPTH_TOKENS = 8  # contexts are compared over this many tokens
VOTERS = 4  # neighbours on each side that are asked what came next
_BYTES = 8
_SHIFT = 2  # 0 stands between answers, tokens begin at 2; keys stay unsigned
_SEPARATOR = 0


@dataclass(frozen=True, slots=True)
class SuffixIndex:
    """Answers of the training split. tokens: all of them, separated; places: of answer tokens, sorted."""

    tokens: array[int]
    places: array[int]
    backwards: bytes

    @classmethod
    def build(cls, texts: Iterable[tuple[Sequence[int], Sequence[int]]], most: int) -> SuffixIndex:
        """From pairs (prompt, answer) until `most` tokens are in; of a prompt only its end counts."""
        tokens, places = array("q"), array("I")
        for prompt, answer in texts:
            room = most - len(tokens)
            if room <= DEPTH_TOKENS + 1:
                break
            tokens.append(_SEPARATOR)
            tokens.extend(token + _SHIFT for token in prompt[-DEPTH_TOKENS:])
            begin = len(tokens)
            tokens.extend(token + _SHIFT for token in answer[: max(0, most - begin)])
            places.extend(range(begin, len(tokens)))
        tokens.append(_SEPARATOR)
        return cls._sorted(tokens, places)

    @classmethod
    def _sorted(cls, tokens: array[int], places: Iterable[int]) -> SuffixIndex:
        backwards = _keys(tokens)
        index = cls(tokens, array("I"), backwards)
        index.places.extend(sorted(places, key=index._key()))
        return index

    def to_bytes(self) -> bytes:
        """For another process on the same machine type."""
        return len(self.places).to_bytes(8, sys.byteorder) + self.places.tobytes() + self.tokens.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SuffixIndex:
        count = int.from_bytes(data[:8], sys.byteorder)
        tokens, places = array("q"), array("I")
        places.frombytes(data[8 : 8 + count * places.itemsize])
        tokens.frombytes(data[8 + count * places.itemsize :])
        return cls(tokens, places, _keys(tokens))

    def _key(self) -> Callable[[int], bytes]:
        """The context of a place, read backwards."""
        backwards, total, width = self.backwards, len(self.tokens), DEPTH_TOKENS * _BYTES

        def key(place: int) -> bytes:
            begin = (total - place) * _BYTES
            return backwards[begin : begin + width]

        return key

    def offers(self, tokens: Sequence[int], start: int, lengths: Sequence[int], most: int) -> list[Offer]:
        """Drafts from where the longest equal context of at least `length` tokens stood, for each length.

        A draft ends where the earlier answer ended.
        """
        count = len(tokens) - start
        shared, offered, matching = bytearray(count), bytearray(count), bytearray(count)
        shifted = array("q", [token + _SHIFT for token in tokens])
        backwards, width = _keys(shifted), DEPTH_TOKENS * _BYTES
        key, floor = self._key(), min(lengths, default=1)
        for at in range(count if self.places else 0):
            begin = (count - at) * _BYTES
            context = backwards[begin : begin + width]
            length, place = self._longest(context, key, floor)
            if length:
                shared[at] = length
                offered[at], matching[at] = self._compare(place, shifted, start + at, most)
        return [_masked(shared, offered, matching, length) for length in lengths]

    def _longest(self, context: bytes, key: Callable[[int], bytes], floor: int) -> tuple[int, int]:
        """Shared tokens and a place with the most frequent next token among its neighbours; 0 if short."""
        places, total = self.places, len(self.places)
        at = bisect_left(places, context, key=key)
        near = [place for place in (at - 1, at) if 0 <= place < total]
        length = max(_shared(key(places[place]), context) for place in near)
        if length < floor:
            return 0, 0
        wanted = context[: length * _BYTES]
        votes: dict[int, list[int]] = {}
        for other in range(max(0, at - VOTERS), min(total, at + VOTERS)):
            place = places[other]
            if key(place).startswith(wanted):
                votes.setdefault(self.tokens[place], []).append(place)
        best = max(votes.values(), key=len)
        return length, best[-1]

    def _compare(self, place: int, tokens: array[int], here: int, most: int) -> tuple[int, int]:
        """Tokens a draft from `place` has, and those of them that are right."""
        own = self.tokens
        room = own.index(_SEPARATOR, place) - place if _SEPARATOR in own[place : place + most] else most
        right = 0
        while right < room and own[place + right] == tokens[here + right]:
            right += 1
        return room, right


def _keys(tokens: array[int]) -> bytes:
    """The tokens backwards, as bytes that sort like the numbers."""
    return pack(f">{len(tokens)}Q", *reversed(tokens))


def _shared(one: bytes, other: bytes) -> int:
    """Equal tokens at the beginning of two keys."""
    length = min(len(one), len(other)) // _BYTES
    while length and one[: length * _BYTES] != other[: length * _BYTES]:
        length -= 1
    return length


def _masked(shared: bytearray, offered: bytearray, matching: bytearray, length: int) -> Offer:
    """The offers whose context is shared over at least `length` tokens."""
    keep = [count >= length for count in shared]
    return Offer(
        bytes(count if kept else 0 for count, kept in zip(offered, keep, strict=True)),
        bytes(count if kept else 0 for count, kept in zip(matching, keep, strict=True)),
    )
