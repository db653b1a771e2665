"""The small SQLite file in which fwctl remembers. It may be deleted at any time, and nothing here can stop a
command: a file that is locked, damaged or cannot be written is empty to read, and takes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

_BUSY_TIMEOUT_S = 2.0
Row = Sequence[Any]


def rows(path: Path, sql: str, values: Row) -> list[Row]:
    """What a query finds; nothing in a file that is not there, or without such a table."""
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as connection:
            return connection.execute(sql, values).fetchall()
    except (sqlite3.Error, OSError):
        return []


def change(path: Path, schema: str, *statements: tuple[str, Iterable[Row]]) -> bool:
    """Carry out all statements, each for all of its rows, or none. False when the file took nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S)) as connection, connection:
            connection.executescript(schema)
            for sql, values in statements:
                connection.executemany(sql, values)
    except (sqlite3.Error, OSError):
        return False
    return True
