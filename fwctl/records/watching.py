"""What a watch remembers between looks and restarts, and which alerts there were, in the history file.

The file may be deleted or damaged at any time without harm: then there is no memory, and nothing else.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS watch_state (account TEXT PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS alerts (
  time TEXT NOT NULL, account TEXT NOT NULL, rule TEXT NOT NULL, subject TEXT NOT NULL,
  event TEXT NOT NULL, document TEXT NOT NULL);
"""


class WatchStore:
    """`path` is the history file; it is created at the first record."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, account: str) -> Any:
        """The stored document of an account, None when there is none that can be read."""
        if not self._path.is_file():
            return None
        try:
            with closing(sqlite3.connect(self._path, timeout=2.0)) as connection:
                row = connection.execute(
                    "SELECT document FROM watch_state WHERE account = ?", (account,)
                ).fetchone()
            return json.loads(row[0]) if row else None
        except (sqlite3.Error, OSError, ValueError, RecursionError):
            return None

    def save(self, account: str, document: Any, events: Iterable[Mapping[str, Any]] = ()) -> bool:
        """Store the document, and what happened. False when the file could not be written."""
        rows = [
            (event["at"], account, event["rule"], event["subject"], event["event"], json.dumps(event))
            for event in events
        ]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=2.0)) as connection, connection:
                connection.executescript(_SCHEMA)
                connection.execute(
                    "INSERT OR REPLACE INTO watch_state VALUES (?,?)", (account, json.dumps(document))
                )
                connection.executemany("INSERT INTO alerts VALUES (?,?,?,?,?,?)", rows)
        except (sqlite3.Error, OSError):
            return False
        return True
