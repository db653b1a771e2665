"""What a replay counts: whole numbers only, so that parts add up to the same digits in any order. Pure.

Conversations are spread over GROUPS groups by their digest. A group is resampled as a whole, so memory
does not grow with the traffic; with fewer conversations than groups, a group is mostly one conversation.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fwctl.errors import UsageError
from fwctl.speculation.entries import Entry
from fwctl.speculation.verify import Histogram, Spent

GROUPS = 256
MAX_TYPES = 200
TRAIN, CHOOSE, JUDGE = "train", "choose", "judge"
_SHARES = (TRAIN, TRAIN, CHOOSE, CHOOSE, CHOOSE, JUDGE, JUDGE, JUDGE, JUDGE, JUDGE)
_WIDTH = len(Spent._fields)


def split(cluster: int) -> str:
    """To which part a conversation belongs: 20 % build the index, 30 % choose settings, 50 % judge them."""
    return _SHARES[cluster % len(_SHARES)]


def sampled(cluster: int, share: float) -> bool:
    """Whether a conversation is in the sample; bits that neither split nor group look at decide."""
    return (cluster >> 40) < share * 2**24


def group(cluster: int) -> int:
    return cluster // len(_SHARES) % GROUPS


@dataclass(slots=True)
class TypeTally:
    """Counts of one request type; lists are by entry.

    cells: for each split and group the columns of Spent, entry by entry. The other counts are of the
    judging split.
    """

    requests: dict[str, int]
    tokens: dict[str, int]
    cells: dict[tuple[str, int], array[int]]
    histograms: list[Histogram]
    answered: list[int]
    slower: list[int]

    @classmethod
    def empty(cls, grid: Sequence[Entry]) -> TypeTally:
        splits = (TRAIN, CHOOSE, JUDGE)
        return cls(
            dict.fromkeys(splits, 0),
            dict.fromkeys(splits, 0),
            {},
            [Histogram.empty(entry.k) for entry in grid],
            [0] * len(grid),
            [0] * len(grid),
        )

    def add(self, part: str, place: int, at: int, spent: Spent) -> None:
        """One answer replayed with the entry at index `at`."""
        cell = self.cells.get((part, place))
        if cell is None:
            cell = self.cells[part, place] = array("q", bytes(8 * _WIDTH * len(self.answered)))
        for column, count in enumerate(spent, at * _WIDTH):
            cell[column] += count

    def rows(self, part: str, at: int) -> list[Spent]:
        """What one entry took by group; groups without tokens are left out."""
        base = at * _WIDTH
        cells = (self.cells.get((part, place)) for place in range(GROUPS))
        return [Spent(*cell[base : base + _WIDTH]) for cell in cells if cell is not None and cell[base]]

    def merge(self, other: TypeTally) -> None:
        for name in self.requests:
            self.requests[name] += other.requests[name]
            self.tokens[name] += other.tokens[name]
        for key, cell in other.cells.items():
            own = self.cells.get(key)
            self.cells[key] = cell if own is None else array("q", map(int.__add__, own, cell))
        for mine, theirs in zip(self.histograms, other.histograms, strict=True):
            mine.accepted[:] = map(int.__add__, mine.accepted, theirs.accepted)
            mine.drafted[:] = map(int.__add__, mine.drafted, theirs.drafted)
        self.answered = list(map(int.__add__, self.answered, other.answered))
        self.slower = list(map(int.__add__, self.slower, other.slower))

    def to_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "tokens": self.tokens,
            "cells": [[part, place, list(cell)] for (part, place), cell in self.cells.items()],
            "histograms": [[item.accepted, item.drafted] for item in self.histograms],
            "answered": self.answered,
            "slower": self.slower,
        }

    @classmethod
    def from_json(cls, item: dict[str, Any]) -> TypeTally:
        return cls(
            item["requests"],
            item["tokens"],
            {(part, place): array("q", cell) for part, place, cell in item["cells"]},
            [Histogram(accepted, drafted) for accepted, drafted in item["histograms"]],
            item["answered"],
            item["slower"],
        )


@dataclass(slots=True)
class Tally:
    """Everything that was counted. left_out: lines that were not replayed, by reason; `unaligned`:
    answers whose recorded draft tokens do not lie token by token beside the answer."""

    types: dict[str, TypeTally] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    unaligned: int = 0

    def of(self, name: str, grid: Sequence[Entry]) -> TypeTally:
        """The counts of a request type. Raises UsageError for too many types."""
        found = self.types.get(name)
        if found is None:
            self.types[name] = found = TypeTally.empty(grid)
            self._check()
        return found

    def leave_out(self, reason: str, count: int = 1) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + count

    def merge(self, other: Tally) -> None:
        """Add the counts of another part of the same traffic, replayed with the same options."""
        for name, counts in other.types.items():
            if name in self.types:
                self.types[name].merge(counts)
            else:
                self.types[name] = counts
        for reason, count in other.left_out.items():
            self.leave_out(reason, count)
        self.unaligned += other.unaligned
        self._check()

    def _check(self) -> None:
        if len(self.types) > MAX_TYPES:
            raise UsageError(
                f"the traces have more than {MAX_TYPES} request types",
                next_steps=["let `type` name the kind of request, not the request"],
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "types": {name: counts.to_json() for name, counts in self.types.items()},
            "left_out": self.left_out,
            "unaligned": self.unaligned,
        }

    @classmethod
    def from_json(cls, item: dict[str, Any]) -> Tally:
        types = {name: TypeTally.from_json(counts) for name, counts in item["types"].items()}
        return cls(types, item["left_out"], item["unaligned"])
