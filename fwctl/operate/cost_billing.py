"""The billing export of `firectl billing export-metrics`: a strict reader with line numbers.

Columns as published (docs.fireworks.ai, exporting billing metrics, 2025 and 2026): neither a cost nor a
deployment is among them. Their order is free and unknown columns are passed over.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta
from fractions import Fraction
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.records.opening import opened

REQUIRED = (
    "start_time",
    "end_time",
    "usage_type",
    "accelerator_type",
    "accelerator_seconds",
    "base_model_name",
    "prompt_tokens",
    "completion_tokens",
)
OPTIONAL = (
    "email",
    "model_bucket",
    "parameter_count",
    "cached_prompt_tokens",
    "uncached_prompt_tokens",
)
LARGEST_FIELD = 100_000
LONGEST_ROW = timedelta(days=366)  # ten times what an export covers; each day becomes a row
AS_EXPORTED = "give the file that `firectl billing export-metrics --filename FILE` wrote"
CORRECTION = "the published export has no corrections: leave the line out, and book it by the invoice"
_DIGITS = 18
_TICK = timedelta(microseconds=1)
_NOTHING = Fraction(0)
_Place = tuple[date, str | None, str]


@dataclass(frozen=True, slots=True)
class BilledRow:
    """All that was billed of a model on a day (UTC) and an accelerator; None for tokens, which have none.

    gpu_s: accelerator seconds, which count each GPU of each replica. cached: prompt tokens that came
    from a cache, as far as the export tells.
    """

    day: date
    accelerator: str | None
    model: str
    gpu_s: Fraction
    prompt: int = 0
    completion: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Billing:
    """A whole export, summed while it is read: exports of large accounts have millions of lines. lines: how
    many it had; unknown_columns: those that this version does not know."""

    rows: tuple[BilledRow, ...]
    lines: int
    unknown_columns: tuple[str, ...] = ()


def read_billing(path: Path) -> Billing:
    """Read an export file. Raises UsageError with file and line for the first thing that is wrong."""
    with opened(path) as file, TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        return _Reader(str(path)).read(text)


class _Reader:
    """Reads one file; `line` is where the row in hand begins. sums: (day, accelerator, model) -> GPU-seconds,
    prompt, generated and cached tokens."""

    def __init__(self, name: str) -> None:
        self._name, self.line = name, 1
        self.sums: dict[_Place, list[Any]] = defaultdict(lambda: [Fraction(0), 0, 0, 0])

    def wrong(self, why: str, *steps: str) -> UsageError:
        return UsageError(f"{self._name}:{self.line}: {why}", next_steps=steps or [AS_EXPORTED])

    def read(self, file: Iterator[str]) -> Billing:
        rows = self._rows(file)
        header = [name.strip() for name in next(rows, [])]
        if len(header) == 1 and (marks := [mark for mark in ";\t" if mark in header[0]]):
            raise self.wrong(
                f"the columns are parted by {marks[0]!r}, where an export has commas",
                AS_EXPORTED,
                "a spreadsheet that saved it may have changed its numbers and times too",
            )
        if missing := [name for name in REQUIRED if name not in header]:
            raise self.wrong(f"this is no billing export: the column {missing[0]!r} is missing")
        if twice := [name for name in header if header.count(name) > 1]:
            raise self.wrong(f"the column {twice[0]!r} appears twice")
        lines = 0
        for row in rows:
            lines += 1
            if len(row) != len(header):
                raise self.wrong(f"{len(row)} fields, where the header has {len(header)}")
            self._add(dict(zip(header, map(str.strip, row), strict=True)))
        found = tuple(BilledRow(*place, *sums) for place, sums in self.sums.items())
        known = {*REQUIRED, *OPTIONAL}
        return Billing(found, lines, tuple(name for name in header if name not in known))

    def _rows(self, file: Iterator[str]) -> Iterator[list[str]]:
        """Rows that hold something; `line` follows them."""
        limit = csv.field_size_limit(LARGEST_FIELD)
        reader = csv.reader(file, strict=True)
        try:
            while True:
                self.line = reader.line_num + 1
                row = next(reader, None)
                if row is None:
                    return
                if row:
                    yield row
        except csv.Error as error:
            raise self.wrong(f"this is not CSV: {error}") from None
        except UnicodeDecodeError:
            raise self.wrong("the file is not UTF-8 from about here on") from None
        finally:
            csv.field_size_limit(limit)

    def _add(self, row: Mapping[str, str]) -> None:
        """Adds the row to its days; cut at midnights, UTC."""
        start, end = self._time(row, "start_time"), self._time(row, "end_time")
        if end < start:
            raise self.wrong("end_time lies before start_time")
        if end - start > LONGEST_ROW:
            raise self.wrong(f"it covers {(end - start).days:,} days; an export covers 31 at most")
        gpu_s = self._seconds(row)
        prompt, completion = self._count(row, "prompt_tokens"), self._count(row, "completion_tokens")
        cached = self._count(row, "cached_prompt_tokens") if "cached_prompt_tokens" in row else 0
        accelerator = row["accelerator_type"] or None
        if gpu_s and accelerator is None:
            raise self.wrong("accelerator_seconds without an accelerator_type")
        whole, done = (end - start) // _TICK or 1, 0
        for day, reached in _days(start, end):
            sums = self.sums[day, accelerator, row["base_model_name"]]
            if gpu_s:
                sums[0] += gpu_s if reached - done == whole else gpu_s * Fraction(reached - done, whole)
            for at, count in enumerate((prompt, completion, cached), start=1):
                sums[at] += count * reached // whole - count * done // whole  # adds up to the count
            done = reached

    def _time(self, row: Mapping[str, str], key: str) -> datetime:
        text = row[key]
        plain = text.removesuffix(" UTC")
        try:
            found = datetime.fromisoformat(text if plain is text else f"{plain}+00:00")
        except ValueError:
            raise self.wrong(f"{key} is {text[:40]!r}; expected as in 2026-08-13 02:13:02 UTC") from None
        if found.tzinfo is None:
            raise self.wrong(f"{key} is {text[:40]!r}, which names no time zone")
        if not MINYEAR < found.year < MAXYEAR:
            raise self.wrong(f"{key} is {text[:40]!r}, a year that no export has")
        return found.astimezone(UTC)

    def _seconds(self, row: Mapping[str, str]) -> Fraction:
        text = row["accelerator_seconds"]
        if not text:
            return _NOTHING
        whole, _, rest = text.partition(".")
        if not (_is_digits(whole) and (_is_digits(rest) or text == whole)):
            raise self._no_figure("accelerator_seconds", text, "a number")
        return Fraction(text)

    def _no_figure(self, key: str, text: str, form: str) -> UsageError:
        steps = (CORRECTION,) if text.startswith("-") else ()
        return self.wrong(f"{key} is {text[:40]!r}, which is not {form} from 0", *steps)

    def _count(self, row: Mapping[str, str], key: str) -> int:
        text = row[key]
        if not text:
            return 0
        if not _is_digits(text):
            raise self._no_figure(key, text, "a whole number")
        return int(text)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _days(start: datetime, end: datetime) -> Iterator[tuple[date, int]]:
    """Days that the span touches, each with the microseconds of the span that have passed at its end; a
    span of no length counts as one microsecond."""
    at = start
    while True:
        midnight = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
        if end <= midnight:
            yield at.date(), (end - start) // _TICK or 1
            return
        yield at.date(), (midnight - start) // _TICK
        at = midnight
