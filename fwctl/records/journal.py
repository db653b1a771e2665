"""The journal of an apply: one JSON line before a call (intent) and one after it (outcome), fsynced.

It lives in `.fwctl/journal/`, may be deleted at any time and is never needed to converge: it only lets
the next run say what an interrupted one was doing. Whatever is found there is read with suspicion.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from fwctl.env import Clock
from fwctl.redact import Redactor

KEPT_RUNS = 50  # older files are removed when a new run begins
LONGEST_LINE_BYTES = 64 * 1024
MOST_LINES = 20_000


class Journal:
    """Appends to one file, from any thread. A disk that refuses is told by `problem` and left alone."""

    def __init__(self, folder: Path, clock: Clock, redactor: Redactor) -> None:
        self._clock = clock
        self._redactor = redactor
        self._file: BinaryIO | None = None
        self._sequence = 0
        self._lock = threading.Lock()
        self.problem: str | None = None
        self.path: Path | None = None
        try:
            self._open(folder)
        except OSError as error:
            self._give_up(error)

    def _open(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder, KEPT_RUNS - 1)
        stamp = self._clock.now().strftime("%Y%m%dT%H%M%S")
        self.path = folder / f"{stamp}-{os.getpid()}-{secrets.token_hex(3)}.jsonl"
        self._file = self.path.open("xb", buffering=0)

    def _give_up(self, error: OSError) -> None:
        self.problem = f"the journal cannot be written ({error.strerror or error}); apply goes on without it"
        self.close()

    def write(self, kind: str, **facts: Any) -> None:
        """One record on disk before this returns; every text in it is masked."""
        record = {"kind": kind, "time": self._clock.now().isoformat(), **facts}
        line = self._redactor.mask(json.dumps(record, sort_keys=True, default=str)) + "\n"
        with self._lock:
            if self._file is None:
                return
            try:
                self._file.write(line.encode())
                os.fsync(self._file.fileno())
            except OSError as error:
                self._give_up(error)

    def intent(self, **facts: Any) -> int:
        """Says what is about to be done; the number goes into the matching `outcome`."""
        with self._lock:
            self._sequence += 1
            number = self._sequence
        self.write("intent", seq=number, **facts)
        return number

    def outcome(self, seq: int, **facts: Any) -> None:
        self.write("outcome", seq=seq, **facts)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A call that an earlier run announced without ever writing how it ended."""

    time: str
    address: str
    deployment_id: str
    call: str


def unfinished(folder: Path) -> tuple[Unfinished, ...]:
    """Open intents of the newest run in `folder`; empty when there is none or nothing can be read."""
    newest = next(iter(_files(folder)), None)
    if newest is None:
        return ()
    opened: dict[int, Unfinished] = {}
    for record in _records(newest):
        seq = record.get("seq")
        if not isinstance(seq, int):
            continue
        if record.get("kind") == "intent":
            opened[seq] = Unfinished(*(_text(record, key) for key in Unfinished.__slots__))
        else:
            opened.pop(seq, None)
    return tuple(opened.values())


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value[:500] if isinstance(value, str) else ""


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    """Every line that is a JSON object; cut, binary, oversized and foreign lines are passed over."""
    try:
        with path.open("rb") as file:
            for _ in range(MOST_LINES):
                line = file.readline(LONGEST_LINE_BYTES)
                if not line:
                    return
                record = _parsed(line)
                if record is not None:
                    yield record
    except OSError:
        return


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _files(folder: Path) -> list[Path]:
    """Journal files, newest first; names begin with the time."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == ".jsonl" and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def _prune(folder: Path, keep: int) -> None:
    for path in _files(folder)[keep:]:
        path.unlink(missing_ok=True)
