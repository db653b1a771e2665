"""What happened, kept in a small SQLite file that may be deleted at any time.

Read for predictions of start-up time and for `status` and `watch`. Nothing here can stop a command: a
file that is locked, damaged or unwritable gives empty answers and swallows what is recorded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

_BUSY_TIMEOUT_S = 2.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS starts (
  time TEXT NOT NULL, deployment_id TEXT NOT NULL, model TEXT NOT NULL, shape TEXT NOT NULL,
  accelerator TEXT NOT NULL, region TEXT NOT NULL, ready_s REAL NOT NULL);
CREATE TABLE IF NOT EXISTS applies (
  time TEXT NOT NULL, account TEXT NOT NULL, stack TEXT NOT NULL,
  exit_code INTEGER NOT NULL, done INTEGER NOT NULL, failed INTEGER NOT NULL, seconds REAL NOT NULL);
"""


HISTORY_NAME = "history.db"


@dataclass(frozen=True, slots=True)
class Start:
    """One start-up: seconds from the accepted call to READY."""

    time: datetime
    deployment_id: str
    model: str
    shape: str
    accelerator: str
    region: str
    ready_s: float


@dataclass(frozen=True, slots=True)
class AppliedRun:
    """One apply and how it ended."""

    time: datetime
    account: str
    stack: str
    exit_code: int
    done: int
    failed: int
    seconds: float


class History:
    """`path` is `HISTORY_NAME` in `.fwctl/`; it is created at the first record."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S)
        try:
            with connection:
                connection.executescript(_SCHEMA)
                yield connection
        finally:
            connection.close()

    def _insert(self, sql: str, values: tuple[object, ...]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as connection:
                connection.execute(sql, values)
        except (sqlite3.Error, OSError):
            return

    def _select(self, sql: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
        if not self._path.is_file():
            return []
        try:
            with self._open() as connection:
                return connection.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError):
            return []

    def record_start(self, start: Start) -> None:
        self._insert(
            "INSERT INTO starts VALUES (?,?,?,?,?,?,?)",
            (start.time.isoformat(), *(getattr(start, name) for name in Start.__slots__[1:])),
        )

    def record_apply(self, run: AppliedRun) -> None:
        self._insert(
            "INSERT INTO applies VALUES (?,?,?,?,?,?,?)",
            (run.time.isoformat(), *(getattr(run, name) for name in AppliedRun.__slots__[1:])),
        )

    def start_times_s(self, *, model: str, accelerator: str | None = None, limit: int = 100) -> list[float]:
        """Seconds to READY of earlier starts of this model, newest first."""
        rows = self._select(
            "SELECT ready_s FROM starts WHERE model = ? AND (? IS NULL OR accelerator = ?)"
            " ORDER BY time DESC LIMIT ?",
            (model, accelerator, accelerator, limit),
        )
        return [value for (value,) in rows if isinstance(value, float)]

    def applies(self, limit: int = 20) -> list[AppliedRun]:
        """The last runs, newest first."""
        rows = self._select(
            "SELECT time, account, stack, exit_code, done, failed, seconds FROM applies"
            " ORDER BY time DESC LIMIT ?",
            (limit,),
        )
        return [run for row in rows if (run := _applied(row)) is not None]


def _applied(row: tuple[object, ...]) -> AppliedRun | None:
    """A row that holds what this version wrote, None otherwise."""
    time, account, stack, exit_code, done, failed, seconds = row
    try:
        at = datetime.fromisoformat(str(time))
    except ValueError:
        return None
    if not all(isinstance(number, int) for number in (exit_code, done, failed)):
        return None
    if not isinstance(seconds, float):
        return None
    return AppliedRun(
        at,
        str(account),
        str(stack),
        int(str(exit_code)),
        int(str(done)),
        int(str(failed)),
        seconds,
    )
