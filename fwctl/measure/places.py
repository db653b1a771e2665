"""Where texts stand in a file: 16 bytes for each, however long they are."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator


class Places:
    """Takes every text with its place first, then finds. Two texts may share a digest, so that a place is one
    where the text may stand; the reader looks."""

    def __init__(self) -> None:
        self._digests = array("q")
        self._places = array("q")
        self._in_order = True

    def add(self, text: str, place: int) -> None:
        """Remember a text."""
        self._digests.append(hash(text))
        self._places.append(place)
        self._in_order = False

    def of(self, text: str) -> Iterator[int]:
        """Every place where it may stand."""
        if not self._in_order:
            self._sort()
        wanted = hash(text)
        at = bisect_left(self._digests, wanted)
        while at < len(self._digests) and self._digests[at] == wanted:
            yield self._places[at]
            at += 1

    def _sort(self) -> None:
        order = sorted(range(len(self._digests)), key=self._digests.__getitem__)
        self._digests = array("q", (self._digests[at] for at in order))
        self._places = array("q", (self._places[at] for at in order))
        self._in_order = True
