"""Server-side performance metrics of Fireworks, from headers and from the body.

The same names come as `fireworks-NAME` headers and as keys of `perf_metrics`; values are numbers or
strings. Durations are in seconds. Source: Fireworks documentation of performance metrics, November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

PREFIX = "fireworks-"
NUMBERS = frozenset(
    {
        "prompt-tokens",
        "cached-prompt-tokens",
        "server-time-to-first-token",
        "server-processing-time",
        "speculation-prompt-tokens",
        "speculation-prompt-matched-tokens",
        "speculation-generated-tokens",
        "num-concurrent-requests",
        "tokenizer-queue-duration",
        "tokenizer-duration",
        "prefill-queue-duration",
        "prefill-duration",
        "generation-queue-duration",
        "generation-duration",
    }
)
TEXTS = frozenset({"backend-host", "deployment", "speculation-acceptance"})
_OLDER = {"speculation-matched-tokens": "speculation-prompt-matched-tokens"}


def from_body(metrics: object) -> dict[str, float | str]:
    """Known metrics of a `perf_metrics` object; what is absent or unreadable stays absent."""
    return _read(metrics.items()) if isinstance(metrics, Mapping) else {}


def from_headers(headers: Mapping[str, str]) -> dict[str, float | str]:
    """Known metrics among HTTP headers, whatever their case."""
    named = ((name.lower(), value) for name, value in headers.items())
    return _read((name.removeprefix(PREFIX), value) for name, value in named if name.startswith(PREFIX))


def _read(pairs: Iterable[tuple[object, Any]]) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for raw, value in pairs:
        name = str(raw).lower().replace("_", "-").removeprefix(PREFIX)
        name = _OLDER.get(name, name)
        if name in NUMBERS and (number := _number(value)) is not None:
            found[name] = number
        elif name in TEXTS and isinstance(value, str):
            found[name] = value
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and number >= 0 else None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many drafted tokens were accepted, by position from 1.

    reached: probability that positions 1..i were all accepted. conditional: how the server counted.
    """

    reached: tuple[float, ...]
    conditional: bool
    drafts: int

    @property
    def tokens_per_pass(self) -> float:
        """Expected tokens of one pass: 1 + the sum over positions (the verified token counts too)."""
        return 1 + sum(self.reached)


class UnknownAcceptanceError(ValueError):
    """The text has none of the known meanings."""


_POSITION = re.compile(r"\s*(\d{1,3})\s*:\s*(\d{1,15})\s*/\s*(\d{1,15})\s*")


def parse_acceptance(text: str) -> Acceptance:
    """Read `position:hits/total,...`.

    Equal totals are unconditional; a total up to the hits of the position before is conditional; one in
    between counts the drafts that were long enough, as those of n-grams are not always. Raises
    UnknownAcceptanceError for anything else instead of guessing.
    """
    counts: list[tuple[int, int, int]] = []
    for part in text.split(","):
        match = _POSITION.fullmatch(part)
        if match is None:
            raise UnknownAcceptanceError("speculation-acceptance is not `position:hits/total,...`")
        counts.append((int(match[1]), int(match[2]), int(match[3])))
    counts.sort()
    first = counts[0][0]
    if first not in (0, 1) or [item[0] for item in counts] != list(range(first, first + len(counts))):
        raise UnknownAcceptanceError("speculation-acceptance leaves positions out")
    if any(hits > total for _, hits, total in counts) or not counts[0][2]:
        raise UnknownAcceptanceError("speculation-acceptance has more hits than drafts, or no drafts")
    return _interpret([(hits, total) for _, hits, total in counts])


def _interpret(counts: list[tuple[int, int]]) -> Acceptance:
    """In every meaning that falling totals can have, a hit is a pass that came this far, so the share of all
    passes is the hits over the first total. Where hits or totals rise, hits are something else."""
    drafts = counts[0][1]
    pairs = list(pairwise(counts))
    if any(hits > before or total > drafted for (before, drafted), (hits, total) in pairs):
        raise UnknownAcceptanceError("hits or totals of speculation-acceptance rise with the position")
    conditional = any(total != drafts for _, total in counts) and all(
        total <= before for (before, _), (_, total) in pairs
    )
    return Acceptance(tuple(hits / drafts for hits, _ in counts), conditional, drafts)
