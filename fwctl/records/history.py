"""What happened, kept in a small SQLite file that may be deleted at any time.

Read for predictions of start-up time. Nothing here can stop a command: a
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

    def start_times_s(self, *, model: str, accelerator: str | None = None, limit: int = 100) -> list[float]:
        """Seconds to READY of earlier starts of this model, newest first."""
        rows = self._select(
            "SELECT ready_s FROM starts WHERE model = ? AND (? IS NULL OR accelerator = ?)"
            " ORDER BY time DESC LIMIT ?",
            (model, accelerator, accelerator, limit),
        )
        return [value for (value,) in rows if isinstance(value, float)]
