"""Records as columns: a run of a million requests in about 130 MB, every raw value kept."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import isnan, nan
from typing import Any

from fwctl.measure.speculation import Drafts, counted

Row = Mapping[str, Any]

METRICS = ("ttft_s", "ttfv_s", "total_s", "tpot_s")
SCHEDULED = "ttft_from_schedule_s"
NUMBERS = (
    *METRICS,
    SCHEDULED,
    "max_gap_s",
    "done_s",
    "dispatch_lag_s",
    "queue_lag_s",
    "prompt_tokens",
    "cached_tokens",
    "output_tokens",
)
WORDS = ("target", "type", "error_class", "limited_by", "finish_reason", "tokens_source")


class Table:
    """Measured records; warm-up and everything else with `measured: false` is left out.

    A number that is null is NaN. `start_s`: when the request was started, seconds since 1970.
    `error_notes`: the first of each target.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.numbers: dict[str, array[float]] = {name: array("d") for name in (*NUMBERS, "start_s")}
        self.words: dict[str, array[int]] = {name: array("I") for name in (*WORDS, "load")}
        self.names: dict[str, list[Any]] = {name: [] for name in self.words}
        self._codes: dict[str, dict[Any, int]] = {name: {} for name in self.words}
        self.error_notes: dict[str, str] = {}
        self._served: dict[str, array[float]] = {}  # as long as the last row that has one
        for row in rows:
            self.add(row)

    def __len__(self) -> int:
        return len(self.words["target"])

    def add(self, row: Row) -> None:
        """Take one record."""
        if not row.get("measured", True):
            return
        for name in NUMBERS:
            value = row.get(name)
            self.numbers[name].append(nan if value is None else value)
        self.numbers["start_s"].append(seconds(row.get("started_at")))
        for name in WORDS:
            self._word(name, row.get(name))
        if note := row.get("error_note"):
            self.error_notes.setdefault(str(row.get("target")), str(note))
        if server := row.get("server"):
            self._serve(len(self) - 1, counted(server))
        self._word("load", (row.get("concurrency"), row.get("rate_per_s")))

    def _serve(self, number: int, counts: Mapping[str, float]) -> None:
        for name, value in counts.items():
            column = self._served.setdefault(name, array("d"))
            column.extend([nan] * (number - len(column)))
            column.append(value)

    def drafts(self, rows: Sequence[int]) -> Drafts:
        """What servers said about their drafts."""
        found, tokens = Drafts(), self.numbers["output_tokens"]
        for row in rows if self._served else ():
            counts = {
                name: column[row]
                for name, column in self._served.items()
                if row < len(column) and not isnan(column[row])
            }
            if counts:
                found.add(counts, None if isnan(tokens[row]) else tokens[row])
        return found

    def _word(self, name: str, value: Any) -> None:
        codes = self._codes[name]
        code = codes.setdefault(value, len(codes))
        if code == len(self.names[name]):
            self.names[name].append(value)
        self.words[name].append(code)

    def all(self) -> Sequence[int]:
        """Every row."""
        return range(len(self))

    def groups(self, name: str, rows: Sequence[int]) -> dict[Any, array[int]]:
        """Rows by the value of a word, in the order of first appearance."""
        column, names = self.words[name], self.names[name]
        found: dict[int, array[int]] = {}
        for row in rows:
            code = column[row]
            if code not in found:
                found[code] = array("L")
            found[code].append(row)
        return {names[code]: part for code, part in found.items()}

    def open_loop(self, rows: Sequence[int]) -> bool:
        """True when requests were started on a schedule, so that times from it mean something."""
        names = self.names["load"]
        return any(names[code][1] is not None for code in {self.words["load"][row] for row in rows})

    def counts(self, name: str, rows: Sequence[int]) -> dict[Any, int]:
        """How often each value of a word occurs."""
        column, names = self.words[name], self.names[name]
        return {names[code]: count for code, count in Counter(column[row] for row in rows).items()}

    def good(self, rows: Sequence[int]) -> array[int]:
        """Rows without an error."""
        return self.groups("error_class", rows).get(None, array("L"))

    def values(self, name: str, rows: Sequence[int]) -> array[float]:
        """The known values of a number."""
        column = self.numbers[name]
        return array("d", (value for row in rows if not isnan(value := column[row])))

    def total(self, name: str, rows: Sequence[int]) -> float | None:
        """Sum of the known values, None when there is none."""
        found = self.values(name, rows)
        return sum(found) if found else None


def seconds(text: object) -> float:
    """Seconds since 1970 of an ISO time; NaN for anything else."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError, OSError):
        return nan
