"""The billing export of `firectl billing export-metrics`: a strict reader with line numbers.

Columns as published (docs.fireworks.ai, exporting billing metrics, 2025 and 2026): neither a cost nor a
deployment is among them. Their order is free and unknown columns are passed over.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from fwctl.errors import UsageError

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
_DIGITS = 18


@dataclass(frozen=True, slots=True)
class BilledRow:
    """One line of the export, or the part of it that falls on `day` (UTC).

    gpu_s: accelerator seconds, which count each GPU of each replica. cached: prompt tokens that came
    from a cache, None where the export has no such column.
    """

    day: date
    usage_type: str
    accelerator: str | None
    gpu_s: Fraction
    model: str
    prompt: int
    completion: int
    cached: int | None
    line: int


@dataclass(frozen=True, slots=True)
class Billing:
    """A whole export: its rows by day, and columns that this version does not know."""

    rows: tuple[BilledRow, ...]
    unknown_columns: tuple[str, ...] = ()


def read_billing(path: Path) -> Billing:
    """Read an export file. Raises UsageError with file and line for the first thing that is wrong."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot read {path}: it is not a regular file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _Reader(str(path)).read(file)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


class _Reader:
    """Reads one file; `line` is where the row in hand begins."""

    def __init__(self, name: str) -> None:
        self._name, self.line = name, 1

    def wrong(self, why: str) -> UsageError:
        return UsageError(
            f"{self._name}:{self.line}: {why}",
            next_steps=["give the file that `firectl billing export-metrics --filename FILE` wrote"],
        )

    def read(self, file: Iterator[str]) -> Billing:
        rows = self._rows(file)
        header = [name.strip() for name in next(rows, [])]
        if missing := [name for name in REQUIRED if name not in header]:
            raise self.wrong(f"this is no billing export: the column {missing[0]!r} is missing")
        if twice := [name for name in header if header.count(name) > 1]:
            raise self.wrong(f"the column {twice[0]!r} appears twice")
        found: list[BilledRow] = []
        for row in rows:
            if len(row) != len(header):
                raise self.wrong(f"{len(row)} fields, where the header has {len(header)}")
            found += self._parts(dict(zip(header, (text.strip() for text in row), strict=True)))
        known = {*REQUIRED, *OPTIONAL}
        return Billing(tuple(found), tuple(name for name in header if name not in known))

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

    def _parts(self, row: Mapping[str, str]) -> list[BilledRow]:
        """The row cut at midnights, UTC."""
        start, end = self._time(row, "start_time"), self._time(row, "end_time")
        if end < start:
            raise self.wrong("end_time lies before start_time")
        if end - start > LONGEST_ROW:
            raise self.wrong(f"it covers {(end - start).days:,} days; an export covers 31 at most")
        gpu_s = self._seconds(row)
        prompt, completion = self._count(row, "prompt_tokens"), self._count(row, "completion_tokens")
        cached = self._count(row, "cached_prompt_tokens") if row.get("cached_prompt_tokens") else None
        accelerator = row["accelerator_type"] or None
        if gpu_s and accelerator is None:
            raise self.wrong("accelerator_seconds without an accelerator_type")
        found, done = [], Fraction(0)
        for day, reached in _days(start, end):
            found.append(
                BilledRow(
                    day,
                    row["usage_type"],
                    accelerator,
                    gpu_s * (reached - done),
                    row["base_model_name"],
                    _between(prompt, done, reached),
                    _between(completion, done, reached),
                    None if cached is None else _between(cached, done, reached),
                    self.line,
                )
            )
            done = reached
        return found

    def _time(self, row: Mapping[str, str], key: str) -> datetime:
        text = row[key]
        try:
            found = datetime.fromisoformat(text.removesuffix(" UTC"))
        except ValueError:
            raise self.wrong(f"{key} is {text[:40]!r}; expected as in 2026-08-13 02:13:02 UTC") from None
        if found.tzinfo is None and not text.endswith(" UTC"):
            raise self.wrong(f"{key} is {text[:40]!r}, which names no time zone")
        if not MINYEAR < found.year < MAXYEAR:
            raise self.wrong(f"{key} is {text[:40]!r}, a year that no export has")
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)

    def _seconds(self, row: Mapping[str, str]) -> Fraction:
        text = row["accelerator_seconds"]
        whole, _, rest = text.partition(".")
        if not text:
            return Fraction(0)
        if not (_is_digits(whole) and (_is_digits(rest) or text == whole)):
            raise self.wrong(f"accelerator_seconds is {text[:40]!r}, which is not a number from 0")
        return Fraction(text)

    def _count(self, row: Mapping[str, str], key: str) -> int:
        text = row[key]
        if not text:
            return 0
        if not _is_digits(text):
            raise self.wrong(f"{key} is {text[:40]!r}, which is not a whole number from 0")
        return int(text)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _days(start: datetime, end: datetime) -> Iterator[tuple[date, Fraction]]:
    """Days that the span touches, each with the share of the span that has passed at its end."""
    total = (end - start) // timedelta(microseconds=1)
    at = start
    while True:
        midnight = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
        if end <= midnight:
            yield at.date(), Fraction(1)
            return
        yield at.date(), Fraction((midnight - start) // timedelta(microseconds=1), total)
        at = midnight


def _between(count: int, done: Fraction, reached: Fraction) -> int:
    """Whole tokens of a part, so that the parts add up to the count."""
    return int(count * reached) - int(count * done)
