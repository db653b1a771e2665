"""What a watch remembers between looks and restarts, in the history file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fwctl.records.history_file import change, rows

_SCHEMA = "CREATE TABLE IF NOT EXISTS watch_state (account TEXT PRIMARY KEY, document TEXT NOT NULL);"


class WatchStore:
    """`path` is the history file; it is created at the first record."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, account: str) -> Any:
        """The stored document of an account, None when there is none that can be read."""
        found = rows(self._path, "SELECT document FROM watch_state WHERE account = ?", (account,))
        try:
            return json.loads(found[0][0]) if found else None
        except (ValueError, TypeError, RecursionError):
            return None

    def save(self, account: str, document: Any) -> bool:
        """Store the document. False when the file could not be written."""
        row = (account, json.dumps(document))
        return change(self._path, _SCHEMA, ("INSERT OR REPLACE INTO watch_state VALUES (?,?)", [row]))
